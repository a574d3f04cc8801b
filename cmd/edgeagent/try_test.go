package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestTryWords tries messages as a user types them, and looks for the words that help.
func TestTryWords(t *testing.T) {
	config := writeConfig(t, "[gateway]\nid = \"gw\"\n[[source]]\nname = \"lab\"\npreset = \"json\"\ntopic = \"lab/{room}\"\nsensor = \"{room}/{id|name}\"\n")
	for _, c := range []struct {
		what, in string
		args     []string
		code     int
		want     string
	}{
		{"a bare payload without its topic", "21.5\n", nil, exitFailed,
			"error: -:1: not a recorded message: it is a JSON number; want {\"topic\": …, \"payload\": …} on one line, or --topic for bare payloads\n"},
		{"a topic that is a number", `{"topic":5,"payload":1}`, nil, exitFailed, "-:1: not a recorded message: topic is a JSON number; want"},
		{"no JSON", "nonsense\n", nil, exitFailed, "-:1: not a recorded message: invalid character 'o' in literal null (expecting 'u'); want"},
		{"a time that cannot be read", `{"topic":"lab/a","payload":{"id":1,"temp":5,"time":"04.11.2026 08:01:10"},"time":"2026-11-04T08:01:12Z"}`, nil, 0,
			"  lab: sensor \"a/1\" 5 °C at 2026-11-04T08:01:12Z (arrival: no usable time of its own), window 2026-11-04T08:00:00Z + 5m0s\n"},
		{"who measured is not there", `{"temp":5}`, []string{"--topic", "lab/a"}, 0, "  lab: refused, decode: \"sensor has no text: {id|name} is not there, or is none\"\n"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"try", "-c", config}, c.args...), streams{strings.NewReader(c.in), &out, &errs})
		if all := out.String() + errs.String(); code != c.code || !strings.Contains(all, c.want) {
			t.Errorf("%s: exit code %d, want %d; %s, want %s", c.what, code, c.code, all, c.want)
		}
	}
}
