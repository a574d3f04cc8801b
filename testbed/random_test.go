package testbed

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestRandom(t *testing.T) {
	first := func(seed string) (n uint64, f *fakeTB) {
		t.Setenv("EDGEAGENT_SEED", seed)
		f = &fakeTB{T: t}
		f.run(func(t TB) { n = Random(t).Uint64() })
		return n, f
	}
	if n, f := first("7"); n != rand.New(rand.NewPCG(7, 0)).Uint64() || !slices.Equal(f.logs, []string{"EDGEAGENT_SEED=7"}) {
		t.Errorf("%d, log %q", n, f.logs)
	}
	if _, f := first("seven"); f.verdict != `fatal: EDGEAGENT_SEED: strconv.ParseUint: parsing "seven": invalid syntax` {
		t.Errorf("%q", f.verdict)
	}
	n, f := first("")
	if m, _ := first(""); n == m || len(f.logs) != 1 {
		t.Errorf("%d twice, log %q", n, f.logs)
	}
	_, seed, _ := strings.Cut(f.logs[0], "=")
	if m, _ := first(seed); m != n {
		t.Errorf("with the logged seed %d, before %d", m, n)
	}
}
