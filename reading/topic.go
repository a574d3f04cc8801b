package reading

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

type levelKind uint8

const (
	literalLevel levelKind = iota
	oneLevel               // + or {name}, perhaps with text around it
	manyLevels             // {name...}: one or more levels
	restLevels             // #: none or more levels, always last
)

// A level is one part of a topic between slashes.
type level struct {
	kind      levelKind
	pre, post string // text around a capture; pre is the whole of a literal
	name      string // "" for + and #
}

// A pattern is the topic of a rule, taken apart.
type pattern struct {
	share  string // "$share/group/" of a shared subscription: part of the filter, not of the topics that come
	levels []level
	wide   int      // index of the level that takes several, -1 if none
	names  []string // captures in order
}

// parseTopic takes a topic apart. The error says what is wrong and what is allowed.
func parseTopic(topic string) (pattern, error) {
	p := pattern{wide: -1}
	var err error
	if p.share, topic, err = cutShare(topic); err != nil {
		return p, err
	}
	if err := checkTopicText(topic); err != nil {
		return p, err
	}
	parts := strings.Split(topic, "/")
	for i, part := range parts {
		l, err := parseLevel(part)
		if err != nil {
			return p, err
		}
		if err := p.add(l, i == len(parts)-1); err != nil {
			return p, err
		}
	}
	if strings.HasPrefix(topic, "$") && p.levels[0].kind != literalLevel {
		return p, fmt.Errorf("the first level of a topic that begins with $ must be plain text")
	}
	return p, nil
}

func checkTopicText(topic string) error {
	switch {
	case topic == "":
		return fmt.Errorf("missing: give a topic or a preset")
	case len(topic) > 65535:
		return fmt.Errorf("longer than 65535 bytes")
	case !utf8.ValidString(topic) || hasControl(topic):
		return fmt.Errorf("has control characters or invalid UTF-8")
	}
	return nil
}

const sharePrefix = "$share/"

// Shared reports whether a rule has a shared subscription: then a broker deals messages out to several agents.
func Shared(rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return strings.HasPrefix(r.Topic, sharePrefix) })
}

// cutShare takes "$share/group/" off a topic.
func cutShare(topic string) (share, rest string, err error) {
	after, ok := strings.CutPrefix(topic, sharePrefix)
	if !ok {
		return "", topic, nil
	}
	group, rest, ok := strings.Cut(after, "/")
	if !ok || group == "" || rest == "" || strings.ContainsAny(group, "+#{}") {
		return "", topic, fmt.Errorf("a shared subscription is $share/GROUP/ and then the topic; the group is plain text")
	}
	return sharePrefix + group + "/", rest, nil
}

func (p *pattern) add(l level, last bool) error {
	if l.kind == restLevels && !last {
		return fmt.Errorf("# must be the last level; {name...} may stand in the middle")
	}
	if l.kind == manyLevels || l.kind == restLevels {
		if p.wide >= 0 {
			return fmt.Errorf("only one of # and {name...} is allowed")
		}
		p.wide = len(p.levels)
	}
	if l.name != "" {
		if slices.Contains(p.names, l.name) {
			return fmt.Errorf("capture {%s} is there twice", l.name)
		}
		p.names = append(p.names, l.name)
	}
	p.levels = append(p.levels, l)
	return nil
}

func parseLevel(s string) (level, error) {
	switch {
	case s == "+":
		return level{kind: oneLevel}, nil
	case s == "#":
		return level{kind: restLevels}, nil
	case strings.ContainsAny(s, "+#"):
		return level{}, fmt.Errorf("level %q: + and # must stand alone", s)
	}
	pre, name, post, err := cutCapture(s)
	if err != nil {
		return level{}, fmt.Errorf("level %q: %w", s, err)
	}
	if name == "" {
		return level{kind: literalLevel, pre: s}, nil
	}
	if many, ok := strings.CutSuffix(name, "..."); ok {
		if pre+post != "" {
			return level{}, fmt.Errorf("level %q: {name...} takes whole levels, no text may stand around it", s)
		}
		return level{kind: manyLevels, name: many}, checkName(many)
	}
	return level{kind: oneLevel, pre: pre, post: post, name: name}, checkName(name)
}

// cutCapture splits "pre{name}post"; the name is "" if there is no brace.
func cutCapture(s string) (pre, name, post string, err error) {
	i, j := strings.IndexByte(s, '{'), strings.IndexByte(s, '}')
	if i < 0 && j < 0 {
		return s, "", "", nil
	}
	if i < 0 || j < i || strings.ContainsAny(s[j+1:], "{}") || strings.Count(s, "{") > 1 {
		return "", "", "", fmt.Errorf("one {name} with matching braces is allowed here")
	}
	if j == i+1 {
		return "", "", "", fmt.Errorf("a capture needs a name, as in {name}")
	}
	return s[:i], s[i+1 : j], s[j+1:], nil
}

func checkName(s string) error {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return fmt.Errorf("capture name %q: letters, digits, _ and - are allowed, a letter or _ first", s)
		}
	}
	if s == "" {
		return fmt.Errorf("a capture needs a name, as in {name}")
	}
	return nil
}

// match reports whether the topic fits, and the captures in the order of p.names. They alias the topic.
func (p *pattern) match(topic string) ([]string, bool) {
	if strings.HasPrefix(topic, "$") && p.levels[0].kind != literalLevel {
		return nil, false
	}
	parts := strings.Split(topic, "/")
	head, tail, ok := p.split(len(parts))
	if !ok {
		return nil, false
	}
	var caps []string
	for i := range p.levels {
		l := &p.levels[i]
		var text string
		switch {
		case i == p.wide:
			text = strings.Join(parts[head:len(parts)-tail], "/")
		case p.wide >= 0 && i > p.wide:
			text = parts[len(parts)-len(p.levels)+i]
		default:
			text = parts[i]
		}
		if text, ok = l.match(text); !ok {
			return nil, false
		}
		if l.name != "" {
			caps = append(caps, text)
		}
	}
	return caps, true
}

// split reports how many levels stand before and after the wide one, and whether n levels can fit.
func (p *pattern) split(n int) (head, tail int, ok bool) {
	if p.wide < 0 {
		return n, 0, n == len(p.levels)
	}
	head, tail = p.wide, len(p.levels)-p.wide-1
	least := head + tail
	if p.levels[p.wide].kind == manyLevels {
		least++
	}
	return head, tail, n >= least
}

// match reports what the capture of l takes of one level. A bare capture takes an empty level too, as + does.
func (l *level) match(text string) (string, bool) {
	if l.kind == literalLevel {
		return "", text == l.pre
	}
	if l.pre == "" && l.post == "" {
		return text, true
	}
	return cutAround(text, l.pre, l.post)
}

// cutAround reports what stands between pre and post in s; at least one byte must.
func cutAround(s, pre, post string) (string, bool) {
	if len(s) <= len(pre)+len(post) || !strings.HasPrefix(s, pre) || !strings.HasSuffix(s, post) {
		return "", false
	}
	return s[len(pre) : len(s)-len(post)], true
}

// filter is the narrowest MQTT filter that brings every topic that fits.
func (p *pattern) filter() string {
	var parts []string
	for _, l := range p.levels {
		switch l.kind {
		case literalLevel:
			parts = append(parts, l.pre)
		case oneLevel:
			parts = append(parts, "+")
		default:
			return p.share + strings.Join(append(parts, "#"), "/")
		}
	}
	return p.share + strings.Join(parts, "/")
}
