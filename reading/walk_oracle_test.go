package reading

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"edgeagent/testbed"
)

// A tree is a JSON value with its members in order; text is how it is written.
type tree struct {
	keys   []string // of an object
	kids   []tree
	object bool
	array  bool
	text   string // of a leaf
}

// randomTree makes a value of the given depth at most. Keys come from few, so that paths meet them; they are unique.
func randomTree(rng *rand.Rand, depth int) tree {
	kind := rng.IntN(10)
	if depth == 0 {
		kind = 5 + rng.IntN(5)
	}
	switch {
	case kind < 3:
		v := tree{object: true}
		for _, key := range []string{"a", "b", "t1", "t22", "tx_alarm", "k", "a.b", "é\"\n", ""} {
			if rng.IntN(3) == 0 {
				v.keys, v.kids = append(v.keys, key), append(v.kids, randomTree(rng, depth-1))
			}
		}
		return v
	case kind < 5:
		v := tree{array: true}
		for range rng.IntN(4) {
			v.kids = append(v.kids, randomTree(rng, depth-1))
		}
		return v
	case kind == 5 && depth > 0:
		inner := randomTree(rng, depth-1) // JSON inside a text
		return tree{text: quoteJSON(inner.write(rng)), kids: []tree{inner}}
	}
	return tree{text: pick(rng, "1", "-2.5e3", "null", "true", "false", `"x"`, `""`, `"é\u0000"`, `"{"`, `"[1"`, "0")}
}

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// write is v as JSON with blanks here and there.
func (v *tree) write(rng *rand.Rand) string {
	blank := func() string { return pick(rng, "", "", " ", "\n\t") }
	if !v.object && !v.array {
		return v.text
	}
	var parts []string
	for i := range v.kids {
		part := blank() + v.kids[i].write(rng) + blank()
		if v.object {
			part = blank() + quoteJSON(v.keys[i]) + blank() + ":" + part
		}
		parts = append(parts, part)
	}
	if v.object {
		return "{" + strings.Join(parts, ",") + blank() + "}"
	}
	return "[" + strings.Join(parts, ",") + blank() + "]"
}

// open is v, or what a text that holds an object or a list holds.
func (v tree) open() tree {
	if !v.object && !v.array && len(v.kids) == 1 && (v.kids[0].object || v.kids[0].array) {
		return v.kids[0]
	}
	return v
}

// walk is what steps find, written down by the rules of paths: each as its captures and its text without blanks.
func (v tree) walk(steps []string, captures string, out *[]string) {
	if len(steps) == 0 {
		*out = append(*out, captures+" "+v.compact())
		return
	}
	v = v.open()
	for i := range v.kids {
		if !v.object && !v.array {
			break
		}
		kid, key := v.kids[i], ""
		if v.object {
			key = v.keys[i]
		}
		switch s := steps[0]; {
		case s == "{n}" && v.object:
			kid.walk(steps[1:], captures+"|"+key, out)
		case s == "t{n}" && v.object && len(key) > 1 && key[0] == 't' && !strings.ContainsAny(key, "_"):
			kid.walk(steps[1:], captures+"|"+key[1:], out)
		case s == "[*]" && v.array:
			kid.walk(steps[1:], captures, out)
		case s == "[1]" && v.array && i == 1:
			kid.walk(steps[1:], captures, out)
		case s == "[k=x]" && v.array && kid.has("k", "x"), s == "[k=1]" && v.array && kid.has("k", "1"):
			kid.walk(steps[1:], captures, out)
		case v.object && s == key && !strings.ContainsAny(s, "{["):
			kid.walk(steps[1:], captures, out)
		}
	}
	if s := steps[0]; v.object && (s == "[k=x]" && v.has("k", "x") || s == "[k=1]" && v.has("k", "1")) {
		v.walk(steps[1:], captures, out)
	}
}

// has reports whether v has the key with a text or a number that reads so.
func (v tree) has(key, text string) bool {
	v = v.open()
	i := slices.Index(v.keys, key)
	return v.object && i >= 0 && (v.kids[i].text == text && text == "1" || v.kids[i].text == `"`+text+`"`)
}

func (v tree) compact() string {
	return v.write(rand.New(zeros{})) // without blanks
}

// zeros is a source of the first choice always.
type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

// TestPathsAgainstOracle evaluates random paths on random documents, and by a plain walk over the same tree.
func TestPathsAgainstOracle(t *testing.T) {
	rng := testbed.Random(t)
	found := 0
	for range 10_000 {
		doc := randomTree(rng, 5)
		text := doc.write(rng)
		if !gjson.Valid(text) {
			t.Fatalf("%s is no JSON: the test is wrong", text)
		}
		var steps []string
		captured := false
		for range 1 + rng.IntN(4) {
			s := pick(rng, "a", "b", "k", "t1", "[*]", "[1]", "[k=x]", "[k=1]", "{n}", "t{n}")
			if strings.Contains(s, "{") {
				if captured {
					continue
				}
				captured = true
			}
			steps = append(steps, s)
		}
		if len(steps) == 0 {
			continue
		}
		path := strings.TrimPrefix(strings.ReplaceAll("."+strings.Join(steps, "."), ".[", "["), ".")
		var want []string
		doc.walk(steps, "", &want)
		got := walked(t, text, path)
		if !slices.Equal(got, want) {
			t.Fatalf("%s of %s\n= %q\nwant %q", path, text, got, want)
		}
		found += len(got)
	}
	if found < 300 {
		t.Errorf("only %d values found: the test is weak", found)
	}
}

func walked(t *testing.T, text, path string) []string {
	var names []string
	p, err := parsePath(path, &names)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var out []string
	for _, n := range collect(nil, node{v: gjson.Parse(text)}, p.steps) {
		captures := ""
		if len(names) > 0 {
			captures = "|" + n.caps[0]
		}
		out = append(out, captures+" "+stripBlanks(n.v.Raw))
	}
	return out
}

// stripBlanks takes blanks out of JSON, but not out of its texts.
func stripBlanks(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 1
		if s[i] == '"' {
			for n = 1; s[i+n] != '"'; n++ {
				if s[i+n] == '\\' {
					n++
				}
			}
			n++
		}
		if n > 1 || !strings.ContainsAny(s[i:i+1], " \n\t") {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// TestMembers hands out the members of an object in order, whatever stands between them.
func TestMembers(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, ""}, {`[]`, ""}, {"{ }", ""}, {`{"a":1}`, "a=1 "}, {`[1,"x",null]`, `=1 ="x" =null `},
		{`{"a" : [1, {"b":2}] , "c":"}]\""}`, `a=[1, {"b":2}] c="}]\"" `}, {`{"a\u0062":-1.5e-3,"":true}`, "ab=-1.5e-3 =true "},
		{"[\n1\n,\r\n2\t]", "=1 =2 "}, {`[[],{},[[]]]`, "=[] ={} =[[]] "},
	} {
		var got string
		members(c.in, func(key, value string) bool {
			got += fmt.Sprintf("%s=%s ", key, value)
			return true
		})
		if got != c.want {
			t.Errorf("%s = %q, want %q", c.in, got, c.want)
		}
	}
	n := 0
	members(`[1,2,3]`, func(string, string) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d members after a stop at 2", n)
	}
}
