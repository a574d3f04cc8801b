package demo

import (
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"

	"edgeagent/sim"
)

// A world is what surrounds the agent: a broker and a server, each on a free port of this machine that nobody else can
// reach, and a folder.
type world struct {
	dir       string
	broker    *mochi.Server
	brokerURL string

	receiver  *sim.Receiver
	server    *http.Server
	serverURL string
	listener  net.Listener
	served    chan struct{} // closed when server has ended; nil before serve

	subscribed chan struct{} // gets a value when the agent has subscribed
}

// newWorld takes the ports and makes the folder; serve sets it going. stored is told each line that the server stores.
func newWorld(stored func([]byte)) (*world, error) {
	w := &world{subscribed: make(chan struct{}, 1)}
	w.receiver = sim.NewReceiver(sim.ReceiverOptions{HangUp: true, Stored: func(line []byte, _ bool) { stored(line) }})
	w.server = &http.Server{Handler: w.receiver, ErrorLog: log.New(io.Discard, "", 0)}
	var err error
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listen as server: %w", err)
	}
	w.serverURL = "http://" + w.listener.Addr().String()
	if err := w.newBroker(); err != nil {
		return nil, errors.Join(err, w.listener.Close())
	}
	if w.dir, err = os.MkdirTemp("", "edgeagent-demo-"); err != nil {
		return nil, errors.Join(fmt.Errorf("make temporary folder: %w", err), w.close())
	}
	return w, nil
}

// newBroker makes a broker that keeps silent and lets everybody in.
func (w *world) newBroker() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen as broker: %w", err)
	}
	w.broker = mochi.New(&mochi.Options{Logger: slog.New(slog.DiscardHandler)})
	w.brokerURL = "tcp://" + l.Addr().String()
	if err := w.broker.AddHook(&gate{subscribed: w.subscribed}, nil); err != nil {
		return errors.Join(fmt.Errorf("set up broker: %w", err), l.Close())
	}
	if err := w.broker.AddListener(listeners.NewNet("demo", l)); err != nil {
		return errors.Join(fmt.Errorf("set up broker: %w", err), l.Close())
	}
	return nil
}

// serve sets broker and server going.
func (w *world) serve() error {
	if err := w.broker.Serve(); err != nil {
		return fmt.Errorf("start broker: %w", err)
	}
	w.served = make(chan struct{})
	go func() {
		defer close(w.served)
		_ = w.server.Serve(w.listener) // ends by close
	}()
	return nil
}

// close ends both and removes the folder.
func (w *world) close() error {
	err := w.server.Close()
	if w.served != nil {
		<-w.served
	} else {
		err = errors.Join(err, w.listener.Close())
	}
	err = errors.Join(err, w.broker.Close())
	if w.dir != "" {
		err = errors.Join(err, os.RemoveAll(w.dir))
	}
	return err
}

// A gate lets every client in, and tells when the agent has subscribed: what the fleet sends before that nobody gets.
type gate struct {
	mochi.HookBase
	subscribed chan<- struct{}
}

// ID names the hook to the broker.
func (g *gate) ID() string { return "demo" }

// Provides says which events the hook wants.
func (g *gate) Provides(event byte) bool {
	return event == mochi.OnConnectAuthenticate || event == mochi.OnACLCheck || event == mochi.OnSubscribed
}

// OnConnectAuthenticate admits every client.
func (g *gate) OnConnectAuthenticate(*mochi.Client, packets.Packet) bool { return true }

// OnACLCheck allows every topic.
func (g *gate) OnACLCheck(*mochi.Client, string, bool) bool { return true }

// OnSubscribed passes the news on; the agent is the only client that subscribes.
func (g *gate) OnSubscribed(*mochi.Client, packets.Packet, []byte) {
	select {
	case g.subscribed <- struct{}{}:
	default:
	}
}
