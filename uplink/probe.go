package uplink

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// A Verdict is what a write of nothing proves.
type Verdict string

// The verdicts of a Probe.
const (
	Accepted    Verdict = "accepted"    // the server is an InfluxDB and takes writes like those of this uplink, as far as Proves says
	Denied      Verdict = "denied"      // token, user or password is not accepted, or may not write there (401, 403)
	Missing     Verdict = "missing"     // what it would write into is not there, or the server has no such API (404, and no policy)
	Stranger    Verdict = "stranger"    // not the answer of an InfluxDB: a portal or proxy is suspected
	Busy        Verdict = "busy"        // the server asks for time
	Ill         Verdict = "ill"         // an error of the server, or an answer that nobody foresaw
	Unreachable Verdict = "unreachable" // no answer: network, TLS, timeout
)

// A Probe is what a server said to a write of nothing.
type Probe struct {
	Where   string // address and what the points go into; no secret
	Verdict Verdict
	Status  int    // of the answer; 0 if there was none
	Cause   string // the server's words or the network's, if it was not accepted
	Err     error  // behind the Cause of Unreachable, for errors.As alone: its text may bear secrets
	Proves  string // what Accepted stands for here
	Version string // as the server tells it; "" if it does not

	Date           time.Time           // the server's clock, whole seconds; zero if it does not tell
	Sent, Answered time.Time           // by our clock: Date was read between them
	Chain          []*x509.Certificate // of the server, its own first; nil without TLS
}

// Try writes nothing to the server of cfg, once: it authenticates as a write does and stores nothing. For v1 and v2 the body is
// empty. Servers then check, in this order, the credential, that what is written into is there, and that the credential may write
// there, before they find that there is nothing to store: influxd 1.8 answers 204, InfluxDB 2 204 or, before 2.0.9, 400 "writing
// requires points". InfluxDB 3 makes a database that it does not know for any body, so there the precision is none that it knows:
// it checks the token and then refuses the request.
func Try(ctx context.Context, cfg Config) (Probe, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Probe{}, err
	}
	p, err := newPoster(cfg)
	if err != nil {
		return Probe{}, err
	}
	defer p.hangUp()
	out := Probe{Where: p.target.where, Proves: "token or password, database or bucket, and the right to write there"}
	if cfg.API == "v3" {
		out.Proves = "the token; whether it may write to this database shows with the first write"
		p.target.url = withPrecision(p.target.url, "probe")
	}
	b, err := p.pack(nil)
	if err != nil {
		return Probe{}, err
	}
	p.try(ctx, b, &out)
	return out, nil
}

// withPrecision replaces the precision that a URL of ours asks for.
func withPrecision(text, precision string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	q := u.Query()
	q.Set("precision", precision)
	u.RawQuery = q.Encode()
	return u.String()
}

// try makes the request and judges the answer.
func (p *poster) try(ctx context.Context, b *body, out *Probe) {
	user, secret, err := p.credential()
	if err == nil && user == "" && strings.ContainsFunc(secret, unicode.IsControl) {
		err = errBadToken
	}
	if err != nil {
		out.Verdict, out.Cause = Denied, p.clean(fmt.Sprintf("read token or password: %v", err))
		return
	}
	p.user, p.secret = user, secret
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	req, err := p.request(ctx, b)
	if err != nil {
		out.Verdict, out.Cause = Unreachable, p.clean(err.Error())
		return
	}
	out.Sent = p.now()
	res, err := p.transport.RoundTrip(req)
	out.Answered = p.now()
	if err != nil {
		out.Verdict, out.Err, out.Cause = Unreachable, err, p.noAnswer(err, true).reason
		return
	}
	out.Version = cut(p.clean(oneLine(res.Header.Get("X-Influxdb-Version"))), 64)
	out.Date, _ = http.ParseTime(res.Header.Get("Date"))
	if res.TLS != nil {
		out.Chain = res.TLS.PeerCertificates
	}
	a := readAnswer(res, p.clean)
	out.Status, out.Verdict = a.status, verdictOf(&a, p.cfg.API)
	if out.Verdict != Accepted {
		_, out.Cause = describe(answer{status: a.status, reason: cut(a.reason, 200)})
	}
}

// verdictOf judges an answer to a write of nothing.
func verdictOf(a *answer, api string) Verdict {
	said := strings.ToLower(a.reason)
	switch {
	case a.status == http.StatusBadRequest && api == "v2" && strings.Contains(said, "requires points"):
		return Accepted
	case a.status == http.StatusBadRequest && api == "v3" && !a.page && (a.influx || a.json || strings.Contains(said, "precision") || strings.Contains(said, "variant")):
		return Accepted
	case a.status >= 500 && strings.Contains(said, "retention policy not found"):
		return Missing
	case a.status == http.StatusNotFound && !a.page:
		return Missing
	case a.status == http.StatusNotFound, a.outcome == portal:
		return Stranger
	case a.outcome == settled && api != "v3":
		return Accepted
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		if a.page {
			return Stranger
		}
		return Denied
	case a.outcome == busy:
		return Busy
	}
	return Ill
}
