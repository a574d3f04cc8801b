package trials

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"edgeagent/status"
	"edgeagent/testbed"
)

// A line is an agent between a broker and a server, with a tap before the broker.
type line struct {
	*gateway
	tap    *testbed.TapProxy
	server *server
	publisher
	config
}

func newLine(t *testing.T, o testbed.MosquittoOptions) *line {
	t.Helper()
	b := testbed.StartMosquitto(t, o)
	l := &line{tap: testbed.StartTapProxy(t, b.Addr()), server: newServer(t), publisher: newPublisher(t, b.URL())}
	l.gateway = newGateway(t)
	l.config = config{broker: l.tap.URL(), uplink: v1(l.server.URL, "edge"), gateway: "clock = \"trusted\"\n"}
	return l
}

// up starts the agent and waits until it has subscribed.
func (l *line) up() {
	l.gateway.t.Helper()
	before := subscribed(l.tap)
	l.gateway.start(l.config)
	testbed.WaitFor(l.gateway.t, soon, "the subscription", func() bool { return subscribed(l.tap) > before })
}

// again kills the agent as a power cut would and starts it.
func (l *line) again() {
	l.gateway.t.Helper()
	l.Kill()
	l.tap.Cut() // what the agent has sent is with the broker
	l.up()
}

// TestE7LateCounts has late readings of two sensors, refused ones, a duplicate and one of the future, with a kill after each
// message, or before it is acknowledged, and a server that takes only every third request.
func TestE7LateCounts(t *testing.T) {
	future := fmt.Sprintf(`{"ts": %d, "temperature": 20}`, time.Now().Add(time.Hour).UnixMilli())
	messages := []struct{ sensor, payload string }{
		{"s1", reading(0, 20)}, {"s2", reading(1, 20)}, {"s1", reading(1500, 21)}, // W = 900 from here: 0 and 300 are over
		{"s1", reading(10, 1)}, {"s1", reading(20, 2)}, {"s2", reading(15, 3)}, {"s1", "not JSON"}, {"s1", reading(310, 4)},
		{"s1", reading(1500, 21)}, {"s1", reading(30, 5)}, {"s1", future}, {"s2", reading(16, 6)},
		{"s2", reading(1800, 22)}, // M leaves [1500, 1800): reports of 4 and 2
		{"s1", reading(320, 7)}, {"s1", reading(40, 8)}, {"s2", `{"ts": 1700000100000, "temp`}, {"s2", reading(17, 9)}, {"s1", reading(11, 10)},
		{"s1", reading(3000, 23)}, // and [1800, 2100): reports of 3 and 1
	}
	for _, atOnce := range []bool{false, true} {
		t.Run(fmt.Sprint("killed before the acknowledgement ", atOnce), func(t *testing.T) {
			t.Parallel()
			l := newLine(t, testbed.MosquittoOptions{Persistence: true})
			l.future = "2m"
			l.server.answer(func(n int, _ []string) int {
				if n%3 != 0 {
					return http.StatusInternalServerError
				}
				return http.StatusNoContent
			})
			l.up()
			for i, m := range messages {
				before := pubacks(l.tap)
				l.raw(m.sensor, m.payload)
				if !atOnce {
					testbed.WaitFor(t, soon, fmt.Sprint("the acknowledgement of message ", i), func() bool { return pubacks(l.tap) > before })
				}
				if !atOnce || i%3 == 0 {
					l.again()
				}
			}
			r := l.await("all to be delivered", func(r status.Report) bool { return delivered(r) && r.Ledger.Windowed == 5 })
			led := r.Ledger
			again := led.Received - int64(len(messages))
			if led.Late != 10 || led.Rejected["decode"] != 2 || led.Rejected["future"] != 1 || led.Duplicate != 1+again || !atOnce && again != 0 {
				t.Errorf("ledger %+v, want 5 windowed, 10 late, 2 decode, 1 future, 1 duplicate and those that came again (%d)", led, again)
			}
			balanced(t, r)
			l.server.holds("s1@0 max=20,count=1i", "s2@0 max=20,count=1i", "s1@1500 max=21,count=1i", "s2@1800 max=22,count=1i",
				"late_drops s1@1500 count=4i,total=4i,max_lateness_s=1490", "late_drops s2@1500 count=2i,total=2i,max_lateness_s=1485",
				"late_drops s1@1800 count=3i,total=7i,max_lateness_s=1789", "late_drops s2@1800 count=1i,total=3i,max_lateness_s=1783")
			l.stop()
		})
	}
}

