package testbed

import (
	"math/rand/v2"
	"os"
	"strconv"
)

// Random is a generator of its own for the test. Its seed is logged as EDGEAGENT_SEED=N; that variable in the environment
// sets it, so that a run can be repeated, and what is no number there ends the test.
func Random(t TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("EDGEAGENT_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("EDGEAGENT_SEED: %v", err)
		}
	}
	t.Logf("EDGEAGENT_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
