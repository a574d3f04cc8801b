package doctor

import (
	"context"
	"errors"
	"net"

	"edgeagent/configs"
)

// A page is the status server.
type page struct {
	http  configs.HTTP
	taken error // why the address cannot be had
}

// seeHTTP asks a running agent, and tries whether a stopped one could listen.
func seeHTTP(ctx context.Context, o Options, r running) page {
	p := page{http: o.Config.HTTP}
	if p.http.Listen == "" {
		return p
	}
	if r.answers() {
		if r.report.HTTPError != "" {
			p.taken = errors.New(r.report.HTTPError)
		}
		return p
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", p.http.Listen)
	if err != nil {
		p.taken = err
		return p
	}
	_ = l.Close()
	return p
}

func judgeHTTP(p page) Report {
	at := p.http.Listen
	host, _, _ := net.SplitHostPort(at)
	ip := net.ParseIP(host)
	switch {
	case at == "":
		return Report{ok("http", "off")}
	case p.taken != nil:
		return Report{fail("http", "take another address for http.listen, or end what uses its port: ss -ltnp", "the page is not served: %v", p.taken)}
	case host == "localhost" || ip != nil && ip.IsLoopback():
		return Report{ok("http", "%s, for this machine only", at)}
	case p.http.PublicStatus:
		return Report{warn("http", `set public_status = false and token_file, or listen on 127.0.0.1, if not everybody may read the status`, "%s: everybody in this network may read the status", at)}
	}
	return Report{ok("http", "%s, with a token", at)}
}
