package buffer

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// first puts a store in o.Dir that the program made when there was only schema 1: what full makes.
func first(t *testing.T, o Options) {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "schema1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	floor, err := os.ReadFile(filepath.Join("testdata", "schema1.floor"))
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{Path(o.Dir): file, filepath.Join(o.Dir, floorName): floor} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func littleRing(t *testing.T) Options {
	o := ring(options(t.TempDir()))
	o.MaxSize = 1 << 20
	return o
}

func TestFromSchema1(t *testing.T) {
	want := content(t, full(t, littleRing(t)))
	o := littleRing(t)
	first(t, o)
	s := open(t, o)
	if got := content(t, s); got != want {
		t.Errorf("migrated\n%s\nwant\n%s", got, want)
	}
	if !exists(Path(o.Dir) + formerMark + "1") {
		t.Error("the former file is not kept")
	}
	commit(t, s, &Batch{Points: []Point{point(99)}})
}

// A damaged file of schema 1 is salvaged as one of schema 2 is.
func TestSalvageSchema1(t *testing.T) {
	o := littleRing(t)
	first(t, o)
	file, err := os.ReadFile(Path(o.Dir))
	if err != nil {
		t.Fatal(err)
	}
	copy(file, bytes.Repeat([]byte{0}, 2*pageSize)) // both meta pages
	if err := os.WriteFile(Path(o.Dir), file, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	c := s.Counts()
	if c.Queued != 20 || c.Parked != 2 || c.Carried != 22 {
		t.Errorf("carried over %+v; want 20 queued, 2 parked", c)
	}
}
