//go:build !arm

package agent

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/testbed"
)

// A written is a log that may be read while it is written.
type written struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// smallDisk is a file system that the test can fill; only root can mount one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount tmpfs: %v", err)
		}
		t.Skipf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// badMessages are what 10,000 misconfigured devices send: most of it no reading, one id that forges a line, one giant.
func badMessages(b *testbed.Broker) error {
	c := paho.NewClient(paho.NewClientOptions().AddBroker(b.URL()).SetClientID("devices"))
	if tk := c.Connect(); !tk.WaitTimeout(time.Minute) || tk.Error() != nil {
		return fmt.Errorf("connect: %w", tk.Error())
	}
	defer c.Disconnect(100)
	var all []paho.Token
	for i := range 10_000 {
		all = append(all, c.Publish(fmt.Sprintf("s/%d", i%50), 1, false, `{"id":"a","t":"hot`+strings.Repeat("!", i%7)+`"}`))
	}
	all = append(all, c.Publish("s/1", 1, false, `{"id":"x\n2000-01-01T00:00:00Z ERROR forged\u001b[31m","t":20}`),
		c.Publish("s/1", 1, false, strings.Repeat("z", 100<<10)), c.Publish("s/1", 1, false, `{"id":"good","t":20.5}`))
	for _, tk := range all {
		if !tk.WaitTimeout(time.Minute) || tk.Error() != nil {
			return fmt.Errorf("publish: %w", tk.Error())
		}
	}
	return nil
}

// An outside is what goes by the real clock, outside the bubble.
type outside struct {
	pause         chan struct{} // a tick of 10 ms: the pace of asking; closed after a minute
	publish, kill chan struct{} // closed to have it done
	published     chan error
	killed        chan struct{}
}

func newOutside(t *testing.T, broker *testbed.Broker) outside {
	o := outside{make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan struct{})}
	go func() {
		defer close(o.pause)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for range 6000 {
			<-tick.C
			select {
			case o.pause <- struct{}{}:
			case <-t.Context().Done():
				return
			}
		}
	}()
	go func() {
		<-o.publish
		o.published <- badMessages(broker)
		<-o.kill
		broker.Kill()
		close(o.killed)
	}()
	return o
}
