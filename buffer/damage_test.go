package buffer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// filled makes a store with some content, a floor, and closes it; it reports the file's bytes.
func filled(t *testing.T, o Options) []byte {
	t.Helper()
	s := open(t, o)
	for i := range 50 {
		commit(t, s, &Batch{State: []byte("s"), Points: []Point{point(i)}, Journal: []Entry{{Series: "a", Time: int64(i)}}})
	}
	peek(t, s, 0)
	closeChecked(t, s)
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDamagedFileIsMovedAside(t *testing.T) {
	zero := func(d []byte, from, to int) []byte { clear(d[from:to]); return d }
	for name, damage := range map[string]func([]byte) []byte{
		"empty":          func(d []byte) []byte { return nil },
		"one byte":       func(d []byte) []byte { return d[:1] },
		"one page":       func(d []byte) []byte { return d[:pageSize] },
		"two pages":      func(d []byte) []byte { return d[:2*pageSize] },
		"three pages":    func(d []byte) []byte { return d[:3*pageSize] },
		"zeros":          func(d []byte) []byte { return zero(d, 0, len(d)) },
		"both metas":     func(d []byte) []byte { return zero(d, 0, 2*pageSize) },
		"other contents": func(d []byte) []byte { return bytes.Repeat([]byte("no store "), 10000) },
		"state": func(d []byte) []byte {
			for i := 0; ; { // every copy of the counters, old ones too
				n := bytes.Index(d[i:], []byte(keyCounters))
				if n < 0 {
					return d
				}
				i += n + len(keyCounters)
				d[i+20] ^= 1
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t.TempDir())
			data := damage(filled(t, o))
			path := filepath.Join(o.Dir, fileName)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			logger, text := logged()
			o.Logger = logger
			s := open(t, o)
			snap := load(t, s)
			if saved := snap.Salvaged; !snap.Fresh || snap.Resets != 1 || saved == nil || !saved.Whole && snap.Floor != 49*minute {
				t.Errorf("Load = %+v, want a fresh store with floor %d unless all was saved", snap, 49*minute)
			}
			want := []string{fileName, fileName + ".damaged-20260304-1", floorName}
			if got := names(t, o.Dir); !slices.Equal(got, want) {
				t.Errorf("files %v, want %v", got, want)
			}
			if kept, _ := os.ReadFile(path + ".damaged-20260304-1"); !bytes.Equal(kept, data) {
				t.Error("the file moved aside is not what it was")
			}
			if strings.Count(text.String(), "\n") != 1 || !strings.Contains(text.String(), "damaged-20260304-1") {
				t.Errorf("log %q, want one line that names the file moved aside", text)
			}
			commit(t, s, &Batch{Points: []Point{point(1)}})
		})
	}
}

// Of the last commit all but its meta page is there: nothing is lost, whether it was torn as it was written or rotted later.
func TestOneTornMetaPageLosesNothing(t *testing.T) {
	for page := range 2 {
		o := options(t.TempDir())
		data := filled(t, o)
		clear(data[page*pageSize+64 : page*pageSize+pageSize]) // transaction number and checksum are lost
		if err := os.WriteFile(filepath.Join(o.Dir, fileName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, o)
		if n, queued := load(t, s).NextSeq, len(peek(t, s, 0)); n != 51 || queued != 50 {
			t.Errorf("meta page %d torn: next sequence %d with %d points, want 51 with 50", page, n, queued)
		}
	}
}

func TestNewestTwoDamagedAreKept(t *testing.T) {
	o := options(t.TempDir())
	for i := range 4 {
		o.Now = func() time.Time { return day.AddDate(0, 0, -i) } // a clock that goes back must not confuse it
		content := []byte(fmt.Sprint("damaged ", i))
		if err := os.WriteFile(filepath.Join(o.Dir, fileName), content, 0o600); err != nil {
			t.Fatal(err)
		}
		closeChecked(t, open(t, o))
	}
	want := []string{cleanName, fileName, fileName + ".damaged-20260301-4", fileName + ".damaged-20260302-3", floorName}
	if got := names(t, o.Dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

func TestStaleTempsAreRemoved(t *testing.T) {
	o := options(t.TempDir())
	for _, name := range []string{fileName + ".tmp-1", floorName + ".tmp-2", "probe.tmp-3", "mine"} {
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, o)
	if got := names(t, o.Dir); !slices.Equal(got, []string{fileName, floorName, "mine"}) {
		t.Errorf("files %v, want the temps gone", got)
	}
}

func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	o := options(t.TempDir())
	filled(t, o)
	path := filepath.Join(o.Dir, fileName)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return putSealed(tx.Bucket([]byte(bucketState)), []byte(keySchema), numberKey(schema+1))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	if _, err := Open(o); !errors.Is(err, ErrNewerSchema) || !strings.Contains(err.Error(), path) {
		t.Errorf("Open = %v, want ErrNewerSchema naming %s", err, path)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestLocked(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{Points: []Point{point(1)}})
	o.LockTimeout = 120 * time.Millisecond
	start := time.Now()
	_, err := Open(o)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), s.path) || !strings.Contains(err.Error(), "another edgeagent") {
		t.Errorf("Open = %v, want ErrLocked with file and cause", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	closeChecked(t, s)
	if got := seqs(peek(t, open(t, o), 0)); !slices.Equal(got, []uint64{1}) {
		t.Errorf("after the lock is gone: %v", got)
	}
}

func TestUnusableFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(filepath.Join(file, "data"))
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Open below a file = %v, want an error naming it", err)
	}
	o = options(filepath.Join(dir, "data"))
	if err := os.MkdirAll(filepath.Join(o.Dir, fileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("Open where the file is a folder = %v", err)
	}
}
