package testbed

import (
	"net"
	"testing"
)

func TestFreePort(t *testing.T) {
	port := FreePort(t)
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	l.Close()
	if port < lowPort || port >= highPort {
		t.Errorf("port %d, want one from %d to %d", port, lowPort, highPort-1)
	}
}

// TestClaim holds that the port of a stopped server is nobody else's, and that one that is listened on is not given away.
func TestClaim(t *testing.T) {
	port := 0
	t.Run("until the test ends", func(t *testing.T) {
		port = FreePort(t)
		if _, ok := claim(port); ok {
			t.Errorf("port %d was given to two", port)
		}
	})
	release, ok := claim(port)
	if !ok {
		t.Fatalf("port %d is still claimed after the test it was for", port)
	}
	release()
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, ok := claim(port); ok {
		t.Errorf("port %d was given away while somebody listened on it", port)
	}
	l.Close()
	if release, ok = claim(port); !ok {
		t.Fatalf("port %d was lost by a claim that did not succeed", port)
	}
	release()
}
