package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgeagent/agent"
	"edgeagent/configs"
	"edgeagent/uplink"
)

// A server is what was seen of one.
type server struct {
	name      string // of its table
	err       error  // why it could not be asked at all: a file of its configuration
	probe     uplink.Probe
	loose     bool // insecure_skip_verify
	retention time.Duration
	untold    error // why retention is not known
}

// seeServer writes nothing to a server and asks how long it keeps points.
func seeServer(ctx context.Context, o Options, u configs.Uplink) server {
	s := server{name: u.Name, loose: u.TLS.InsecureSkipVerify}
	cfg, err := agent.UplinkOf(&u, o.Version, quiet())
	if err == nil {
		s.probe, err = uplink.Try(ctx, cfg)
	}
	if err != nil {
		s.err = err
		return s
	}
	if s.probe.Verdict != uplink.Accepted {
		s.untold = uplink.ErrNotTold
		return s
	}
	s.retention, s.untold = uplink.Retention(ctx, cfg)
	return s
}

// check names a line: of a server among several by its name.
func (s server) check(what string) string {
	if s.name == "" || s.name == "uplink" {
		return what
	}
	return what + " " + s.name
}

func judgeServer(s server, now time.Time) Report {
	p := s.probe
	reach, write := s.check("uplink"), s.check("write")
	if s.err != nil {
		return Report{fail(reach, "name files that are there and can be read", "%v", s.err)}
	}
	said := "answers"
	if p.Version != "" && p.Version != "unknown" {
		said = "answers: InfluxDB " + p.Version
	}
	r := judgeChain(s.check("tls"), p.Where, chain{certs: p.Chain, loose: s.loose}, now)
	switch p.Verdict {
	case uplink.Unreachable:
		return append(r, fail(reach, serverNext(p.Err, now), "%s: %s", p.Where, p.Cause))
	case uplink.Stranger:
		return append(r, fail(reach, "open the address in a browser: a sign-in page of the network, or a proxy, stands between; or url is wrong", "%s: not the answer of an InfluxDB: %s", p.Where, p.Cause))
	case uplink.Ill:
		return append(r, fail(reach, "look at the server's log; points are kept meanwhile", "%s: %s", p.Where, p.Cause))
	case uplink.Busy:
		return append(r, warn(reach, "nothing: the agent waits as long as it asks for", "%s asks for time: %s", p.Where, p.Cause))
	case uplink.Denied:
		return append(r, ok(reach, "%s %s", p.Where, said), fail(write, deniedNext(p.Status), "%s", p.Cause))
	case uplink.Missing:
		return append(r, ok(reach, "%s %s", p.Where, said), fail(write, "make it at the server, or mend database, bucket, org, retention_policy or api of the uplink", "%s", p.Cause))
	}
	return append(r, ok(reach, "%s %s", p.Where, said), ok(write, "a write of nothing is accepted. Proven: %s", p.Proves))
}

func deniedNext(status int) string {
	switch status {
	case 401:
		return "is the token or password the one of this server, and not expired? it is read anew from its file"
	case 403:
		return "give this user or token the right to write there"
	}
	return "put token or password into its file, on one line"
}

// judgeRetention compares how long a server keeps points with the oldest that waits.
func judgeRetention(s server, run running, now time.Time) Report {
	check := s.check("retention")
	switch {
	case s.err != nil || s.probe.Verdict != uplink.Accepted:
		return nil
	case errors.Is(s.untold, uplink.ErrNotTold):
		return Report{ok(check, "%v", s.untold)}
	case s.untold != nil:
		return Report{warn(check, "run this again", "how long the server keeps points is not known: %v", s.untold)}
	case s.retention == 0:
		return Report{ok(check, "the server keeps points for ever")}
	}
	keeps := fmt.Sprintf("the server keeps points for %s", span(s.retention))
	oldest, waits := run.oldest()
	age := now.Sub(oldest)
	switch {
	case !waits:
		return Report{ok(check, "%s; nothing old waits", keeps)}
	case age > s.retention:
		return Report{fail(check, "raise the retention at the server before they are sent: what is older is dropped there, without a word or with a refusal", "%s, and the oldest that waits is of %s ago", keeps, span(age))}
	case age > s.retention/2:
		return Report{warn(check, "raise the retention at the server, or mend the link soon", "%s, and the oldest that waits is of %s ago", keeps, span(age))}
	}
	return Report{ok(check, "%s; the oldest that waits is of %s ago", keeps, span(age))}
}
