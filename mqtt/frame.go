package mqtt

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// Sizes of the inbound side, in bytes.
const (
	readBuffer = 16 << 10
	cutTopic   = 1 << 10 // what is kept of the topic of a message that is too big
)

// A cut is a PUBLISH that was replaced by a stand-in: same flags, topic and packet identifier, no payload.
type cut struct {
	nth  uint64 // which PUBLISH of the connection, from 1
	size int    // bytes of the payload that it claimed
}

// A framer reads an MQTT stream packet by packet and lets only pass what paho can take. Read is for one goroutine.
type framer struct {
	br         *bufio.Reader
	maxPayload int

	pass int    // bytes of the present packet that are still to be handed on
	out  []byte // of a stand-in, to be handed on
	skip int    // bytes of a cut body that are still to come
	nth  uint64 // PUBLISH packets seen

	greeted bool         // CONNACK has come
	asked   atomic.Int64 // filters in the SUBSCRIBE under way; a SUBACK must not answer more

	pending atomic.Int64 // len(cuts), to be looked at without the lock
	mu      sync.Mutex   // guards cuts
	cuts    []cut
}

// Read hands on bytes of one packet at most.
func (f *framer) Read(p []byte) (int, error) {
	if f.pass == 0 && len(f.out) == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	if len(f.out) > 0 {
		n := copy(p, f.out)
		f.out = f.out[n:]
		return n, nil
	}
	n, err := f.br.Read(p[:min(len(p), f.pass)])
	f.pass -= n
	return n, err
}

// next looks at the header of the next packet and decides what becomes of it.
func (f *framer) next() error {
	for f.skip > 0 {
		n, err := f.br.Discard(f.skip)
		f.skip -= n
		if err != nil {
			return err
		}
	}
	head, size, err := f.header()
	if err != nil {
		return err
	}
	b, err := f.br.Peek(1)
	if err != nil {
		return err
	}
	first := b[0]
	if kind := first >> 4; f.greeted == (kind == packets.Connack) {
		return fmt.Errorf("%w: type %d before CONNACK, or a second one", ErrMalformed, kind)
	}
	if first>>4 == packets.Publish {
		return f.publish(first, head, size)
	}
	if err := f.control(first>>4, head, size); err != nil {
		return err
	}
	f.pass = head + size
	return nil
}

// header measures the fixed header of the next packet, and what it says is the size of the rest.
func (f *framer) header() (head, size int, err error) {
	for head = 2; head <= 5; head++ {
		b, err := f.br.Peek(head)
		if err != nil {
			return 0, 0, err
		}
		last := b[head-1]
		size |= int(last&0x7f) << (7 * (head - 2))
		if last&0x80 == 0 {
			return head, size, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: its length has more than four bytes", ErrMalformed)
}

// control checks a packet other than PUBLISH.
func (f *framer) control(kind byte, head, size int) error {
	least, most := 2, 2
	switch kind {
	case packets.Connack, packets.Puback, packets.Pubrec, packets.Pubrel, packets.Pubcomp, packets.Unsuback:
	case packets.Suback:
		least, most = 3, 2+int(f.asked.Load())
	case packets.Pingresp:
		least, most = 0, 0
	default:
		return fmt.Errorf("%w: type %d does not come from a broker", ErrMalformed, kind)
	}
	if size < least || size > most {
		return fmt.Errorf("%w: %s with %d bytes", ErrMalformed, packets.PacketNames[kind], size)
	}
	if kind == packets.Connack {
		return f.connack(head)
	}
	return nil
}

// connack refuses return codes that paho takes for no error.
func (f *framer) connack(head int) error {
	b, err := f.br.Peek(head + 2)
	if err != nil {
		return err
	}
	if code := b[head+1]; code > packets.ErrRefusedNotAuthorised {
		return &RefusedError{Code: code}
	}
	f.greeted = true
	return nil
}

// publish lets a PUBLISH pass or cuts it.
func (f *framer) publish(first byte, head, size int) error {
	fixed, qos := 2, first>>1&3
	if qos > 0 {
		fixed = 4
	}
	b, err := f.br.Peek(head + 2)
	if err != nil {
		return err
	}
	topic := int(binary.BigEndian.Uint16(b[head:]))
	payload := size - fixed - topic
	if qos == 3 || payload < 0 {
		return fmt.Errorf("%w: PUBLISH with QoS %d, %d bytes, a topic of %d", ErrMalformed, qos, size, topic)
	}
	f.nth++
	if payload <= f.maxPayload {
		f.pass = head + size
		return nil
	}
	return f.cut(first, head, topic, payload)
}

// cut reads a PUBLISH up to its payload, makes the stand-in and leaves the payload to be skipped.
func (f *framer) cut(first byte, head, topic, payload int) error {
	if _, err := f.br.Discard(head + 2); err != nil {
		return err
	}
	name := make([]byte, min(topic, cutTopic))
	if _, err := io.ReadFull(f.br, name); err != nil {
		return err
	}
	if topic > len(name) {
		name = wholeRunes(name)
		if _, err := f.br.Discard(topic - min(topic, cutTopic)); err != nil {
			return err
		}
	}
	var id [2]byte
	tail := id[:0]
	if first>>1&3 > 0 {
		tail = id[:]
	}
	if _, err := io.ReadFull(f.br, tail); err != nil {
		return err
	}
	f.out = standIn(first, name, tail)
	f.skip = payload
	f.mu.Lock()
	f.cuts = append(f.cuts, cut{f.nth, payload})
	f.mu.Unlock()
	f.pending.Add(1)
	return nil
}

// standIn builds a PUBLISH without a payload.
func standIn(first byte, topic, id []byte) []byte {
	out := append(make([]byte, 0, 7+len(topic)), first)
	out = binary.AppendUvarint(out, uint64(2+len(topic)+len(id))) // MQTT's lengths are such varints
	out = binary.BigEndian.AppendUint16(out, uint16(len(topic)))
	out = append(out, topic...)
	return append(out, id...)
}

// wholeRunes drops the first bytes of a rune that was cut off at the end.
func wholeRunes(b []byte) []byte {
	for i := 0; i < utf8.UTFMax-1 && len(b) > 0; i++ {
		if r, n := utf8.DecodeLastRune(b); r != utf8.RuneError || n != 1 {
			break
		}
		b = b[:len(b)-1]
	}
	return b
}

// wasCut reports whether the nth PUBLISH handed on is a stand-in, and what payload it claimed. Each is asked for once, in
// order.
func (f *framer) wasCut(nth uint64) (size int, ok bool) {
	if f.pending.Load() == 0 {
		return 0, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.cuts) == 0 || f.cuts[0].nth != nth {
		return 0, false
	}
	size = f.cuts[0].size
	f.cuts = f.cuts[1:]
	f.pending.Add(-1)
	return size, true
}
