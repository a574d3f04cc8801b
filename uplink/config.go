package uplink

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"
)

// Config says where points go and how.
type Config struct {
	Name string // in logs, when there are several uplinks; may be empty

	URL             string // http or https, with an optional base path; no credentials, query or fragment
	API             string // "v1", "v2" or "v3"
	Org, Bucket     string // v2; Bucket is "database/policy" on a v1 server that speaks v2
	Database        string // v1 and v3
	RetentionPolicy string // v1; "" is the database's default
	Username        string // v1: basic authentication with Password; "" uses Token

	// Password and Token give the secret of the moment; nil is none. They are called before every request, so that a
	// file that changed is seen, and must be cheap. Their errors must not hold the secret.
	Password func() (string, error)
	Token    func() (string, error)

	BatchPoints int    // points in one request, at most; 0 is 5000
	BatchBytes  int    // bytes of lines in one request, at most (but one line always goes); 0 is 1 MiB
	Gzip        bool   // compress bodies
	Order       string // "oldest" (or "") or "newest" first, when an outage has left a backlog

	Timeout  time.Duration // of one request, from dialing to the last byte of the answer; 0 is 30 s
	RetryMin time.Duration // back-off begins here; 0 is 1 s
	RetryMax time.Duration // and ends here; the slow retries take half of it to all of it; 0 is 5 min

	TLS *tls.Config // nil is the system's; TLS 1.2 is the least whatever it says

	// Authorities are asked for before a request that needs a new connection, and stand in the place of TLS.RootCAs: the same pool, as
	// long as they have not changed. nil: those of TLS.
	Authorities func() *x509.CertPool

	UserAgent string
	Logger    *slog.Logger // nil is silent

	// Observe gets how long each request took, from dialing to the last byte of its answer, and what came of it: the name of
	// an outcome (see Outcomes). It is called by the goroutine that sends, and must be quick; nil is nobody.
	Observe func(took time.Duration, outcome string)
}

// withDefaults fills in what is zero, or tells all that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.BatchPoints = cmp.Or(c.BatchPoints, 5000)
	c.BatchBytes = cmp.Or(c.BatchBytes, 1<<20)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.RetryMin = cmp.Or(c.RetryMin, time.Second)
	c.RetryMax = cmp.Or(c.RetryMax, 5*time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Name != "" {
		c.Logger = c.Logger.With("uplink", c.Name)
	}
	var faults []error
	if c.BatchPoints < 0 || c.BatchBytes < 0 {
		faults = append(faults, fmt.Errorf("batch: must be positive (got %d points, %d bytes)", c.BatchPoints, c.BatchBytes))
	}
	if c.Timeout < 0 || c.RetryMin < 0 || c.RetryMax < c.RetryMin {
		faults = append(faults, fmt.Errorf("retry: want 0 < timeout, 0 < retry_min <= retry_max (got %v, %v, %v)", c.Timeout, c.RetryMin, c.RetryMax))
	}
	return c, errors.Join(faults...)
}

// A target is where the requests go.
type target struct {
	url   string // with its query
	where string // for people: without the query, but with what the points go into
	auth  string // word before the token in the Authorization header
}

// target builds the address from the API's conventions. Precision is always told: the lines are in ns.
func (c Config) target() (target, error) {
	base, err := parseBase(c.URL)
	if err != nil {
		return target{}, err
	}
	var path string
	auth, into, key, name := "Token", "database", "db", c.Database
	q := url.Values{"precision": {"ns"}}
	switch c.API {
	case "v1":
		path = "write"
		setIf(q, "rp", c.RetentionPolicy)
	case "v2":
		path, into, key, name = "api/v2/write", "bucket", "bucket", c.Bucket
		setIf(q, "org", c.Org)
	case "v3":
		path, auth = "api/v3/write_lp", "Bearer"
		q.Set("precision", "nanosecond")
		q.Set("accept_partial", "true") // the rest is stored at once, before the refused lines are found
		q.Set("no_sync", "false")       // an answer means that it is on the server's disk
	default:
		return target{}, fmt.Errorf("api: must be v1, v2 or v3 (got %q)", c.API)
	}
	if name == "" {
		return target{}, fmt.Errorf("%s: must be given for api %s", into, c.API)
	}
	q.Set(key, name)
	t := base.JoinPath(path)
	where := fmt.Sprintf("%s (%s %q)", t, into, name)
	t.RawQuery = q.Encode()
	return target{url: t.String(), where: where, auth: auth}, nil
}

// setIf sets what is not empty.
func setIf(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}

// parseBase reads the configured address. Its errors do not show what may hold a secret.
func parseBase(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("url: cannot be read")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("url: credentials, query and fragment do not belong in it")
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("url: must be http://HOST or https://HOST (got %q)", text)
	}
	return base, nil
}
