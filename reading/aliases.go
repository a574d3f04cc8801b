package reading

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Bounds of the alias table. The edge node whose birth is longest ago makes room.
const (
	maxAliases    = 8192
	maxAliasBytes = 256 << 10
)

// An aliasTable holds the aliases of every Sparkplug edge node, the node with the latest birth last.
type aliasTable struct {
	nodes   []edgeNode
	count   int
	bytes   int
	changed bool
}

// An edgeNode is what the births of one edge node and its devices defined: an alias is unique in it.
type edgeNode struct {
	Node    string                  `json:"node"` // group/node
	Metrics map[uint64]aliasMeaning `json:"metrics"`
}

// An aliasMeaning is what a birth says once and data messages leave out.
type aliasMeaning struct {
	Name string `json:"name"`
	Kind uint64 `json:"type,omitempty"`
}

// Aliases is the Sparkplug alias table as a value to be stored, nil if it is empty. Equal tables give equal bytes. It clears
// what AliasesChanged reports.
func (d *Decoder) Aliases() []byte {
	d.aliases.changed = false
	if len(d.aliases.nodes) == 0 {
		return nil
	}
	b, err := json.Marshal(d.aliases.nodes)
	if err != nil {
		panic(fmt.Sprintf("BUG: encoding %d alias tables: %v", len(d.aliases.nodes), err))
	}
	return b
}

// AliasesChanged reports whether a birth changed the table since the last Aliases or SetAliases.
func (d *Decoder) AliasesChanged() bool { return d.aliases.changed }

// SetAliases puts a table from Aliases back; nil empties it. On an error the table stays as it is.
func (d *Decoder) SetAliases(b []byte) error {
	var t aliasTable
	if len(b) > 0 {
		if err := json.Unmarshal(b, &t.nodes); err != nil {
			return fmt.Errorf("read Sparkplug aliases: %w", err)
		}
	}
	for i := range t.nodes {
		t.count += len(t.nodes[i].Metrics)
		t.bytes += t.nodes[i].size()
	}
	d.aliases = t
	return nil
}

func (t *aliasTable) find(node string) int {
	return slices.IndexFunc(t.nodes, func(n edgeNode) bool { return n.Node == node })
}

// learn takes in a birth. That of the node itself begins a new session: what was known of it is forgotten.
func (t *aliasTable) learn(node string, metrics []metric, fresh bool) {
	before := edgeNode{Node: node}
	if i := t.find(node); i >= 0 {
		t.changed = t.changed || i != len(t.nodes)-1
		before = t.nodes[i]
		t.remove(i)
	}
	after := edgeNode{Node: node, Metrics: map[uint64]aliasMeaning{}}
	if !fresh {
		for alias, meaning := range before.Metrics {
			after.Metrics[alias] = meaning
		}
	}
	for i := range metrics {
		if m := &metrics[i]; m.aliased && m.name != "" {
			after.Metrics[m.alias] = aliasMeaning{m.name, m.kind}
		}
	}
	t.changed = t.changed || !sameMeanings(before.Metrics, after.Metrics)
	t.add(after)
}

func sameMeanings(a, b map[uint64]aliasMeaning) bool {
	if len(a) != len(b) {
		return false
	}
	for alias, meaning := range a {
		if b[alias] != meaning {
			return false
		}
	}
	return true
}

// add appends a node with aliases and lets others go to make room. One that is too large by itself is not kept.
func (t *aliasTable) add(n edgeNode) {
	size := n.size()
	if len(n.Metrics) == 0 || len(n.Metrics) > maxAliases || size > maxAliasBytes {
		return
	}
	for t.count+len(n.Metrics) > maxAliases || t.bytes+size > maxAliasBytes {
		t.remove(0)
	}
	t.nodes = append(t.nodes, n)
	t.count += len(n.Metrics)
	t.bytes += size
}

func (n *edgeNode) size() int {
	size := len(n.Node)
	for _, meaning := range n.Metrics {
		size += len(meaning.Name)
	}
	return size
}

func (t *aliasTable) remove(i int) {
	t.count -= len(t.nodes[i].Metrics)
	t.bytes -= t.nodes[i].size()
	t.nodes = slices.Delete(t.nodes, i, i+1)
}

// resolve puts the meaning of an alias into a metric and reports whether it is known.
func (t *aliasTable) resolve(node string, m *metric) bool {
	i := t.find(node)
	if i < 0 {
		return false
	}
	meaning, ok := t.nodes[i].Metrics[m.alias]
	if !ok {
		return false
	}
	m.name = meaning.Name
	if m.kind == 0 {
		m.kind = meaning.Kind
	}
	return true
}
