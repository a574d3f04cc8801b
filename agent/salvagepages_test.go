package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the test below stores: readings of each window and sensor.
const (
	lostSensors = 20
	lostWindows = 12
	lostEach    = 4
)

// Of a store with windows whose points wait, not offered yet, one page after the other is lost. Whatever goes with it, a window whose true point is still
// there is never put out again from what is left of its readings.
func TestNoFragmentOverATruePoint(t *testing.T) {
	for name, adjust := range map[string]func(*Setup){
		"stream":           func(*Setup) {},
		"sensor":           func(s *Setup) { s.Rules.PerSensor = true },
		"allowed lateness": func(s *Setup) { s.Rules.Allowed = 10 * minute },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, adjust)
			for i := range lostWindows * lostEach {
				for s := range lostSensors {
					r.live(fmt.Sprint("s", s), float64(i*300/lostEach+s), float64(i%lostEach))
					if (i+s)%3 == 0 {
						r.note()
					}
				}
			}
			r.note()
			r.close()
			file, err := os.ReadFile(filepath.Join(r.dir, "edgeagent.db"))
			if err != nil {
				t.Fatal(err)
			}
			missed := 0
			losses := lossesOf(file)
			for _, pages := range losses {
				if r.without(file, pages) {
					missed++
				}
				r.noFragments(fmt.Sprint("without pages ", pages))
				r.close()
			}
			if missed < len(losses)/2 {
				t.Errorf("%d of %d losses were missed, want most", missed, len(losses))
			}
		})
	}
}

// lossesOf are the pages of a store to be lost, one by one; at full length also by two.
func lossesOf(file []byte) (list [][]int) {
	var used []int
	for p := 2; p < len(file)/4096; p++ {
		if bytes.ContainsFunc(file[p*4096:(p+1)*4096], func(r rune) bool { return r != 0 }) {
			used = append(used, p)
		}
	}
	for i, p := range used {
		list = append(list, []int{p})
		for _, q := range used[i+1:] {
			if os.Getenv("EDGEAGENT_LONG") == "1" {
				list = append(list, []int{p, q})
			}
		}
	}
	return list
}

// without starts on a file that has lost some pages, after an outage in which nothing was offered, and reports whether it was found damaged.
func (r *rig) without(file []byte, pages []int) bool {
	r.t.Helper()
	data := bytes.Clone(file)
	for _, p := range pages {
		clear(data[p*4096 : (p+1)*4096])
	}
	old, _ := filepath.Glob(filepath.Join(r.dir, "*")) // the pattern is right
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			r.t.Fatal(err)
		}
	}
	for name, content := range map[string][]byte{"edgeagent.db": data, "clean": nil} {
		if err := os.WriteFile(filepath.Join(r.dir, name), content, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.lines = nil
	r.open()
	return r.e.Node.Resets > 0
}

// noFragments feeds a reading to each window, which one that is final may take if lateness is allowed, and one that ends all, and looks at what is put out
// of windows whose points were there at the start.
func (r *rig) noFragments(what string) {
	r.t.Helper()
	identity := func(text string) string { id, _, _ := strings.Cut(short(r.t, text), " count="); return id }
	carried := make(map[string]int)
	for _, text := range r.queued() {
		carried[identity(text)]++
	}
	for _, text := range r.lines { // made by the start itself
		carried[identity(text)]--
	}
	for s := range lostSensors {
		for w := range lostWindows {
			r.live(fmt.Sprint("s", s), float64(w*300)+150.5, 0)
		}
	}
	for s := range lostSensors {
		r.live(fmt.Sprint("s", s), 1e6, 0)
	}
	for _, text := range r.took() {
		id, fields, _ := strings.Cut(text, " ")
		var count int
		if _, err := fmt.Sscanf(fields, "count=%d ", &count); err == nil && carried[id] > 0 && count < lostEach {
			r.t.Errorf("%s: %s has its true point, and is put out again as %s", what, id, fields)
		}
	}
}
