package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Counts is how many tests ended how. Subtests count like tests. A package that failed without a failed test in it is one failure.
type Counts struct {
	Passed, Failed, Skipped int
}

// addTo adds c to the counts in the file, which need not be there yet.
func addTo(name string, c Counts) error {
	var sum Counts
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read counts: %w", err)
	}
	if len(text) > 0 {
		if _, err := fmt.Sscan(string(text), &sum.Passed, &sum.Failed, &sum.Skipped); err != nil {
			return fmt.Errorf("parse counts in %s: %w", name, err)
		}
	}
	line := fmt.Sprintf("%d %d %d\n", sum.Passed+c.Passed, sum.Failed+c.Failed, sum.Skipped+c.Skipped)
	if err := os.WriteFile(name, []byte(line), 0o644); err != nil {
		return fmt.Errorf("write counts: %w", err)
	}
	return nil
}
