package uplink

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	p := newPace(1<<20, time.Second)
	f := func(want int) {
		t.Helper()
		if p.bytes() != want {
			t.Errorf("got %d bytes, want %d", p.bytes(), want)
		}
	}
	f(1 << 20)
	p.timedOut(1 << 20)
	f(1 << 19)
	for range 30 {
		p.timedOut(p.bytes())
	}
	f(4 << 10)
	for range 8 { // a stall is forgotten as fast as it came
		p.taken(p.bytes())
	}
	f(1 << 20)

	p.tooLarge(1000)
	f(500)
	for range minPatience - 1 {
		p.taken(500)
		p.taken(20) // says nothing about the limit
	}
	f(500)
	p.taken(500)
	f(626) // tries a little more, later
	p.tooLarge(626)
	f(500) // back to what is known to be taken; the next try comes much later
	for range 2*minPatience - 1 {
		p.taken(500)
	}
	f(500)
	p.taken(500)
	f(626)
	p.tooLarge(500) // the server takes less than it did
	f(250)
	p.tooLarge(2)
	p.tooLarge(2)
	f(1)
	for range 100_000 {
		p.taken(p.bytes())
	}
	f(1 << 20)
	for range 20 {
		p.tooLarge(p.bytes())
	}
	f(1)
	p.hopeless()
	f(1 << 20)
}

func TestPaceKeepsADistance(t *testing.T) {
	p := newPace(1<<20, time.Second)
	for _, want := range []time.Duration{50, 98, 191, 370, 717, 1389, 2000, 2000} {
		p.taken(100)
		p.busy()
		p.busy() // says nothing new
		if got := p.gap.Truncate(time.Millisecond); got > want*time.Millisecond || got < want*time.Millisecond*9/10 {
			t.Errorf("got %v, want about %v", p.gap, want*time.Millisecond)
		}
	}
	n := 0
	for ; p.gap > 0; n++ {
		p.taken(100)
	}
	if n < 100 || n > 200 {
		t.Errorf("the distance is gone after %d requests", n)
	}
}
