package mqtt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"edgeagent/testbed"
)

var accepted = []byte{kConnack << 4, 2, 0, 0}

// framed reads all that a framer lets pass of a stream.
func framed(r io.Reader, maxPayload int) ([]byte, *framer, error) {
	f := &framer{br: bufio.NewReaderSize(r, readBuffer), maxPayload: maxPayload}
	f.asked.Store(2)
	out, err := io.ReadAll(f)
	return out, f, err
}

func TestFramerRefuses(t *testing.T) {
	pub := func(first byte, size int, body ...byte) []byte {
		return append(binary.AppendUvarint([]byte{first}, uint64(size)), body...)
	}
	tests := []struct {
		name string
		in   []byte // after a CONNACK
		want error
	}{
		{"nothing more", nil, nil},
		{"PINGRESP", []byte{0xd0, 0}, nil},
		{"SUBACK for two", []byte{0x90, 4, 0, 1, 1, 0x80}, nil},
		{"PUBACK, PUBREC, PUBREL, PUBCOMP, UNSUBACK", []byte{0x40, 2, 0, 1, 0x50, 2, 0, 1, 0x62, 2, 0, 1, 0x70, 2, 0, 1, 0xb0, 2, 0, 1}, nil},
		{"empty topic and payload", pub(0x30, 2, 0, 0), nil},
		{"SUBACK for three", []byte{0x90, 5, 0, 1, 1, 1, 1}, ErrMalformed},
		{"SUBACK for none", []byte{0x90, 2, 0, 1}, ErrMalformed},
		{"PINGRESP with a body", []byte{0xd0, 1, 0}, ErrMalformed},
		{"PUBACK with a claim of 200 MB", append([]byte{0x40}, binary.AppendUvarint(nil, 200e6)...), ErrMalformed},
		{"length of five bytes", []byte{0x30, 0x80, 0x80, 0x80, 0x80, 1}, ErrMalformed},
		{"type 0", []byte{0, 0}, ErrMalformed},
		{"type 15", []byte{0xf0, 0}, ErrMalformed},
		{"CONNECT", []byte{0x10, 2, 0, 0}, ErrMalformed},
		{"SUBSCRIBE", []byte{0x82, 2, 0, 0}, ErrMalformed},
		{"second CONNACK", accepted, ErrMalformed},
		{"QoS 3", pub(0x36, 7, 0, 1, 'a', 0, 1, 'x', 'y'), ErrMalformed},
		{"topic longer than the packet", pub(0x30, 4, 0, 9, 'a', 'b'), ErrMalformed},
		{"no room for the identifier", pub(0x32, 4, 0, 2, 'a', 'b'), ErrMalformed},
		{"PUBLISH of one byte", pub(0x30, 1, 0, 0), ErrMalformed},
	}
	for _, tt := range tests {
		for _, r := range []io.Reader{bytes.NewReader(append(bytes.Clone(accepted), tt.in...)),
			iotest.OneByteReader(bytes.NewReader(append(bytes.Clone(accepted), tt.in...)))} {
			out, _, err := framed(r, 100)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
			}
			if want := append(bytes.Clone(accepted), tt.in...); tt.want == nil && !bytes.Equal(out, want) {
				t.Errorf("%s: let pass %x, want %x", tt.name, out, want)
			}
		}
	}
}

// Random streams, read in pieces of any size: what is small passes unchanged, what is too big becomes a stand-in, and
// paho's own reader finds the packets that an independent count expects.
func TestFramerRandomStreams(t *testing.T) {
	rnd := testbed.Random(t)
	for range 200 {
		stream := bytes.Clone(accepted)
		var want []string
		for i := range 1 + rnd.IntN(30) {
			m := message{
				topic: strings.Repeat("té/", rnd.IntN(800)), payload: strings.Repeat("p", rnd.IntN(200)),
				id: uint16(i + 1), qos: byte(rnd.IntN(2)), dup: rnd.IntN(4) == 0, retain: rnd.IntN(4) == 0,
			}
			if m.qos == 0 {
				m.id = 0
			}
			stream = append(stream, m.bytes()...)
			if len(m.payload) > 100 {
				if len(m.topic) > cutTopic {
					m.topic = strings.ToValidUTF8(m.topic[:cutTopic], "")
				}
				m.payload = ""
			}
			want = append(want, fmt.Sprint(m))
		}
		var src io.Reader = bytes.NewReader(stream)
		if rnd.IntN(2) == 0 {
			src = iotest.OneByteReader(src)
		}
		f := &framer{br: bufio.NewReaderSize(src, readBuffer), maxPayload: 100}
		if _, err := packets.ReadPacket(f); err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			cp, err := packets.ReadPacket(f)
			if err != nil {
				t.Fatalf("packet %d: %v", i, err)
			}
			p := cp.(*packets.PublishPacket)
			got := fmt.Sprint(message{p.TopicName, string(p.Payload), p.MessageID, p.Qos, p.Dup, p.Retain})
			if got != w {
				t.Fatalf("packet %d: got %s, want %s", i, got, w)
			}
		}
		if _, err := packets.ReadPacket(f); err != io.EOF {
			t.Fatalf("at the end: %v", err)
		}
	}
}

