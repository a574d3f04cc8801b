package agent

import (
	"slices"
	"testing"
)

// Acknowledgements go out in the order of arrival, and only on the connection that brought the messages.
func TestAcknowledgementsOfAConnection(t *testing.T) {
	var c commits
	c.connected(1)
	for _, id := range []uint16{7, 3, 9} {
		c.unacked(1, id)
	}
	if !slices.Equal(c.acks, []uint16{7, 3, 9}) {
		t.Errorf("acks %v, want the order of arrival", c.acks)
	}
	c.connected(2)
	c.unacked(1, 4)
	c.unacked(2, 3)
	if c.conn != 2 || !slices.Equal(c.acks, []uint16{3}) {
		t.Errorf("acks %v of connection %d, want 3 alone: what connection 1 brought comes again", c.acks, c.conn)
	}
}
