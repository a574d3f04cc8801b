package agent

import (
	"fmt"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// aliases carries the decoder's alias tables (Sparkplug names a metric once, at birth) into the commit and back.
type aliases struct {
	decoder *reading.Decoder
	pending []byte // not committed yet; nil if nothing changed
}

func (a *aliases) restore(stored []byte) error {
	if err := a.decoder.SetAliases(stored); err != nil {
		return fmt.Errorf("restore alias tables: %w", err)
	}
	return nil
}

func (a *aliases) fill(b *buffer.Batch) {
	if a.decoder.AliasesChanged() {
		a.pending = append([]byte{}, a.decoder.Aliases()...)
	}
	b.Aliases = a.pending
}

// now is the tables as they are, for another decoder.
func (a *aliases) now() []byte {
	if a.decoder.AliasesChanged() {
		a.pending = append([]byte{}, a.decoder.Aliases()...)
	}
	return a.decoder.Aliases()
}

func (a *aliases) committed() { a.pending = nil }
