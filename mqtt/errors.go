package mqtt

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// Why a connection ended, in Delivery.Err of Down, wrapped with details.
var (
	// ErrMalformed is returned when the broker sends what is no MQTT 3.1.1 or must not come from a broker.
	ErrMalformed = errors.New("malformed packet from the broker")

	// ErrSilent is returned when nothing came for so long that even the answer to a ping is missing.
	ErrSilent = errors.New("the broker is silent")

	// ErrClosed is returned when the broker closed the connection in good order.
	ErrClosed = errors.New("the broker closed the connection")

	// ErrQueueFull is returned when the queue was full for half a keep-alive and the connection was ended on purpose.
	ErrQueueFull = errors.New("the queue is full")

	// ErrNoAnswer is returned when the broker did not answer a subscription in time.
	ErrNoAnswer = errors.New("the broker did not answer the subscription")
)

// otherCause reports whether a connection that ended with err was not ended by the broker.
func otherCause(err error) bool {
	for _, cause := range [...]error{ErrMalformed, ErrSilent, ErrQueueFull, ErrNoAnswer} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// errStopped is how a connection ends that is closed from this side.
var errStopped = errors.New("stopped")

// A RefusedError is the broker's refusal of a connection.
type RefusedError struct {
	Code byte // of the CONNACK
}

// Error says what was refused and what to do about it.
func (e *RefusedError) Error() string {
	switch e.Code {
	case packets.ErrRefusedBadProtocolVersion:
		return "the broker refuses MQTT 3.1.1: enable it there"
	case packets.ErrRefusedIDRejected:
		return "the broker rejects the client id: choose another mqtt.client_id, or allow this one at the broker"
	case packets.ErrRefusedServerUnavailable:
		return "the broker says that it is not available now"
	case packets.ErrRefusedBadUsernameOrPassword:
		return "the broker rejects user name or password: check mqtt.username and mqtt.password_file"
	case packets.ErrRefusedNotAuthorised:
		return "the broker does not authorize this client: check mqtt.username and mqtt.password_file, and the broker's access rules for this client id"
	}
	return fmt.Sprintf("the broker refuses the connection with code %d, which MQTT 3.1.1 does not have", e.Code)
}

// plain turns a network error into one that reads the same every time: without the ports of this connection, which would
// make each repeat a new cause.
func plain(err error) error {
	var (
		op  *net.OpError
		sys *os.SyscallError
		dns *net.DNSError
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return &lookupError{"look up " + dns.Name + ": no such host", dns}
	case errors.As(err, &dns):
		return &lookupError{"look up " + dns.Name + ": the name server gives no answer", dns}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("timed out: %w", os.ErrDeadlineExceeded)
	case errors.As(err, &op) && errors.As(op.Err, &sys):
		return fmt.Errorf("%s: %w", op.Op, sys.Err)
	case errors.As(err, &op):
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return err
}

// A lookupError is a name that was not found, without the ports that the resolver's own text bears.
type lookupError struct {
	text  string
	cause *net.DNSError
}

func (e *lookupError) Error() string { return e.text }

// Unwrap is the resolver's error.
func (e *lookupError) Unwrap() error { return e.cause }
