package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A status page whose address cannot be had is told of once, tried again, and served when it can be; it never ends the agent.
func TestPageWaitsForItsAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pageState
		var out bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		var tries atomic.Int32
		free := make(chan struct{})
		run := func(ctx context.Context) error {
			tries.Add(1)
			select {
			case <-free:
				<-ctx.Done()
				return nil
			default:
				return errors.New("http.listen: no address of this machine now")
			}
		}
		ended := make(chan error, 1)
		go func() { ended <- p.serve(ctx, run, slog.New(slog.NewTextHandler(&out, nil))) }()
		time.Sleep(10*time.Minute - time.Second) // of the bubble
		synctest.Wait()
		if tries.Load() != 20 || p.why() != "http.listen: no address of this machine now" {
			t.Errorf("%d tries in 10 min, want 20; cause %q", tries.Load(), p.why())
		}
		close(free)
		time.Sleep(pageRetry)
		synctest.Wait()
		if p.why() != "" {
			t.Errorf("served, but the cause is %q", p.why())
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		if n := strings.Count(out.String(), "\n"); n != 1 || !strings.Contains(out.String(), "level=WARN") {
			t.Errorf("%d lines, want one warning:\n%s", n, out.String())
		}
	})
}
