package agent

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/mqtt"
	"edgeagent/reading"
	"edgeagent/uplink"
	"edgeagent/watermark"
)

func storeOptions(cfg *configs.Config, dir string, log *slog.Logger) buffer.Options {
	return buffer.Options{
		Dir:          dir,
		MaxSize:      int64(cfg.Buffer.MaxSize),
		MaxPoints:    cfg.Buffer.MaxPoints,
		SideOutput:   sideOutputOf(cfg.Watermark.LateReadings) != SideDrop,
		Retain:       cfg.Buffer.RetainReadings.Std(),
		RejectedRing: int64(cfg.Buffer.RejectedRing),
		FloorStep:    int64(cfg.Window.Size),
		Logger:       log,
	}
}

// setupOf is the engine's part of a configuration.
func setupOf(cfg *configs.Config, decoder *reading.Decoder, buildDate time.Time) Setup {
	rules := Rules{
		Size:           int64(cfg.Window.Size),
		Allowed:        int64(cfg.Window.AllowedLateness),
		Delay:          int64(cfg.Watermark.Delay),
		PerSensor:      cfg.Watermark.Scope == "sensor",
		Update:         cfg.Window.Emit == "update",
		UpdateInterval: int64(cfg.Window.UpdateInterval),
		MaxFuture:      int64(cfg.Watermark.MaxFuture),
		IdleTimeout:    int64(cfg.Watermark.IdleTimeout),
		Side:           sideOutputOf(cfg.Watermark.LateReadings),
		Trace:          cfg.Buffer.RetainReadings > 0,
		MaxSensors:     cfg.Buffer.MaxSensors,
		SensorExpiry:   int64(cfg.Buffer.SensorExpiry),
		BuildDate:      buildDate.UnixNano(),
	}
	if nth, of, _ := cfg.MQTT.ShardOf(); !reading.Shared(cfg.Sources) {
		rules.Share = Share{Nth: uint64(nth), Of: uint64(of)}
	}
	if cfg.Watermark.Late == "event" {
		rules.Late = watermark.ByEvent
	}
	setup := Setup{Rules: rules, Identity: identityOf(cfg), Retained: decoder.Retained}
	for i := range cfg.Sources {
		setup.Sources = append(setup.Sources, cfg.Sources[i].Name)
	}
	return setup
}

func identityOf(cfg *configs.Config) uplink.Identity {
	return uplink.Identity{
		Gateway:     cfg.Gateway.ID,
		Tags:        cfg.Gateway.Tags,
		Measurement: cfg.Window.Measurement,
		Timestamp:   cfg.Window.Timestamp,
		Aggregates:  cfg.Window.Aggregates,
		Update:      cfg.Window.Emit == "update",
		Shard:       cfg.MQTT.Shard,
		Shared:      cfg.MQTT.Shard != "" && reading.Shared(cfg.Sources),
	}
}

func (a *Agent) newClient() (*mqtt.Client, error) {
	m := a.cfg.MQTT
	tlsConfig, err := TLSOf("mqtt.tls", m.TLS, a.log)
	if err != nil {
		return nil, err
	}
	var filters []mqtt.Filter
	for _, f := range a.decoder.Filters() {
		filters = append(filters, mqtt.Filter{Topic: f.Topic, QoS: f.QoS})
		a.filters = append(a.filters, f.Topic)
	}
	var removed []string
	for _, f := range a.engine.Node.Filters {
		if !slices.Contains(a.filters, f) {
			removed = append(removed, f)
		}
	}
	return mqtt.New(mqtt.Config{
		Brokers:         m.Brokers,
		ClientID:        m.ClientID,
		Username:        m.Username,
		Password:        secretFile(m.PasswordFile, m.Password),
		KeepAlive:       m.KeepAlive.Std(),
		MaxMessageBytes: int(m.MaxMessageBytes),
		TLS:             tlsConfig,
		Authorities:     AuthoritiesOf("mqtt.tls", m.TLS, a.log),
		Filters:         filters,
		Unsubscribe:     removed,
		StatusTopic:     a.cfg.StatusTopic(),
		Logger:          a.log,
		Now:             a.clock.Now,
	}), nil
}

// UplinkOf is what the uplink package is told of a server of the configuration.
func UplinkOf(u *configs.Uplink, version string, log *slog.Logger) (uplink.Config, error) {
	tlsConfig, err := TLSOf("uplink.tls", u.TLS, log)
	if err != nil {
		return uplink.Config{}, err
	}
	return uplink.Config{
		URL:             u.URL,
		API:             u.API,
		Org:             u.Org,
		Bucket:          u.Bucket,
		Database:        u.Database,
		RetentionPolicy: u.RetentionPolicy,
		Username:        u.Username,
		Password:        secretFile(u.PasswordFile, u.Password),
		Token:           secretFile(u.TokenFile, u.Token),
		BatchPoints:     u.BatchPoints,
		BatchBytes:      int(u.BatchBytes),
		Gzip:            u.Gzip,
		Order:           u.Order,
		Timeout:         u.Timeout.Std(),
		RetryMin:        u.RetryMin.Std(),
		RetryMax:        u.RetryMax.Std(),
		TLS:             tlsConfig,
		Authorities:     AuthoritiesOf("uplink.tls", u.TLS, log),
		UserAgent:       "edgeagent/" + version,
		Logger:          log,
	}, nil
}

// trimSecret takes off what editors leave in secret files: the line end, and the mark that some put before UTF-8.
func trimSecret(text []byte) string {
	return strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff"))
}

// secretFile reads a secret from a file at every call, or gives the literal one; nil if there is neither.
func secretFile(path, literal string) func() (string, error) {
	if path == "" && literal == "" {
		return nil
	}
	if path == "" {
		return func() (string, error) { return literal, nil }
	}
	return func() (string, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read secret: %w", configs.FileError(err))
		}
		return trimSecret(text), nil
	}
}
