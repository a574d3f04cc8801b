package mqtt

import (
	"cmp"
	"context"
	"fmt"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// quietFor is how long nothing may come until what a broker hands out at once is taken to be complete.
const quietFor = time.Second

// Left is what a broker keeps for a session that nobody uses now.
type Left struct {
	Broker   string // which one answered; without credentials
	Present  bool   // there is a session
	Messages int    // of it, as many as the broker hands out without an acknowledgement: its in-flight limit at most
}

// LookAtSession takes the session of a configuration up, counts what the broker hands out, acknowledges none of it, and
// leaves: all of it comes again to whoever takes the session up next. It must not be used while another does, who would be
// thrown out. Where there was no session there is none afterwards. Brokers are tried in turn; the error is that of the last.
func LookAtSession(ctx context.Context, cfg Config) (Left, error) {
	cfg.Transient, cfg.Filters, cfg.StatusTopic = false, nil, ""
	var left Left
	err := visit(ctx, cfg, func(c *Client, s *session) error {
		left = Left{Broker: s.broker.name}
		timer := time.NewTimer(quietFor)
		defer timer.Stop()
		for {
			for _, d := range c.Take(nil) {
				left.Present = left.Present || d.Kind == Connected && d.SessionPresent
				if d.Kind == Publish {
					left.Messages++
					timer.Reset(quietFor)
				}
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-s.wire.done:
				return s.wire.err
			case <-timer.C:
				return nil
			case <-c.Ready():
			}
		}
	})
	if err == nil && !left.Present {
		cfg.Transient = true
		err = visit(ctx, cfg, func(*Client, *session) error { return nil })
	}
	return left, err
}

// Forget ends the session of a configuration at the broker, with all that waits in it, and has the broker keep nothing on
// Config.StatusTopic. It must not be used while another uses the session.
func Forget(ctx context.Context, cfg Config) error {
	topic := cfg.StatusTopic
	cfg.Transient, cfg.Filters, cfg.StatusTopic = true, nil, ""
	return visit(ctx, cfg, func(_ *Client, s *session) error {
		if topic == "" {
			return nil
		}
		t, ok := s.ask(ctx, func() paho.Token { return s.client.Publish(topic, 1, true, []byte{}) })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok:
			return fmt.Errorf("clear the status message: %w", s.wire.err)
		case t.Error() != nil:
			return fmt.Errorf("clear the status message: %w", t.Error())
		}
		return nil
	})
}

// visit connects to the first broker that answers, runs fn, and leaves in good order.
func visit(ctx context.Context, cfg Config, fn func(*Client, *session) error) error {
	c := New(cfg)
	err := c.cfg.validate()
	if err != nil {
		return err
	}
	if c.brokers, err = parseBrokers(c.cfg.Brokers); err != nil {
		return err
	}
	defer c.requests.Wait()
	var failed error
	for i := range c.brokers {
		s, err := c.connect(ctx, &c.brokers[i])
		if err != nil {
			failed = alsoFailed(failed, fmt.Errorf("%s: %w", c.brokers[i].name, err))
			continue
		}
		err = fn(c, s)
		close(s.quit)
		s.client.Disconnect(uint(disconnect / time.Millisecond))
		s.end(ctx, errStopped)
		return err
	}
	return cmp.Or(failed, ctx.Err())
}

// alsoFailed is both errors in one line; the first may be nil.
func alsoFailed(first, second error) error {
	if first == nil {
		return second
	}
	return fmt.Errorf("%w; %w", first, second)
}
