package mqtt

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// A Filter is an MQTT topic filter and the highest QoS in which its messages shall come, 0 or 1.
type Filter struct {
	Topic string
	QoS   byte
}

// Config says with whom to hold a session and how. It is not changed by the Client.
type Config struct {
	// Brokers are the URLs of the nodes of one cluster, tried in turn: tcp, mqtt (port 1883), ssl, tls, mqtts (8883), ws or
	// wss; without a scheme tcp. A user and password in a URL count where Username is empty.
	Brokers []string

	ClientID string // names the session at the broker: fixed, and used by nobody else

	// Transient asks for a session that the broker forgets with the connection: to look on, not to take part.
	Transient bool

	Username string
	Password func() (string, error) // called for every connection, so that it may change; nil: none

	KeepAlive       time.Duration // whole seconds, at most 65535; 0 is 30 s
	MaxMessageBytes int           // largest payload that is handed on, its topic not counted; 0 is 64 KiB
	TLS             *tls.Config   // for ssl, tls, mqtts and wss; nil: the system's roots

	// Authorities are asked for before every connection, and stand in the place of TLS.RootCAs. nil: those of TLS.
	Authorities func() *x509.CertPool

	Filters     []Filter // what to subscribe to, on every connection
	Unsubscribe []string // filters of an earlier run; those not in Filters are ended once, if the broker has the session

	// StatusTopic holds a retained JSON object with "state", "online" or "offline": a birth message and a last will.
	// "" is none.
	StatusTopic string

	QueueMessages int // most messages that wait to be taken; 0 is 8192
	QueueBytes    int // most bytes of topics and payloads that wait, but for a single larger message; 0 is 4 MiB

	RetryMin, RetryMax time.Duration // pauses before a new attempt are random below a bound that grows from Min to Max; 0 is 1 s and 60 s

	Logger *slog.Logger     // nil: silence
	Now    func() time.Time // dates arrivals and changes of the connection, with its monotonic part; nil is time.Now
}

// trust is TLS with the authorities of now.
func (c *Config) trust() *tls.Config {
	if c.Authorities == nil {
		return c.TLS
	}
	conf := c.TLS.Clone() // of nil it is nil
	if conf == nil {
		conf = &tls.Config{}
	}
	conf.RootCAs = c.Authorities()
	return conf
}

// withDefaults is the configuration with its zero values filled in and its filters unique.
func (c Config) withDefaults() Config {
	orElse(&c.KeepAlive, 30*time.Second)
	c.KeepAlive = min(max(c.KeepAlive, time.Second), 65535*time.Second).Truncate(time.Second)
	orElse(&c.MaxMessageBytes, 64<<10)
	orElse(&c.QueueMessages, 8192)
	orElse(&c.QueueBytes, 4<<20)
	orElse(&c.RetryMin, time.Second)
	orElse(&c.RetryMax, time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Filters = unique(c.Filters)
	return c
}

func orElse[T int | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// unique merges filters with the same topic; the higher QoS counts.
func unique(filters []Filter) []Filter {
	var out []Filter
	at := make(map[string]int, len(filters))
	for _, f := range filters {
		i, known := at[f.Topic]
		if !known {
			at[f.Topic] = len(out)
			out = append(out, f)
			continue
		}
		out[i].QoS = max(out[i].QoS, f.QoS)
	}
	return out
}

// validate reports what would make every connection fail or harm the session.
func (c Config) validate() error {
	var errs []error
	if c.ClientID == "" {
		errs = append(errs, errors.New("client id is empty: a persistent session needs a fixed one"))
	}
	if len(c.Brokers) == 0 {
		errs = append(errs, errors.New("no broker is given"))
	}
	for _, f := range c.Filters {
		if err := validFilter(f); err != nil {
			errs = append(errs, fmt.Errorf("filter %q: %w", f.Topic, err))
		}
	}
	return errors.Join(errs...)
}

func validFilter(f Filter) error {
	if f.QoS > 1 {
		return fmt.Errorf("QoS is 0 or 1 (got %d)", f.QoS)
	}
	if f.Topic == "" || len(f.Topic) > 65535 || strings.ContainsRune(f.Topic, 0) {
		return errors.New("it must have 1 to 65535 bytes and no NUL")
	}
	levels := strings.Split(f.Topic, "/")
	for i, level := range levels {
		switch {
		case len(level) > 1 && strings.ContainsAny(level, "+#"):
			return errors.New("a wildcard must be a level of its own")
		case level == "#" && i < len(levels)-1:
			return errors.New("# must be the last level")
		}
	}
	return nil
}

// Warnings are remarks on filters that work but may surprise: QoS 0, and pairs that overlap. Run logs them at its start.
func Warnings(filters []Filter) []string {
	var out []string
	filters = unique(filters)
	for i, f := range filters {
		if f.QoS == 0 {
			out = append(out, fmt.Sprintf("filter %q has QoS 0: what comes while the agent or the link is down is lost", f.Topic))
		}
		for _, g := range filters[i+1:] {
			if overlap(f.Topic, g.Topic) {
				out = append(out, fmt.Sprintf("filters %q and %q overlap: the broker may send a message twice", f.Topic, g.Topic))
			}
		}
	}
	return out
}

// overlap reports whether some topic matches both filters.
func overlap(a, b string) bool {
	x, y := levels(a), levels(b)
	for i := 0; i < len(x) && i < len(y); i++ {
		if i == 0 && (hidden(x[0], y[0]) || hidden(y[0], x[0])) {
			return false
		}
		if x[i] == "#" || y[i] == "#" {
			return true
		}
		if x[i] != y[i] && x[i] != "+" && y[i] != "+" {
			return false
		}
	}
	long, short := x, len(y)
	if len(y) > len(x) {
		long, short = y, len(x)
	}
	return len(x) == len(y) || len(long) == short+1 && long[short] == "#" // a/# matches a, too
}

// hidden reports whether a first level is kept from a wildcard: $SYS/… does not match #.
func hidden(wild, level string) bool {
	return (wild == "+" || wild == "#") && strings.HasPrefix(level, "$")
}

// levels are those of the topics that a filter matches, without the group of a shared subscription.
func levels(filter string) []string {
	l := strings.Split(filter, "/")
	if l[0] == "$share" && len(l) > 2 {
		return l[2:]
	}
	return l
}
