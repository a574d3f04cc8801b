package configs

import (
	"strconv"
	"time"

	"edgeagent/reading"
)

// A section is one table of the file: its keys, in the order of the documentation, and the tables within it.
type section struct {
	name   string
	fields []field
	subs   []section
}

// A field is one key and what it fills.
type field struct {
	key   string
	value value
}

// schema lists every section but [[source]], over the places in c; of several uplinks the first.
func schema(c *Config) []section {
	return []section{
		{"gateway", []field{
			{"id", text{&c.Gateway.ID}},
			{"tags", tags{&c.Gateway.Tags}},
			{"clock", choice{&c.Gateway.Clock, []string{"auto", "trusted", "untrusted"}}},
		}, nil},
		mqttSection(&c.MQTT),
		windowSection(&c.Window),
		watermarkSection(&c.Watermark),
		bufferSection(&c.Buffer),
		uplinkSection(&c.Uplinks[0]),
		{"log", []field{
			{"level", choice{&c.Log.Level, []string{"debug", "info", "warn", "error"}}},
			{"format", choice{&c.Log.Format, []string{"text", "json"}}},
		}, nil},
		{"http", []field{
			{"listen", text{&c.HTTP.Listen}},
			{"token_file", fileName{text{&c.HTTP.TokenFile}}},
			{"public_status", toggle{&c.HTTP.PublicStatus}},
		}, nil},
	}
}

func mqttSection(m *MQTT) section {
	return section{"mqtt", []field{
		{"brokers", list{&m.Brokers}},
		{"client_id", text{&m.ClientID}},
		{"username", text{&m.Username}},
		{"password_file", fileName{text{&m.PasswordFile}}},
		{"password", secret{text{&m.Password}}},
		{"keep_alive", span{&m.KeepAlive, seconds(1), minutes(60)}},
		{"max_message_bytes", bytesOf{&m.MaxMessageBytes, 16, 16 * MiB}},
		{"shard", text{&m.Shard}},
	}, []section{tlsSection(&m.TLS)}}
}

func windowSection(w *Window) section {
	return section{"window", []field{
		{"size", span{&w.Size, Duration(time.Millisecond), minutes(24 * 60)}},
		{"aggregates", list{&w.Aggregates}},
		{"measurement", text{&w.Measurement}},
		{"timestamp", choice{&w.Timestamp, []string{"start", "end"}}},
		{"allowed_lateness", span{&w.AllowedLateness, 0, MaxDuration}},
		{"emit", choice{&w.Emit, []string{"final", "update"}}},
		{"update_interval", span{&w.UpdateInterval, Duration(time.Millisecond), minutes(24 * 60)}},
	}, nil}
}

func watermarkSection(w *Watermark) section {
	return section{"watermark", []field{
		{"delay", span{&w.Delay, 0, MaxDuration}},
		{"scope", choice{&w.Scope, []string{"stream", "sensor"}}},
		{"late", choice{&w.Late, []string{"window", "event"}}},
		{"idle_timeout", span{&w.IdleTimeout, 0, MaxDuration}},
		{"max_future", span{&w.MaxFuture, 0, MaxDuration}},
		{"not_before", instant{&w.NotBefore}},
		{"late_readings", choice{&w.LateReadings, []string{"drop", "keep", "uplink"}}},
	}, nil}
}

func bufferSection(b *Buffer) section {
	return section{"buffer", []field{
		{"dir", text{&b.Dir}},
		{"max_size", bytesOf{&b.MaxSize, minStore, maxStore()}},
		{"max_points", count{&b.MaxPoints, 0, 1_000_000_000}},
		{"commit_interval", span{&b.CommitInterval, Duration(10 * time.Millisecond), minutes(10)}},
		{"max_sensors", count{&b.MaxSensors, 1, 1_000_000}},
		{"sensor_expiry", span{&b.SensorExpiry, seconds(1), MaxDuration}},
		{"rejected_ring", bytesOf{&b.RejectedRing, 0, maxStore() / 16}},
		{"retain_readings", span{&b.RetainReadings, 0, MaxDuration}},
	}, nil}
}

func uplinkSection(u *Uplink) section {
	return section{"uplink", []field{
		{"name", text{&u.Name}},
		{"url", text{&u.URL}},
		{"api", choice{&u.API, []string{"v1", "v2", "v3"}}},
		{"org", text{&u.Org}},
		{"bucket", text{&u.Bucket}},
		{"database", text{&u.Database}},
		{"retention_policy", text{&u.RetentionPolicy}},
		{"username", text{&u.Username}},
		{"password_file", fileName{text{&u.PasswordFile}}},
		{"password", secret{text{&u.Password}}},
		{"token_file", fileName{text{&u.TokenFile}}},
		{"token", secret{text{&u.Token}}},
		{"batch_points", count{&u.BatchPoints, 1, 100_000}},
		{"batch_bytes", bytesOf{&u.BatchBytes, 4 * KiB, 64 * MiB}},
		{"gzip", toggle{&u.Gzip}},
		{"timeout", span{&u.Timeout, Duration(100 * time.Millisecond), minutes(10)}},
		{"order", choice{&u.Order, []string{"oldest", "newest"}}},
		{"retry_min", span{&u.RetryMin, Duration(10 * time.Millisecond), minutes(24 * 60)}},
		{"retry_max", span{&u.RetryMax, Duration(10 * time.Millisecond), minutes(24 * 60)}},
		{"health_interval", span{&u.HealthInterval, 0, minutes(7 * 24 * 60)}},
	}, []section{tlsSection(&u.TLS)}}
}

func tlsSection(t *TLS) section {
	return section{"tls", []field{
		{"ca_file", text{&t.CAFile}},
		{"cert_file", text{&t.CertFile}},
		{"key_file", fileName{text{&t.KeyFile}}},
		{"server_name", text{&t.ServerName}},
		{"insecure_skip_verify", toggle{&t.InsecureSkipVerify}},
	}, nil}
}

// sourceSection lists the keys of one [[source]] over the places in r. Which words they take, the reading package judges.
func sourceSection(r *reading.Rule) section {
	return section{"source", []field{
		{"name", text{&r.Name}},
		{"topic", text{&r.Topic}},
		{"qos", qos{&r.QoS}},
		{"preset", text{&r.Preset}},
		{"format", text{&r.Format}},
		{"each", text{&r.Each}},
		{"columns", columns{r}},
		{"sensor", text{&r.Sensor}},
		{"value", text{&r.Value}},
		{"scale", factor{&r.Scale}},
		{"unit", text{&r.Unit}},
		{"time", text{&r.Time}},
		{"time_format", text{&r.TimeFormat}},
		{"zone", text{&r.Zone}},
		{"time_required", toggle{&r.TimeRequired}},
		{"not_before", instant{&r.NotBefore}},
		{"reject", numbers{&r.Reject}},
		{"min", limit{&r.Min}},
		{"max", limit{&r.Max}},
		{"retained", text{&r.Retained}},
		{"tags", tags{&r.Tags}},
	}, nil}
}

func maxStore() Size {
	if strconv.IntSize == 32 {
		return maxStore32
	}
	return maxStore64
}
