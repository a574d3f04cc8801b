package configs

import (
	"bytes"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A path leads to a key of the file. The zero path is the file as a whole.
type path struct {
	up    *path
	id    string // with the index of list elements, as the positions have it: source[1].topic
	shown string // without, as people read it: source.topic
}

func (p path) key(name string) path {
	name = keyText(name)
	sep := "."
	if p.id == "" {
		sep = ""
	}
	return path{&p, p.id + sep + name, p.shown + sep + name}
}

func (p path) index(i int) path {
	return path{&p, fmt.Sprintf("%s[%d]", p.id, i), p.shown}
}

// at leads down from the root: at("mqtt", "tls").
func at(names ...string) path {
	var p path
	for _, n := range names {
		p = p.key(n)
	}
	return p
}

// keyText is name as a key of TOML: bare if it may be, else in quotes.
func keyText(name string) string {
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return quote(name)
		}
	}
	if name == "" {
		return quote(name)
	}
	return name
}

type position struct{ line, col int }

// positions says where each key, section and list element of a text stands, by path.id.
type positions map[string]position

// of is where p stands, or else the nearest thing around it that is in the file.
func (ps positions) of(p path) position {
	for q := &p; q != nil; q = q.up {
		if pos, ok := ps[q.id]; ok {
			return pos
		}
	}
	return position{1, 1}
}

func (ps positions) has(p path) bool {
	_, ok := ps[p.id]
	return ok
}

// An indexer walks the syntax tree of a text. The decoder of go-toml gives values without their places, and its errors
// stop at the first; the tree comes from its package unstable, which this file alone uses.
type indexer struct {
	text   []byte
	parser unstable.Parser
	found  positions
	lists  map[string]int // elements of each [[list]] so far
}

// index finds the places of all that is in a text that is valid TOML.
func index(text []byte) positions {
	x := indexer{text: text, found: positions{}, lists: map[string]int{}}
	x.parser.Reset(text)
	var section path
	for x.parser.NextExpression() {
		switch n := x.parser.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			section = x.header(n)
		case unstable.KeyValue:
			x.keyValue(section, n)
		}
	}
	return x.found
}

// header notes [a.b] or [[a.b]] and gives its path. A name that is a list means its last element.
func (x *indexer) header(n *unstable.Node) path {
	var p path
	for it := n.Key(); it.Next(); {
		p = p.key(string(it.Node().Data))
		x.note(p, it.Node())
		if it.IsLast() && n.Kind == unstable.ArrayTable {
			x.lists[p.id]++
		}
		if count := x.lists[p.id]; count > 0 {
			p = p.index(count - 1)
			x.note(p, it.Node())
		}
	}
	return p
}

func (x *indexer) keyValue(section path, n *unstable.Node) {
	p := section
	for it := n.Key(); it.Next(); {
		p = p.key(string(it.Node().Data))
		x.note(p, it.Node())
	}
	x.value(p, n.Value())
}

func (x *indexer) value(p path, n *unstable.Node) {
	it := n.Children()
	switch n.Kind {
	case unstable.InlineTable:
		for it.Next() {
			x.keyValue(p, it.Node())
		}
	case unstable.Array:
		for i := 0; it.Next(); i++ {
			x.note(p.index(i), it.Node())
			x.value(p.index(i), it.Node())
		}
	}
}

// note keeps the first place of p. Nodes without one of their own, such as lists within lists, are left to what is
// around them.
func (x *indexer) note(p path, n *unstable.Node) {
	if n.Raw.Length == 0 || x.found.has(p) {
		return
	}
	before := x.text[:n.Raw.Offset]
	x.found[p.id] = position{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')}
}
