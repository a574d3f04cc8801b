package agent

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/sim"
)

// optionsFor are those of a stopped store in dir.
func optionsFor(dir, gateway string) Options {
	return Options{Version: "v", Config: &configs.Config{Gateway: configs.Gateway{ID: gateway}, Buffer: configs.Buffer{Dir: dir}}}
}

// move carries the store to a new folder.
func (b *bench) move(to string) {
	b.t.Helper()
	b.close()
	var file bytes.Buffer
	if _, err := ExportStore(optionsFor(b.dir, "gw"), &file); err != nil {
		b.t.Fatal(err)
	}
	was := b.store.Counts()
	in, err := ImportStore(optionsFor(to, "gw"), &file, false)
	if err != nil {
		b.t.Fatal(err)
	}
	if in.From != "gw" || in.Queued != was.Queued || in.Parked != was.Parked || in.Evicted != 0 {
		b.t.Fatalf("imported %+v of %+v", in, was)
	}
	b.dir = to
	b.open()
	if got := b.store.Counts(); got.Carried != was.Carried || got.Finalized < was.Finalized || got.Uploaded != was.Uploaded {
		b.t.Fatalf("counts %+v after the move, %+v before", got, was)
	}
}

// A store that is moved from card to card, at any commit, gives the result that it would have given without.
func TestMovedStoreGoesOn(t *testing.T) {
	eachDraw(t, func(t *rapid.T, dir string, p sim.Params) {
		b := newBench(t, filepath.Join(dir, "0"), setupFor(p))
		defer func() { b.store.Close() }()
		var items []sim.Item
		front, moves := int64(0), 0
		for range rapid.IntRange(1, 40).Draw(t, "messages") {
			item := drawItem(t, &front)
			items = append(items, item)
			b.feed(item)
			if rapid.IntRange(0, 24).Draw(t, "move") == 0 {
				b.note()
				moves++
				b.move(filepath.Join(dir, fmt.Sprint(moves)))
			}
		}
		if p.Close {
			b.e.Close()
		}
		b.note()
		compare(t, p, items, b)
		b.close()
	})
}

// Points of another store count as carried, beside what this one has.
func TestMergedPoints(t *testing.T) {
	from, to := newRig(t, nil), newRig(t, nil)
	from.live("a", 0, 1)
	from.live("a", 1000, 2)
	to.live("b", 0, 3)
	from.note()
	to.note()
	from.close()
	to.close()
	var file bytes.Buffer
	if _, err := ExportStore(optionsFor(from.dir, "gw"), &file); err != nil {
		t.Fatal(err)
	}
	if _, err := ImportStore(optionsFor(to.dir, "gw"), bytes.NewReader(file.Bytes()), false); !errors.Is(err, buffer.ErrNotEmpty) || !strings.Contains(err.Error(), "--merge-points") {
		t.Errorf("into a store that has begun: %v", err)
	}
	if in, err := ImportStore(optionsFor(to.dir, "gw"), &file, true); err != nil || in.Queued != 1 {
		t.Fatalf("%+v, %v", in, err)
	}
	to.open()
	if c := to.store.Counts(); c.Carried != 1 || c.Queued != 1 || !c.Balanced() {
		t.Errorf("counts %+v", c)
	}
	to.counts("ledger", counts{"received": 1, "windowed": 1})
	to.waits("merged", 0, "a@0 count=1 max=1")
}
