package grafana

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// An asker runs the queries of one language, with Grafana's variables replaced as Grafana does.
type asker struct {
	influx   *testbed.Influx
	from, to time.Time
	gateway  string // a regular expression
	flux     bool
}

func (a asker) fill(query string) string {
	ms := func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) + "ms" }
	rfc := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	return strings.NewReplacer(
		"$timeFilter", "time >= "+ms(a.from)+" and time <= "+ms(a.to), "$__interval", "5m",
		"v.timeRangeStart", rfc(a.from), "v.timeRangeStop", rfc(a.to), "v.windowPeriod", "5m", "${bucket}", "sensors",
		"${gateway:regex}", a.gateway, "${sensor:regex}", ".*", "$gateway", a.gateway, "$sensor", ".*",
	).Replace(query)
}

// A row is one of an answer: its gateway and sensor, when it is of, and its values in order.
type row struct {
	key    string
	at     time.Time
	values []string
}

// rows runs a query.
func (a asker) rows(t *testing.T, query string) []row {
	t.Helper()
	query = a.fill(query)
	if strings.Contains(strings.ReplaceAll(query, "$/", ""), "$") {
		t.Fatalf("a variable is left in %s", query)
	}
	var all []row
	if a.flux {
		for _, columns := range a.influx.Flux(query) {
			all = append(all, fluxRow(t, columns))
		}
		return all
	}
	for _, s := range a.influx.Query("sensors", query) {
		for _, v := range s.Values {
			r := row{key: key(s.Tags["gateway"], s.Tags["shard"], s.Tags["sensor"])}
			for c, name := range s.Columns {
				switch n, ok := v[c].(json.Number); {
				case ok && name == "time":
					ns, err := n.Int64()
					if err != nil {
						t.Fatal(err)
					}
					r.at = time.Unix(0, ns)
				case ok:
					r.values = append(r.values, number(t, n.String()))
				case v[c] != nil:
					r.values = append(r.values, fmt.Sprint(v[c]))
				}
			}
			all = append(all, r)
		}
	}
	return all
}

// key is gateway, shard and sensor, as far as there are.
func key(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "/")
}

func number(t *testing.T, text string) string {
	t.Helper()
	return value(parse(t, text))
}

func parse(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fluxRow reads a row of Flux; the values are in _value.
func fluxRow(t *testing.T, columns map[string]string) row {
	t.Helper()
	r := row{key: key(columns["gateway"], columns["shard"], columns["sensor"])}
	if text := columns["_time"]; text != "" {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		r.at = at
	}
	if text, ok := columns["_value"]; ok {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			text = value(v)
		}
		r.values = []string{text}
	}
	return r
}
