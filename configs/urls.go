package configs

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

var brokerSchemes = []string{"tcp", "mqtt", "ssl", "tls", "mqtts", "ws", "wss"}

// usesTLS reports whether a URL asks for an encrypted connection.
func usesTLS(address string) bool {
	scheme, _, _ := strings.Cut(address, "://")
	return slices.Contains([]string{"ssl", "tls", "mqtts", "wss", "https"}, scheme)
}

// BrokerURL judges the URL of a broker and completes it with the port that MQTT has. The problem, "" if there is none, reads on
// from what the URL is called.
func BrokerURL(address string) (complete, problem string) {
	u, problem := checkURL(address, brokerSchemes, "username and password_file of [mqtt]")
	if problem != "" {
		return address, problem
	}
	if u.Scheme == "ws" || u.Scheme == "wss" {
		return address, ""
	}
	if u.Path != "" && u.Path != "/" {
		return address, "must have no path but with ws or wss " + gotURL(address)
	}
	u.Path = ""
	if u.Port() == "" {
		port := "1883"
		if usesTLS(address) {
			port = "8883"
		}
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	return u.String(), ""
}

// endpoint judges the URL of an uplink. A slash at its end goes.
func endpoint(address string) (clean, problem string) {
	u, problem := checkURL(address, []string{"http", "https"}, "username and password_file, or token_file")
	if problem != "" {
		return address, problem
	}
	for _, end := range []string{"/write", "/api/v2/write", "/api/v3/write_lp"} {
		if strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), end) {
			return address, "must be the server's address alone, the agent adds the path of the api " + gotURL(address)
		}
	}
	return strings.TrimRight(u.String(), "/"), ""
}

// checkURL judges what every URL of the file has in common; instead names the keys for credentials.
func checkURL(address string, schemes []string, instead string) (*url.URL, string) {
	example := schemes[0] + "://HOST"
	if !strings.Contains(address, "://") {
		return nil, "must be a URL such as " + example + " " + gotURL(address)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, "is not a URL such as " + example + " " + gotURL(address)
	case u.User != nil:
		return nil, "must not hold a user name or password; use " + instead + " " + gotURL(address)
	case !slices.Contains(schemes, u.Scheme):
		return nil, "must begin with one of " + strings.Join(schemes, "://, ") + ":// " + gotURL(address)
	case u.Hostname() == "":
		return nil, "names no host; write " + example + " " + gotURL(address)
	case u.Port() != "" && !isPort(u.Port()):
		return nil, "has a port that is not 1 to 65535 " + gotURL(address)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, "must have no ? or # part " + gotURL(address)
	}
	return u, ""
}

// isPort reports whether text is a port that can be dialed.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// gotURL shows a URL in a fault, without what may be secret in it.
func gotURL(address string) string {
	shown, _, cut := strings.Cut(address, "?")
	if i := strings.LastIndexByte(shown, '@'); i >= 0 {
		scheme, _, ok := strings.Cut(shown[:i], "://")
		if !ok {
			scheme = "…"
		}
		shown = scheme + "://…@" + shown[i+1:]
	}
	if cut {
		shown += "?…"
	}
	return got(shown)
}
