package trials

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"edgeagent/status"
	"edgeagent/testbed"
)

// Instants, in seconds since the Unix epoch, that a gateway without a clock chip may boot at. The build's date is t0.
const (
	epochBoot = 40         // 1970
	deadRTC   = 946684800  // 2000: the chip's battery is empty
	farBoot   = 4070908800 // 2099
)

// A boot is one gateway in trouble: the clock it boots with, and what becomes of readings before it is set right, and after.
type boot struct {
	name   string
	wall   int64
	synced bool  // the kernel calls that clock disciplined all the same
	ran    int64 // when not 0, an agent of an earlier day was there, with a right clock, at that time
	never  bool  // the clock is never set right
	before string
	after  string
	count  int // readings of s1 in the window from t0
	max    int
	more   []string // points beside that; the lateness is put in for LATE
}

// TestF1Boots has ten readings with a time and ten without come before the clock is set to t0 + 60 s, and ten of each after it. Those with a time count
// whatever the clock says; those without are refused while it is wrong for certain, and else have the time that it says. The window is uploaded once, when
// event time has passed it, with all that belongs to it, and no other is.
func TestF1Boots(t *testing.T) {
	t.Parallel()
	for _, c := range []boot{
		{name: "in 1970", wall: epochBoot, before: "windowed 10, clock 10", after: "windowed 30, clock 10", count: 30, max: 49},
		{name: "in 1970, disciplined", wall: epochBoot, synced: true, before: "windowed 10, clock 10", after: "windowed 30, clock 10", count: 30, max: 49},
		{name: "in 1970 for ever", wall: epochBoot, never: true, before: "windowed 10, clock 10", after: "windowed 20, clock 20", count: 20, max: 39},
		{name: "before the build", wall: deadRTC, before: "windowed 10, clock 10", after: "windowed 30, clock 10", count: 30, max: 49},
		{name: "in 2099", wall: farBoot, before: "windowed 10, future 10", after: "windowed 30, future 10", count: 30, max: 49},
		{name: "in 2099, disciplined", wall: farBoot, synced: true, before: "windowed 10, future 10", after: "windowed 30, future 10", count: 30, max: 49},
		// with a saved clock untimed readings have its time; event time, moved on by the others, may make that late
		{name: "three hours behind", wall: t0 - 3*3600, ran: t0, before: "windowed 10, late 10", after: "windowed 30, late 10", count: 30, max: 49,
			more: []string{"late_drops s1@0 count=10i,total=10i,max_lateness_s=LATE"}},
		{name: "three hours behind, disciplined", wall: t0 - 3*3600, synced: true, ran: t0, before: "windowed 10, late 10", after: "windowed 30, late 10", count: 30, max: 49,
			more: []string{"late_drops s1@0 count=10i,total=10i,max_lateness_s=LATE"}},
		{name: "five minutes before the last shutdown", wall: t0 - 270, ran: t0 + 30, before: "windowed 20", after: "windowed 40", count: 30, max: 49,
			more: []string{"s1@-300 max=29,count=10i"}},
		{name: "a minute before the last shutdown", wall: t0 + 1, synced: true, ran: t0 + 61, before: "windowed 20", after: "windowed 40", count: 40, max: 49},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c boot) run(t *testing.T) {
	b, s, clk, dir := testbed.StartMosquitto(t, testbed.MosquittoOptions{}), newServer(t), &clock{}, t.TempDir()
	tap := testbed.StartTapProxy(t, b.Addr())
	conf := config{broker: tap.URL(), uplink: v1(s.URL, "edge"), future: "2m"} // and clock = "auto"
	if c.ran != 0 {
		clk.set(c.ran, true)
		a, stop := runIn(t, dir, conf, clk)
		awaitInside(t, a, "a trusted clock", func(r status.Report) bool { return r.Clock.Trusted })
		stop()
	}
	clk.set(c.wall, c.synced)
	up := subscribed(tap)
	a, stop := runIn(t, dir, conf, clk)
	testbed.WaitFor(t, soon, "the subscription", func() bool { return subscribed(tap) > up })
	p := newPublisher(t, b.URL())
	ten := func(from float64, value int) {
		for i := range 10 {
			p.at("s1", from+float64(i), float64(value+i))
			p.raw("s1", fmt.Sprintf(`{"temperature": %d}`, value+10+i))
		}
	}
	ten(10, 10)
	r := awaitInside(t, a, "the first readings", seen(20))
	if got := columns(r); got != c.before {
		t.Errorf("before the clock is set: %s, want %s", got, c.before)
	}
	if r.Clock.Trusted || r.Held != 0 {
		t.Errorf("clock %+v, %d held; want a clock not trusted and none held", r.Clock, r.Held)
	}
	if !c.never {
		clk.set(t0+62, true) // the last shutdown may have been at t0 + 61
		awaitInside(t, a, "a trusted clock", func(r status.Report) bool { return r.Clock.Trusted })
	}
	ten(20, 30)
	if got := columns(awaitInside(t, a, "the next readings", seen(40))); got != c.after {
		t.Errorf("after it is set: %s, want %s", got, c.after)
	}
	if !c.never {
		clk.set(t0+1000, true) // time passes
	}
	p.at("s2", 900, 1)
	p.at("s1", 901, 1)
	balanced(t, awaitInside(t, a, "the point", func(r status.Report) bool {
		return seen(42)(r) && delivered(r) && r.Points.Uploaded > int64(len(c.more))
	}))
	stop()
	c.sent(t, s)
}

// sent fails the test unless the server has taken what it should, each point once.
func (c boot) sent(t *testing.T, s *server) {
	lateness := regexp.MustCompile(`max_lateness_s=10\d\d\d(\.\d+)?`) // three hours and some seconds, by the clock of the test
	want := append([]string{fmt.Sprintf("s1@0 max=%d,count=%di", c.max, c.count)}, c.more...)
	got := s.points()
	for i := range got {
		got[i] = lateness.ReplaceAllString(got[i], "max_lateness_s=LATE")
	}
	slices.Sort(want)
	if !slices.Equal(got, want) || len(s.lines()) != len(want) {
		t.Errorf("sent %q, %d lines; want %q, each once", got, len(s.lines()), want)
	}
}

// seen reports whether n readings have been judged, held ones too.
func seen(n int64) func(status.Report) bool {
	return func(r status.Report) bool { return r.Ledger.Received+r.Held == n && r.MQTT.Unacked == 0 }
}

// columns writes the columns of the ledger that are not 0.
func columns(r status.Report) string {
	text := ""
	add := func(name string, n int64) {
		if n > 0 && text != "" {
			text += ", "
		}
		if n > 0 {
			text += fmt.Sprintf("%s %d", name, n)
		}
	}
	l := r.Ledger
	add("windowed", l.Windowed)
	add("late", l.Late)
	add("duplicate", l.Duplicate)
	for _, reason := range []string{"decode", "no_value", "value", "range", "time", "future", "clock", "sensors", "overflow", "too_big"} {
		add(reason, l.Rejected[reason])
	}
	return text
}

// TestF1TrustComesAndGoes has the kernel call its clock disciplined and not, over and over: what is too far ahead is refused while it is, and held while it is
// not; when it is again, what is held is refused or counts.
func TestF1TrustComesAndGoes(t *testing.T) {
	t.Parallel()
	b, s, clk := testbed.StartMosquitto(t, testbed.MosquittoOptions{}), newServer(t), &clock{}
	tap := testbed.StartTapProxy(t, b.Addr())
	clk.set(t0+100, true)
	a, stop := runInside(t, config{broker: tap.URL(), uplink: v1(s.URL, "edge"), future: "2m"}, clk)
	testbed.WaitFor(t, soon, "the subscription", func() bool { return subscribed(tap) > 0 })
	p := newPublisher(t, b.URL())
	trusted := func(on bool) {
		clk.unsynced.Store(!on)
		awaitInside(t, a, fmt.Sprint("a clock trusted: ", on), func(r status.Report) bool { return r.Clock.Trusted == on })
	}
	p.at("s1", 100, 20)
	for i := range 3 {
		day := float64(3 + i*2)
		p.at("s2", day*86400, 1) // refused
		awaitInside(t, a, "a refusal", seen(int64(2+3*i)))
		trusted(false)
		p.at("s2", day*86400+1, 2)                // held
		p.at("s3", 101+float64(i), float64(30+i)) // counts
		r := awaitInside(t, a, "a held reading", seen(int64(4+3*i)))
		if r.Held != 1 {
			t.Errorf("round %d: %d held, want 1: %+v", i, r.Held, r.Ledger)
		}
		trusted(true) // refuses what is held
	}
	r := awaitInside(t, a, "all", func(r status.Report) bool { return r.Ledger.Received == 10 && r.MQTT.Unacked == 0 })
	if got := columns(r); got != "windowed 4, future 6" || r.Held != 0 {
		t.Errorf("%s, %d held; want windowed 4, future 6, none held", got, r.Held)
	}
	balanced(t, r)
	stop()
	s.holds()
}
