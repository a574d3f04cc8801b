//go:build !unix

package main

import "os"

// isTerminal reports that nothing is a terminal that is known to obey: texts follow each other.
func isTerminal(*os.File) bool { return false }

// terminalRows is not known.
func terminalRows(*os.File) int { return 0 }
