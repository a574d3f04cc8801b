package status

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// echo answers with the request, n times over, and then with err.
func echo(n int, err error) Control {
	return func(_ context.Context, in io.Reader, out io.Writer) error {
		text, readErr := io.ReadAll(in)
		for range n {
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
		return errors.Join(readErr, err)
	}
}

func controlAt(t *testing.T, control Control) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "edgeagent.sock")
	ctx, cancel := context.WithCancel(t.Context())
	s, err := openSocket(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	s.control = control
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, answers(dayReport())) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return path
}

func TestDo(t *testing.T) {
	request := map[string]string{"action": "x"}
	const body = `{"action":"x"}`
	cases := []struct {
		name    string
		control Control
		out     string
		err     string
	}{
		{"an answer", echo(1, nil), body, ""},
		{"a long one", echo(100_000, nil), strings.Repeat(body, 100_000), ""},
		{"none", echo(0, nil), "", ""},
		{"an error alone", echo(0, errors.New("the disk\nis \x1b full")), "", `the disk\nis \x1b full`},
		{"an error behind part of an answer", echo(3, errors.New("it ended")), strings.Repeat(body, 3), "it ended"},
		{"no control", nil, "", "405"},
		{"a panic", func(context.Context, io.Reader, io.Writer) error { panic("x") }, "", "500"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			err := Do(t.Context(), controlAt(t, c.control), request, &out)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if out.String() != c.out {
				t.Errorf("%d bytes, want %d", out.Len(), len(c.out))
			}
		})
	}
	if err := Do(t.Context(), filepath.Join(t.TempDir(), "none.sock"), request, io.Discard); !errors.Is(err, ErrNoAgent) {
		t.Errorf("no socket: %v, want ErrNoAgent", err)
	}
}

// Beside a Control the socket still answers with the status, and only POST reaches the Control.
func TestControlBesideTheStatus(t *testing.T) {
	path := controlAt(t, echo(1, nil))
	if r, err := Ask(t.Context(), path); err != nil || r.Gateway != dayReport().Gateway {
		t.Errorf("status: %v, %v", r.Gateway, err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, path) }}
	defer transport.CloseIdleConnections()
	for method, want := range map[string]int{http.MethodGet: 404, http.MethodPut: 405} {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+controlPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", method, res.StatusCode, want)
		}
	}
}

// A request that is too large is not carried out.
func TestControlBoundsRequests(t *testing.T) {
	err := Do(t.Context(), controlAt(t, echo(0, nil)), strings.Repeat("x", maxRequest), io.Discard)
	if err == nil || !strings.Contains(fmt.Sprint(err), "too large") {
		t.Errorf("%v, want that it is too large", err)
	}
}
