package sim

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"edgeagent/reading"
)

// The range of plausible values that a source has unless it says otherwise, degrees Celsius.
const minValue, maxValue = -90, 150

// noValueWords are the texts that stand for an absent value.
var noValueWords = map[string]bool{
	"": true, "null": true, "nan": true, "inf": true, "none": true, "unavailable": true, "unknown": true, "n/a": true, "-": true,
}

// Decode makes of a recorded message what a source with topic sensors/{sensor}/temperature, value temperature and time ts
// makes of it, ts being an integer count of unit since the Unix epoch. It knows what a Fleet sends and no more: it is no
// decoder for devices. A message on another topic gives an empty item.
func Decode(r Record, unit time.Duration) Item {
	item := Item{Retained: r.Retained}
	sensor, ok := strings.CutPrefix(r.Topic, "sensors/")
	if ok {
		sensor, ok = strings.CutSuffix(sensor, "/temperature")
	}
	if !ok || sensor == "" || strings.Contains(sensor, "/") {
		return item
	}
	value, at, reason := decodePayload(r.Payload)
	if reason != reading.NumReasons {
		item.Refusals = []reading.Refusal{{Reason: reason}}
		return item
	}
	item.Readings = []reading.Reading{{Series: reading.MakeSeries(sensor, nil), Time: at * int64(unit), Value: value}}
	return item
}

// decodePayload finds value and ts, or the reason for which there is none; NumReasons is none.
func decodePayload(payload []byte) (value float64, ts int64, reason reading.Reason) {
	var fields struct {
		TS          json.Number     `json:"ts"`
		Temperature json.RawMessage `json:"temperature"`
	}
	if len(bytes.TrimSpace(payload)) == 0 {
		return 0, 0, reading.NoValue // what a device sends that has nothing to say, or is gone
	}
	if err := json.Unmarshal(payload, &fields); err != nil {
		return 0, 0, reading.Decode
	}
	if len(fields.Temperature) == 0 || bytes.Equal(fields.Temperature, []byte("null")) {
		return 0, 0, reading.NoValue
	}
	text := string(fields.Temperature)
	if text[0] == '"' {
		if err := json.Unmarshal(fields.Temperature, &text); err != nil {
			return 0, 0, reading.Decode
		}
	}
	if noValueWords[strings.ToLower(text)] {
		return 0, 0, reading.NoValue
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, 0, reading.Value
	}
	if value < minValue || value > maxValue {
		return 0, 0, reading.Range
	}
	if ts, err = strconv.ParseInt(fields.TS.String(), 10, 64); err != nil {
		return 0, 0, reading.Time
	}
	return value, ts, reading.NumReasons
}

// Items decodes recorded messages of a fleet for the oracle; nanos as in FleetParams.
func Items(records []Record, nanos bool) []Item {
	unit := FleetParams{Nanos: nanos}.unit()
	items := make([]Item, 0, len(records))
	for _, r := range records {
		items = append(items, Decode(r, unit))
	}
	return items
}
