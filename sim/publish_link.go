package sim

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

const (
	connectTimeout = 10 * time.Second
	writeTimeout   = 10 * time.Second
)

// A link is one connection to the broker, without a session there: what is unacknowledged is ours to send again. It speaks
// MQTT 3.1.1 packet by packet, because a client library may reorder or drop what it has queued when a connection breaks,
// and the record must be the order on the wire. Once lost it is not used again.
type link struct {
	conn   net.Conn
	lastID uint16
	acks   chan uint16   // identifiers of acknowledged messages, in the order in which they came; room for maxInFlight
	lost   chan error    // gets one value when the connection is gone
	closed chan struct{} // closed when the reader has ended
}

// dial makes a connection and waits for the broker's CONNACK.
func dial(ctx context.Context, broker string) (*link, error) {
	u, err := url.Parse(broker)
	if err != nil || u.Host == "" {
		return nil, errors.New("connect to broker: not a URL such as tcp://localhost:1883")
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := open(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("connect to broker %s: %w", u.Redacted(), err)
	}
	l := &link{
		conn: conn,
		acks: make(chan uint16, maxInFlight), lost: make(chan error, 1), closed: make(chan struct{}),
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends a handshake that hangs
	err = l.connect(u.User)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("connect to broker %s: %w", u.Redacted(), err)
	}
	go l.read()
	return l, nil
}

// open makes the network connection of a broker's URL; the port defaults to MQTT's.
func open(ctx context.Context, u *url.URL) (net.Conn, error) {
	address := func(port string) string {
		if u.Port() != "" {
			port = u.Port()
		}
		return net.JoinHostPort(u.Hostname(), port)
	}
	switch u.Scheme {
	case "tcp", "mqtt":
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address("1883"))
	case "ssl", "tls", "mqtts":
		var d tls.Dialer
		return d.DialContext(ctx, "tcp", address("8883"))
	}
	return nil, fmt.Errorf("scheme %q is not one of tcp, mqtt, ssl, tls, mqtts", u.Scheme)
}

// connect sends CONNECT and reads CONNACK. No keep-alive: the system finds out about a dead peer.
func (l *link) connect(user *url.Userinfo) error {
	p := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	p.ProtocolName, p.ProtocolVersion, p.CleanSession = "MQTT", 4, true
	p.ClientIdentifier = fmt.Sprintf("edgeagent-sim-%08x", rand.Uint32())
	if user != nil {
		password, has := user.Password()
		p.UsernameFlag, p.Username = true, user.Username()
		p.PasswordFlag, p.Password = has, []byte(password)
	}
	if err := p.Write(l.conn); err != nil {
		return err
	}
	answer, err := packets.ReadPacket(l.conn)
	if err != nil {
		return err
	}
	ack, ok := answer.(*packets.ConnackPacket)
	if !ok {
		return errors.New("the broker did not answer with CONNACK")
	}
	if ack.ReturnCode != packets.Accepted {
		return cmp.Or(packets.ConnErrors[ack.ReturnCode], errors.New("refused"))
	}
	return nil
}

// read takes acknowledgements until the connection ends.
func (l *link) read() {
	defer close(l.closed)
	in := bufio.NewReader(l.conn)
	for {
		p, err := packets.ReadPacket(in)
		if err != nil {
			l.lost <- err
			return
		}
		ack, ok := p.(*packets.PubackPacket)
		if !ok {
			continue
		}
		select {
		case l.acks <- ack.MessageID:
		default:
			l.lost <- errors.New("the broker acknowledges more than was sent")
			return
		}
	}
}

// publish writes one message at QoS 1 and returns its identifier. After an error nothing more may be written, or the order
// would break.
func (l *link) publish(topic string, payload []byte) (uint16, error) {
	l.lastID++
	if l.lastID == 0 {
		l.lastID = 1
	}
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.Qos, p.TopicName, p.Payload, p.MessageID = 1, topic, payload, l.lastID
	if err := l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return l.lastID, p.Write(l.conn)
}

// close ends the connection and waits for the reader. An orderly end says so to the broker.
func (l *link) close(orderly bool) {
	if orderly {
		_ = l.conn.SetWriteDeadline(time.Now().Add(time.Second))
		_ = packets.NewControlPacket(packets.Disconnect).Write(l.conn) // the connection ends either way
	}
	_ = l.conn.Close()
	<-l.closed
}
