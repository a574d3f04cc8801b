package grafana

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// A dashboard is what these tests read of Grafana's JSON.
type dashboard struct {
	Title, UID string
	Panels     []struct {
		Title, Description, Type string
		Targets                  []struct{ Query string }
	}
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
}

func load(t *testing.T, name string) dashboard {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// A want is what a panel must show, by gateway and sensor. Tables show values; what shows series is summed up as the number
// of points and their sum; of silence it is the minutes since the last point.
type want map[string]string

// others is the same want for all gateways that are not in except.
func others(same string, except want) want {
	w := want{}
	for _, id := range []string{"well", "silent", "mute", "queue", "clock", "books", "reset", "card", "twins", "restart", "site/1/2", "site/2/2"} {
		w[id] = same
	}
	maps.Copy(w, except)
	return w
}

var wants = map[string]map[string]want{
	"fleet": {
		"Silent gateways":             others("5", want{"silent": "185"}),
		"Silent sensors":              {"well/attic": "5", "mute/attic": "125", "mute/cellar": "5"},
		"Two instances under one id":  {"twins": "35"},
		"Books that do not balance":   {"books": "2"},
		"Stores begun anew":           {"reset": "1", "card": "1"},
		"Clocks that are not trusted": {"clock": "12"},
		"Clock against the sensors":   others("n=72 sum=1080", want{"silent": "n=36 sum=540", "clock": "n=72 sum=-3900"}),
		"Points that wait":            others("n=72 sum=0", want{"silent": "n=36 sum=0", "queue": "n=72 sum=17604"}),
		"Refused and evicted points":  others("0 0", want{"queue": "3 40"}),
		"Readings":                    others("7100 71 142", want{"silent": "3500 35 70", "card": "4200 42 84", "site/2/2": "2130 71 142"}),
	},
	"sensors": {
		"Maximum":              {"well/attic": "n=72 sum=1278", "mute/attic": "n=48 sum=960", "mute/cellar": "n=72 sum=864"},
		"Readings":             {"well/attic": "n=72 sum=720", "mute/attic": "n=48 sum=480", "mute/cellar": "n=72 sum=360"},
		"Late drops":           {"mute/cellar": "n=12 sum=24"},
		"Late drops by sensor": {"mute/cellar": "24 766"},
		"Windows by sensor":    {"well/attic": "72 720", "mute/attic": "48 480", "mute/cellar": "72 360"},
	},
}

// shown runs the queries of a panel and sums up what it would show.
func (a asker) shown(t *testing.T, queries []string, kind string) want {
	t.Helper()
	values := map[string][]string{}
	silent := want{}
	for _, q := range queries {
		for _, r := range a.rows(t, q) {
			values[r.key] = append(values[r.key], r.values...)
			silent[r.key] = fmt.Sprint(int(a.to.Sub(r.at).Minutes()))
		}
	}
	if kind == "silence" {
		return silent
	}
	got := want{}
	for k, vs := range values {
		got[k] = strings.Join(vs, " ")
		if kind == "timeseries" {
			sum := 0.0
			for _, v := range vs {
				sum += parse(t, v)
			}
			got[k] = fmt.Sprintf("n=%d sum=%s", len(vs), value(sum))
		}
	}
	return got
}

// TestQueries runs all queries against one server: with Flux it takes long to start.
func TestQueries(t *testing.T) {
	influx, f := start(t)
	t.Run("dashboards", func(t *testing.T) { dashboards(t, influx, f) })
	t.Run("choice", func(t *testing.T) { choice(t, influx, f) })
	t.Run("central.md", func(t *testing.T) { central(t, influx, f) })
	t.Run("fields", func(t *testing.T) { fields(t, influx) })
}

func dashboards(t *testing.T, influx *testbed.Influx, f *fleet) {
	for _, language := range []string{"influxql", "flux"} {
		a := asker{influx: influx, from: f.now.Add(-hours * time.Hour), to: f.now, gateway: ".*", flux: language == "flux"}
		for name, panels := range wants {
			d := load(t, name+"-"+language+".json")
			t.Run(name+"-"+language, func(t *testing.T) {
				left := maps.Clone(panels)
				for _, p := range d.Panels {
					w, ok := left[p.Title]
					delete(left, p.Title)
					if !ok || p.Description == "" || len(p.Targets) == 0 {
						t.Errorf("panel %q is not expected, or has no description or no query", p.Title)
						continue
					}
					var queries []string
					for _, target := range p.Targets {
						queries = append(queries, target.Query)
					}
					kind := p.Type
					if strings.HasPrefix(p.Title, "Silent") {
						kind = "silence"
					}
					if got := a.shown(t, queries, kind); !maps.Equal(got, w) {
						t.Errorf("%s:\n%v, want\n%v", p.Title, got, w)
					}
				}
				if len(left) > 0 {
					t.Errorf("panels %v are missing", slices.Sorted(maps.Keys(left)))
				}
				a.variables(t, d)
			})
		}
	}
}

// variables runs the queries that fill the lists at the top of a dashboard.
func (a asker) variables(t *testing.T, d dashboard) {
	t.Helper()
	lists := map[string]int{"gateway": 11, "sensor": 2}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		seen := map[string]bool{}
		for _, r := range a.rows(t, v.Query) {
			seen[r.values[len(r.values)-1]] = true
		}
		if len(seen) != lists[v.Name] || !seen[map[string]string{"gateway": "twins", "sensor": "cellar"}[v.Name]] {
			t.Errorf("%s offers %v", v.Name, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// choice: a dashboard shows the gateways that are chosen, and no other.
func choice(t *testing.T, influx *testbed.Influx, f *fleet) {
	for _, language := range []string{"influxql", "flux"} {
		a := asker{influx: influx, from: f.now.Add(-hours * time.Hour), to: f.now, gateway: "(well|queue)", flux: language == "flux"}
		for _, p := range load(t, "fleet-"+language+".json").Panels {
			for _, target := range p.Targets {
				for _, r := range a.rows(t, target.Query) {
					if id, _, _ := strings.Cut(r.key, "/"); id != "well" && id != "queue" {
						t.Errorf("%s in %s shows %s", p.Title, language, r.key)
					}
				}
			}
		}
	}
}
