package mqtt

import "time"

// A Kind tells what a Delivery is.
type Kind uint8

const (
	Publish    Kind = iota // a message from the broker
	Connected              // CONNACK accepted; comes before any Publish of its connection
	Subscribed             // every filter granted
	Down                   // the connection is gone; comes after its last Publish
)

// A Delivery is one message or one change of the connection, in the order in which they happened.
type Delivery struct {
	Kind Kind
	Conn uint64 // number of the connection, from 1; acknowledgements of another connection are void

	// of a Publish
	Topic    string
	Payload  []byte // owned by the receiver; nil if TooBig
	PacketID uint16 // 0 for QoS 0
	QoS      byte
	Dup      bool
	Retained bool
	TooBig   bool      // over max_message_bytes: cut on the wire, must be counted and acknowledged
	Size     int       // bytes of the payload as the packet claimed
	Arrival  time.Time // with its monotonic part

	// of Connected
	SessionPresent bool
	Broker         string // without credentials

	// of Down: why, nil after an orderly stop
	Err error
}