// TestE8Restart kills the agent with two windows final and uploaded and a third one open.
func TestE8Restart(t *testing.T) {
	t.Parallel()
	l := newLine(t, testbed.MosquittoOptions{})
	l.up()
	for _, m := range [][2]float64{{0, 20}, {300, 21}, {900, 22}, {20, 99} /* late */, {600, 1}, {601, 2}, {602, 3}, {603, 4}, {1200, 23}} {
		l.at("s1", m[0], m[1])
	}
	before := []string{"s1@0 max=20,count=1i", "s1@300 max=21,count=1i", "late_drops s1@900 count=1i,total=1i,max_lateness_s=880"}
	l.await("two windows and a report", func(r status.Report) bool { return r.Ledger.Windowed == 8 && delivered(r) })
	l.server.holds(before...)
	l.again()
	l.at("s1", 10, 98)
	l.at("s1", 610, 5)
	l.at("s1", 1500, 24)
	r := l.await("the third window", func(r status.Report) bool { return r.Ledger.Windowed == 10 && delivered(r) })
	if r.Ledger.Late != 2 || r.Ledger.Received != 12 {
		t.Errorf("ledger %+v, want 12 received, 10 windowed, 2 late", r.Ledger)
	}
	l.server.holds(append(before, "s1@600 max=5,count=5i", "late_drops s1@1200 count=1i,total=2i,max_lateness_s=1190")...)
	if got := l.server.lines(); len(got) != 5 {
		t.Errorf("%d lines were sent, want 5, each once: %q", len(got), got)
	}
	l.stop()
}

// TestC2KilledBeforeTheDeletion uploads a hundred points in four batches and kills the agent when the last has been stored,
// before and after it was told so. What comes again is the last batch, byte for byte, and nothing after an orderly stop.
func TestC2KilledBeforeTheDeletion(t *testing.T) {
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprint("told ", told), func(t *testing.T) {
			t.Parallel()
			l := newLine(t, testbed.MosquittoOptions{})
			l.config.uplink += "batch_points = 25\n"
			l.server.refuse(true)
			l.up()
			l.windows(0, 10)
			l.await("a hundred points", func(r status.Report) bool { return r.Points.Queued == 100 && r.MQTT.Unacked == 0 })
			killed := l.killWhenStored(100, told)
			<-killed
			sent := l.server.taken()
			l.Kill() // waits for the end
			l.server.mu.Lock()
			l.server.script, l.server.after = nil, nil
			l.server.mu.Unlock()
			l.up()
			r := l.await("all to be delivered", func(r status.Report) bool { return delivered(r) && r.Points.Uploaded == 100 })
			balanced(t, r)
			resent := l.server.taken()[len(sent):]
			t.Logf("%d batches before the kill, %d after", len(sent), len(resent))
			if len(sent) != 4 || len(resent) > 1 || !told && len(resent) != 1 {
				t.Fatalf("%d batches before the kill, %d after; want 4, and the last again", len(sent), len(resent))
			}
			if len(resent) == 1 && !slices.Equal(resent[0], sent[3]) {
				t.Errorf("sent again\n\t%q, want\n\t%q", resent[0], sent[3])
			}
			if n := len(l.server.points()); n != 100 {
				t.Errorf("%d different points at the server, want 100", n)
			}
			l.stop()
			all := l.server.requests()
			l.up()
			l.await("the agent", func(r status.Report) bool { return delivered(r) && r.Points.Uploaded == 100 })
			l.stop()
			if n := l.server.requests(); n != all {
				t.Errorf("%d requests after an orderly stop, want none", n-all)
			}
		})
	}
}

// killWhenStored kills the agent once the server holds n lines: with told when the answer is out, else before it.
func (l *line) killWhenStored(n int, told bool) <-chan struct{} {
	killed := make(chan struct{})
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := 0
	s.script = func(_ int, lines []string) int {
		if stored += len(lines); stored == n && !told {
			l.Kill()
			close(killed)
		}
		return http.StatusNoContent
	}
	s.after = func(have int) {
		if told && have == n {
			l.Kill()
			close(killed)
		}
	}
	return killed
}
