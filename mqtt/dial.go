package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

const (
	dialTimeout      = 15 * time.Second // name, network and TLS together
	websocketTimeout = 10 * time.Second // it cannot be interrupted
)

// An endpoint is one broker.
type endpoint struct {
	url            *url.URL // without user and password
	name           string   // for people; holds no secret
	user, password string
}

// parseBrokers reads the URLs. Its errors name a broker by its place only, since a URL may hold a password.
func parseBrokers(urls []string) ([]endpoint, error) {
	var out []endpoint
	for i, s := range urls {
		e, err := parseBroker(s)
		if err != nil {
			return nil, fmt.Errorf("broker %d: %w", i+1, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func parseBroker(s string) (endpoint, error) {
	if !strings.Contains(s, "://") {
		s = "tcp://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return endpoint{}, errors.New("it is not of the form tcp://host:port")
	}
	port, known := map[string]string{"tcp": "1883", "mqtt": "1883", "ssl": "8883", "tls": "8883", "mqtts": "8883", "ws": "", "wss": ""}[u.Scheme]
	if !known {
		return endpoint{}, fmt.Errorf("scheme %q is none of tcp, mqtt, ssl, tls, mqtts, ws, wss", u.Scheme)
	}
	if u.Port() == "" && port != "" {
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	e := endpoint{url: u, name: u.Scheme + "://" + u.Host}
	if u.User != nil {
		e.user = u.User.Username()
		e.password, _ = u.User.Password()
		u.User = nil
	}
	return e, nil
}

// dial opens a network connection; the address is resolved anew each time.
func dial(ctx context.Context, u *url.URL, conf *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	switch u.Scheme {
	case "ws", "wss":
		return paho.NewWebsocket(u.String(), conf, websocketTimeout, nil, nil)
	case "ssl", "tls", "mqtts":
		d := tls.Dialer{Config: conf}
		return d.DialContext(ctx, "tcp", u.Host)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", u.Host)
}
