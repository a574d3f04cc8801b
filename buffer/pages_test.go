package buffer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// leaves are the pages with data that the file's tree leads to, free its free list if it is stored.
func leaves(t *testing.T, file []byte) (list []uint64, free uint64) {
	t.Helper()
	m, ok := parseMeta(file[:pageSize])
	if m1, ok1 := parseMeta(file[pageSize:]); ok1 && (!ok || m1.txid > m.txid) {
		m = m1
	}
	f := &pageFile{r: bytes.NewReader(file), pages: m.pages}
	note := func(n node) error {
		if id := binary.NativeEndian.Uint64(n.b); id != 0 {
			list = append(list, id)
		}
		return nil
	}
	fail := func(err error) error { t.Fatal(err); return err }
	tree, err := readTree(f, m.root, fail)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tree.buckets {
		if s.root != 0 {
			_ = tree.walk(s.root, 0, nil, nil, note, fail)
		}
	}
	return list, m.freelist
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
			"swapped": func(d []byte) {
				a, b := page(d, list[0]), page(d, list[1])
				c := bytes.Clone(a)
				copy(a, b)
				copy(b, c)
			},
			"same twice": func(d []byte) { copy(page(d, list[0]), page(d, list[1])) },
		}
		if synced {
			damages["free list zero"] = func(d []byte) { clear(page(d, free)) }
			damages["free list random"] = func(d []byte) { scramble(r, page(d, free)) }
			damages["free list of pages in use"] = func(d []byte) {
				for i := range 8 {
					binary.NativeEndian.PutUint64(page(d, free)[headerSize+8*i:], list[i])
				}
			}
		}
		for name, damage := range damages {
			for _, clean := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s synced=%v clean=%v", name, synced, clean), func(t *testing.T) {
					data := bytes.Clone(tr.file)
					damage(data)
					f := tr.suffer(t, data, clean)
					pages := strings.HasPrefix(name, "s") // two leaves are lost, with what is on them
					if !pages && (f.readings != tr.readings || f.points != len(tr.lines)) {
						t.Errorf("%d readings and %d points are left, want all: %d and %d", f.readings, f.points, tr.readings, len(tr.lines))
					}
					if pages && (f.used || f.readings < tr.readings*8/10 || f.points < len(tr.lines)/2) {
						t.Errorf("%d readings and %d points are left", f.readings, f.points)
					}
				})
			}
		}
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
	r := seed(t)
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
	r := seed(t)
	tr := fiveThousand(t, false)
	list, _ := leaves(t, tr.file)
	var sum toll
	for i := range seeds {
		data := bytes.Clone(tr.file)
		at := r.IntN(pageSize)
		scramble(r, page(data, list[r.IntN(len(list))])[at:min(at+1<<r.IntN(10), pageSize)])
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
