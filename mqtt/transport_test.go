package mqtt

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// A socket is a websocket as a byte stream.
type socket struct {
	net.Conn // for what is not the stream
	ws       *websocket.Conn
	r        io.Reader
}

func (s *socket) Read(b []byte) (int, error) {
	for {
		if s.r == nil {
			_, r, err := s.ws.NextReader()
			if err != nil {
				return 0, err
			}
			s.r = r
		}
		n, err := s.r.Read(b)
		if err != io.EOF {
			return n, err
		}
		if s.r = nil; n > 0 {
			return n, nil
		}
	}
}

func (s *socket) Write(b []byte) (int, error) {
	return len(b), s.ws.WriteMessage(websocket.BinaryMessage, b)
}

// Every scheme reaches the broker, with the server's certificate checked where there is one, and behaves the same.
func TestSchemes(t *testing.T) {
	peers := make(chan *peer, 16)
	upgrade := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		up := websocket.Upgrader{Subprotocols: []string{"mqtt"}}
		if ws, err := up.Upgrade(w, req, nil); err == nil {
			peers <- newPeer(t, &socket{Conn: ws.NetConn(), ws: ws}, false)
		}
	})
	plainWeb, secureWeb := httptest.NewServer(upgrade), httptest.NewTLSServer(upgrade)
	defer plainWeb.Close()
	defer secureWeb.Close()
	trust := &tls.Config{RootCAs: x509.NewCertPool()}
	trust.RootCAs.AddCert(secureWeb.Certificate())
	listen := func(conf *tls.Config) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if conf != nil {
			l = tls.NewListener(l, conf)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				peers <- newPeer(t, conn, false)
			}
		}()
		return l.Addr().String()
	}
	clear, secure := listen(nil), listen(&tls.Config{Certificates: secureWeb.TLS.Certificates})
	urls := []string{
		"tcp://" + clear, "mqtt://" + clear, "ssl://" + secure, "tls://" + secure, "mqtts://" + secure,
		"ws" + strings.TrimPrefix(plainWeb.URL, "http") + "/mqtt", "wss" + strings.TrimPrefix(secureWeb.URL, "https") + "/mqtt",
	}
	for _, u := range urls {
		r := start(t, Config{Brokers: []string{u}, Filters: oneFilter, TLS: trust, MaxMessageBytes: 10}, func(r *rig) {
			r.c.open, r.peers = dial, peers
		})
		p := r.up()
		p.publish(message{topic: "t", payload: "x", id: 1, qos: 1}, message{topic: "t", payload: strings.Repeat("y", 100000), id: 2, qos: 1})
		if a, b := r.want(Publish), r.want(Publish); string(a.Payload) != "x" || !b.TooBig || b.Size != 100000 {
			t.Errorf("%s: got %s and %s", u, show(a), show(b))
		}
		if !r.c.Ack(1, []uint16{1, 2}) || len(p.acks(2)) != 2 {
			t.Errorf("%s: not acknowledged", u)
		}
		r.stop()
		p.expect(kDisconnect)
	}
}

// A certificate that nobody vouches for is an error that names it.
func TestUnknownCertificate(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	defer web.Close()
	r := start(t, Config{Brokers: []string{"tls" + strings.TrimPrefix(web.URL, "https")}}, func(r *rig) { r.c.open = dial })
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for len(r.log.with("cannot connect", "certificate")) == 0 {
		select {
		case <-tick.C:
		case <-timer.C:
			t.Fatalf("log %v", r.log.with())
		}
	}
}

// With an in-flight limit of 20 at the broker, 1200 messages of all sizes, most of them of no use, pass in order as long as
// each is acknowledged.
func TestInFlightLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{Filters: oneFilter, MaxMessageBytes: 50, QueueMessages: 100}, nil)
		p := r.up()
		go func() {
			for i := range 1200 {
				if i >= 20 {
					if pk, ok := p.next(); !ok || pk.kind != kPuback || pk.id() != uint16(i-19) {
						t.Errorf("PUBACK %d is missing or out of order", i-19)
						return
					}
				}
				p.publish(message{topic: "sensors/s1", payload: strings.Repeat("{", i%100), id: uint16(i + 1), qos: 1})
			}
		}()
		for i := range 1200 {
			d := r.want(Publish)
			if int(d.PacketID) != i+1 || d.TooBig != (i%100 > 50) || d.Size != i%100 {
				t.Fatalf("message %d: got %s of %d bytes", i, show(d), d.Size)
			}
			r.c.Ack(d.Conn, []uint16{d.PacketID})
		}
		p.acks(20)
		if st := r.c.State(); st.Unacked != 0 {
			t.Errorf("Unacked = %d", st.Unacked)
		}
	})
}

// A QoS 2 message of an earlier session is acknowledged as such, so that it does not take up the in-flight limit for ever.
func TestQoSTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{}, nil)
		p := r.up()
		p.publish(message{topic: "t", payload: "1", id: 9, qos: 2}, message{topic: "t", payload: "2", id: 10, qos: 1})
		r.c.Ack(1, ids(r.wantPayloads("1", "2")))
		if a := p.expect(kPubrec).id(); a != 9 {
			t.Errorf("PUBREC %d", a)
		}
		p.acks(1)
		p.send([]byte{kPubrel<<4 | 2, 2, 0, 9})
		if a := p.expect(kPubcomp).id(); a != 9 {
			t.Errorf("PUBCOMP %d", a)
		}
		p.publish(message{topic: "t", payload: "3", id: 9, qos: 1}) // the identifier is used anew
		r.c.Ack(1, ids(r.wantPayloads("3")))
		p.acks(1)
	})
}

// Two hundred cuts leave nothing behind but the session (TestMain looks for goroutines), and the log stays readable.
func TestManyCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{Filters: oneFilter}, nil)
		for conn := uint64(1); conn <= 200; conn++ {
			p := r.peer()
			p.welcome(true)
			p.grant(nil)
			ms, payloads := numbered(1, 5)
			r.want(Connected)
			r.want(Subscribed)
			p.publish(ms...)
			r.c.Ack(conn, ids(r.wantPayloads(payloads...)))
			p.acks(5)
			time.Sleep(2 * time.Second)
			p.conn.Close()
			r.want(Down)
		}
		minutes := int(time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) / time.Minute)
		if n := len(r.log.with()); n > 6*(minutes+1)+1 {
			t.Errorf("%d log lines in %d minutes", n, minutes)
		}
		if n := len(r.log.with("another client")); n != 1 {
			t.Errorf("the likely cause was said %d times", n)
		}
	})
}
