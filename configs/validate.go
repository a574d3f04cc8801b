package configs

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// validate judges what single values cannot tell, and fills in what depends on other keys.
func (l *loader) validate() {
	l.checkGateway(&l.config.Gateway)
	l.checkMQTT(&l.config.MQTT)
	l.checkSources()
	l.checkWindow(&l.config.Window)
	l.checkBuffer(&l.config.Buffer)
	l.checkUplinks()
	l.checkHTTP(&l.config.HTTP)
}

func (l *loader) checkGateway(g *Gateway) {
	id := at("gateway", "id")
	if l.places.has(id) {
		if problem := BadGatewayID(g.ID); problem != "" {
			l.fault(id, "%s", problem)
		}
	} else {
		l.hostID(g)
	}
	for _, t := range g.Tags {
		key := at("gateway", "tags").key(t.Key)
		if problem := badTagKey(t.Key); problem != "" {
			l.fault(key, "%s", problem)
		}
		if problem := uncarriable(t.Value); problem != "" {
			l.fault(key, "the value %s", problem)
		}
	}
}

// hostID names the gateway after its host.
func (l *loader) hostID(g *Gateway) {
	id := at("gateway", "id")
	host, err := l.hostname()
	if err != nil {
		l.fault(id, "is not given, and the host name is not known (%v); give an id", err)
		return
	}
	g.ID = host
	if problem := BadGatewayID(host); problem != "" {
		l.fault(id, "is not given, and the host name will not do: it %s", problem)
	}
}

func (l *loader) checkMQTT(m *MQTT) {
	for i := range m.Brokers {
		problem := ""
		if m.Brokers[i], problem = BrokerURL(m.Brokers[i]); problem != "" {
			l.fault(at("mqtt", "brokers").index(i), "%s", problem)
		}
	}
	clientID := at("mqtt", "client_id")
	if m.ClientID == "" {
		m.ClientID = "edgeagent-" + l.config.Gateway.ID + m.shardSuffix()
	} else if problem := uncarriable(m.ClientID); problem != "" {
		l.fault(clientID, "%s", problem)
	} else if strings.ContainsAny(m.ClientID, "+#") {
		l.fault(clientID, "must not hold + or #, which brokers refuse %s", got(m.ClientID))
	}
	if m.KeepAlive%seconds(1) != 0 {
		l.fault(at("mqtt", "keep_alive"), "must be whole seconds, MQTT knows no less %s", got(m.KeepAlive))
	}
	l.checkShard(m)
	l.oneSecret(at("mqtt"), "password", m.PasswordFile, m.Password)
	if m.Username == "" && m.PasswordFile+m.Password != "" {
		l.fault(at("mqtt", "username"), "is missing; MQTT takes no password without a user name")
	}
	l.checkTLS(at("mqtt", "tls"), &m.TLS)
}

// oneSecret refuses a secret that is given in two ways.
func (l *loader) oneSecret(p path, key, file, inline string) {
	if file != "" && inline != "" {
		l.fault(p.key(key), "%s_file is given too; keep one of them", key)
	}
}

func (l *loader) checkTLS(p path, t *TLS) {
	if t.CertFile != "" && t.KeyFile == "" {
		l.fault(p.key("cert_file"), "needs key_file, the private key of the certificate")
	}
	if t.KeyFile != "" && t.CertFile == "" {
		l.fault(p.key("key_file"), "needs cert_file, the certificate of the key")
	}
}

func (l *loader) checkWindow(w *Window) {
	p := at("window")
	if problem := badMeasurement(w.Measurement); problem != "" {
		l.fault(p.key("measurement"), "%s", problem)
	}
	for i, a := range w.Aggregates {
		if !slices.Contains(aggregates, a) {
			l.fault(p.key("aggregates").index(i), "must be of %s %s", quotedList(aggregates), got(a))
		}
	}
	w.Aggregates = inOrder(w.Aggregates)
	if w.AllowedLateness > 0 && l.config.Watermark.Late == "event" {
		l.fault(p.key("allowed_lateness"), `would admit nothing with watermark.late = "event", which drops what is older than the watermark; write "0s", or late = "window" %s`, got(w.AllowedLateness))
	}
}

// inOrder gives each aggregate once, in the order of the fields, max and count always among them.
func inOrder(names []string) []string {
	var out []string
	for _, a := range aggregates {
		if a == "max" || a == "count" || slices.Contains(names, a) {
			out = append(out, a)
		}
	}
	return out
}

func (l *loader) checkBuffer(b *Buffer) {
	p := at("buffer")
	if b.Dir == "" || strings.ContainsRune(b.Dir, 0) {
		l.fault(p.key("dir"), "must name a folder %s", got(b.Dir))
	}
	share := b.MaxSize / 16
	switch {
	case b.RejectedRing <= share:
	case l.places.has(p.key("rejected_ring")):
		l.fault(p.key("rejected_ring"), "must be at most a 16th of max_size, here %s %s", share, got(b.RejectedRing))
	default:
		b.RejectedRing = share
	}
}

func (l *loader) checkHTTP(h *HTTP) {
	if h.Listen == "" {
		return
	}
	p := at("http", "listen")
	host, port, err := net.SplitHostPort(h.Listen)
	_, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || portErr != nil:
		l.fault(p, `must be HOST:PORT, such as "127.0.0.1:9273", or "" for none %s`, got(h.Listen))
	case !isLoopback(host) && h.TokenFile == "" && !h.PublicStatus:
		l.fault(p, "opens the status to the network; give token_file, or public_status = true if anyone may read it %s", got(h.Listen))
	}
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
