package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// A Control carries out what the user of the agent asks for beside its status. It reads the request from in and writes its answer to
// out, which may be long; an error reaches the asker even after part of the answer. It is called by several goroutines at
// once and ends soon after ctx is done.
type Control func(ctx context.Context, in io.Reader, out io.Writer) error

const (
	controlPath = "/control"
	// errorTrailer is how an error comes after the answer.
	errorTrailer = "Edgeagent-Error"
	maxRequest   = 1 << 20
	// controlPause is how long writing to, or reading from, the other side may take without progress.
	controlPause = time.Minute
)

// ServeControl is ServeSocket with a Control beside the status.
func ServeControl(ctx context.Context, path string, source Source, details Details, control Control) error {
	s, err := openSocket(ctx, path)
	if err != nil {
		return err
	}
	s.control, s.details = control, details
	return s.serve(ctx, source)
}

// controlled has POST requests for the control path carried out, and all others answered by next.
func controlled(control Control, next http.Handler) http.Handler {
	if control == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != controlPath {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Trailer", errorTrailer)
		p := &patientWriter{w: w, c: http.NewResponseController(w)}
		err := control(r.Context(), http.MaxBytesReader(w, r.Body, maxRequest), p)
		if err != nil {
			w.Header().Set(errorTrailer, clean(err.Error(), maxError))
		}
		_ = p.c.SetWriteDeadline(time.Now().Add(controlPause))
	})
}

// A patientWriter gives each piece of a long answer its own time.
type patientWriter struct {
	w io.Writer
	c *http.ResponseController
}

func (p *patientWriter) Write(b []byte) (int, error) {
	_ = p.c.SetWriteDeadline(time.Now().Add(controlPause)) // where it cannot be set the server's own holds
	return p.w.Write(b)
}

// Do sends a request, as JSON, to the Control of the agent that listens at path, and copies its answer to out. The error is ErrNoAgent or
// ErrNotAllowed as for Ask, or what the agent says is wrong; then out may have got a part of the answer.
func Do(ctx context.Context, path string, request any, out io.Writer) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialSocket(ctx, path)
		},
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+controlPath, strings.NewReader(string(body)))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return explain(path, err)
	}
	defer res.Body.Close()
	return copyAnswer(res, out)
}

func copyAnswer(res *http.Response, out io.Writer) error {
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		return fmt.Errorf("ask the agent: %s: %s", res.Status, clean(strings.TrimSpace(string(text)), maxError))
	}
	if _, err := io.Copy(out, res.Body); err != nil {
		return fmt.Errorf("read the agent's answer: %w", err)
	}
	if text := res.Trailer.Get(errorTrailer); text != "" {
		return errors.New(clean(text, maxError))
	}
	return nil
}
