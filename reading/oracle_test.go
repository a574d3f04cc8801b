package reading

import "math/rand/v2"

// pick is one of all.
func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }
