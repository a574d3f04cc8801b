//go:build !unix

package main

import "os"

// reloadSignals is a signal that never comes: this system has none for reading secrets anew.
var reloadSignals = []os.Signal{noSignal{}}

type noSignal struct{}

func (noSignal) String() string { return "none" }
func (noSignal) Signal()        {}
