package testbed

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// MosquittoOptions shape a broker. The zero value is one without limits that forgets everything when it ends.
type MosquittoOptions struct {
	MaxInflight int           // QoS 1 messages sent to a client and not yet acknowledged; 0 is unlimited (mosquitto's own default is 20)
	MaxQueued   int           // messages kept for an absent client; 0 is unlimited (mosquitto's own default is 1000)
	Persistence bool          // sessions and queues survive Stop, and Kill as far as they were saved
	Autosave    time.Duration // how often a persistent broker saves, whole seconds; 0 only when it stops
	LogPackets  bool          // one log line per packet
	Conf        []string      // more lines of mosquitto.conf
}

// A Broker is a mosquitto of the test's own.
type Broker struct {
	*Process
	Port int
	Dir  string // configuration, log, persistence

	t   TB
	bin string
}

// StartMosquitto starts a broker and returns when it answers an MQTT CONNECT. It ends with the test.
func StartMosquitto(t TB, opts MosquittoOptions) *Broker {
	t.Helper()
	b := &Broker{t: t, bin: Need(t, "mosquitto"), Dir: t.TempDir()}
	showLog(t, b.logPath())
	var err error
	for range portTries {
		b.Port = FreePort(t)
		if err = b.writeConf(opts); err != nil {
			break
		}
		if err = b.start(); err == nil {
			return b
		}
	}
	t.Fatalf("start mosquitto: %v", err)
	return nil
}

// portTries is how often a server is started anew because another process may have taken its port in between.
const portTries = 3

// Addr is host:port.
func (b *Broker) Addr() string { return loopback(b.Port) }

// URL is what a client connects to.
func (b *Broker) URL() string { return "tcp://" + b.Addr() }

// Stop ends the broker as the system would, with SIGTERM: a persistent one saves its sessions and queues.
func (b *Broker) Stop() {
	b.t.Helper()
	if _, ok := b.Terminate(startTimeout); !ok {
		b.t.Fatalf("mosquitto did not stop within %v", startTimeout)
	}
}

// Restart stops the broker if it still runs and starts it on the same port, with the same configuration and data.
func (b *Broker) Restart() {
	b.t.Helper()
	b.Stop()
	if err := b.start(); err != nil {
		b.t.Fatalf("restart mosquitto: %v", err)
	}
}

func (b *Broker) start() error {
	p, err := start(b.t, exec.Command(b.bin, "-c", filepath.Join(b.Dir, "mosquitto.conf")), b.logPath())
	if err != nil {
		return err
	}
	b.Process = p
	err = poll(startTimeout, "mosquitto to answer", func() bool { return !p.Running() || answersMQTT(b.Addr()) })
	if err == nil && !p.Running() {
		err = fmt.Errorf("mosquitto ended at once:\n%s", p.LogTail(tailLines))
	}
	if err != nil {
		p.Kill()
	}
	return err
}

func (b *Broker) logPath() string { return filepath.Join(b.Dir, "mosquitto.log") }

func (b *Broker) writeConf(o MosquittoOptions) error {
	lines := []string{
		"listener " + strconv.Itoa(b.Port) + " 127.0.0.1",
		"allow_anonymous true",
		"max_inflight_messages " + strconv.Itoa(o.MaxInflight),
		"max_queued_messages " + strconv.Itoa(o.MaxQueued),
		"log_dest stderr", // where Process collects it
	}
	if o.LogPackets {
		lines = append(lines, "log_type all")
	}
	if o.Persistence {
		lines = append(lines, "persistence true", "persistence_location "+b.Dir+"/",
			"autosave_interval "+strconv.Itoa(int(o.Autosave/time.Second)))
	}
	if os.Geteuid() == 0 {
		lines = append(lines, "user root") // it would drop to a user who cannot read the test's folder
	}
	text := strings.Join(append(lines, o.Conf...), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(b.Dir, "mosquitto.conf"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write mosquitto.conf: %w", err)
	}
	return nil
}

// answersMQTT reports whether a broker at addr answers a CONNECT, be it with a refusal.
func answersMQTT(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Second))
	// CONNECT, MQTT 3.1.1, clean session, keep-alive 10 s, empty client id; then DISCONNECT.
	if _, err := c.Write([]byte{0x10, 12, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 10, 0, 0}); err != nil {
		return false
	}
	connack := make([]byte, 4)
	n, err := c.Read(connack)
	c.Write([]byte{0xe0, 0})
	return err == nil && n > 0 && connack[0] == 0x20
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
