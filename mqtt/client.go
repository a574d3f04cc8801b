package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// A Client holds one session with a broker. Run may be called once; the other methods are for any goroutine, Take for one.
type Client struct {
	cfg   Config
	log   *slog.Logger
	queue *queue
	now   func() time.Time
	open  func(context.Context, *url.URL, *tls.Config) (net.Conn, error)

	// of Run
	brokers      []endpoint
	at           int // the broker to try next
	tried        int // brokers that failed since the last success or pause
	retry        backoff
	record       record
	drain        bool // the queue must be empty before the next connection
	conns        uint64
	unsubscribed bool // Config.Unsubscribe is done
	changes      throttle
	failures     throttle
	requests     sync.WaitGroup // goroutines that hand something to paho

	current atomic.Pointer[session] // the present connection, from its Connected to just before its Down

	mu    sync.Mutex // guards state
	state State
}

// State is what a Client can say about itself.
type State struct {
	Connected  bool      // what is published from now on reaches this client: the broker has answered a subscription, or had the session
	Subscribed bool      // every filter is granted on this connection
	Refused    []string  // filters that the broker has not granted, as of its last answer on this connection
	Since      time.Time // of the last change of Connected; the zero time before the first connection
	Broker     string    // the present one, or the last; without credentials
	Err        error     // why there is no connection now; nil while Connected
	Unacked    int64     // messages handed on by this connection that are to be acknowledged and are not yet
	Queued     int       // deliveries that wait to be taken
}

// New makes a Client; Run starts it.
func New(cfg Config) *Client {
	cfg = cfg.withDefaults()
	return &Client{
		cfg: cfg, log: cfg.Logger, queue: newQueue(cfg.QueueMessages, cfg.QueueBytes), now: cfg.Now, open: dial,
		retry:    backoff{min: cfg.RetryMin, max: cfg.RetryMax, random: rand.Float64},
		changes:  throttle{every: time.Minute, most: time.Hour, burst: 3},
		failures: throttle{every: 5 * time.Minute, most: 6 * time.Hour, burst: 1},
	}
}

// Run connects, and connects again whenever the connection is lost, until ctx ends. Then it sends a DISCONNECT, waits for
// all it has started, which takes a few seconds at worst, and returns nil; the session stays at the broker. Whoever wants
// to acknowledge a last batch does so before ending ctx. Only an unusable configuration is an error.
func (c *Client) Run(ctx context.Context) error {
	if err := c.cfg.validate(); err != nil {
		return err
	}
	var err error
	if c.brokers, err = parseBrokers(c.cfg.Brokers); err != nil {
		return err
	}
	for _, w := range Warnings(c.cfg.Filters) {
		c.log.Warn("mqtt: " + w)
	}
	defer c.requests.Wait()
	for c.waitForRoom(ctx) {
		if !sleep(ctx, c.attempt(ctx)) {
			break
		}
	}
	return nil
}

// Ready gets a value when there may be something to take.
func (c *Client) Ready() <-chan struct{} { return c.queue.ready }

// Take appends to dst all that has happened and was not taken yet, in order, and returns it. Payloads are the caller's.
func (c *Client) Take(dst []Delivery) []Delivery { return c.queue.take(dst) }

// Ack acknowledges messages of the connection conn by their packet identifiers, in the order given, with one write. It
// reports whether the write went through; false if conn is no longer the present connection or ends with this, and then
// the broker will send again what it does not know as acknowledged. It may block for 10 s when the network is stuck.
func (c *Client) Ack(conn uint64, ids []uint16) bool {
	s := c.current.Load()
	if s == nil || s.conn != conn || !s.wire.ack(ids) {
		return false
	}
	s.acked.Add(int64(len(ids)))
	return true
}

// State is how things are now.
func (c *Client) State() State {
	c.mu.Lock()
	st := c.state
	c.mu.Unlock()
	if s := c.current.Load(); s != nil {
		st.Unacked = s.taken.Load() - s.acked.Load()
	}
	st.Queued = c.queue.len()
	return st
}

func (c *Client) setState(change func(*State)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.state)
}

// waitForRoom waits until a new connection would have a place for what it brings; false if ctx has ended.
func (c *Client) waitForRoom(ctx context.Context) bool {
	below := c.cfg.QueueMessages
	if c.drain {
		below = 1
	}
	c.drain = false
	return c.queue.waitBelow(ctx, below)
}

// attempt tries one broker, holds the connection as long as it lasts, and returns the pause before the next attempt.
func (c *Client) attempt(ctx context.Context) time.Duration {
	e := &c.brokers[c.at]
	s, err := c.connect(ctx, e)
	if err != nil {
		return c.unreachable(ctx, e, err)
	}
	c.tried = 0
	return c.lost(ctx, s, s.serve(ctx))
}

// rotate moves on to the next broker.
func (c *Client) rotate() { c.at = (c.at + 1) % len(c.brokers) }

// unreachable is called when no connection came about. The next broker is tried at once, but for a pause after each round.
func (c *Client) unreachable(ctx context.Context, e *endpoint, err error) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	c.rotate()
	c.tried++
	var pause time.Duration
	if c.tried >= len(c.brokers) {
		c.tried = 0
		pause = c.retry.next()
	}
	c.setState(func(st *State) { st.Err = err })
	if held, ok := c.failures.allow(c.now(), e.name+err.Error()); ok {
		c.log.Warn("mqtt: cannot connect", "broker", e.name, "error", err, "next_try_in", round(pause), "held_back", held)
	}
	return pause
}

// lost is called when a connection has ended, for the reason err.
func (c *Client) lost(ctx context.Context, s *session, err error) time.Duration {
	now := c.now()
	if ctx.Err() != nil {
		c.log.Info("mqtt: disconnected", "broker", s.broker.name)
		return 0
	}
	c.drain = errors.Is(err, ErrQueueFull)
	lived := now.Sub(s.since)
	c.record.judge(&c.retry, lived, s.acked.Load() > 0)
	if lived < settled {
		c.rotate()
	}
	pause := c.retry.next()
	if held, ok := c.changes.allow(now, "lost"+err.Error()); ok {
		c.log.Warn("mqtt: connection lost", "broker", s.broker.name, "error", err, "after", round(lived),
			"next_try_in", round(pause), "held_back", held)
	}
	if c.record.suspect(err) {
		c.log.Warn("mqtt: lost right after connecting again and again: most likely another client uses the same client id; each needs its own",
			"client_id", c.cfg.ClientID, "times", c.record.quick)
	}
	return pause
}

// round makes a duration readable.
func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
