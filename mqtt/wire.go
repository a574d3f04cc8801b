package mqtt

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Times of the network side.
const (
	handshakeTimeout = 20 * time.Second // from the request to the CONNACK
	writeTimeout     = 10 * time.Second // of one write
	hurryTimeout     = time.Second      // of one write while stopping
	lingerTimeout    = 500 * time.Millisecond
)

// A wire is the connection as paho sees it. It owns the deadlines, so those that paho sets are ignored: a read may take as
// long as a living broker may be silent, a write as long as a living one may need. The first error ends it for good.
type wire struct {
	net.Conn
	framer
	silence time.Duration // longest wait for a byte

	done chan struct{} // closed when it has ended
	once sync.Once
	err  error // why; valid when done is closed

	limit atomic.Int64 // of one write, ns
	bye   atomic.Bool  // a DISCONNECT has been written

	wmu  sync.Mutex      // orders writes; guards what follows
	acks []byte          // memory for ack
	qos2 map[uint16]bool // packet identifiers to be acknowledged as QoS 2
}

// newWire wraps a fresh connection. silence is how long a living broker may send nothing.
func newWire(conn net.Conn, silence time.Duration, maxPayload int) *wire {
	w := &wire{Conn: conn, silence: silence, done: make(chan struct{})}
	w.limit.Store(int64(writeTimeout))
	w.maxPayload = maxPayload
	w.br = bufio.NewReaderSize(source{w}, readBuffer)
	return w
}

// A source reads from the network, each read with a deadline of its own: time in which nobody reads is not silence.
type source struct{ w *wire }

func (s source) Read(p []byte) (int, error) {
	w := s.w
	limit := w.silence
	if !w.greeted {
		limit = handshakeTimeout
	}
	_ = w.Conn.SetReadDeadline(time.Now().Add(limit)) // if it fails, so does the read
	n, err := w.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%w: nothing for %v", ErrSilent, limit)
	}
	return n, err
}

// Read hands on what the framer lets pass.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.framer.Read(p)
	if err != nil {
		return n, w.fail(plain(err))
	}
	return n, nil
}

// Write sends one packet.
func (w *wire) Write(p []byte) (int, error) {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	if len(p) == 2 && p[0] == 0xe0 {
		w.bye.Store(true)
	}
	return w.writeLocked(p)
}

func (w *wire) writeLocked(p []byte) (int, error) {
	if w.over() { // not even a DISCONNECT, which would keep the broker from sending the last will
		return 0, w.err
	}
	_ = w.Conn.SetWriteDeadline(time.Now().Add(time.Duration(w.limit.Load()))) // if it fails, so does the write
	n, err := w.Conn.Write(p)
	if err != nil { // a packet may have gone out in part: nothing may follow it
		return n, w.fail(plain(err))
	}
	return n, nil
}

// ack writes the acknowledgements of ids in one go and reports whether they were handed to the network.
func (w *wire) ack(ids []uint16) bool {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	b := w.acks[:0]
	for _, id := range ids {
		kind := byte(0x40) // PUBACK
		if w.qos2[id] {
			kind = 0x50 // PUBREC; paho answers the PUBREL that follows
			delete(w.qos2, id)
		}
		b = append(b, kind, 2, byte(id>>8), byte(id))
	}
	w.acks = b
	if len(b) == 0 {
		return !w.over()
	}
	_, err := w.writeLocked(b)
	return err == nil
}

// ackTwo notes that a packet identifier is of a QoS 2 message.
func (w *wire) ackTwo(id uint16) {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	if w.qos2 == nil {
		w.qos2 = make(map[uint16]bool)
	}
	w.qos2[id] = true
}

// hurry shortens the time that writes may take, also of one that is under way.
func (w *wire) hurry() {
	w.limit.Store(int64(hurryTimeout))
	_ = w.Conn.SetWriteDeadline(time.Now().Add(hurryTimeout))
}

// fail ends the wire because of err, unless it has ended already, and returns why it has ended.
func (w *wire) fail(err error) error {
	w.once.Do(func() {
		w.err = err
		close(w.done)
		_ = w.Conn.Close()
	})
	<-w.done
	return w.err
}

// over reports whether the wire has ended.
func (w *wire) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// Close ends the wire. After a DISCONNECT it gives the broker a moment to end it: closing at once while unread messages
// wait would reset the connection, and the last packets sent could be lost with it.
func (w *wire) Close() error {
	if w.bye.Load() && !w.over() {
		t := time.NewTimer(lingerTimeout)
		defer t.Stop()
		select {
		case <-w.done:
		case <-t.C:
		}
	}
	_ = w.fail(errStopped)
	return nil
}

// SetDeadline does nothing; see wire.
func (w *wire) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing; see wire.
func (w *wire) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing; see wire.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
