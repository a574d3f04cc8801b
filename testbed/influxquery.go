package testbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A Series is one table of an InfluxQL answer.
type Series struct {
	Name    string            `json:"name"`
	Tags    map[string]string `json:"tags"`
	Columns []string          `json:"columns"`
	Values  [][]any           `json:"values"` // numbers are json.Number: the server writes 30 for the float 30 and for the integer
}

// A Point is one point as the server holds it.
type Point struct {
	Tags   map[string]string
	Time   int64          // ns
	Fields map[string]any // float64, int64, string or bool
}

// CreateDB makes a database with the default retention policy, which keeps points for ever.
func (i *Influx) CreateDB(name string) {
	i.t.Helper()
	i.Query("", "CREATE DATABASE "+quote(name))
}

// Query runs one InfluxQL statement and returns its tables. Times are in ns. The test fails if the server refuses.
func (i *Influx) Query(db, statement string) []Series {
	i.t.Helper()
	series, err := i.query(db, statement)
	if err != nil {
		i.t.Fatalf("query %q: %v", statement, err)
	}
	return series
}

func (i *Influx) query(db, statement string) ([]Series, error) {
	form := url.Values{"db": {db}, "q": {statement}, "epoch": {"ns"}}
	resp, err := i.client.PostForm(i.URL()+"/query", form)
	if err != nil {
		return nil, fmt.Errorf("ask influxd: %w", err)
	}
	defer resp.Body.Close()
	var answer struct {
		Error   string
		Results []struct {
			Error  string
			Series []Series
		}
	}
	dec := json.NewDecoder(resp.Body)
	dec.UseNumber()
	if err := dec.Decode(&answer); err != nil {
		return nil, fmt.Errorf("decode the answer (%s): %w", resp.Status, err)
	}
	if resp.StatusCode != http.StatusOK || answer.Error != "" {
		return nil, fmt.Errorf("%s: %s", resp.Status, answer.Error)
	}
	var series []Series
	for _, r := range answer.Results {
		if r.Error != "" {
			return nil, errors.New(r.Error)
		}
		series = append(series, r.Series...)
	}
	return series, nil
}

// Points returns every point of a measurement, none if it does not exist: by series in the order of their tags, each
// series by time.
func (i *Influx) Points(db, measurement string) []Point {
	i.t.Helper()
	types := i.fieldTypes(db, measurement)
	var points []Point
	for _, s := range i.Query(db, "SELECT * FROM "+quote(measurement)+" GROUP BY *") {
		for _, row := range s.Values {
			p, err := point(s, row, types)
			if err != nil {
				i.t.Fatalf("points of %s: %v", measurement, err)
			}
			points = append(points, p)
		}
	}
	return points
}

// fieldTypes maps the fields of a measurement to "float", "integer", "string" or "boolean".
func (i *Influx) fieldTypes(db, measurement string) map[string]string {
	i.t.Helper()
	types := map[string]string{}
	for _, s := range i.Query(db, "SHOW FIELD KEYS FROM "+quote(measurement)) {
		for _, row := range s.Values {
			types[fmt.Sprint(row[0])] = fmt.Sprint(row[1])
		}
	}
	return types
}

// point turns one row into a point. Empty tags are tags that the series does not have; null fields are not set.
func point(s Series, row []any, types map[string]string) (Point, error) {
	p := Point{Tags: map[string]string{}, Fields: map[string]any{}}
	for k, v := range s.Tags {
		if v != "" {
			p.Tags[k] = v
		}
	}
	for c, name := range s.Columns {
		n, isNumber := row[c].(json.Number)
		var err error
		switch {
		case name == "time":
			p.Time, err = n.Int64()
		case row[c] == nil:
		case isNumber && types[name] == "integer":
			p.Fields[name], err = n.Int64()
		case isNumber:
			p.Fields[name], err = strconv.ParseFloat(n.String(), 64)
		default:
			p.Fields[name] = row[c]
		}
		if err != nil {
			return p, fmt.Errorf("column %s of %s: %w", name, s.Name, err)
		}
	}
	return p, nil
}

// quote makes an InfluxQL identifier of name.
func quote(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}
