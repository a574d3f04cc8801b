package status

import (
	"context"
	"time"
)

// Details are what a Report is too small for. Like a Source, each is called by several goroutines at once, changes nothing,
// returns soon after ctx is done, and hands over what it returns: neither side changes it afterwards.
type Details interface {
	// Sensors lists every sensor that the store knows, in any order.
	Sensors(ctx context.Context) ([]Sensor, error)
	// History is what has been sampled since the process began, oldest first.
	History(ctx context.Context) ([]Sample, error)
	// Parked lists the newest points that the server refused, at most limit, newest first.
	Parked(ctx context.Context, limit int) ([]Parked, error)
}

// A Sensor is one that the store knows.
type Sensor struct {
	Name string `json:"sensor"`
	// Value is that of the reading with the newest event time, in degrees Celsius; nil if it is not known since a restart.
	Value *float64 `json:"value"`
	Last  string   `json:"last"` // the newest event time, RFC 3339; "" if there is none
	// LagS is arrival minus event time of the last live reading that brought its own time, in seconds; nil if there was none
	// since a restart.
	LagS *float64 `json:"lag_s"`
	Open int64    `json:"open_windows"` // over all its series
	Late int64    `json:"late"`         // late drops since the store began, over all its series
	// ClockOffsetS is by how many seconds the sensor's clock seems to be ahead of the gateway's (below 0: behind); nil while
	// nothing can be said.
	ClockOffsetS *float64 `json:"clock_offset_s,omitempty"`

	last time.Time // Last, parsed; see tidySensors
}

// A Sample is the state at one instant, or the worst of the time since the sample before it.
type Sample struct {
	At              string  `json:"at"` // RFC 3339, UTC, by the clock of now
	Known           bool    `json:"known"`
	BehindS         float64 `json:"behind_s"`           // clock minus newest event time; meaningless unless Known
	WatermarkBehind float64 `json:"watermark_behind_s"` // clock minus watermark; meaningless unless Known
	Queued          int64   `json:"queued"`             // points to upload
	BrokerAway      bool    `json:"broker_away"`
	UplinkDown      bool    `json:"uplink_down"` // down, waiting or blocked

	age float64 // seconds before the newest; see tidyHistory
}

// Parked is one point that the server refused.
type Parked struct {
	Seq    uint64 `json:"seq"`
	Uplink string `json:"uplink,omitempty"` // whose server, where there are several
	Time   string `json:"time"`             // when it was refused, RFC 3339
	Reason string `json:"reason"`
	Line   string `json:"line"`
}
