package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
)

// A view writes one form of a report.
type view struct {
	contentType string
	write       func(*bytes.Buffer, Report) error
}

// routes are the four addresses. Everything is written to memory first, so that an error is an answer of its own and a slow
// reader holds nothing but bytes.
func routes(source Source, logger *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	for path, v := range map[string]view{
		"/{$}":     {"text/html; charset=utf-8", writePage},
		"/status":  {"application/json", writeJSON},
		"/metrics": {"text/plain; version=0.0.4; charset=utf-8", writeMetrics},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { show(w, r, source, v, logger) })
	}
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) { health(w, r, source) })
	return mux
}

// ask gets a tidy report in bounded time.
func ask(ctx context.Context, source Source) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	r, err := source(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("the agent does not answer: %w", err)
	}
	return r.tidy(), nil
}

func show(w http.ResponseWriter, r *http.Request, source Source, v view, logger *slog.Logger) {
	report, err := ask(r.Context(), source)
	if err != nil {
		http.Error(w, clean(err.Error(), maxError), http.StatusServiceUnavailable)
		return
	}
	var b bytes.Buffer
	if err := v.write(&b, report); err != nil {
		logger.Error("BUG: a report could not be written", "path", r.URL.Path, "cause", err)
		http.Error(w, "internal error, see the log", http.StatusInternalServerError)
		return
	}
	answer(w, http.StatusOK, v.contentType, b.Bytes())
}

// health answers 200 and "ok", or 503 and the reason in one line.
func health(w http.ResponseWriter, r *http.Request, source Source) {
	report, err := ask(r.Context(), source)
	if err != nil {
		http.Error(w, clean(err.Error(), maxError), http.StatusServiceUnavailable)
		return
	}
	code := http.StatusOK
	healthy, reason := report.Healthy()
	if !healthy {
		code = http.StatusServiceUnavailable
	}
	answer(w, code, "text/plain; charset=utf-8", []byte(reason+"\n"))
}

func answer(w http.ResponseWriter, code int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
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
