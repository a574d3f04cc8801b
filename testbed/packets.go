package testbed

import "encoding/binary"

// A Packet is one MQTT 3.1.1 control packet that went through a TapProxy.
type Packet struct {
	Order int64 // of the chunk that completed it; packets of one chunk share it
	Conn  int
	From  Direction
	Type  byte   // 1 CONNECT, 2 CONNACK, 3 PUBLISH, 4 PUBACK, 8 SUBSCRIBE, 9 SUBACK, …
	Flags byte   // of a PUBLISH: bit 0 retain, bits 1 and 2 QoS, bit 3 DUP
	ID    uint16 // packet identifier of a PUBLISH with QoS, PUBACK, SUBSCRIBE or UNSUBSCRIBE; 0 for others
	Topic string // of a PUBLISH
	Body  []byte // after the fixed header; of a PUBLISH the payload alone
}

// Packets cuts what a proxy recorded into MQTT packets, in the order in which they were complete. Packets cut off by
// the end of a connection are left out.
func Packets(chunks []Chunk) []Packet {
	type stream struct {
		conn int
		from Direction
	}
	rest := map[stream][]byte{}
	var packets []Packet
	for _, c := range chunks {
		s := stream{c.Conn, c.From}
		data := append(rest[s], c.Data...)
		for {
			header, size := fixedHeader(data)
			if header == 0 || len(data) < header+size {
				break
			}
			p := Packet{Order: c.Order, Conn: c.Conn, From: c.From, Type: data[0] >> 4, Flags: data[0] & 15}
			p.fill(data[header : header+size])
			packets = append(packets, p)
			data = data[header+size:]
		}
		rest[s] = data
	}
	return packets
}

// fixedHeader reports the length of the fixed header and of what follows it; 0 while the header is incomplete.
func fixedHeader(data []byte) (header, size int) {
	for i := 1; i < len(data) && i <= 4; i++ {
		size |= int(data[i]&0x7f) << (7 * (i - 1))
		if data[i] < 0x80 {
			return i + 1, size
		}
	}
	return 0, 0
}

// fill takes the identifier and the topic out of body.
func (p *Packet) fill(body []byte) {
	const publish, puback, subscribe, unsuback = 3, 4, 8, 11
	switch {
	case p.Type == publish && len(body) >= 2:
		n := int(binary.BigEndian.Uint16(body))
		if len(body) < 2+n {
			break
		}
		p.Topic, body = string(body[2:2+n]), body[2+n:]
		if p.Flags>>1&3 > 0 && len(body) >= 2 {
			p.ID, body = binary.BigEndian.Uint16(body), body[2:]
		}
	case (p.Type == puback || p.Type >= subscribe && p.Type <= unsuback) && len(body) >= 2:
		p.ID = binary.BigEndian.Uint16(body)
	}
	p.Body = body
}
