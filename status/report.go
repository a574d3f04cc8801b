package status

// A Report is the state of a running agent, as people and scrapers see it. The agent makes one when asked; its JSON form is
// what /status and the control socket answer, and its keys are stable. Instants are RFC 3339 in UTC, "" where there is none
// yet; counts run since the store began unless their name says that they are a present state.
type Report struct {
	Gateway string `json:"gateway"`
	Version string `json:"version"`
	UptimeS int64  `json:"uptime_s"` // seconds since this process began to run

	Clock     Clock     `json:"clock"`
	MQTT      MQTT      `json:"mqtt"`
	Watermark Watermark `json:"watermark"`
	Windows   Windows   `json:"windows"`
	Ledger    Ledger    `json:"ledger"`

	ArrivalTimed int64 `json:"arrival_timed"`       // readings that brought no time of their own
	Held         int64 `json:"held"`                // readings held back as future now; not yet received
	Ignored      int64 `json:"ignored"`             // messages whose topic fits no source
	Elsewhere    int64 `json:"elsewhere,omitempty"` // readings and refusals that other agents of a shared site count
	StoreResets  int64 `json:"store_resets"`        // times that a damaged store was moved aside
	Sensors      int64 `json:"sensors"`             // known now

	Points Points `json:"points"`
	Buffer Buffer `json:"buffer"`
	Uplink Uplink `json:"uplink"`
	// Uplinks are all uplinks by name, where there are several: Points and Uplink are then those of one that stands for all.
	Uplinks map[string]UplinkPart `json:"uplinks,omitempty"`
	Lag     Lag                   `json:"lag"`
	// HTTPError is why the page of http.listen is not served; "" if it is, or if there is to be none.
	HTTPError string `json:"http_error,omitempty"`
	Work      Work   `json:"work"`

	Sources map[string]SourceTable `json:"sources"` // by name, all of the configuration
}

// An UplinkPart is one of several uplinks: its own identity of points, and its state.
type UplinkPart struct {
	Points Points `json:"points"`
	Uplink Uplink `json:"uplink"`
}

// Clock is the gateway's own clock.
type Clock struct {
	Now     string `json:"now"` // RFC 3339, UTC
	Trusted bool   `json:"trusted"`
}

// MQTT is the intake.
type MQTT struct {
	Connected bool   `json:"connected"`
	Since     string `json:"since"`   // when that became so, RFC 3339
	Broker    string `json:"broker"`  // without credentials
	Unacked   int64  `json:"unacked"` // messages taken whose acknowledgement is not written yet
	LastError string `json:"last_error,omitempty"`
	// Refused are the filters that the broker does not grant on this connection: nothing comes of them.
	Refused []string `json:"refused,omitempty"`
}

// Watermark is where event time stands. The instants are "" before the first reading; with scope "sensor" they are those
// of the sensor that is furthest.
type Watermark struct {
	Value        string  `json:"value"`
	MaxEventTime string  `json:"max_event_time"`
	BehindS      float64 `json:"behind_s"` // now - max_event_time; below 0 where that lies ahead of the clock
}

// Windows counts windows over all series.
type Windows struct {
	Open      int64 `json:"open"`
	Finalized int64 `json:"finalized"` // since the store began
}

// Ledger is what became of every reading: received is the sum of the other columns.
type Ledger struct {
	Received  int64            `json:"received"`
	Windowed  int64            `json:"windowed"`
	Late      int64            `json:"late"`
	Duplicate int64            `json:"duplicate"`
	Retained  int64            `json:"retained"`
	Rejected  map[string]int64 `json:"rejected"` // by reason; every reason is there
	Balanced  bool             `json:"balanced"`
}

// Points is what became of every point: finalized to carried sum up to the same as uploaded to superseded.
type Points struct {
	Finalized    int64 `json:"finalized"`
	Updated      int64 `json:"updated"`
	LateReports  int64 `json:"late_reports"`
	LateReadings int64 `json:"late_readings"`
	Health       int64 `json:"health"`
	Carried      int64 `json:"carried"`
	Uploaded     int64 `json:"uploaded"`
	Queued       int64 `json:"queued"`
	Parked       int64 `json:"parked"`
	Evicted      int64 `json:"evicted"`
	Superseded   int64 `json:"superseded"`
	Balanced     bool  `json:"balanced"`
}

// Buffer is the store.
type Buffer struct {
	Bytes    int64  `json:"bytes"`           // size of its file
	MaxBytes int64  `json:"max_bytes"`       // what the file may grow to
	Oldest   string `json:"oldest"`          // end of the oldest queued window, RFC 3339; "" if none
	Error    string `json:"error,omitempty"` // why nothing can be written now
}

// Uplink is the central server.
type Uplink struct {
	State       string  `json:"state"`        // idle, up, down, waiting or blocked
	Since       string  `json:"since"`        // when that became so
	LastSuccess string  `json:"last_success"` // when it last stored a line, before a restart too; "" if never
	LastError   string  `json:"last_error"`   // why it is down, waiting or blocked
	RetryInS    float64 `json:"retry_in_s"`   // until the next attempt; 0 if none is waited for
}

// Lag is arrival minus event time of the newest live readings that brought their own time, in seconds; all 0 if there is none.
type Lag struct {
	P50S float64 `json:"p50_s"`
	P95S float64 `json:"p95_s"`
	P99S float64 `json:"p99_s"`
	MaxS float64 `json:"max_s"`
}

// Work is what this process has done so far; all of it begins at 0 with the process.
type Work struct {
	Commits Histogram            `json:"commits"` // seconds that a commit took, one that failed too
	Uploads map[string]Histogram `json:"uploads"` // seconds that a request took, by outcome
	Syncs   int64                `json:"syncs"`   // times that the store's file was synced for a commit: two for each
	Written int64                `json:"written"` // bytes of pages written to the store's file
}

// A Histogram counts durations, in seconds. Counts has one entry more than Bounds: how many were above the last of them.
// The zero Histogram has counted nothing.
type Histogram struct {
	Bounds []float64 `json:"bounds"` // ascending; a duration equal to a bound is below it
	Counts []int64   `json:"counts"` // of each range alone, not summed up
	SumS   float64   `json:"sum_s"`
}
