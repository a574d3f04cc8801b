package buffer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"edgeagent/testbed"
)

// A leaf is a page with data.
type leaf struct {
	bucket  string
	id      uint64
	numbers map[uint64]bool // that begin its keys
}

// leaves are the pages with data that the file's tree leads to, by bucket, free its free list if it is stored.
func leaves(t *testing.T, file []byte) (list []leaf, free uint64) {
	t.Helper()
	m, ok := parseMeta(file[:pageSize])
	if m1, ok1 := parseMeta(file[pageSize:]); ok1 && (!ok || m1.txid > m.txid) {
		m = m1
	}
	f := &pageFile{r: bytes.NewReader(file), pages: m.pages}
	fail := func(err error) error { t.Fatal(err); return err }
	tree, err := readTree(f, m.root, fail)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(tree.buckets)) {
		note := func(n node) error {
			l := leaf{name, binary.NativeEndian.Uint64(n.b), make(map[uint64]bool)}
			for i := range n.count {
				l.numbers[number(append(bytes.Clone(n.key(i)), make([]byte, 8)...))] = true
			}
			list = append(list, l)
			return nil
		}
		if s := tree.buckets[name]; s.root != 0 {
			_ = tree.walk(s.root, 0, nil, nil, note, fail)
		}
	}
	return list, m.freelist
}

// firsts are the first page of each bucket that has pages of its own.
func firsts(list []leaf) []leaf {
	return slices.CompactFunc(slices.Clone(list), func(a, b leaf) bool { return a.bucket == b.bucket })
}

func page(file []byte, id uint64) []byte { return file[id*pageSize : (id+1)*pageSize] }

func TestDamagedPages(t *testing.T) {
	for _, synced := range []bool{false, true} {
		tr := fiveThousand(t, synced)
		list, free := leaves(t, tr.file)
		r := rand.New(rand.NewPCG(1, 2))
		damages := map[string]func(d []byte){
			"page 0": func(d []byte) { clear(page(d, 0)) },
			"page 1": func(d []byte) { clear(page(d, 1)) },
			"both":   func(d []byte) { clear(d[:2*pageSize]) },
		}
		if synced {
			damages["free list zero"] = func(d []byte) { clear(page(d, free)) }
			damages["free list random"] = func(d []byte) { scramble(r, page(d, free)) }
			damages["free list of pages in use"] = func(d []byte) {
				for i := range 8 {
					binary.NativeEndian.PutUint64(page(d, free)[headerSize+8*i:], list[i].id)
				}
			}
		}
		for name, damage := range damages {
			for _, clean := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s synced=%v clean=%v", name, synced, clean), func(t *testing.T) {
					data := bytes.Clone(tr.file)
					damage(data)
					f := tr.suffer(t, data, clean)
					if f.readings != tr.readings || f.points != len(tr.lines) {
						t.Errorf("%d readings and %d points are left, want all: %d and %d", f.readings, f.points, tr.readings, len(tr.lines))
					}
				})
			}
		}
	}
}

// One page in the place of another, or two that have changed places, of every pair of kinds: what is on them is lost, and no more. Where the
// state is among it the store goes back by one commit.
func TestMisplacedPages(t *testing.T) {
	for _, synced := range []bool{false, true} {
		tr := fiveThousand(t, synced)
		list, _ := leaves(t, tr.file)
		firsts := firsts(list)
		if len(firsts) < 4 {
			t.Fatalf("%d buckets have pages of their own, want journal, outbox, packets and state", len(firsts))
		}
		for i, a := range firsts {
			for j, b := range firsts {
				if i == j {
					continue
				}
				name := fmt.Sprintf("%s as %s synced=%v", b.bucket, a.bucket, synced)
				t.Run(name, func(t *testing.T) {
					data := bytes.Clone(tr.file)
					copy(page(data, a.id), page(tr.file, b.id))
					tr.keepsRest(t, tr.suffer(t, data, i < j), a)
				})
				if i > j {
					continue
				}
				t.Run("and back "+name, func(t *testing.T) {
					data := bytes.Clone(tr.file)
					copy(page(data, a.id), page(tr.file, b.id))
					copy(page(data, b.id), page(tr.file, a.id))
					tr.keepsRest(t, tr.suffer(t, data, synced), a, b)
				})
			}
		}
	}
}

