package status

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

// guarded sets the headers that every answer bears, and turns a panic into a 500 and a line in the log.
func guarded(logger *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				logger.Error("BUG: panic while answering", "path", clean(r.URL.Path, maxName), "panic", v, "stack", string(debug.Stack()))
				http.Error(w, clean(fmt.Sprint("BUG: ", v), maxError), http.StatusInternalServerError)
			}
		}()
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		next.ServeHTTP(w, r)
	})
}

// readOnly refuses all methods that could mean a change.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this server only reads: GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopbackHost answers only requests for a name of this machine's loopback, or for the host that is configured. A web page
// that makes its own name point to 127.0.0.1 still sends that name.
func loopbackHost(configured string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if !isLoopback(host) && (configured == "" || !strings.EqualFold(host, configured)) {
			http.Error(w, "this host name is not served here; use localhost or 127.0.0.1", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf is a Host header without its port and without the brackets of an IPv6 address.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(header, "["), "]")
}

// isLoopback reports whether host can only mean this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") || ip != nil && ip.IsLoopback()
}

// authorize lets through what bears the token; everything if token is nil.
func authorize(token func() (string, error), logger *slog.Logger, next http.Handler) http.Handler {
	if token == nil {
		return next
	}
	var failing atomic.Bool // so that a token that cannot be read is logged once, and not for each request
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want, err := token()
		if bad := err != nil || want == ""; bad != failing.Swap(bad) {
			logTokenChange(logger, bad, err)
		}
		switch {
		case err != nil || want == "":
			http.Error(w, "the token of this server cannot be read, see the log", http.StatusServiceUnavailable)
		case !sameToken(r.Header.Get("Authorization"), want):
			w.Header().Set("WWW-Authenticate", `Bearer realm="edgeagent"`)
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func logTokenChange(logger *slog.Logger, bad bool, err error) {
	switch {
	case !bad:
		logger.Info("status token is there again")
	case err != nil:
		logger.Warn("status requests are refused: the token cannot be read", "key", "http.token_file", "cause", err)
	default:
		logger.Warn("status requests are refused: the token is empty", "key", "http.token_file")
	}
}

// sameToken compares in constant time, whatever the lengths.
func sameToken(header, want string) bool {
	scheme, got, _ := strings.Cut(header, " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(got))), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "bearer")
}
