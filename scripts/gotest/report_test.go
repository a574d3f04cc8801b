package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// events writes short lines "action test output" of package p as go test -json would.
func events(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		f := strings.SplitN(line, " ", 3)
		f = append(f, "", "")
		b.WriteString(`{"Action":"` + f[0] + `","Package":"p","Test":"` + f[1] + `","Elapsed":1.25,"Output":"` + f[2] + `"}` + "\n")
	}
	return b.String()
}

func TestReport(t *testing.T) {
	build := `{"ImportPath":"p [p.test]","Action":"build-output","Output":"# p\n"}
{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1: no such thing\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}
`
	tests := []struct {
		name    string
		in      string
		noSkips bool
		counts  Counts
		out     string
	}{
		{"nothing", "", false, Counts{}, ""},
		{"all pass, output is swallowed", events("run A", `output A === RUN A\n`, `output A hello\n`, "pass A", "run B", "pass B", "pass"), false,
			Counts{Passed: 2}, "ok    p  2 passed, 1.2s\n"},
		{"no tests", events("skip"), false, Counts{}, ""},
		{"one fails, its output alone is shown", events("run A", `output A === RUN A\n`, `output A a.go:1: why\n`, "run B", `output B b\n`, "pass B", "fail A", "fail"), false,
			Counts{Passed: 1, Failed: 1}, "FAIL  p A\n    a.go:1: why\nFAIL  p  1 passed, 1 failed, 1.2s\n"},
		{"a skip says why", events("run A", `output A no tool\n`, "skip A", "pass"), false,
			Counts{Skipped: 1}, "SKIP  p A\n    no tool\nok    p  0 passed, 1.2s\n"},
		{"a skip where none may be", events("run A", `output A no tool\n`, "skip A", "run B", "pass B", "pass"), true,
			Counts{Passed: 1, Failed: 1}, "SKIP  p A\n    no tool\nFAIL  p: skipped tests count as failed here\nFAIL  p  1 passed, 1 failed, 1.2s\n"},
		{"broke off", events("run B", "run A", `output A panic: boom\n`, "fail"), false,
			Counts{Failed: 2}, "FAIL (did not end)  p A\n    panic: boom\nFAIL (did not end)  p B\nFAIL  p  0 passed, 2 failed, 1.2s\n"},
		{"fails outside of its tests", events("run A", "pass A", `output  leak\n`, "fail"), false,
			Counts{Passed: 1, Failed: 1}, "FAIL  p \n    leak\nFAIL  p  1 passed, 1 failed, 1.2s\n"},
		{"does not build", build, false, Counts{Failed: 1},
			"FAIL  p \n    # p\n    p.go:1: no such thing\nFAIL  p \n    FAIL\tp [build failed]\nFAIL  p  0 passed, 1 failed, 0.0s\n"},
		{"no event", "go: a word of its own\n", false, Counts{}, "go: a word of its own\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out, tt.noSkips)
			if err := r.read(strings.NewReader(tt.in)); err != nil {
				t.Fatal(err)
			}
			if r.counts != tt.counts {
				t.Errorf("counts %+v, want %+v", r.counts, tt.counts)
			}
			if out.String() != tt.out {
				t.Errorf("printed\n%swant\n%s", out.String(), tt.out)
			}
		})
	}
}

func TestAddTo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "counts")
	for _, want := range []string{"2 1 3\n", "4 2 6\n"} {
		if err := addTo(name, Counts{Passed: 2, Failed: 1, Skipped: 3}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("file holds %q, %v; want %q", got, err, want)
		}
	}
	if err := os.WriteFile(name, []byte("no numbers"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := addTo(name, Counts{}); err == nil || !strings.Contains(err.Error(), "parse counts") {
		t.Errorf("addTo a file of another kind: %v, want an error", err)
	}
}
