package status

import (
	"net"
	"net/http"
	"os"
	"strings"
)

// hosts says which names this server goes by.
//
// A web page can have its own name point to any address, and so make the browser of somebody in this network ask here; but
// the browser sends that name. So on a loopback address only names of the loopback are answered, and the configured one. On
// another address without a token those names are answered that nobody outside can own (an address, a name without a dot or
// of a private domain), and names whose first part is the machine's own or the configured one. Where there is a token, no
// foreign page has it, and any name will do.
func (s *Server) hosts(addr net.Addr) func(host string) bool {
	configured, _, _ := net.SplitHostPort(s.o.Listen)
	a, ok := addr.(*net.TCPAddr)
	if ok && a.IP.IsLoopback() {
		return func(host string) bool {
			return isLoopback(host) || configured != "" && strings.EqualFold(host, configured)
		}
	}
	if s.o.Token != nil {
		return func(string) bool { return true }
	}
	machine, _ := os.Hostname()
	return func(host string) bool {
		return isPrivateName(host) || sameFirst(host, configured) || sameFirst(host, machine)
	}
}

// ownHost answers only requests for a name that own knows.
func ownHost(own func(string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !own(hostOf(r.Host)) {
			http.Error(w, "this host name is not served here; use the address (on the machine itself localhost), or set [http] token_file", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf is a Host header without its port, without the brackets of an IPv6 address and without the dot at its end.
func hostOf(header string) string {
	host := strings.TrimSuffix(strings.TrimPrefix(header, "["), "]")
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	return strings.TrimSuffix(host, ".")
}

// isLoopback reports whether host can only mean this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// isPrivateName reports whether host is an address, or a name that cannot be had in the public name system.
func isPrivateName(host string) bool {
	if host == "" {
		return false
	}
	if net.ParseIP(host) != nil || !strings.Contains(host, ".") {
		return true
	}
	for _, end := range []string{".local", ".lan", ".home", ".internal", ".localdomain", ".home.arpa", ".test"} {
		if strings.HasSuffix(strings.ToLower(host), end) {
			return true
		}
	}
	return false
}

// sameFirst reports whether two names have the same first part: gw-07.plant.example and gw-07.
func sameFirst(host, own string) bool {
	a, _, _ := strings.Cut(host, ".")
	b, _, _ := strings.Cut(own, ".")
	return b != "" && strings.EqualFold(a, b)
}
