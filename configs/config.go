package configs

import (
	"time"

	"edgeagent/reading"
)

// Config is the whole configuration, defaults filled in. Load returns it validated; nothing changes it afterwards.
type Config struct {
	Gateway   Gateway
	MQTT      MQTT
	Sources   []reading.Rule // [[source]]
	Window    Window
	Watermark Watermark
	Buffer    Buffer
	Uplinks   []Uplink // [uplink], or every [[uplink]]; one at least
	Log       Log
	HTTP      HTTP

	origin *origin // where the keys stood; nil in a Config that was not read from a file
}

// Gateway names this agent.
type Gateway struct {
	ID    string
	Tags  []reading.Tag // sorted by key; go to every point
	Clock string        // "auto", "trusted" or "untrusted"
}

// MQTT is the intake.
type MQTT struct {
	Brokers         []string // nodes of one cluster
	ClientID        string   // "edgeagent-" + Gateway.ID unless given
	Username        string
	PasswordFile    string
	Password        string // from ${VAR}; never printed
	KeepAlive       Duration
	MaxMessageBytes Size
	Shard           string // "2/4": of four agents that share a site this is the second; "" is the only one
	TLS             TLS
}

// TLS is used for a connection whose URL asks for it.
type TLS struct {
	CAFile, CertFile, KeyFile, ServerName string
	InsecureSkipVerify                    bool
}

// Window is how readings are folded.
type Window struct {
	Size            Duration
	Aggregates      []string // of max, count, min, mean, sum, first, last, stddev; max and count always there
	Measurement     string
	Timestamp       string // "start" or "end"
	AllowedLateness Duration
	Emit            string // "final" or "update"
	UpdateInterval  Duration
}

// Watermark is when windows are final and readings late.
type Watermark struct {
	Delay        Duration
	Scope        string // "stream" or "sensor"
	Late         string // "window" or "event"
	IdleTimeout  Duration
	MaxFuture    Duration // 0 is off
	NotBefore    int64    // ns; the default of every source
	LateReadings string   // "drop", "keep", "uplink"
}

// Buffer is the store.
type Buffer struct {
	Dir            string
	MaxSize        Size
	MaxPoints      int // 0: by size alone
	CommitInterval Duration
	MaxSensors     int
	SensorExpiry   Duration
	RejectedRing   Size
	RetainReadings Duration
}

// Uplink is one server.
type Uplink struct {
	Name            string // "uplink" unless given
	URL             string
	API             string // "v1", "v2", "v3"
	Org, Bucket     string
	Database        string
	RetentionPolicy string
	Username        string
	PasswordFile    string
	Password        string
	TokenFile       string
	Token           string
	BatchPoints     int
	BatchBytes      Size
	Gzip            bool
	Timeout         Duration
	Order           string // "oldest" or "newest"
	RetryMin        Duration
	RetryMax        Duration
	HealthInterval  Duration // 0 is off
	TLS             TLS
}

// Log is what goes to standard error.
type Log struct {
	Level  string // "debug", "info", "warn", "error"
	Format string // "text" or "json"
}

// HTTP is the read-only status server.
type HTTP struct {
	Listen       string // "" is off
	TokenFile    string
	PublicStatus bool
}

// The largest and the smallest file of the store: below, the shares of it hold nothing useful; above, the mapping of
// the file leaves the address space of a 32-bit machine.
const (
	minStore   = 4 * MiB
	maxStore32 = 1 * GiB
	maxStore64 = 64 * GiB
)

// Default is the configuration of an empty file, but for the gateway id, the client id and the sources, which depend on
// the machine and the file. It is a new value each time.
func Default() *Config {
	return &Config{
		Gateway: Gateway{Clock: "auto"},
		MQTT:    MQTT{KeepAlive: seconds(30), MaxMessageBytes: 64 * KiB},
		Window: Window{
			Size:           minutes(5),
			Aggregates:     []string{"max", "count"},
			Measurement:    "temperature",
			Timestamp:      "start",
			Emit:           "final",
			UpdateInterval: minutes(1),
		},
		Watermark: Watermark{
			Delay:        minutes(10),
			Scope:        "stream",
			Late:         "window",
			IdleTimeout:  minutes(30),
			MaxFuture:    minutes(2),
			NotBefore:    time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano(),
			LateReadings: "drop",
		},
		Buffer: Buffer{
			Dir:            "/var/lib/edgeagent",
			MaxSize:        256 * MiB,
			CommitInterval: seconds(5),
			MaxSensors:     10000,
			SensorExpiry:   Duration(720 * time.Hour),
			RejectedRing:   4 * MiB,
		},
		Uplinks: []Uplink{{
			Name:           "uplink",
			API:            "v1",
			BatchPoints:    5000,
			BatchBytes:     MiB,
			Gzip:           true,
			Timeout:        seconds(30),
			Order:          "oldest",
			RetryMin:       seconds(1),
			RetryMax:       minutes(5),
			HealthInterval: minutes(5),
		}},
		Log:  Log{Level: "info", Format: "text"},
		HTTP: HTTP{Listen: "127.0.0.1:9273"},
	}
}

func seconds(n int64) Duration { return Duration(n * int64(time.Second)) }
func minutes(n int64) Duration { return seconds(60 * n) }
