package reading

import (
	"strings"

	"github.com/tidwall/gjson"
)

// A node is one value that a path found, with what its captures took.
type node struct {
	v     gjson.Result
	caps  [maxCaptures]string
	loose bool // the last step was a bare {name}: any key at all
}

// exists reports whether v is there and not null.
func exists(v gjson.Result) bool { return v.Type != gjson.Null }

// inside is v, or what a text that holds JSON holds: a step into it parses it.
func inside(v gjson.Result) gjson.Result {
	if v.Type != gjson.String {
		return v
	}
	s := strings.TrimSpace(v.Str)
	if s == "" || s[0] != '{' && s[0] != '[' || tooDeep(s) || !gjson.Valid(s) {
		return v
	}
	return gjson.Parse(s)
}

// child is the value of a key, a zero Result if v is no object or has no such key. Of equal keys the first counts.
func child(v gjson.Result, key string) gjson.Result {
	if v = inside(v); !v.IsObject() {
		return gjson.Result{}
	}
	found := ""
	members(v.Raw, func(k, val string) bool {
		if k == key {
			found = val
		}
		return found == ""
	})
	return foundValue(found)
}

// element is the n-th value of an array, a zero Result if there is none.
func element(v gjson.Result, n int) gjson.Result {
	if v = inside(v); !v.IsArray() {
		return gjson.Result{}
	}
	found := ""
	members(v.Raw, func(_, val string) bool {
		if n == 0 {
			found = val
		}
		n--
		return n >= 0
	})
	return foundValue(found)
}

func foundValue(raw string) gjson.Result {
	if raw == "" {
		return gjson.Result{}
	}
	return parseValue(raw)
}

// matches reports whether v has the key with that text, number or boolean.
func matches(v gjson.Result, key, want string) bool {
	c := child(v, key)
	switch c.Type {
	case gjson.String:
		return c.Str == want
	case gjson.Number, gjson.True, gjson.False:
		return c.Raw == want
	}
	return false
}

// find is the first value at the steps, a zero Result if there is none. Captures are not allowed in them.
func find(v gjson.Result, steps []step) gjson.Result {
	for i := range steps {
		st := &steps[i]
		switch st.kind {
		case keyStep:
			v = child(v, st.key)
		case indexStep:
			v = element(v, st.n)
		default:
			v = firstMatch(v, st)
		}
		if v.Raw == "" {
			return gjson.Result{}
		}
	}
	return v
}

// firstMatch is the first element that fits the filter, or an object itself if it fits.
func firstMatch(v gjson.Result, st *step) gjson.Result {
	if v = inside(v); v.IsObject() && matches(v, st.key, st.post) {
		return v
	}
	if !v.IsArray() {
		return gjson.Result{}
	}
	found := ""
	members(v.Raw, func(_, val string) bool {
		if matches(parseValue(val), st.key, st.post) {
			found = val
		}
		return found == ""
	})
	return foundValue(found)
}

// collect appends every value at the steps to nodes, in text order. n carries the captures so far.
func collect(nodes []node, n node, steps []step) []node {
	if len(steps) == 0 {
		return append(nodes, n)
	}
	st := &steps[0]
	if st.kind == keyStep || st.kind == indexStep {
		if n.v = find(n.v, steps[:1]); n.v.Raw == "" {
			return nodes
		}
		n.loose = false
		return collect(nodes, n, steps[1:])
	}
	v := inside(n.v)
	keyed := st.kind == anyStep || st.kind == affixStep
	if st.kind == filterStep && v.IsObject() {
		if !st.take("", v, &n) {
			return nodes
		}
		return collect(nodes, n, steps[1:])
	}
	if keyed && !v.IsObject() || !keyed && !v.IsArray() {
		return nodes
	}
	members(v.Raw, func(k, val string) bool {
		if st.take(k, parseValue(val), &n) {
			nodes = collect(nodes, n, steps[1:])
		}
		return true
	})
	return nodes
}

// take reports whether a wildcard step goes to this value, and puts it and the capture into n.
func (st *step) take(key string, val gjson.Result, n *node) bool {
	switch st.kind {
	case anyStep:
		n.caps[st.slot] = key
	case affixStep:
		text, ok := cutAround(key, st.key, st.post)
		if !ok || !alphanumeric(text) {
			return false
		}
		n.caps[st.slot] = text
	case filterStep:
		if !matches(val, st.key, st.post) {
			return false
		}
	}
	n.v, n.loose = val, st.kind == anyStep
	return true
}

func alphanumeric(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
