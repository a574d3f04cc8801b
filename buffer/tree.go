package buffer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// A tree is what one meta page of a file leads to, read with a pageFile.
type tree struct {
	file    *pageFile
	root    uint64
	seen    bitmap // pages met so far
	buckets map[string]subtree
}

// A subtree is one bucket. A small one has no page of its own.
type subtree struct {
	root   uint64
	inline []byte
}

type bitmap []uint64

// set sets bit n and reports whether it was set.
func (b bitmap) set(n uint64) bool {
	word, bit := &b[n/64], uint64(1)<<(n%64)
	was := *word&bit != 0
	*word |= bit
	return was
}

// readTree reads the root and finds the buckets. A fault in it goes to fault, which says whether to go on without.
func readTree(f *pageFile, root uint64, fault func(error) error) (*tree, error) {
	t := &tree{file: f, root: root, seen: make(bitmap, f.pages/64+1), buckets: make(map[string]subtree)}
	return t, t.walk(root, 0, nil, nil, t.find, fault)
}

// find notes the buckets of a leaf below the root.
func (t *tree) find(n node) error {
	for i := range n.count {
		v := n.value(i)
		if !n.isBucket(i) || len(v) < bucketSize {
			return fmt.Errorf("element %q is no bucket", n.key(i))
		}
		s := subtree{root: binary.NativeEndian.Uint64(v)}
		if s.root == 0 {
			s.inline = bytes.Clone(v[bucketSize:])
		}
		t.buckets[string(n.key(i))] = s
	}
	return nil
}

// each calls fn for every key and value of a bucket, in order; they are valid during the call. A page that cannot be read goes
// to fault, which says whether to go on without it; an error of fn ends the walk.
func (t *tree) each(bucket string, fn func(k, v []byte) error, fault func(error) error) error {
	s, ok := t.buckets[bucket]
	if !ok {
		return fault(fmt.Errorf("bucket %s is missing", bucket))
	}
	leaf := func(n node) error {
		for i := range n.count {
			if n.isBucket(i) {
				if err := fault(fmt.Errorf("bucket %s has a bucket in it", bucket)); err != nil {
					return err
				}
				continue
			}
			if err := fn(n.key(i), n.value(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if s.root != 0 {
		return t.walk(s.root, 0, nil, nil, leaf, fault)
	}
	n, err := parseNode(s.inline)
	if err == nil && !n.leaf {
		err = errKind
	}
	if err == nil {
		err = n.ordered(nil, nil)
	}
	if err != nil {
		return fault(fmt.Errorf("bucket %s: %w", bucket, err))
	}
	return leaf(n)
}

// walk calls leaf for the leaves below page id, whose keys must be from low on and below high.
func (t *tree) walk(id uint64, depth int, low, high []byte, leaf func(node) error, fault func(error) error) error {
	n, err := t.take(id, depth)
	if err == nil {
		err = n.ordered(low, high)
	}
	if err != nil {
		return fault(fmt.Errorf("page %d: %w", id, err))
	}
	if n.leaf {
		return leaf(n)
	}
	for i := range n.count {
		next := high
		if i+1 < n.count {
			next = n.key(i + 1)
		}
		if err := t.walk(n.child(i), depth+1, n.key(i), next, leaf, fault); err != nil {
			return err
		}
	}
	return nil
}

// take reads a node that must not have been met before.
func (t *tree) take(id uint64, depth int) (node, error) {
	n, pages, err := t.file.node(id, depth)
	if err != nil {
		return node{}, err
	}
	for i := range pages {
		if t.seen.set(id + i) {
			return node{}, errTwice
		}
	}
	return n, nil
}

// verify reads all pages that bbolt will walk when it opens the file, compares the counters with what is on them, and reports the first fault. It is
// what lets bbolt, which panics in a goroutine of its own, have the file.
func verify(f *pageFile, m meta) error {
	stop := func(err error) error { return err }
	t, err := readTree(f, m.root, stop)
	if err != nil {
		return err
	}
	if err := t.census(); err != nil {
		return err
	}
	if m.freelist == noFreelist {
		return nil
	}
	if err := t.verifyFree(m.freelist); err != nil {
		return fmt.Errorf("free list on page %d: %w", m.freelist, err)
	}
	return nil
}

// verifyFree checks a stored free list, as another tool may leave one: the pages in it must not be in use. A page of more than
// 65,534 numbers has their count in the place of the first.
func (t *tree) verifyFree(id uint64) error {
	order := binary.NativeEndian
	b, err := t.file.read(id, 1, 0)
	if err != nil {
		return err
	}
	pages := 1 + uint64(order.Uint32(b[12:]))
	if order.Uint64(b) != id || order.Uint16(b[8:]) != freelistPage {
		return errKind
	}
	if b, err = t.file.read(id, pages, 0); err != nil {
		return err
	}
	count, list := uint64(order.Uint16(b[10:])), b[headerSize:]
	if count == math.MaxUint16 {
		count, list = order.Uint64(list), list[8:]
	}
	if count > uint64(len(list)/8) {
		return errBounds
	}
	for i := range pages {
		t.seen.set(id + i)
	}
	for ; count > 0; count, list = count-1, list[8:] {
		free := order.Uint64(list)
		if free < 2 || free >= t.file.pages {
			return errOutside
		}
		if t.seen.set(free) {
			return errTwice
		}
	}
	return nil
}
