package mqtt

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	almostOne := func() float64 { return 0.999999 }
	b := backoff{min: time.Second, max: time.Minute, random: almostOne}
	var got []time.Duration
	for range 9 {
		got = append(got, b.next().Round(time.Second))
	}
	if want := "[1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s]"; fmt.Sprint(got) != want {
		t.Errorf("bounds %v, want %s", got, want)
	}
	b.cap(0)
	if d := b.next().Round(time.Second); d != time.Second {
		t.Errorf("after a reset %v", d)
	}
	b = backoff{min: time.Second, max: time.Minute, random: func() float64 { return 0 }}
	if d := b.next(); d != 0 {
		t.Errorf("full jitter reaches down to 0, got %v", d)
	}
}

func TestJudge(t *testing.T) {
	type loss struct {
		lived  time.Duration
		useful bool
		err    error // nil: the broker closed it
	}
	times := func(n int, l loss) []loss { return slices.Repeat([]loss{l}, n) }
	tests := []struct {
		name    string
		losses  []loss
		bound   time.Duration // of the pause after the last
		suspect int           // how often
	}{
		{"first", times(1, loss{time.Second, false, nil}), time.Second, 0},
		{"useless ones grow", times(5, loss{time.Second, false, nil}), 16 * time.Second, 1},
		{"useful ones do not", times(2, loss{time.Second, true, nil}), time.Second, 0},
		{"useful ones that go on grow a little", times(50, loss{time.Second, true, nil}), 4 * time.Second, 1},
		{"a long life resets", append(times(5, loss{time.Second, false, nil}), loss{time.Hour, false, nil}), time.Second, 1},
		{"told again after a long life", append(times(4, loss{time.Second, false, nil}), append(times(1, loss{time.Hour, true, nil}), times(4, loss{0, false, nil})...)...), 16 * time.Second, 2},
		{"each with a cause of its own", times(5, loss{time.Second, false, fmt.Errorf("%w: type 15", ErrMalformed)}), 16 * time.Second, 0},
		{"medium lives are no fight", times(9, loss{20 * time.Second, true, nil}), time.Second, 0},
	}
	for _, tt := range tests {
		b := backoff{min: time.Second, max: time.Minute, random: func() float64 { return 0.999999 }}
		var r record
		var pause time.Duration
		suspects := 0
		for _, l := range tt.losses {
			r.judge(&b, l.lived, l.useful)
			pause = b.next().Round(time.Second)
			if r.suspect(cmp.Or(l.err, ErrClosed)) {
				suspects++
			}
		}
		if pause != tt.bound || suspects != tt.suspect {
			t.Errorf("%s: bound %v, want %v; said %d times, want %d", tt.name, pause, tt.bound, suspects, tt.suspect)
		}
	}
}

func TestThrottle(t *testing.T) {
	th := throttle{every: time.Minute, most: time.Minute, burst: 2}
	at := time.Unix(0, 0)
	steps := []struct {
		after time.Duration
		what  string
		held  int
		ok    bool
	}{
		{0, "a", 0, true}, {0, "a", 0, true}, {0, "a", 0, false}, {0, "b", 0, true}, {time.Second, "a", 0, false},
		{time.Minute, "a", 2, true}, {0, "a", 0, true}, {0, "a", 0, false},
	}
	for i, s := range steps {
		at = at.Add(s.after)
		if held, ok := th.allow(at, s.what); held != s.held || ok != s.ok {
			t.Errorf("step %d: (%d, %v), want (%d, %v)", i, held, ok, s.held, s.ok)
		}
	}
	for i := range 10 * throttleKeys {
		th.allow(at, fmt.Sprint(i))
	}
	if len(th.seen) > throttleKeys {
		t.Errorf("%d lines remembered", len(th.seen))
	}
}

