package status

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
)

// authorize lets through what bears the token; everything if token is nil. Programs bring it as a bearer token, people in a
// browser as the password of any user name.
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
		case !sameToken(tokenOf(r), want):
			w.Header().Add("WWW-Authenticate", `Basic realm="edgeagent: the token is the password", charset="UTF-8"`)
			w.Header().Add("WWW-Authenticate", `Bearer realm="edgeagent"`)
			http.Error(w, "a token is needed: as a bearer token, or as the password of any user name", http.StatusUnauthorized)
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

// tokenOf is the token that a request bears, "" if none.
func tokenOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// sameToken compares in constant time, whatever the lengths.
func sameToken(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
