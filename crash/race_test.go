//go:build race

package crash

// raced says that the agent is built with the race detector, which takes many times the memory.
const raced = true
