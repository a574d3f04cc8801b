package configs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const asksForID = `[gateway]
id = "${EDGEAGENT_TEST_ID}"
[mqtt]
brokers = ["tcp://127.0.0.1:1883"]
[[source]]
topic = "a/{s}"
[uplink]
url = "http://127.0.0.1:8086"
database = "d"
`

// TestEnvFile: variables that the environment lacks come from the file beside the configuration, and only from there.
func TestEnvFile(t *testing.T) {
	for name, tt := range map[string]struct {
		file     string // what stands beside; "" is no file
		env      string // the variable in the environment; "" is unset
		id, says string // want
	}{
		"none":           {"", "", "", "EDGEAGENT_TEST_ID is not set"},
		"environment":    {"", "gw-1", "gw-1", ""},
		"file":           {"EDGEAGENT_TEST_ID=gw-2\n", "", "gw-2", ""},
		"both":           {"EDGEAGENT_TEST_ID=gw-2\n", "gw-1", "gw-1", ""},
		"other variable": {"OTHER=gw-2\n", "", "", "EDGEAGENT_TEST_ID is not set"},
		"comments":       {"\xef\xbb\xbf# id\n; of\n\n  EDGEAGENT_TEST_ID=gw-2  \r\n", "", "gw-2", ""},
		"quotes":         {"EDGEAGENT_TEST_ID=\"gw-2\"\n", "", "gw-2", ""},
		"single quotes":  {"EDGEAGENT_TEST_ID='gw=2'\n", "", "gw=2", ""},
		"one quote":      {"EDGEAGENT_TEST_ID=\"\n", "", "\"", ""},
		"last counts":    {"EDGEAGENT_TEST_ID=gw-1\nEDGEAGENT_TEST_ID=gw-2", "", "gw-2", ""},
		"not a pair":     {"EDGEAGENT_TEST_ID\n", "", "", "gw.env: line 1 is not NAME=value"},
		"bad name":       {"OK=1\nexport EDGEAGENT_TEST_ID=gw-2\n", "", "", "gw.env: line 2 is not NAME=value"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gw.toml")
			write(t, path, asksForID)
			if tt.file != "" {
				write(t, strings.TrimSuffix(path, ".toml")+".env", tt.file)
			}
			if tt.env != "" {
				t.Setenv("EDGEAGENT_TEST_ID", tt.env)
			}
			c, err := Load(path)
			if tt.says != "" {
				var faults *Error
				if !errors.As(err, &faults) || !strings.Contains(err.Error(), tt.says) {
					t.Fatalf("error %v, want %q", err, tt.says)
				}
				return
			}
			if err != nil || c.Gateway.ID != tt.id {
				t.Fatalf("id %v, %v, want %q", c, err, tt.id)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
