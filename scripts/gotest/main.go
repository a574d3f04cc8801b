// Command gotest runs `go test -json` and prints what a person wants of it: one line per package, the whole output of
// each test that failed, the reason of each that was skipped. It adds its counts to a file, so that a script with
// several steps can close with one sum.
//
//	gotest [-counts FILE] [-no-skips] [-some] -- ARGUMENTS OF GO TEST
//
// It exits 1 if a test failed, a package did not build or broke off, or, with -no-skips, a test was skipped, or, with
// -some, no test ran at all.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	counts := flag.String("counts", "", "file that holds the counts so far, and gets the new ones")
	noSkips := flag.Bool("no-skips", false, "a skipped test is a failure")
	some := flag.Bool("some", false, "it is a failure if no test runs")
	flag.Parse()
	got, err := run(flag.Args(), *noSkips)
	if *some && got == (Counts{}) {
		fmt.Println("FAIL  no test ran")
		got.Failed++
	}
	if err == nil && *counts != "" {
		err = addTo(*counts, got)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
	if got.Failed > 0 {
		os.Exit(1)
	}
}

// run runs go test with args and reports its results to standard output as they come. A go test that fails without a
// failed test in its report counts as one failure, so that nothing passes by not being understood.
func run(args []string, noSkips bool) (Counts, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Counts{}, fmt.Errorf("open pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return Counts{}, fmt.Errorf("start go test: %w", err)
	}
	r := newReport(os.Stdout, noSkips)
	readErr := r.read(out)
	err = cmd.Wait()
	if readErr != nil {
		return r.counts, readErr
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r.counts, fmt.Errorf("wait for go test: %w", err)
	}
	if err != nil && r.counts.Failed == 0 {
		fmt.Printf("FAIL  go test: %v\n", err)
		r.counts.Failed++
	}
	return r.counts, nil
}
