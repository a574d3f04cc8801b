package trials

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeagent/status"
	"edgeagent/testbed"
)

// attempt waits until the agent has tried to upload after the server had got before requests.
func (l *line) attempt(before int) {
	l.gateway.t.Helper()
	testbed.WaitFor(l.gateway.t, soon, "an attempt to upload", func() bool { return l.server.requests() > before })
}

// atOf is the time of a shortened point.
func atOf(point string) (seconds int) {
	_, rest, _ := strings.Cut(point, "@")
	_, _ = fmt.Sscan(rest, &seconds)
	return seconds
}

// TestC1Cap makes twice as many points offline as may wait, with a kill half-way. The newest of them arrive, and the number
// of those that made room arrives as data.
func TestC1Cap(t *testing.T) {
	t.Parallel()
	const most = 300
	for _, batch := range []int{100, 5000} {
		t.Run(fmt.Sprint("batches of ", batch), func(t *testing.T) {
			t.Parallel()
			l := newLine(t, testbed.MosquittoOptions{})
			l.config.uplink += fmt.Sprintf("batch_points = %d\n", batch)
			l.buffer = fmt.Sprintf("max_points = %d\n", most)
			l.server.patience = "120" // no attempt is under way while points make room: what is in flight stays
			l.server.refuse(true)
			l.retry = "1s"
			l.up()
			l.windows(0, 3)
			l.attempt(0)
			l.windows(3, 45)
			l.await("the first points", func(r status.Report) bool { return r.Points.Finalized >= 450 && r.MQTT.Unacked == 0 })
			before := l.server.requests()
			l.again()
			l.attempt(before) // with a batch in flight of all that waits, or a part of it
			l.windows(45, 60)
			l.await("twice the cap", func(r status.Report) bool { return r.Points.Finalized >= 2*most && r.MQTT.Unacked == 0 })
			l.stop()
			l.server.refuse(false)
			l.health, l.retry = "3s", ""
			l.up()
			r := l.await("a health line", func(r status.Report) bool { return r.Points.Health > 0 && delivered(r) })
			balanced(t, r)
			made := r.Points.Finalized
			if r.Points.Evicted != made-most {
				t.Errorf("%d of %d points evicted, want all but %d", r.Points.Evicted, made, most)
			}
			got := l.server.points("edgeagent")
			if len(got) != most || len(l.server.lines()) < most {
				t.Errorf("%d points arrive, want %d", len(got), most)
			}
			if oldest := fmt.Sprintf("s9@%d ", 300*(60-most/10)); !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, oldest) }) {
				t.Errorf("no point %s, which is among the newest: %q", oldest, got)
			}
			if i := slices.IndexFunc(got, func(p string) bool { return atOf(p) < 300*(60-most/10) }); i >= 0 {
				t.Errorf("%s arrives, which is older than those that made room", got[i])
			}
			word := fmt.Sprintf(",evicted=%di,", made-most)
			if !slices.ContainsFunc(l.server.lines(), func(s string) bool { return strings.HasPrefix(s, "edgeagent,") && strings.Contains(s, word) }) {
				t.Errorf("no health line with %s", word)
			}
			l.stop()
		})
	}
}
