package uplink

import "context"

// An Entry is one queued point: a line of line protocol with its timestamp in ns, without a newline. The uplink owns
// the bytes.
type Entry struct {
	Seq  uint64 // ascending, from 1
	Line []byte
}

// A Refused entry is one that the server will not take, with the server's own reason.
type Refused struct {
	Seq    uint64
	Reason string
}

// Outbox is where points wait, as the uplink sees it. Nothing leaves it by being read.
type Outbox interface {
	// Peek copies out the oldest points that wait for this uplink after one number and up to another, at most maxPoints and
	// maxBytes of lines (but at least one point if there is any). What it returns may be offered to the server: the floor is
	// already on disk. It marks them as in flight, which keeps them from being evicted or superseded until they are settled or
	// released. It may be called while points are in flight, to make the next batch ready.
	Peek(ctx context.Context, after, upto uint64, maxPoints, maxBytes int) ([]Entry, error)

	// Newest copies out the newest point that waits for this uplink; false if none does.
	Newest(ctx context.Context) (Entry, bool, error)

	// Settle ends a stretch: every point after one number and up to another is stored at the server, but for the refused, which are parked.
	// On return the settlement is on disk, or, when the disk does not take it now, in memory and retried by the
	// store; either way its points are not peeked again by this process. The error is only ctx's.
	Settle(ctx context.Context, after, through uint64, refused []Refused) error

	// Release says that nothing is in flight. It is called before a wait for the server, after which the batch is peeked
	// anew: until then any point may be evicted or superseded, so that in a long outage the oldest make room, not those
	// that come.
	Release()

	// Ready gets a value when points may have come.
	Ready() <-chan struct{}
}
