package reading

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// expression is a topic pattern as a regular expression: an answer that owes nothing to the matcher.
func expression(topic string) *regexp.Regexp {
	var parts []string
	levels := strings.Split(topic, "/")
	for i, l := range levels {
		switch {
		case l == "#":
			// none or more levels, with the slash before them
			head := strings.Join(parts, "/")
			if i == 0 {
				return regexp.MustCompile("^[^$].*$|^$")
			}
			return regexp.MustCompile("^" + head + "(?:/.*)?$")
		case l == "+":
			parts = append(parts, "[^/]*")
		case strings.HasSuffix(l, "...}"):
			parts = append(parts, "(.*)")
		case strings.HasPrefix(l, "{") && strings.HasSuffix(l, "}"):
			parts = append(parts, "([^/]*)")
		case strings.Contains(l, "{"):
			pre, rest, _ := strings.Cut(l, "{")
			_, post, _ := strings.Cut(rest, "}")
			parts = append(parts, regexp.QuoteMeta(pre)+"([^/]+)"+regexp.QuoteMeta(post))
		default:
			parts = append(parts, regexp.QuoteMeta(l))
		}
	}
	return regexp.MustCompile("^" + strings.Join(parts, "/") + "$")
}

// brings reports whether a subscription to an MQTT filter brings a topic, by the words of MQTT 3.1.1, section 4.7.
func brings(filter, topic string) bool {
	f, t := strings.Split(filter, "/"), strings.Split(topic, "/")
	if strings.HasPrefix(topic, "$") && (f[0] == "+" || f[0] == "#") {
		return false
	}
	for i, level := range f {
		if level == "#" {
			return true
		}
		if i >= len(t) || level != "+" && level != t[i] {
			return false
		}
	}
	return len(f) == len(t)
}

// TestTopicsAgainstOracle matches random topics with random patterns, and checks that the subscription brings all that match.
func TestTopicsAgainstOracle(t *testing.T) {
	rng := testbed.Random(t)
	matched := 0
	for range 40_000 {
		var levels []string
		wide := false
		for i := range 1 + rng.IntN(4) {
			l := pick(rng, "a", "b", "", "+", "{x}", "t:{x}", "{x}_t", "$s", "{x...}", "#", "a.b")
			if l == "#" || l == "{x...}" {
				if wide {
					l = "+"
				}
				wide = true
			}
			levels = append(levels, strings.ReplaceAll(l, "x", string(rune('p'+i))))
			if l == "#" {
				break
			}
		}
		text := strings.Join(levels, "/")
		p, err := parseTopic(text)
		if err != nil {
			continue
		}
		var parts []string
		for range 1 + rng.IntN(5) {
			parts = append(parts, pick(rng, "a", "b", "", "t:1", "t:", "9_t", "_t", "$s", "a.b", "axb"))
		}
		topic := strings.Join(parts, "/")
		if strings.HasPrefix(topic, "$") && !strings.HasPrefix(text, "$") {
			if _, ok := p.match(topic); ok {
				t.Fatalf("%q takes %q, which no wildcard does", text, topic)
			}
			continue
		}
		caps, ok := p.match(topic)
		want := expression(text).FindStringSubmatch(topic)
		if ok != (want != nil) || ok && len(caps) != len(want)-1 || ok && !slices.Equal(caps, want[1:]) && len(caps) > 0 {
			t.Fatalf("%q on %q = %q %v, want %q", text, topic, caps, ok, want)
		}
		if ok && !brings(p.filter(), topic) {
			t.Fatalf("%q takes %q, but its filter %q does not bring it", text, topic, p.filter())
		}
		if ok {
			matched++
		}
	}
	if matched < 500 {
		t.Errorf("only %d topics matched: the test is weak", matched)
	}
}

func TestTopicFaults(t *testing.T) {
	for in, want := range map[string]string{
		"": "missing", "a/#/b": "# must be the last level", "a/{x...}/#": "only one of", "{a}/{a}": "there twice", "a+/b": "must stand alone",
		"a/b#": "must stand alone", "{": "matching braces", "a}": "matching braces", "{a}{b}": "one {name}", "{}": "needs a name", "{1a}": "a letter or _ first",
		"p{x...}": "takes whole levels", "a/\x00": "control characters", "a/\xff": "invalid UTF-8", "$share/g": "shared subscription is", "$share/+/a": "shared subscription is", "${a}/b": "must be plain text", "{a...}/{b...}": "only one of",
		strings.Repeat("a", 65536): "longer than 65535",
	} {
		if _, err := parseTopic(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", in, err, want)
		}
	}
	for _, in := range []string{"/", "//", "a//b", "{a-1}/x", "$SYS/{x}", "a b/ç/{x}", "#", "+"} {
		if _, err := parseTopic(in); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
}
