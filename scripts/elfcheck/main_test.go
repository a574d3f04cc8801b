package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const hello = "package main\n\nfunc main() { println(\"hello\") }\n"

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), hello)
	write(t, filepath.Join(dir, "text"), "not an executable")
	const mb = 1_000_000
	tests := []struct {
		name  string
		flags []string // of go build; nil checks the text file
		limit int64
		want  []string // parts of the error; none means that it passes
	}{
		{"static and stripped", []string{"-ldflags=-s -w"}, 14 * mb, nil},
		{"symbols left in", []string{}, 14 * mb, []string{"not stripped"}},
		{"too big", []string{"-ldflags=-s -w"}, 1000, []string{"over the limit of 1000"}},
		{"dynamic", []string{"-buildmode=pie", "-ldflags=-s -w"}, 14 * mb, []string{"an interpreter", "a dynamic section"}},
		{"two faults", []string{}, 1000, []string{"not stripped", "over the limit"}},
		{"no ELF file", nil, 14 * mb, []string{"read ELF header"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(dir, "text")
			if tt.flags != nil {
				name = build(t, dir, tt.flags)
			}
			_, err := check(name, tt.limit)
			if (err == nil) != (len(tt.want) == 0) {
				t.Fatalf("check: %v, want an error: %v", err, len(tt.want) > 0)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("check: %q lacks %q", err, part)
				}
			}
		})
	}
}

// build makes hello for Linux, where even a PIE needs no C linker but names a loader.
func build(t *testing.T, dir string, flags []string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "hello")
	args := append([]string{"build", "-o", out}, flags...)
	cmd := exec.Command("go", append(args, "main.go")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	return out
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
