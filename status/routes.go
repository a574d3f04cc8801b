package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// routes are the addresses. Everything but the live stream is written to memory first, so that an error is an answer of its
// own and a slow reader holds nothing but bytes.
func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	const page = "text/html; charset=utf-8"
	mux.HandleFunc("/{$}", s.show(page, s.page))
	mux.HandleFunc("/status", s.show("application/json", s.reportOnly(writeJSON)))
	mux.HandleFunc("/metrics", s.show("text/plain; version=0.0.4; charset=utf-8", s.reportOnly(writeMetrics)))
	mux.HandleFunc("/healthz", s.health)
	if s.details != nil {
		mux.HandleFunc("/table", s.show(page, s.table))
		mux.HandleFunc("/sensors", s.show("application/json", s.sensorJSON))
		mux.HandleFunc("/history", s.show("application/json", s.historyJSON))
		mux.HandleFunc("/parked", s.show("application/json", s.parkedJSON))
	}
	mux.HandleFunc("/events", s.events)
	return mux
}

// A writer writes one answer. Its error is answered as 503: the agent does not answer.
type writer func(context.Context, *bytes.Buffer, query) error

// show answers with what write makes.
func (s *site) show(contentType string, write writer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		if err := write(r.Context(), &b, queryOf(r.URL.Query())); err != nil {
			http.Error(w, clean(err.Error(), maxError), http.StatusServiceUnavailable)
			return
		}
		answer(w, r, http.StatusOK, contentType, b.Bytes())
	}
}

// reportOnly writes one form of a fresh report.
func (s *site) reportOnly(write func(*bytes.Buffer, Report) error) writer {
	return func(ctx context.Context, b *bytes.Buffer, _ query) error {
		report, err := s.ask(ctx)
		if err != nil {
			return err
		}
		return write(b, report)
	}
}

func (s *site) historyJSON(ctx context.Context, b *bytes.Buffer, _ query) error {
	list, err := s.history(ctx)
	return encoded(b, list, err)
}

func (s *site) parkedJSON(ctx context.Context, b *bytes.Buffer, _ query) error {
	list, err := s.parkedList(ctx)
	return encoded(b, list, err)
}

// health answers 200 and "ok", or 503 and the reason in one line.
func (s *site) health(w http.ResponseWriter, r *http.Request) {
	report, err := s.ask(r.Context())
	if err != nil {
		http.Error(w, clean(err.Error(), maxError), http.StatusServiceUnavailable)
		return
	}
	code := http.StatusOK
	healthy, reason := report.Healthy()
	if !healthy {
		code = http.StatusServiceUnavailable
	}
	answer(w, r, code, "text/plain; charset=utf-8", []byte(reason+"\n"))
}

// answer sends body, packed if the reader takes that and it is worth it.
func answer(w http.ResponseWriter, r *http.Request, code int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Vary", "Accept-Encoding")
	if takesGzip(r) && len(body) > worthPacking {
		body = packed(body)
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body) // the reader is gone, and nobody else would want to know
}

func writeJSON(b *bytes.Buffer, r Report) error {
	e := json.NewEncoder(b)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return nil
}

// encoded writes a list as JSON, [] if it is empty, unless getting it went wrong.
func encoded[T any](b *bytes.Buffer, list []T, err error) error {
	if err != nil {
		return err
	}
	if list == nil {
		list = []T{}
	}
	if err := json.NewEncoder(b).Encode(list); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	return nil
}
