package mqtt

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
)

const (
	handOver   = 3 * time.Second // longest wait for paho to take an outgoing packet
	disconnect = 8 * time.Second // longest wait for paho's goroutines to end; it takes far less unless paho has a fault
	never      = 1e5 * time.Hour
)

// A session is one connection, with a paho client of its own.
type session struct {
	c      *Client
	conn   uint64 // its number
	broker *endpoint
	since  time.Time // CONNACK
	client paho.Client
	wire   *wire
	kept   bool // the broker had the session, and kept what came meanwhile
	online bool // it has been said that the agent is there
	logged bool // its "connected" line is out

	gate chan struct{} // closed when Connected is in the queue
	quit chan struct{} // closed when stopping: nothing more is handed on

	nth   uint64       // PUBLISH packets handled; of the handler
	torn  bool         // one was not handed on, so none after it may be, or they would come out of order; of the handler
	taken atomic.Int64 // messages handed on that are to be acknowledged
	acked atomic.Int64
}

// connect makes one attempt at one broker. On success Connected is in the queue.
func (c *Client) connect(ctx context.Context, e *endpoint) (*session, error) {
	opts, err := c.options(e)
	if err != nil {
		return nil, err
	}
	s := &session{c: c, broker: e, gate: make(chan struct{}), quit: make(chan struct{})}
	var dialErr error
	release := func() bool { return true }
	opts.SetDefaultPublishHandler(s.handle)
	opts.SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) {
		conn, err := c.open(ctx, e.url, c.cfg.trust())
		if err != nil {
			dialErr = plain(err)
			return nil, err
		}
		s.wire = newWire(conn, c.silence(), c.cfg.MaxMessageBytes)
		release = context.AfterFunc(ctx, func() { s.wire.fail(errStopped) })
		return s.wire, nil
	})
	s.client = paho.NewClient(opts)
	t := s.client.Connect().(*paho.ConnectToken)
	<-t.Done()
	release()
	if t.Error() != nil {
		return nil, s.whyNot(t, dialErr)
	}
	s.begin(t.SessionPresent())
	return s, nil
}

// whyNot is the cause of a failed attempt, in our words.
func (s *session) whyNot(t *paho.ConnectToken, dialErr error) error {
	code := t.ReturnCode()
	switch {
	case dialErr != nil:
		return fmt.Errorf("open connection: %w", dialErr)
	case code > packets.Accepted && code <= packets.ErrRefusedNotAuthorised:
		return &RefusedError{Code: code}
	case s.wire != nil && s.wire.over() && s.wire.err != errStopped:
		return fmt.Errorf("wait for CONNACK: %w", s.wire.err)
	}
	return fmt.Errorf("connect: %w", t.Error())
}

// options are paho's for one attempt.
func (c *Client) options(e *endpoint) (*paho.ClientOptions, error) {
	user, password := c.cfg.Username, ""
	if user == "" {
		user, password = e.user, e.password
	}
	if c.cfg.Password != nil {
		p, err := c.cfg.Password()
		if err != nil {
			return nil, fmt.Errorf("read password: %w", err)
		}
		password = p
	}
	o := paho.NewClientOptions()
	o.Servers = []*url.URL{e.url}
	o.SetClientID(c.cfg.ClientID).SetUsername(user).SetPassword(password)
	o.SetProtocolVersion(4).SetCleanSession(c.cfg.Transient).SetOrderMatters(true).SetAutoAckDisabled(true)
	o.SetAutoReconnect(false).SetConnectRetry(false).SetStore(noStore{})
	o.SetConnectionLostHandler(nil).SetWriteTimeout(handOver)
	o.SetKeepAlive(c.cfg.KeepAlive).SetPingTimeout(never) // the wire judges silence; paho would count time spent in the handler
	if c.cfg.StatusTopic != "" {
		o.SetBinaryWill(c.cfg.StatusTopic, presence("offline", "connection lost", time.Time{}), 1, true)
	}
	return o, nil
}

