package doctor

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"edgeagent/agent"
	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/status"
	"edgeagent/uplink"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// expect fails unless the lines are "VERDICT check: text…", in order, and each that is not OK says what to do.
func expect(t *testing.T, name string, got Report, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d lines %+v, want %d", name, len(got), got, len(want))
		return
	}
	for i, l := range got {
		line := fmt.Sprintf("%s %s: %s", l.Verdict, l.Check, l.Text)
		verdict, says, _ := strings.Cut(want[i], "…")
		if !strings.HasPrefix(line, verdict) || !strings.Contains(line, says) {
			t.Errorf("%s: got %q, want %q", name, line, want[i])
		}
		if (l.Next == "") != (l.Verdict == OK) {
			t.Errorf("%s: %q says to do %q", name, line, l.Next)
		}
	}
}

func config(t *testing.T, more string) *configs.Config {
	t.Helper()
	c, err := configs.Parse("edgeagent.toml", []byte("[gateway]\nid = \"gw\"\n[mqtt]\nbrokers = [\"tcp://h\"]\n[[source]]\ntopic = \"s/{sensor}\"\nvalue = \"t\"\ntime = \"ts\"\n[uplink]\nurl = \"http://h\"\ndatabase = \"d\"\n"+more), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestJudgeConfig(t *testing.T) {
	o := Options{Config: config(t, ""), File: "f.toml"}
	expect(t, "right", judgeConfig(o), "OK config: f.toml is right", "OK gateway: gw, client id edgeagent-gw")
	o.Config, o.Warnings = config(t, "[watermark]\nmax_future = \"0s\"\n"), []string{"too little memory"}
	got := judgeConfig(o)
	got[0].Next = "x" // the last one says it for all
	expect(t, "warnings", got, "WARN config: edgeagent.toml:13:1: watermark.max_future: is off", "WARN config: too little memory", "OK gateway: gw")
}

func TestFaults(t *testing.T) {
	_, err := configs.Parse("f.toml", []byte("[gateway]\nid = \"raspberrypi\"\n[mqtt]\nbrokers = [\"x\"]\n"), nil)
	got := Faults("f.toml", err)
	if len(got) != 3 || got.Worst() != Fail || !strings.Contains(got[1].Text, "f.toml:2:1: gateway.id: is the name of every machine made from the same image") || got[2].Next == "" {
		t.Errorf("got %+v", got)
	}
	expect(t, "another error", Faults("f.toml", errors.New("boom")), "FAIL config: f.toml: boom")
}

func TestJudgeAgent(t *testing.T) {
	none := fmt.Errorf("%w: no socket", status.ErrNoAgent)
	runs := running{report: status.Report{Version: "1", UptimeS: 3725}}
	for _, c := range []struct {
		name string
		r    running
		want string
	}{
		{"runs", runs, "OK agent: runs for 1 h 2 min, version 1"},
		{"older", running{report: status.Report{Version: "0"}}, "WARN agent: runs version 0, and this is 1"},
		{"stopped", running{err: none}, "WARN agent: does not run"},
		{"locked", running{err: none, cannot: fmt.Errorf("open: %w", buffer.ErrLocked)}, "FAIL agent: another process uses the data folder"},
		{"another user", running{err: status.ErrNotAllowed}, "FAIL agent: may not be asked"},
		{"hangs", running{err: errors.New("no answer")}, "FAIL agent: does not answer: no answer"},
	} {
		expect(t, c.name, judgeAgent(c.r, "1"), c.want)
	}
}

func TestJudgeBooks(t *testing.T) {
	sound := status.Report{Ledger: status.Ledger{Received: 1000, Windowed: 990, Balanced: true, Rejected: map[string]int64{"decode": 10}},
		Points: status.Points{Finalized: 5, Uploaded: 5, Balanced: true}}
	with := func(change func(*status.Report)) running {
		r := sound
		r.Ledger.Rejected = map[string]int64{}
		change(&r)
		return running{report: r}
	}
	expect(t, "sound", judgeBooks(running{report: sound}), "OK books: balance: 1000 readings received, 5 points made")
	expect(t, "stopped", judgeBooks(running{err: status.ErrNoAgent}))
	expect(t, "late", judgeBooks(with(func(r *status.Report) { r.Ledger.Late = 11 })), "WARN late: 11 of 1000 readings came too late (1.1 %)")
	expect(t, "few late", judgeBooks(with(func(r *status.Report) { r.Ledger.Late = 10 })), "OK books")
	for reason := range rejectedNext {
		expect(t, reason, judgeBooks(with(func(r *status.Report) { r.Ledger.Rejected[reason] = 11 })), "WARN rejected: "+reason+": 11 of 1000")
	}
	expect(t, "one too many sensors", judgeBooks(with(func(r *status.Report) { r.Ledger.Rejected["sensors"] = 1 })), "WARN rejected: sensors: 1 of 1000")
	expect(t, "the rest", judgeBooks(with(func(r *status.Report) {
		r.Points.Balanced, r.Points.Parked, r.Points.Evicted, r.Held, r.Ignored = false, 2, 3, 4, 5
	})), "FAIL books: the books do not balance", "WARN parked: the server refused 2 points", "WARN evicted: 3 points", "WARN held: 4 readings", "WARN ignored: 5 messages")
}

func TestJudgeClock(t *testing.T) {
	right := clock{now: now, buildDate: now.AddDate(0, -1, 0), zone: "UTC", mode: "auto", synchronised: true}
	with := func(change func(*clock)) clock { c := right; change(&c); return c }
	for _, c := range []struct {
		name string
		c    clock
		want string
	}{
		{"right, alone", right, "OK clock: 2026-11-29T12:00:00Z, synchronised; no server told its time"},
		{"agrees", with(func(c *clock) { c.dates = []offset{{"a", 0}} }), "OK clock: …agrees with the server's"},
		{"zone", with(func(c *clock) { c.zone = "CET" }), "OK clock: …the time zone set here (CET) does not matter"},
		{"devices", with(func(c *clock) { c.devices = []time.Duration{-3 * time.Second, time.Hour, -2 * time.Second} }), "OK clock: …readings are 2 s behind (median of 3)"},
		{"a little off", with(func(c *clock) { c.dates = []offset{{"a", 0}, {"b", -7 * time.Second}} }), "WARN clock: …7 s behind by b"},
		{"off", with(func(c *clock) { c.dates = []offset{{"a", 61 * time.Second}} }), "FAIL clock: …1 min 1 s ahead by a"},
		{"1970", with(func(c *clock) { c.now = time.Unix(40, 0) }), "FAIL clock: 1970-01-01T00:00:40Z is before this program was made (2026-10-29)"},
		{"not synchronised", with(func(c *clock) { c.synchronised = false }), "WARN clock: …the kernel does not call its clock synchronised"},
		{"trusted all the same", with(func(c *clock) { c.synchronised, c.mode = false, "trusted" }), `WARN clock: …gateway.clock is "trusted"`},
	} {
		expect(t, c.name, judgeClock(c.c), c.want)
	}
}

// A Date header has whole seconds, and an answer takes time: only what neither explains is an offset.
func TestAheadOf(t *testing.T) {
	for _, c := range []struct{ sent, answered, want time.Duration }{
		{0, 0, 0}, {900 * time.Millisecond, 950 * time.Millisecond, 0}, {time.Second, 30 * time.Second, 0}, {-30 * time.Second, 0, 0},
		{3 * time.Second, 4 * time.Second, 2 * time.Second}, {-9 * time.Second, -4 * time.Second, -4 * time.Second},
	} {
		if got := aheadOf(now, now.Add(c.sent), now.Add(c.answered)); got != c.want {
			t.Errorf("sent %v, answered %v: %v, want %v", c.sent, c.answered, got, c.want)
		}
	}
}

func TestJudgeServer(t *testing.T) {
	probe := func(v uplink.Verdict, code int) server {
		return server{probe: uplink.Probe{Where: "http://h", Verdict: v, Status: code, Cause: "cause", Proves: "all", Version: "2.7"}}
	}
	up := "OK uplink: http://h answers: InfluxDB 2.7"
	expect(t, "accepted", judgeServer(probe(uplink.Accepted, 204), now), up, "OK write: …Proven: all")
	expect(t, "401", judgeServer(probe(uplink.Denied, 401), now), up, "FAIL write: cause")
	expect(t, "403", judgeServer(probe(uplink.Denied, 403), now), up, "FAIL write: cause")
	expect(t, "no secret", judgeServer(probe(uplink.Denied, 0), now), up, "FAIL write: cause")
	expect(t, "404", judgeServer(probe(uplink.Missing, 404), now), up, "FAIL write: cause")
	expect(t, "portal", judgeServer(probe(uplink.Stranger, 200), now), "FAIL uplink: http://h: not the answer of an InfluxDB: cause")
	expect(t, "ill", judgeServer(probe(uplink.Ill, 500), now), "FAIL uplink: http://h: cause")
	expect(t, "gone", judgeServer(probe(uplink.Unreachable, 0), now), "FAIL uplink: http://h: cause")
	expect(t, "busy", judgeServer(probe(uplink.Busy, 503), now), "WARN uplink: http://h asks for time")
	expect(t, "no file", judgeServer(server{name: "hq", err: errors.New("ca_file")}, now), "FAIL uplink hq: ca_file")
}

func TestJudgeRetention(t *testing.T) {
	accepted := uplink.Probe{Verdict: uplink.Accepted}
	waits := func(age time.Duration) running {
		return running{store: agent.StoreStats{Stats: buffer.Stats{OldestEnd: now.Add(-age).UnixNano()}, Points: buffer.PointCounts{Queued: 1}}}
	}
	week := server{probe: accepted, retention: 168 * time.Hour}
	expect(t, "for ever", judgeRetention(server{probe: accepted}, waits(time.Hour), now), "OK retention: the server keeps points for ever")
	expect(t, "nothing waits", judgeRetention(week, running{}, now), "OK retention: the server keeps points for 7 d 0 h; nothing old waits")
	expect(t, "young", judgeRetention(week, waits(time.Hour), now), "OK retention: …of 1 h 0 min ago")
	expect(t, "half", judgeRetention(week, waits(85*time.Hour), now), "WARN retention: …of 3 d 13 h ago")
	expect(t, "too old", judgeRetention(week, waits(169*time.Hour), now), "FAIL retention: …of 7 d 1 h ago")
	expect(t, "not told", judgeRetention(server{probe: accepted, untold: fmt.Errorf("%w: 401", uplink.ErrNotTold)}, running{}, now), "OK retention: the server does not tell")
	expect(t, "not known", judgeRetention(server{probe: accepted, untold: errors.New("cut")}, running{}, now), "WARN retention: …cut")
	expect(t, "denied", judgeRetention(server{probe: uplink.Probe{Verdict: uplink.Denied}}, running{}, now))
}

func TestJudgeChain(t *testing.T) {
	cert := func(until time.Duration) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: "h"}, NotAfter: now.Add(until)}
	}
	day := 24 * time.Hour
	expect(t, "none", judgeChain("tls", "h", chain{}, now))
	expect(t, "long", judgeChain("tls", "h", chain{certs: []*x509.Certificate{cert(15 * day), cert(900 * day)}}, now), "OK tls: h: the certificate holds until 2026-12-14")
	expect(t, "soon", judgeChain("tls", "h", chain{certs: []*x509.Certificate{cert(900 * day), cert(13 * day)}}, now), "WARN tls: h: the certificate (CN=h) holds until 2026-12-12, 13 d 0 h from now")
	expect(t, "over", judgeChain("tls", "h", chain{certs: []*x509.Certificate{cert(-day)}, loose: true}, now), "WARN tls: h: insecure_skip_verify", "WARN tls: h: the certificate (CN=h) has expired on 2026-11-28")
	expect(t, "no file", judgeChain("tls", "h", chain{err: fs.ErrNotExist}, now), "FAIL tls: h: file does not exist")
}
