package uplink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ErrNotTold is returned by Retention when the server does not tell: its API has no question for it, or the credential
// is good for writing only.
var ErrNotTold = errors.New("the server does not tell how long it keeps points")

// Retention asks the server of cfg how long it keeps points where the uplink writes them; 0 is for ever. A point that is
// older when it arrives is refused or, after a 204, dropped without a word, which no answer to a write shows. The error
// is ErrNotTold, or why there was no answer.
func Retention(ctx context.Context, cfg Config) (time.Duration, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return 0, err
	}
	p, err := newPoster(cfg)
	if err != nil {
		return 0, err
	}
	defer p.hangUp()
	switch cfg.API {
	case "v1":
		return p.policy(ctx)
	case "v2":
		return p.bucket(ctx)
	}
	return 0, ErrNotTold
}

// policy asks a v1 server.
func (p *poster) policy(ctx context.Context) (time.Duration, error) {
	name := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.cfg.Database)
	var told struct {
		Results []struct {
			Series []struct {
				Columns []string
				Values  [][]any
			}
		}
	}
	if err := p.get(ctx, "query", url.Values{"q": {`SHOW RETENTION POLICIES ON "` + name + `"`}}, &told); err != nil {
		return 0, err
	}
	for _, r := range told.Results {
		for _, s := range r.Series {
			for _, values := range s.Values {
				row := map[string]any{}
				for i := range min(len(values), len(s.Columns)) {
					row[s.Columns[i]] = values[i]
				}
				isDefault, _ := row["default"].(bool)
				if row["name"] == p.cfg.RetentionPolicy || p.cfg.RetentionPolicy == "" && isDefault {
					text, _ := row["duration"].(string)
					return time.ParseDuration(text)
				}
			}
		}
	}
	return 0, ErrNotTold
}

// bucket asks a v2 server.
func (p *poster) bucket(ctx context.Context) (time.Duration, error) {
	var told struct {
		Buckets []struct {
			Name           string
			RetentionRules []struct {
				Type         string
				EverySeconds int64
			}
		}
	}
	q := url.Values{"name": {p.cfg.Bucket}}
	setIf(q, "org", p.cfg.Org)
	if err := p.get(ctx, "api/v2/buckets", q, &told); err != nil {
		return 0, err
	}
	for _, b := range told.Buckets {
		if b.Name != p.cfg.Bucket {
			continue
		}
		for _, rule := range b.RetentionRules {
			if rule.Type == "expire" {
				return time.Duration(rule.EverySeconds) * time.Second, nil
			}
		}
		return 0, nil // no rule: for ever
	}
	return 0, ErrNotTold
}

// get asks a question and decodes the answer into told.
func (p *poster) get(ctx context.Context, path string, q url.Values, told any) error {
	user, secret, err := p.credential()
	if err != nil {
		return fmt.Errorf("read token or password: %w", err)
	}
	p.user, p.secret = user, secret
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	base, err := parseBase(p.cfg.URL)
	if err != nil {
		return err
	}
	at := base.JoinPath(path)
	at.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return errors.New(p.clean(err.Error()))
	}
	p.authorize(req)
	res, err := p.transport.RoundTrip(req)
	if err != nil {
		return errors.New(p.noAnswer(err, false).reason)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: it answers %d %s", ErrNotTold, res.StatusCode, http.StatusText(res.StatusCode))
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(told); err != nil {
		return fmt.Errorf("%w: its answer is not readable", ErrNotTold)
	}
	return nil
}
