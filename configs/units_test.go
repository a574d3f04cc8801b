package configs

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		show string // "" if refused
	}{
		{"5m", 5 * time.Minute, "5m"},
		{"0s", 0, "0s"},
		{"0", 0, "0s"},
		{"720h", 720 * time.Hour, "720h"},
		{"90m", 90 * time.Minute, "1h30m"},
		{"1h0m30s", time.Hour + 30*time.Second, "1h0m30s"},
		{"10m10s", 610 * time.Second, "10m10s"},
		{"250ms", 250 * time.Millisecond, "250ms"},
		{"87600h", 87600 * time.Hour, "87600h"},
		{"87600h1ns", 0, ""},
		{"-1ns", 0, ""},
		{"5", 0, ""},
		{"1d", 0, ""},
		{"", 0, ""},
		{" 5m", 0, ""},
	}
	for _, test := range tests {
		var d Duration
		err := d.UnmarshalText([]byte(test.text))
		if (err == nil) != (test.show != "") || d.Std() != test.want {
			t.Errorf("%q: got %v, %v", test.text, d.Std(), err)
		}
		if b, _ := d.MarshalText(); err == nil && string(b) != test.show {
			t.Errorf("%q: shown as %q, want %q", test.text, b, test.show)
		}
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		text string
		want Size
		show string
	}{
		{"256MiB", 256 << 20, "256MiB"},
		{"64KiB", 65536, "64KiB"},
		{"1 GiB", 1 << 30, "1GiB"},
		{"1024GiB", 1 << 40, "1024GiB"},
		{"1500", 1500, "1500B"},
		{"512B", 512, "512B"},
		{"2048", 2048, "2KiB"},
		{"0", 0, "0B"},
		{"1025GiB", 0, ""},
		{"9223372036854775807GiB", 0, ""},
		{"99999999999999999999", 0, ""},
		{"1MB", 0, ""},
		{"1.5MiB", 0, ""},
		{"-1", 0, ""},
		{"+1", 0, ""},
		{"MiB", 0, ""},
		{"", 0, ""},
	}
	for _, test := range tests {
		var s Size
		err := s.UnmarshalText([]byte(test.text))
		if (err == nil) != (test.show != "") || s != test.want {
			t.Errorf("%q: got %d, %v", test.text, s, err)
		}
		if b, _ := s.MarshalText(); err == nil && string(b) != test.show {
			t.Errorf("%q: shown as %q, want %q", test.text, b, test.show)
		}
	}
}
