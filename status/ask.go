package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Bounds of Ask.
const (
	askTimeout = 10 * time.Second // longer than the agent waits for its own report
	maxAnswer  = 1 << 20
)

// Ask gets the Report of the agent that listens at path, within ten seconds. The error is ErrNoAgent when there is no
// socket or nobody behind it, ErrNotAllowed when it belongs to another user, and else says what the agent answered. All
// text in the Report is safe to show.
func Ask(ctx context.Context, path string) (Report, error) {
	var r Report
	if err := askJSON(ctx, path, "/status", &r); err != nil {
		return Report{}, err
	}
	return r.tidy(), nil
}

// fetch gets the answer of the agent that listens at path to a request for one of the addresses of its server.
func fetch(ctx context.Context, path, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialSocket(ctx, path)
		},
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+address, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, explain(path, err)
	}
	defer res.Body.Close()
	return readAnswer(res)
}

func readAnswer(res *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the agent's answer: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask the agent: %s: %s", res.Status, clean(strings.TrimSpace(string(body)), maxError))
	}
	return body, nil
}

// explain turns the system's word for an unanswered socket into the likely cause.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no socket %s; is it started, and is buffer.dir the one it uses? (%w)", ErrNoAgent, path, syscall.ENOENT)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nobody answers on %s, which an earlier one left (%w)", ErrNoAgent, path, syscall.ECONNREFUSED)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w on %s: run this as root or as the agent's user (%w)", ErrNotAllowed, path, syscall.EACCES)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("ask the agent on %s: no answer within %s: %w", path, askTimeout, err)
	}
	return fmt.Errorf("ask the agent: %w", err)
}
