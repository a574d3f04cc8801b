package crash

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// Deadlines: generous, since the machine may be a loaded two-core one.
var (
	soon     = patience(30 * time.Second)  // for what takes moments
	inTheEnd = patience(180 * time.Second) // for all readings to arrive at the server
)

// patience is longer where an emulator runs the tests.
func patience(d time.Duration) time.Duration {
	if emulated() {
		return 4 * d
	}
	return d
}

// emulated reports whether the agent runs in an emulator, which is many times slower and takes memory of its own.
func emulated() bool { return os.Getenv("EDGEAGENT_TEST_EXEC") != "" }

// long reports whether tests run at full length.
func long() bool { return os.Getenv("EDGEAGENT_LONG") == "1" }

// pause waits for a random moment within most: the time of a fault. It tests nothing that has to be over by then.
func pause(rng *rand.Rand, most time.Duration) { rest(time.Duration(rng.Int64N(int64(most)))) }

// rest lets time pass in which a fault lasts.
func rest(d time.Duration) { <-time.After(d) }

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
