package agent

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"edgeagent/status"
)

// SocketPath is where the control socket of a data folder is.
func SocketPath(dir string) string { return filepath.Join(dir, "edgeagent.sock") }

// servers are the read-only ones, by name.
func (a *Agent) servers() map[string]func(context.Context) error {
	if a.deaf {
		return nil
	}
	all := map[string]func(context.Context) error{
		"control socket": func(ctx context.Context) error {
			return status.ServeControl(ctx, SocketPath(a.cfg.Buffer.Dir), a.Status, details{a}, a.Control)
		},
	}
	if a.cfg.HTTP.Listen != "" {
		page := status.New(status.Options{Listen: a.cfg.HTTP.Listen, Token: secretFile(a.cfg.HTTP.TokenFile, ""),
			Source: a.Status, Details: details{a}, Logger: a.log})
		all["http"] = func(ctx context.Context) error { return a.page.serve(ctx, page.Run, a.log) }
	}
	return all
}

// pageRetry is how often a status page that cannot be served tries again.
const pageRetry = 30 * time.Second

// A pageState is why the status page is not served. The zero value says that it is.
type pageState struct{ cause atomic.Pointer[string] }

// why is the reason, "" if it is served.
func (p *pageState) why() string {
	if cause := p.cause.Load(); cause != nil {
		return *cause
	}
	return ""
}

// serve has the page served until ctx is done. Readings do not wait for it: another program may have its port, and the address that it is
// to be served on may come with a network that is away for weeks. It is told once, and tried again.
func (p *pageState) serve(ctx context.Context, run func(context.Context) error, log *slog.Logger) error {
	told := ""
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		p.cause.Store(nil)
		err := run(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		cause := err.Error()
		p.cause.Store(&cause)
		if cause != told {
			told = cause
			log.Warn("status page: not served; the agent goes on without", "cause", err, "again_every", pageRetry)
		}
		again.Reset(pageRetry)
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}