// silence is how long a living broker may send nothing: paho pings when a keep-alive has passed, but looks only now and
// then (every 5 s, or at each quarter of a short keep-alive), and half a keep-alive is for the answer.
func (c *Client) silence() time.Duration {
	k := c.cfg.KeepAlive
	look := 5 * time.Second
	if k <= 10*time.Second {
		look = k / 4
	}
	return k + look + k/2
}

// begin makes s the present connection and opens the gate for its messages.
func (s *session) begin(present bool) {
	c := s.c
	c.conns++
	s.conn, s.since = c.conns, c.now()
	c.setState(func(st *State) { *st = State{Since: st.Since, Broker: s.broker.name} })
	c.current.Store(s)
	c.queue.force(Delivery{Kind: Connected, Conn: s.conn, Arrival: s.since, SessionPresent: present, Broker: s.broker.name})
	close(s.gate)
	if held, ok := c.changes.allow(s.since, "connected"); ok {
		s.logged = true
		c.log.Info("mqtt: connected", "broker", s.broker.name, "session_present", present, "held_back", held)
	}
	s.kept = present
	if !present {
		c.unsubscribed = true // the broker knows no old filters
	}
}

// serve subscribes and waits for the end of the connection, which it returns the reason of. When ctx ends it disconnects.
// On return Down is in the queue and everything of the connection has ended.
func (s *session) serve(ctx context.Context) error {
	if s.kept {
		s.arrive()
	}
	if s.unsubscribe(ctx) && s.subscribe(ctx) {
		s.hold(ctx)
	}
	err := errStopped
	if ctx.Err() != nil {
		s.farewell()
	} else {
		err = s.wire.err
	}
	s.client.Disconnect(uint(disconnect / time.Millisecond)) // also joins paho's goroutines
	s.end(ctx, err)
	return err
}

// hold waits while the connection lasts.
func (s *session) hold(ctx context.Context) {
	t := time.NewTimer(settled)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wire.done:
			return
		case <-t.C:
			s.c.failures.reset()
			if !s.logged {
				s.c.log.Info("mqtt: connected, steady now", "broker", s.broker.name)
			}
		}
	}
}

// farewell says that the agent goes in order, so that the broker drops the last will.
func (s *session) farewell() {
	close(s.quit)
	s.wire.hurry()
	s.announce("offline", "stopped", s.c.now())
}

// end retires s: from here on acknowledgements for it are void.
func (s *session) end(ctx context.Context, err error) {
	c := s.c
	s.wire.fail(errStopped) // it has ended already, unless Disconnect ran out of time
	c.current.Store(nil)
	now := c.now()
	c.setState(func(st *State) { *st = State{Since: now, Broker: s.broker.name, Err: err} })
	d := Delivery{Kind: Down, Conn: s.conn, Arrival: now, Err: err}
	if ctx.Err() != nil {
		d.Err = nil
	}
	c.queue.force(d)
}

// handle takes one message from paho. It blocks while the queue is full, which stops the reading; half a keep-alive of that
// ends the connection.
func (s *session) handle(_ paho.Client, m paho.Message) {
	<-s.gate
	s.nth++
	d := Delivery{
		Conn: s.conn, Topic: m.Topic(), Payload: m.Payload(), PacketID: m.MessageID(), QoS: m.Qos(), Dup: m.Duplicate(),
		Retained: m.Retained(), Size: len(m.Payload()), Arrival: s.c.now(),
	}
	if size, ok := s.wire.wasCut(s.nth); ok {
		d.TooBig, d.Payload, d.Size = true, nil, size
	}
	if s.torn || s.quitting() {
		return
	}
	if d.QoS == 2 {
		s.wire.ackTwo(d.PacketID)
	}
	if d.QoS > 0 {
		s.taken.Add(1)
	}
	limit := s.c.cfg.KeepAlive / 2
	if s.c.queue.put(&d, limit, s.wire.done, s.quit) {
		return
	}
	s.torn = true
	if !s.quitting() {
		s.wire.fail(fmt.Errorf("%w: nothing was taken from it for %v, so the connection is ended until it is empty", ErrQueueFull, limit))
	}
}

// quitting reports whether nothing more is to be handed on.
func (s *session) quitting() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}