// A stand-in is told by its place among the PUBLISH packets, not by anything a device could write into a payload.
func TestFramerRemembersCuts(t *testing.T) {
	stream := bytes.Clone(accepted)
	for i, size := range []int{1, 101, 0, 5000, 100} {
		stream = append(stream, message{topic: "t", payload: strings.Repeat("x", size), id: uint16(i + 1), qos: 1}.bytes()...)
	}
	_, f, err := framed(bytes.NewReader(stream), 100)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 101, 0, 5000, 0} {
		size, ok := f.wasCut(uint64(i + 1))
		if size != want || ok != (want > 0) {
			t.Errorf("message %d: cut %v, size %d, want %d", i+1, ok, size, want)
		}
	}
}

// A message that claims 200 MB, and one of really 1 MB: each is delivered as too big at once, acknowledged, and takes no
// memory to speak of; what follows the real one arrives.
func TestGiantMessages(t *testing.T) {
	r := start(t, Config{Filters: oneFilter, MaxMessageBytes: 1000}, overTCP)
	p := r.up()
	var before, after runtime.MemStats
	big := message{topic: "sensors/s1", payload: strings.Repeat("x", 1<<20), id: 1, qos: 1}.bytes()
	runtime.ReadMemStats(&before)
	p.send(big)
	p.publish(message{topic: "sensors/s1", payload: "small", id: 2, qos: 1})
	p.send(append([]byte{0x32, 0x80, 0x84, 0xaf, 0x5f, 0, 10}, "sensors/s1\x00\x03half of"...)) // 200,000,000 bytes
	want := []struct {
		id   uint16
		size int
	}{{1, 1 << 20}, {2, 5}, {3, 200000000 - 14}}
	for _, w := range want {
		d := r.want(Publish)
		if d.PacketID != w.id || d.Size != w.size || d.TooBig != (w.size > 1000) || d.Topic != "sensors/s1" || d.TooBig != (d.Payload == nil) {
			t.Errorf("got %s of %d bytes, want identifier %d, %d bytes", show(d), d.Size, w.id, w.size)
		}
		if !r.c.Ack(1, []uint16{d.PacketID}) {
			t.Errorf("Ack %d = false", d.PacketID)
		}
	}
	runtime.ReadMemStats(&after)
	if got := p.acks(3); fmt.Sprint(got) != "[1 2 3]" {
		t.Errorf("acknowledged %v", got)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

func FuzzFramer(f *testing.F) {
	f.Add(append(bytes.Clone(accepted), message{topic: "t", payload: "x", id: 1, qos: 1}.bytes()...))
	f.Add(append(bytes.Clone(accepted), message{topic: "t", payload: strings.Repeat("x", 200), id: 1, qos: 1}.bytes()...))
	f.Add([]byte{0x20, 2, 0, 0, 0x90, 3, 0, 1, 1})
	f.Fuzz(func(t *testing.T, stream []byte) {
		fr := &framer{br: bufio.NewReaderSize(bytes.NewReader(stream), readBuffer), maxPayload: 100}
		fr.asked.Store(1)
		for {
			cp, err := packets.ReadPacket(fr)
			if err != nil {
				return // never a panic, and what paho gets it can read, but for a stream that ends
			}
			if p, ok := cp.(*packets.PublishPacket); ok && len(p.Payload) > 100 {
				t.Errorf("a payload of %d bytes passed", len(p.Payload))
			}
		}
	})
}
