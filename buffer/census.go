package buffer

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
)

// A census counts what the buckets of a file hold while their pages are looked at, checksums left aside. Damage within a page that leaves its
// structure sound, such as another length of a value or fewer values, shows in nothing else; the counters would be wrong from then on.
type census struct {
	wreck
	uplinks map[string][]byte // their records
	audit   *auditor          // nil if the counters cannot be read or are of another schema: then others judge
}

// census reads all buckets of t and reports the first fault.
func (t *tree) census() error {
	c := census{wreck: wreck{tree: t, state: make(map[string][]byte)}, uplinks: make(map[string][]byte)}
	names := []string{bucketState, bucketUplinks}
	for _, name := range slices.Sorted(maps.Keys(t.buckets)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if i == 2 {
			c.begin()
		}
		if _, ok := t.buckets[name]; !ok {
			continue
		}
		if err := c.count(name); err != nil {
			return err
		}
	}
	if c.audit == nil {
		return nil
	}
	for _, fault := range c.audit.faults() {
		return fault
	}
	return nil
}

// begin prepares the comparison once state and uplinks are read.
func (c *census) begin() {
	version, err := c.number(keySchema)
	if err != nil || len(version) != 8 || binary.BigEndian.Uint64(version) != schema {
		return
	}
	data, err := c.number(keyCounters)
	if err != nil {
		return
	}
	n, err := decodeCounters(data)
	if err != nil {
		return
	}
	c.audit = newAuditor(n, func(fn func(k, v []byte) error) error {
		for _, name := range slices.Sorted(maps.Keys(c.uplinks)) {
			_ = fn([]byte(name), c.uplinks[name])
		}
		return nil
	})
}

// count reads one bucket.
func (c *census) count(name string) error {
	audited := c.audit != nil && slices.Contains(buckets[:], name)
	return c.each(name, func(k, v []byte) error {
		switch {
		case audited:
			c.audit.add(name, k, v)
		case name == bucketState:
			c.state[string(k)] = bytes.Clone(v)
		case name == bucketUplinks:
			c.uplinks[string(k)] = bytes.Clone(v)
		}
		return nil
	}, func(err error) error { return err })
}