func TestOverlap(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a/b", "a", false}, {"#", "a/b", true}, {"a/#", "a", true}, {"a/#", "a/b/c", true},
		{"a/#", "b/#", false}, {"+/b", "a/+", true}, {"+", "a/b", false}, {"a/+/c", "a/b/+", true}, {"a/+/c", "a/b/d", false},
		{"#", "$SYS/x", false}, {"+/x", "$SYS/x", false}, {"$SYS/#", "$SYS/x", true}, {"$share/g/a/#", "a/b", true}, {"$share/g/a", "b", false},
		{"sensors/#", "sensors/+/temperature", true},
	}
	for _, tt := range tests {
		if overlap(tt.a, tt.b) != tt.want || overlap(tt.b, tt.a) != tt.want {
			t.Errorf("overlap(%q, %q) = %v, %v, want %v", tt.a, tt.b, overlap(tt.a, tt.b), overlap(tt.b, tt.a), tt.want)
		}
	}
	if w := Warnings([]Filter{{"a", 0}, {"a/#", 1}, {"a", 0}}); len(w) != 2 || !strings.Contains(w[0], "QoS 0") || !strings.Contains(w[1], "overlap") {
		t.Errorf("Warnings = %q", w)
	}
}

// An unusable configuration is the only error of Run.
func TestRunRefuses(t *testing.T) {
	good := Config{Brokers: []string{"tcp://x"}, ClientID: "c", Filters: []Filter{{"a/+/#", 1}}}
	tests := []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.ClientID = "" }, "client id"},
		{func(c *Config) { c.Brokers = nil }, "no broker"},
		{func(c *Config) { c.Brokers = []string{"tcp://x", "http://u:hush@y"} }, `broker 2: scheme "http"`},
		{func(c *Config) { c.Brokers = []string{"tcp://u:hu sh@y z"} }, "broker 1: it is not of the form"},
		{func(c *Config) { c.Brokers = []string{"tcp://"} }, "broker 1: it is not of the form"},
		{func(c *Config) { c.Filters = []Filter{{"a", 2}} }, `filter "a": QoS is 0 or 1 (got 2)`},
		{func(c *Config) { c.Filters = []Filter{{"", 1}} }, "1 to 65535 bytes"},
		{func(c *Config) { c.Filters = []Filter{{"a/#/b", 1}} }, "# must be the last"},
		{func(c *Config) { c.Filters = []Filter{{"a/b+", 1}} }, "level of its own"},
	}
	for _, tt := range tests {
		cfg := good
		tt.change(&cfg)
		err := New(cfg).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

func TestParseBroker(t *testing.T) {
	tests := []struct{ in, url, name, user, password string }{
		{"localhost", "tcp://localhost:1883", "tcp://localhost:1883", "", ""},
		{"10.0.0.1:1884", "tcp://10.0.0.1:1884", "tcp://10.0.0.1:1884", "", ""},
		{"mqtts://u:p@h", "mqtts://h:8883", "mqtts://h:8883", "u", "p"},
		{"ssl://[::1]", "ssl://[::1]:8883", "ssl://[::1]:8883", "", ""},
		{"wss://h/mqtt?token=t", "wss://h/mqtt?token=t", "wss://h", "", ""},
	}
	for _, tt := range tests {
		e, err := parseBroker(tt.in)
		if err != nil || e.url.String() != tt.url || e.name != tt.name || e.user != tt.user || e.password != tt.password {
			t.Errorf("parseBroker(%q) = %v %+v, %v", tt.in, e.url, e, err)
		}
	}
}

// Causes read the same every time, without the ports of one connection.
func TestPlain(t *testing.T) {
	op := &net.OpError{Op: "read", Net: "tcp", Addr: &net.TCPAddr{Port: 50123}, Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	tests := []struct {
		in   error
		want string
	}{
		{io.EOF, "the broker closed the connection"},
		{io.ErrUnexpectedEOF, "the broker closed the connection"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "b", IsNotFound: true}}, "look up b: no such host"},
		{&net.DNSError{Name: "b", Err: "read udp 10.0.0.5:43210->10.0.0.1:53: i/o timeout", IsTimeout: true}, "look up b: the name server gives no answer"},
		{op, "read: connection reset by peer"},
		{fmt.Errorf("write: %w", os.ErrDeadlineExceeded), "timed out: i/o timeout"},
		{fmt.Errorf("%w: nothing for 5s", ErrSilent), "the broker is silent: nothing for 5s"},
	}
	for _, tt := range tests {
		if got := plain(tt.in); got.Error() != tt.want {
			t.Errorf("plain(%v) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if !errors.Is(plain(op), syscall.ECONNRESET) {
		t.Error("the cause is lost")
	}
	var dns *net.DNSError
	if !errors.As(plain(&net.DNSError{Name: "b", IsNotFound: true}), &dns) || dns.Name != "b" {
		t.Error("the name that was not found is lost")
	}
}
