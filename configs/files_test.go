package configs

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected messages of testdata")

func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = testMachine().parse(filepath.Base(file), content)
			var faults *Error
			if !errors.As(err, &faults) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret is shown:\n%v", err)
			}
			golden := strings.TrimSuffix(file, ".toml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, readErr := os.ReadFile(golden)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if err.Error()+"\n" != string(want) {
				t.Errorf("got:\n%v\nwant:\n%s", err, want)
			}
		})
	}
}

func TestGoodFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range append(files, "edgeagent.toml", "minimal.toml", "influxdb2.toml", "mirror.toml") {
		c, err := Load(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if err := c.CheckRun(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, w := range c.Warnings() {
			if !strings.Contains(w, "max_future") { // which the golden files turn off
				t.Errorf("%s: unexpected warning: %s", file, w)
			}
		}
	}
}

// The commented file must mean what the minimal one means: what it shows are defaults.
func TestExamplesShowDefaults(t *testing.T) {
	full, err := Load("edgeagent.toml")
	if err != nil {
		t.Fatal(err)
	}
	least, err := Load("minimal.toml")
	if err != nil {
		t.Fatal(err)
	}
	full.origin, least.origin = nil, nil
	full.Sources[0].Name = least.Sources[0].Name
	if !reflect.DeepEqual(full, least) {
		t.Errorf("edgeagent.toml gives\n%+v\nminimal.toml\n%+v", full, least)
	}
}
