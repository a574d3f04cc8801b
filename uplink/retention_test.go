package uplink

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// How long a real server keeps points, as far as it tells.
func TestRetentionOfRealServer(t *testing.T) {
	s := startInfluxd(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	s.query("", `CREATE RETENTION POLICY "we ek" ON db DURATION 7d REPLICATION 1`)
	s.query("", `CREATE DATABASE "o\"dd" WITH DURATION 3d`)
	f := func(cfg Config, want time.Duration, told bool) {
		t.Helper()
		cfg.URL = s.url
		got, err := Retention(t.Context(), cfg)
		if got != want || (err == nil) != told || !told && !errors.Is(err, ErrNotTold) {
			t.Errorf("%+v: got %v, %v; want %v", cfg, got, err, want)
		}
	}
	f(Config{API: "v1", Database: "db"}, 0, true)
	f(Config{API: "v1", Database: "db", RetentionPolicy: "we ek"}, 168*time.Hour, true)
	f(Config{API: "v1", Database: `o"dd`}, 72*time.Hour, true)
	f(Config{API: "v1", Database: "db", RetentionPolicy: "none"}, 0, false)
	f(Config{API: "v1", Database: "nodb"}, 0, false)
	f(Config{API: "v2", Bucket: "db/autogen"}, 0, false) // 1.8 writes by v2, but has no buckets to show
}

// What InfluxDB 2 answers, and what it does not.
func TestRetentionOfBucket(t *testing.T) {
	f := func(status int, body string, want time.Duration, told bool) {
		t.Helper()
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RequestURI() != "/base/api/v2/buckets?name=b&org=o" || r.Header.Get("Authorization") != "Token secret" {
				t.Errorf("asked %s with %q", r.URL.RequestURI(), r.Header.Get("Authorization"))
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		defer s.Close()
		cfg := Config{URL: s.URL + "/base", API: "v2", Org: "o", Bucket: "b", Token: func() (string, error) { return "secret", nil }}
		got, err := Retention(t.Context(), cfg)
		if got != want || (err == nil) != told {
			t.Errorf("%s: got %v, %v; want %v", body, got, err, want)
		}
	}
	f(200, `{"links":{},"buckets":[{"name":"b","retentionRules":[{"type":"expire","everySeconds":604800,"shardGroupDurationSeconds":86400}]}]}`, 168*time.Hour, true)
	f(200, `{"buckets":[{"name":"b","retentionRules":[]}]}`, 0, true)
	f(200, `{"buckets":[{"name":"other","retentionRules":[{"type":"expire","everySeconds":60}]}]}`, 0, false)
	f(200, `{"buckets":[]}`, 0, false)
	f(200, `<html>`, 0, false)
	f(401, `{"code":"unauthorized"}`, 0, false)
	f(404, ``, 0, false)
	if _, err := Retention(t.Context(), Config{URL: "http://h", API: "v3", Database: "d"}); !errors.Is(err, ErrNotTold) {
		t.Errorf("v3: %v", err)
	}
	if _, err := Retention(t.Context(), Config{URL: "http://" + freeAddr(t), API: "v1", Database: "d"}); err == nil || errors.Is(err, ErrNotTold) {
		t.Errorf("nobody there: %v", err)
	}
}
