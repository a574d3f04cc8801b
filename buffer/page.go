package buffer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The page format of bbolt, in the byte order of the machine: a header of 16 bytes (page number 64 bits, flags 16, count 16,
// overflow 32), then count elements of 16 bytes (branch: position and size of the key 32 bits each, child page 64;
// leaf: flags, position, size of key and of value, 32 bits each), then keys and values. Positions count from the element.
const (
	headerSize   = 16
	elementSize  = 16
	branchPage   = 1
	leafPage     = 2
	freelistPage = 16
	bucketEntry  = 1              // flag of a leaf element: the value is a bucket
	bucketSize   = 16             // a bucket's root page and sequence, 64 bits each; with root page 0 its only page follows
	noFreelist   = math.MaxUint64 // in place of the page of the free list: it is not stored
	maxDepth     = 24             // of a tree; two keys a page and 2^24 pages would be 64 GiB
	maxOverflow  = 4096           // pages that belong to one node: 16 MiB
)

var (
	errKind    = errors.New("neither branch nor leaf")
	errBounds  = errors.New("an element points outside of it")
	errOrder   = errors.New("keys are not in order")
	errTwice   = errors.New("it is referred to twice")
	errOutside = errors.New("it is outside of the file")
	errDepth   = errors.New("the tree is too deep")
)

// A node is one page of a tree with what overflows it, whose elements are known to lie within it. It is valid until the next
// node of the same depth is read.
type node struct {
	leaf  bool
	count int
	b     []byte
}

// parseNode checks that b, header and all, is a branch or leaf page.
func parseNode(b []byte) (node, error) {
	if len(b) < headerSize {
		return node{}, errBounds
	}
	order := binary.NativeEndian
	flags := order.Uint16(b[8:])
	n := node{leaf: flags == leafPage, count: int(order.Uint16(b[10:])), b: b}
	if flags != leafPage && flags != branchPage || !n.leaf && n.count == 0 {
		return node{}, errKind
	}
	if headerSize+n.count*elementSize > len(b) {
		return node{}, errBounds
	}
	for i := range n.count {
		pos, key, value := n.element(i)
		if end := uint64(headerSize+i*elementSize) + pos + key + value; end > uint64(len(b)) {
			return node{}, errBounds
		}
	}
	return n, nil
}

// element is where key and value of element i are, counted from the element, and how long they are.
func (n node) element(i int) (pos, key, value uint64) {
	e, order := n.b[headerSize+i*elementSize:], binary.NativeEndian
	if n.leaf {
		return uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
	}
	return uint64(order.Uint32(e)), uint64(order.Uint32(e[4:])), 0
}

func (n node) key(i int) []byte {
	pos, key, _ := n.element(i)
	from := uint64(headerSize+i*elementSize) + pos
	return n.b[from : from+key : from+key]
}

func (n node) value(i int) []byte {
	pos, key, value := n.element(i)
	from := uint64(headerSize+i*elementSize) + pos + key
	return n.b[from : from+value : from+value]
}

// child is the page below branch element i.
func (n node) child(i int) uint64 {
	return binary.NativeEndian.Uint64(n.b[headerSize+i*elementSize+8:])
}

// isBucket reports whether leaf element i is a bucket.
func (n node) isBucket(i int) bool {
	return binary.NativeEndian.Uint32(n.b[headerSize+i*elementSize:])&bucketEntry != 0
}

// ordered checks that the keys rise, from low on and below high; nil is no bound.
func (n node) ordered(low, high []byte) error {
	for i := range n.count {
		key := n.key(i)
		if c := bytes.Compare(key, low); c < 0 || c == 0 && i > 0 {
			return errOrder
		}
		low = key
	}
	if n.count > 0 && high != nil && bytes.Compare(low, high) >= 0 {
		return errOrder
	}
	return nil
}

// A pageFile reads the pages of a bbolt file one by one. Unlike a mapping it cannot fault, whatever the file holds.
type pageFile struct {
	r     io.ReaderAt
	pages uint64           // below which page numbers are valid
	bufs  [maxDepth][]byte // by depth
}

// node reads the node that begins at page id. buf is of its depth.
func (f *pageFile) node(id uint64, depth int) (node, uint64, error) {
	if depth >= maxDepth {
		return node{}, 0, errDepth
	}
	b, err := f.read(id, 1, depth)
	if err != nil {
		return node{}, 0, err
	}
	order := binary.NativeEndian
	if got := order.Uint64(b); got != id {
		return node{}, 0, fmt.Errorf("it says that it is page %d", got)
	}
	n := 1 + uint64(order.Uint32(b[12:]))
	if n > 1 {
		if b, err = f.read(id, n, depth); err != nil {
			return node{}, 0, err
		}
	}
	parsed, err := parseNode(b)
	return parsed, n, err
}

func (f *pageFile) read(id, n uint64, depth int) ([]byte, error) {
	if id < 2 || id >= f.pages || n > f.pages-id || n > maxOverflow {
		return nil, errOutside
	}
	size := int(n * pageSize)
	if cap(f.bufs[depth]) < size {
		f.bufs[depth] = make([]byte, size)
	}
	b := f.bufs[depth][:size]
	_, err := f.r.ReadAt(b, int64(id)*pageSize)
	return b, err
}
