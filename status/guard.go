package status

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// guarded sets the headers that every answer bears, and turns a panic into a 500 and a line in the log.
func guarded(logger *slog.Logger, next http.Handler) http.Handler {
	policy := pagePolicy()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				logger.Error("BUG: panic while answering", "path", clean(r.URL.Path, maxName), "panic", v, "stack", string(debug.Stack()))
				http.Error(w, clean(fmt.Sprint("BUG: ", v), maxError), http.StatusInternalServerError)
			}
		}()
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", policy)
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

// sameSite refuses what a page of another site has its reader's browser ask: a frame, a script, a picture or a fetch. That
// somebody follows a link to the page is no harm. Programs that are no browsers do not say where they come from.
func sameSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site, ok := r.Header.Get("Sec-Fetch-Site"), false
		switch site {
		case "", "same-origin", "none":
			ok = true
		default:
			ok = r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		}
		if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
			ok = false
		}
		if !ok {
			http.Error(w, "requests from pages of other sites are not answered", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
