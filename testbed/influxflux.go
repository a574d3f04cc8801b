package testbed

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Flux runs a script and returns the rows of all its results, each by column; the column result names the result. The server must
// have been started with Flux; databases are its buckets. The test fails if the server refuses.
func (i *Influx) Flux(script string) []map[string]string {
	i.t.Helper()
	rows, err := i.flux(script)
	if err != nil {
		i.t.Fatalf("flux %q: %v", script, err)
	}
	return rows
}

func (i *Influx) flux(script string) ([]map[string]string, error) {
	req, err := http.NewRequest(http.MethodPost, i.URL()+"/api/v2/query", strings.NewReader(script))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/vnd.flux")
	req.Header.Set("Accept", "application/csv")
	resp, err := i.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask influxd: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return nil, fmt.Errorf("%s: %s", resp.Status, text)
	}
	return annotated(resp.Body)
}

// annotated reads the annotated CSV of Flux. Before each header come lines that begin with #; of these #default counts here: what
// a column is where a row leaves it out.
func annotated(r io.Reader) ([]map[string]string, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	var rows []map[string]string
	var header, defaults []string
	for {
		rec, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return nil, fmt.Errorf("decode the answer: %w", err)
		case strings.HasPrefix(rec[0], "#"):
			if header = nil; rec[0] == "#default" {
				defaults = rec
			}
		case header == nil:
			header = rec
		default:
			rows = append(rows, rowOf(header, defaults, rec))
		}
	}
}

func rowOf(header, defaults, rec []string) map[string]string {
	row := map[string]string{}
	for i, name := range header {
		if i < len(rec) && name != "" {
			row[name] = rec[i]
			if rec[i] == "" && i < len(defaults) {
				row[name] = defaults[i]
			}
		}
	}
	return row
}
