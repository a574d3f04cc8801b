package sim

import (
	"context"
	"fmt"
	"time"
)

const (
	retryMin = 250 * time.Millisecond
	retryMax = 5 * time.Second
)

// settle takes one acknowledgement, and records the oldest messages as far as all are acknowledged.
func (p *publisher) settle(id uint16) error {
	for i := range p.waiting {
		if s := &p.waiting[i]; s.id == id && !s.acked {
			s.acked = true
			break
		}
	}
	for len(p.waiting) > 0 && p.waiting[0].acked {
		m := p.waiting[0].Message
		p.waiting[0] = sent{}
		p.waiting = p.waiting[1:]
		p.sum.count(m.Fate)
		if err := p.record(m); err != nil {
			return err
		}
	}
	return nil
}

// count counts a message that the broker has.
func (s *Summary) count(f Fate) {
	s.Sent++
	switch f {
	case Delayed:
		s.Delayed++
	case TooLate:
		s.TooLate++
	case Repeated:
		s.Repeated++
	case Bad:
		s.Bad++
	}
}

func (p *publisher) record(m Message) error {
	if p.o.Record == nil {
		return nil
	}
	if _, err := p.o.Record.Write(m.Record().Line()); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// reconnect replaces a lost connection, trying until ctx is done, and publishes again what is not acknowledged.
func (p *publisher) reconnect(ctx context.Context, cause error) error {
	if err := p.hangUp(); err != nil {
		return err
	}
	p.o.Log.Warn("connection to the broker lost", "unacknowledged", len(p.waiting), "err", cause)
	for pause := retryMin; ctx.Err() == nil; pause = min(2*pause, retryMax) {
		if l, err := dial(ctx, p.o.Broker); err == nil {
			p.link = l
			if p.resend() == nil {
				p.sum.Reconnects++
				p.o.Log.Info("connected to the broker again")
				return nil
			}
			if err := p.hangUp(); err != nil {
				return err
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return nil
}

// hangUp ends a lost connection and takes the acknowledgements that it still brought.
func (p *publisher) hangUp() error {
	p.link.close(false)
	for {
		select {
		case id := <-p.link.acks:
			if err := p.settle(id); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// resend publishes all messages without an acknowledgement in order.
func (p *publisher) resend() error {
	for i := range p.waiting {
		p.waiting[i].id = 0 // that of the old connection
	}
	for i := range p.waiting {
		s := &p.waiting[i]
		if s.acked {
			continue
		}
		p.sum.Resent++
		if err := p.send(s); err != nil {
			return err
		}
	}
	return nil
}

// drain waits a little for the acknowledgements of what is published, and counts the rest.
func (p *publisher) drain() (err error) {
	timer := time.NewTimer(drainTimeout)
	defer timer.Stop()
	for waiting := true; waiting && len(p.waiting) > 0 && err == nil; {
		select {
		case id := <-p.link.acks:
			err = p.settle(id)
		case <-p.link.lost:
			waiting = false
			err = p.hangUp()
		case <-timer.C:
			waiting = false
		}
	}
	p.sum.Unknown = int64(len(p.waiting))
	return err
}
