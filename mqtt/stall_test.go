package mqtt

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A full queue stops the reading; after half a keep-alive the connection is ended on purpose, and made anew only when the
// queue was taken. Order is kept and nothing comes twice on one connection.
func TestQueueFull(t *testing.T) {
	for _, bytes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cfg := Config{Filters: oneFilter, KeepAlive: 20 * time.Second, QueueMessages: 6}
			if bytes {
				cfg.QueueMessages, cfg.QueueBytes = 0, 4*(len("sensors/s1")+1)
			}
			r := start(t, cfg, nil)
			p := r.peer()
			p.welcome(true)
			p.grant(nil)
			synctest.Wait() // Connected and Subscribed are in the queue, and four messages find room
			begin := time.Now()
			ms, _ := numbered(1, 9)
			p.publish(ms...)
			if _, ok := p.next(); ok {
				t.Fatal("a packet instead of the end")
			}
			if d := time.Since(begin); d != 10*time.Second {
				t.Errorf("ended after %v, want half a keep-alive", d)
			}
			time.Sleep(time.Hour)
			if len(r.peers) != 0 {
				t.Fatal("connected again with a full queue")
			}
			r.want(Connected)
			r.want(Subscribed)
			r.wantPayloads("1", "2", "3", "4")
			if d := r.want(Down); !errors.Is(d.Err, ErrQueueFull) {
				t.Errorf("Down %v", d.Err)
			}
			if l := r.log.with("WARN", "connection lost", "queue is full"); len(l) != 1 {
				t.Errorf("log %v", r.log.with())
			}
			r.peer().welcome(true)
			r.want(Connected)
		})
	}
}

// A consumer that is slow, but not for half a keep-alive, is no dead broker: the connection stays for minutes of it.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{Filters: oneFilter, KeepAlive: 5 * time.Second, QueueMessages: 10}, nil)
		p := r.up()
		ms, payloads := numbered(1, 1000)
		p.publish(ms...)
		for i := 0; i < len(payloads); {
			time.Sleep(2 * time.Second)
			for _, d := range r.c.Take(r.got) {
				if d.Kind != Publish || string(d.Payload) != payloads[i] {
					t.Fatalf("message %d: got %s", i, show(d))
				}
				i++
			}
			r.got = nil
		}
	})
}

// A broker that says nothing any more, not even to pings, is given up in time; one that only answers pings is not.
func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{KeepAlive: 20 * time.Second}, func(r *rig) { r.mute = true })
		begin := time.Now()
		r.peer().welcome(true)
		r.want(Connected)
		r.want(Subscribed)
		if d := r.want(Down); !errors.Is(d.Err, ErrSilent) || time.Since(begin) > 35*time.Second {
			t.Errorf("Down %v after %v", d.Err, time.Since(begin))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{KeepAlive: 20 * time.Second}, nil)
		r.peer().welcome(true)
		r.want(Connected)
		r.want(Subscribed)
		time.Sleep(24 * time.Hour)
		if st := r.c.State(); !st.Connected || len(r.c.Take(nil)) != 0 {
			t.Errorf("State after a quiet day = %+v", st)
		}
	})
}

// Run ends in bounded time when the broker does not read any more, in whatever state it stopped.
func TestStopWithDeadBroker(t *testing.T) {
	tests := map[string]func(*rig){
		"connecting":  func(r *rig) { <-r.peers },
		"subscribing": func(r *rig) { r.peer().welcome(true); r.want(Connected) },
		"queue full": func(r *rig) {
			p := r.peer()
			p.welcome(true)
			p.grant(nil)
			ms, _ := numbered(1, 20)
			p.publish(ms...)
			synctest.Wait()
		},
		"waiting to try again": func(r *rig) { r.peer().conn.Close(); synctest.Wait() },
	}
	for name, reach := range tests {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, Config{Filters: oneFilter, StatusTopic: "s", QueueMessages: 4}, nil)
			reach(r)
			begin := time.Now()
			if err := r.stop(); err != nil {
				t.Error(err)
			}
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("%s: stopping took %v", name, d)
			}
		})
	}
}

// A stopped broker whose end of the connection takes nothing any more, not even a DISCONNECT.
func TestStopWithStuckWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{StatusTopic: "s"}, func(r *rig) {})
		p := r.up()
		p.expect(kPublish)
		p.stall()
		defer close(p.resume)
		begin := time.Now()
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		if d := time.Since(begin); d == 0 || d > 10*time.Second {
			t.Errorf("stopping took %v", d)
		}
	})
}
