// Package logs writes the log for a person at 3 in the morning: one line an event, level, message, then what belongs to it as
// key=value. New chooses the form by where the lines go:
//
//	terminal   03:12:07 WARN  uplink down                       cause="no route to host" since=…
//	journal    <4>WARN  uplink down  cause="no route to host" since=…      (the journal adds the time and takes the priority)
//	elsewhere  2026-11-29T03:12:07Z WARN  uplink down  cause="no route to host" since=…
//	json       as log/slog writes it
//
// Foreign text (topics, payloads, answers of servers) cannot end a line, colour a terminal or fill a disk: what is not printable is
// escaped and what is long is cut. A Ring keeps the newest lines in memory for `edgeagent support`.
package logs
