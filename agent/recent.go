package agent

import (
	"fmt"
	"io"
)

// writeRecent writes the last lines of the log, oldest first.
func writeRecent(recent func() []string, out io.Writer) error {
	if recent == nil {
		return nil
	}
	for _, line := range recent() {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
	return nil
}
