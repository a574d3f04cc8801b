package discover

import (
	"fmt"
	"strings"
	"unicode"
)

// Bounds of what is listed.
const (
	maxListed    = 8
	maxStrangers = 60
)

// Comment is what is known of g, as comments of a configuration: all text of devices in it is quoted.
func (g *Group) Comment() string {
	var b strings.Builder
	what := g.Rule.Preset
	if what == "" {
		what = "no preset, by the look of it"
	}
	fmt.Fprintf(&b, "# %s: %d topics, %d messages; e.g. %s\n", what, len(g.Topics), g.Messages, g.Example)
	for i, t := range g.Topics {
		if i == maxListed {
			fmt.Fprintf(&b, "#   and %d more\n", len(g.Topics)-i)
			break
		}
		fmt.Fprintf(&b, "#   %s\n", plain(t))
	}
	if g.Hint != "" {
		fmt.Fprintf(&b, "# %s\n", g.Hint)
	}
	return b.String()
}

// Comment lists the topics that no source was found for.
func Comment(strangers []Stranger) string {
	if len(strangers) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Not recognised: %d topics. If there is a temperature in one, describe it with topic, value and time.\n", len(strangers))
	for i, s := range strangers {
		if i == maxStrangers {
			fmt.Fprintf(&b, "#   and %d more\n", len(strangers)-i)
			break
		}
		fmt.Fprintf(&b, "#   %s  %d messages  %s\n", plain(s.Topic), s.Messages, s.Payload)
	}
	return b.String()
}

// plain is a topic as it stands, quoted if anything in it could end a comment.
func plain(topic string) string {
	if strings.ContainsFunc(topic, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return fmt.Sprintf("%q", topic)
	}
	return topic
}
