// Package crash holds tests only: the program is broken in every way that a gateway knows, and its books are then checked
// to the last reading.
//
//   - Kills: SIGKILL and SIGSTOP of the agent, kill -9 of the broker, cut connections, a server that comes and goes. What
//     the agent was sent is taken from the wire, what it must have made of it from package sim. With one server, and with two of
//     which one gets the newest points first.
//   - Power cuts: the system calls of the agent are recorded, and the data folder is rebuilt as a cut at any moment may
//     have left it; so with the upgrade of a store.
//   - Slow disks, little memory, and messages that nobody can use.
//
// Random moments come from a seed that each test prints; EDGEAGENT_SEED repeats a run. EDGEAGENT_LONG=1 runs the tests
// at full length.
package crash
