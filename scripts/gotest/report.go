package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

// An event is one line of `go test -json`; see `go doc test2json`. An event without Test is about the whole package.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail, in place of Package
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

// A report turns events into lines for people. It holds back the output of a test until it is known how the test ended.
type report struct {
	w       io.Writer
	noSkips bool
	counts  Counts
	pkgs    map[string]*pkg
	builds  map[string]*strings.Builder // compiler output by import path
}

// A pkg is a package whose tests are running.
type pkg struct {
	out     map[string]*strings.Builder // by test; "" is the package's own
	running map[string]bool
	counts  Counts
}

func newReport(w io.Writer, noSkips bool) *report {
	return &report{w: w, noSkips: noSkips, pkgs: map[string]*pkg{}, builds: map[string]*strings.Builder{}}
}

// read takes events until the end of in. A line that is not an event is passed on as it is.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil || e.Action == "":
			fmt.Fprintf(r.w, "%s", line)
		default:
			r.take(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read test events: %w", err)
		}
	}
}

func (r *report) take(e event) {
	if e.Action == "build-output" {
		add(r.builds, e.ImportPath, e.Output)
		return
	}
	if e.Package == "" {
		return // build-fail: the package's own fail event follows and names it
	}
	p := r.pkgs[e.Package]
	if p == nil {
		p = &pkg{out: map[string]*strings.Builder{}, running: map[string]bool{}}
		r.pkgs[e.Package] = p
	}
	switch e.Action {
	case "run":
		p.running[e.Test] = true
	case "output":
		add(p.out, e.Test, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.packageEnd(e, p)
		} else {
			r.testEnd(e, p)
		}
	}
}

func (r *report) testEnd(e event, p *pkg) {
	delete(p.running, e.Test)
	switch {
	case e.Action == "pass":
		p.counts.Passed++
	case e.Action == "skip":
		p.counts.Skipped++
		r.show("SKIP", e.Package, e.Test, p.out[e.Test])
	default:
		p.counts.Failed++
		r.show("FAIL", e.Package, e.Test, p.out[e.Test])
	}
	delete(p.out, e.Test)
}

// packageEnd closes a package. Tests that never ended belong to one that broke off: their output says where.
func (r *report) packageEnd(e event, p *pkg) {
	for _, test := range sorted(p.running) {
		p.counts.Failed++
		r.show("FAIL (did not end)", e.Package, test, p.out[test])
	}
	failed := e.Action == "fail"
	if failed && p.counts.Failed == 0 {
		p.counts.Failed++
		r.show("FAIL", e.Package, "", r.builds[e.FailedBuild])
		r.show("FAIL", e.Package, "", p.out[""])
	}
	if r.noSkips && p.counts.Skipped > 0 {
		failed = true
		p.counts.Failed, p.counts.Skipped = p.counts.Failed+p.counts.Skipped, 0
		fmt.Fprintf(r.w, "FAIL  %s: skipped tests count as failed here\n", e.Package)
	}
	r.counts.Passed += p.counts.Passed
	r.counts.Failed += p.counts.Failed
	r.counts.Skipped += p.counts.Skipped
	delete(r.pkgs, e.Package)
	switch {
	case failed:
		fmt.Fprintf(r.w, "FAIL  %s  %d passed, %d failed, %.1fs\n", e.Package, p.counts.Passed, p.counts.Failed, e.Elapsed)
	case p.counts != Counts{}:
		fmt.Fprintf(r.w, "ok    %s  %d passed, %.1fs\n", e.Package, p.counts.Passed, e.Elapsed)
	}
}

// show prints the output of one test, or of a package if test is "".
func (r *report) show(verdict, pkg, test string, out *strings.Builder) {
	if test == "" && out == nil {
		return
	}
	fmt.Fprintf(r.w, "%s  %s %s\n", verdict, pkg, test)
	if out == nil {
		return
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "=== ") {
			continue // RUN, PAUSE, CONT, NAME
		}
		fmt.Fprintf(r.w, "    %s", line)
	}
}

func add(m map[string]*strings.Builder, key, text string) {
	if m[key] == nil {
		m[key] = &strings.Builder{}
	}
	m[key].WriteString(text)
}

func sorted(set map[string]bool) []string {
	var keys []string
	for k := range set {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
