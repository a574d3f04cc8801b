package reading

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"edgeagent/testbed"
)

// TestSenMLAgainstOracle resolves random packs by the words of RFC 8428, and reads them in JSON and in CBOR.
func TestSenMLAgainstOracle(t *testing.T) {
	rng := testbed.Random(t)
	const arrival = 1793779272
	rule := Rule{Topic: "t/{x}", Format: "senml", Value: "v", Sensor: "{n}", Unit: "u", Time: "t", Min: ptr(-1e6), Max: ptr(1e6), NotBefore: NoTime}
	d := compileOne(t, rule)
	labels := map[string]int{"bn": -2, "bt": -3, "bu": -4, "bv": -5, "n": 0, "u": 1, "v": 2, "t": 6}
	for range 5000 {
		var asJSON []map[string]any
		var asCBOR []map[int]any
		base := map[string]any{"bn": "", "bt": 0, "bv": 0, "bu": "Cel"}
		var want []string
		for range 1 + rng.IntN(4) {
			rec := map[string]any{"n": pick(rng, "a", "b:c", "7"), "v": rng.IntN(80) - 20}
			for key, v := range map[string]any{"bn": pick(rng, "dev/", "x:"), "bt": pick(rng, 1793779000, 1793700000, -50), "bv": rng.IntN(5), "bu": "Cel", "t": rng.IntN(100) - 100, "u": "Cel"} {
				if rng.IntN(3) == 0 {
					rec[key] = v
				}
			}
			compact := map[int]any{}
			for key, v := range rec {
				compact[labels[key]] = v
				if _, ok := base[key]; ok {
					base[key] = v
				}
			}
			own, _ := rec["t"].(int)
			when := base["bt"].(int) + own
			if when < 1<<28 {
				when += arrival
			}
			want = append(want, fmt.Sprintf("%s%s=%d@%d", base["bn"], rec["n"], base["bv"].(int)+rec["v"].(int), when))
			asJSON, asCBOR = append(asJSON, rec), append(asCBOR, compact)
		}
		text, err := json.Marshal(asJSON)
		if err != nil {
			t.Fatal(err)
		}
		compact, err := cbor.Marshal(asCBOR)
		if err != nil {
			t.Fatal(err)
		}
		for _, payload := range [][]byte{text, compact} {
			var res Result
			d.decode(Message{Topic: "t/x", Payload: payload, Arrival: arrival * 1e9}, &res)
			var got []string
			for _, r := range res.Readings {
				got = append(got, fmt.Sprintf("%s=%v@%d", r.Series, r.Value, r.Time/1e9))
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Fatalf("%s (%x)\n= %v %+v\nwant %v", text, payload, got, res.Refusals, want)
			}
		}
	}
}

// TestRowsAgainstOracle writes random cells as CSV and as forms by the standard library and reads them.
func TestRowsAgainstOracle(t *testing.T) {
	rng := testbed.Random(t)
	for range 3000 {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma = pick(rng, ',', ';')
		w.UseCRLF = rng.IntN(2) == 0
		var want []string
		form := url.Values{}
		for i := range 1 + rng.IntN(4) {
			id := pick(rng, "a", "b c", `d"e`, "f,g", "h;i", "é")
			value := pick(rng, "21.5", "21,5", "-3", "0")
			if w.Comma == ',' && strings.Contains(id, ";") {
				id = "a" // a semicolon outside quotes says that semicolons separate
			}
			if err := w.Write([]string{id, value, "rest"}); err != nil {
				t.Fatal(err)
			}
			want = append(want, id+"="+strings.ReplaceAll(value, ",", "."))
			form.Set(fmt.Sprint("f", i), value)
		}
		w.Flush()
		got := summary(one(t, Rule{Format: "csv", Columns: []string{"id", "v", "x"}, Value: "v", Sensor: "{id}"}, b.String()))
		if got != strings.Join(want, " ") {
			t.Fatalf("%q = %s, want %v", b.String(), got, want)
		}
		readings, reasons := one(t, Rule{Format: "form", Value: "{f}", Sensor: "{f}"}, form.Encode())
		if len(readings) != len(form) || len(reasons) != 0 {
			t.Fatalf("%s = %+v %v", form.Encode(), readings, reasons)
		}
	}
}
