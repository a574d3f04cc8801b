// Package watermark holds the equation by which event time advances, and the rule by which a reading is late.
//
//	W = max(stored W, M - delay)
//
// M is the largest event time seen, W the watermark: the agent's statement that it no longer waits for anything older. A
// window is final when W has reached its end. W never goes back, not over a restart and not when the delay grows.
// Everything here is a value; nothing reads a clock.
package watermark
