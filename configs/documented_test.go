package configs

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// inWords are the keys whose default a table tells in words.
var inWords = map[string]bool{"gateway.id": true, "mqtt.client_id": true, "source.name": true, "source.topic": true}

// Every key is a row of its section's table, with its default, its bounds and an example, and stands in the commented example.
func TestDocumented(t *testing.T) {
	docs := readString(t, "../docs/configuration.md")
	example := readString(t, "edgeagent.toml")
	c := Default()
	filled := sourceDefaults(c.Watermark.NotBefore)
	var check func(p path, s section)
	check = func(p path, s section) {
		heading := "[" + p.shown + "]"
		if s.name == "source" {
			heading = "[[source]]"
		}
		_, part, found := strings.Cut(docs, "\n## "+heading+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
		_, exampled, inExample := strings.Cut(example, heading+"\n")
		if i := regexp.MustCompile(`(?m)^(# )?\[`).FindStringIndex(exampled); i != nil {
			exampled = exampled[:i[0]]
		}
		if !found || !inExample {
			t.Errorf("%s: in docs %v, in the example %v", heading, found, inExample)
		}
		if n := strings.Count(part, "\n| `"); n != len(s.fields) {
			t.Errorf("docs: %s has %d rows for %d keys", heading, n, len(s.fields))
		}
		for _, f := range s.fields {
			checkRow(t, p.key(f.key).shown, f, part)
			if !regexp.MustCompile(`(?m)^(# )?` + f.key + " = ").MatchString(exampled) {
				t.Errorf("example: %s lacks %s", heading, f.key)
			}
		}
		for _, sub := range s.subs {
			check(p.key(sub.name), sub)
		}
	}
	for _, s := range append(schema(c), sourceSection(&filled)) {
		check(at(s.name), s)
	}
}

// rowOf matches the row of a key: default, bounds and meaning.
func rowOf(key string) *regexp.Regexp {
	return regexp.MustCompile("(?m)^\\| `" + key + "` \\| (.*?) \\| (.*?) ?\\| (.*) \\|$")
}

// shownExample is a value as a file has it.
var shownExample = regexp.MustCompile("Example: `(.*?)`")

// checkRow judges the row of one key in the table of its section.
func checkRow(t *testing.T, name string, f field, table string) {
	t.Helper()
	row := rowOf(f.key).FindStringSubmatch(table)
	if row == nil {
		t.Errorf("docs: %s has no row", name)
		return
	}
	given, limits, meaning := row[1], row[2], row[3]
	if want := "`" + f.value.show() + "`"; given != want && !inWords[name] {
		t.Errorf("docs: %s has the default %s, want %s", name, given, want)
	}
	for _, want := range boundsOf(name, f.value) {
		if !strings.Contains(limits, want) {
			t.Errorf("docs: %s: the bounds %q lack %q", name, limits, want)
		}
	}
	example := shownExample.FindStringSubmatch(meaning)
	if example == nil {
		if given == "" || isEmpty(strings.Trim(given, "`")) || name == "gateway.id" {
			t.Errorf("docs: %s has no example", name)
		}
		return
	}
	var parsed map[string]any
	if err := toml.Unmarshal([]byte(f.key+" = "+example[1]), &parsed); err != nil {
		t.Errorf("docs: the example of %s: %v", name, err)
	} else if problem := f.value.set(parsed[f.key]); problem != "" {
		t.Errorf("docs: the example of %s %s", name, problem)
	}
}

// boundsOf is what the bounds of a key must tell: least and most, or the words that it takes.
func boundsOf(name string, v value) []string {
	switch v := v.(type) {
	case choice:
		return v.words
	case span:
		return []string{v.lo.String(), v.hi.String()}
	case bytesOf:
		if name == "buffer.rejected_ring" { // bound to another key
			return []string{"0", "a 16th of `max_size`"}
		}
		return []string{v.lo.String(), v.hi.String()}
	case count:
		return []string{strconv.Itoa(v.lo), strconv.Itoa(v.hi)}
	case qos:
		return []string{"0", "1"}
	}
	return nil
}
