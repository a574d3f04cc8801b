package testbed

import (
	"math/rand/v2"
	"net"
)

// Ports of servers are lowPort and those after it, before highPort. That is below what Linux gives to outgoing connections
// and to listeners on port 0 (from 32768, net.ipv4.ip_local_port_range), so that none of these gets the port of a server
// while it is stopped.
const (
	lowPort  = 10000
	highPort = 32768
)

// FreePort reports a TCP port of the loopback that nobody listens on now, and that no other FreePort, of this process or
// of another, reports until the test ends: a server can stop and start again on it. A program that is no test of ours may
// still take it; the Start functions then try another.
func FreePort(t TB) int {
	t.Helper()
	for range 1000 {
		port := lowPort + rand.IntN(highPort-lowPort)
		if release, ok := claim(port); ok {
			t.Cleanup(release)
			return port
		}
	}
	t.Fatalf("find a free port from %d to %d: none in 1000 tries", lowPort, highPort-1)
	return 0
}

// claim makes a port the caller's until release, unless it is in use. The mark that the tests of all processes see, and
// that is gone with its process, is a UDP socket of the same number: none of the servers wants that.
func claim(port int) (release func(), ok bool) {
	held, err := net.ListenPacket("udp4", loopback(port))
	if err != nil {
		return nil, false
	}
	l, err := net.Listen("tcp4", loopback(port))
	if err != nil {
		held.Close()
		return nil, false
	}
	l.Close()
	return func() { held.Close() }, true
}