// keepsRest wants only what was on some pages lost.
func (tr truth) keepsRest(t *testing.T, f fate, lost ...leaf) {
	t.Helper()
	least, most, points := tr.readings, tr.readings, len(tr.lines)
	for _, l := range lost {
		switch l.bucket {
		case bucketJournal:
			for n := range l.numbers {
				least, most = least-len(tr.entries[n]), most-len(tr.entries[n])
			}
		case bucketOutbox:
			points -= len(l.numbers)
		case bucketState:
			least -= len(tr.entries[uint64(tr.commits)])
		}
	}
	if f.used || f.readings < least || f.readings > most || f.points != points {
		t.Errorf("used: %v, with %d readings and %d points, want %d to %d and %d", f.used, f.readings, f.points, least, most, points)
	}
}

func scramble(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// Random bytes in one random page, with a free list that is stored and not, after a clean stop and an unclean one.
func TestRandomBytesInAPage(t *testing.T) {
	seeds := 10
	if long() {
		seeds = 200
	}
	r := testbed.Random(t)
	for _, synced := range []bool{false, true} {
		tr := fiveThousand(t, synced)
		var sum toll
		for range seeds {
			for _, clean := range []bool{true, false} {
				data := bytes.Clone(tr.file)
				scramble(r, page(data, r.Uint64N(uint64(len(data)/pageSize))))
				sum.add(tr, tr.suffer(t, data, clean))
			}
		}
		t.Logf("free list stored: %v", synced)
		sum.report(t)
	}
}

// The same in a part of a page of the tree, which may leave its structure as it is.
func TestRandomBytesInASector(t *testing.T) {
	seeds := 20
	if long() {
		seeds = 200
	}
	r := testbed.Random(t)
	tr := fiveThousand(t, false)
	list, _ := leaves(t, tr.file)
	var sum toll
	for i := range seeds {
		data := bytes.Clone(tr.file)
		at := r.IntN(pageSize)
		scramble(r, page(data, list[r.IntN(len(list))].id)[at:min(at+1<<r.IntN(10), pageSize)])
		sum.add(tr, tr.suffer(t, data, i%2 == 0))
	}
	sum.report(t)
}

func TestShortFile(t *testing.T) {
	tr := fiveThousand(t, false)
	var sum toll
	for _, size := range []int{0, 1, pageSize, 2 * pageSize, len(tr.file) / 2, len(tr.file) - pageSize, len(tr.file)} {
		data := bytes.Clone(tr.file[:size])
		if size == len(tr.file) {
			clear(data)
		}
		for _, clean := range []bool{true, false} {
			f := tr.suffer(t, data, clean)
			t.Logf("%d of %d bytes: %+v", size, len(tr.file), f)
			sum.add(tr, f)
		}
	}
	sum.report(t)
}

// Within a page a value that has become shorter and an element that is gone leave the tree sound, and the counters wrong.
func TestDamageThatOnlyTheCountersShow(t *testing.T) {
	tr := fiveThousand(t, false)
	list, _ := leaves(t, tr.file)
	for name, damage := range map[string]func(page []byte){
		"shorter value": func(b []byte) {
			binary.NativeEndian.PutUint32(b[headerSize+12:], binary.NativeEndian.Uint32(b[headerSize+12:])-4)
		},
		"one less": func(b []byte) { binary.NativeEndian.PutUint16(b[10:], binary.NativeEndian.Uint16(b[10:])-1) },
	} {
		for _, l := range firsts(list) {
			if l.bucket != bucketJournal && l.bucket != bucketOutbox {
				continue
			}
			t.Run(name+" "+l.bucket, func(t *testing.T) {
				data := bytes.Clone(tr.file)
				damage(page(data, l.id))
				f := tr.suffer(t, data, true)
				readings, points := tr.readings, len(tr.lines)-1
				if l.bucket == bucketJournal {
					readings, points = tr.readings-50, len(tr.lines)
				}
				if f.used || f.readings != readings || f.points != points {
					t.Errorf("used: %v, with %d readings and %d points, want %d and %d", f.used, f.readings, f.points, readings, points)
				}
			})
		}
	}
}
