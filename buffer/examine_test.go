package buffer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

// A store is examined beside commits: each time it is sound, and of one moment.
func TestExamineBesideCommit(t *testing.T) {
	o := options(t.TempDir())
	o.RejectedRing = 1 << 20
	s := open(t, o)
	varied(t, s, 20)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			x, err := s.Examine(context.Background())
			if err != nil || x.Bad > 0 || x.Records < 150 || x.Pages < 10 || x.Held <= 0 {
				done <- errors.Join(err, fmt.Errorf("not what is there: %+v", x))
				return
			}
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
		}
	}()
	varied(t, s, 100)
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Examine(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}

// Damage that comes about while the store is in use is found without harm to the process, and the store is left as it is.
func TestExamineDamage(t *testing.T) {
	cases := []struct {
		name    string
		damage  func(page []byte)
		damaged bool
		bad     bool
	}{
		{"none", func([]byte) {}, false, false},
		{"a zeroed page", func(p []byte) { clear(p) }, true, false},
		{"another page's number", func(p []byte) { p[0]++ }, true, false},
		{"elements without end", func(p []byte) { p[11] = 0xff }, true, false},
		{"a flipped bit in a point", func(p []byte) { p[bytes.Index(p, []byte("max=21.5"))+4] ^= 1 }, false, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, options(t.TempDir()))
			varied(t, s, 30)
			text, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			id := bytes.LastIndex(text[:s.used(t)], []byte("max=21.5")) / pageSize
			page := text[id*pageSize : (id+1)*pageSize]
			before := bytes.Clone(page)
			c.damage(page)
			s.poke(t, id, page)
			x, err := s.Examine(t.Context())
			if errors.Is(err, ErrDamaged) != c.damaged || !c.damaged && err != nil || (x.Bad == 1) != c.bad {
				t.Errorf("Examine = %+v, %v", x, err)
			}
			s.poke(t, id, before)
			if _, err := s.Examine(t.Context()); err != nil {
				t.Errorf("mended: %v", err)
			}
		})
	}
}

// used is up to where the file's pages are reachable or free, in bytes.
func (s *Store) used(t *testing.T) int64 {
	t.Helper()
	f, err := os.Open(s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	metas, _, err := readMetas(f)
	if err != nil || len(metas) == 0 {
		t.Fatal(metas, err)
	}
	return int64(metas[0].pages) * pageSize
}

// poke writes a page behind the store's back.
func (s *Store) poke(t *testing.T, id int, page []byte) {
	t.Helper()
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(page, int64(id)*pageSize); err != nil {
		t.Fatal(err)
	}
}
