package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// sizes prints how large the binaries are that cross-build.sh made, or the one measured if it made none.
func sizes(s settings) error {
	files, err := filepath.Glob("dist/edgeagent-*")
	if err != nil {
		return fmt.Errorf("look for binaries: %w", err)
	}
	if len(files) == 0 && s.agent != "" {
		files = []string{s.agent}
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("look at a binary: %w", err)
		}
		fmt.Printf("size: %-30s %6.2f MB\n", filepath.Base(name), float64(info.Size())/1e6)
	}
	return nil
}
