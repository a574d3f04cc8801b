package reading

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// seeded is a source of random numbers for tests that compare with an independent answer. EDGEAGENT_SEED repeats a run; the
// seed is printed when the test fails.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("EDGEAGENT_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("EDGEAGENT_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 7))
}

// pick is one of all.
func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }
