// Package buffer is the store: one bbolt file that holds everything the agent has accepted and not yet got rid of, and
// every transaction on it.
//
// A Batch goes in as one transaction by Commit: readings for the journal, the agent's state, watermarks, late counters,
// packet memory, finalized points, and what uplinks have settled. When Commit returns nil all of it is on disk, and when it
// returns an error none of it is. Points leave in two steps: PeekFor copies them out and leaves them where they are, and a
// Settlement in a later batch ends them for that uplink; a point is gone when no uplink waits for it. At start Load, Journal and Queued give back what the agent rebuilds its memory from.
//
// # Layout
//
// Options.Dir holds edgeagent.db (bbolt, 4096-byte pages on every machine), floor (one number, see below), clean (empty, there
// only after an orderly stop), and now and then files named edgeagent.db.damaged-DATE-N, the newest two of those that were moved aside, and
// edgeagent.db.schema-N, as it was before an upgrade, until the next clean start.
//
//	bucket      key                 value
//	state       name (+ part)       schema, born, resets, partial, counters, and the parts of the blobs state, held and aliases
//	journal     record, part        packed entries of one commit (pack.go)
//	packets     record, part        packet memory of one commit, 10 bytes a packet
//	outbox      sequence            one point
//	parked      sequence (+ id)     one refused point, with time and reason; the id is of the uplink, the first that the store had has none
//	rejected    number, part        one refused message
//	marks       sensor              M and W
//	late        series              the late counter
//	inputs      name                lines committed
//	quarantine  number, part        a record that could not be decoded, with where it came from
//	uplinks     name                how far an uplink has come, and its books
//	side        number, part        up to 256 late readings of one commit; the number is that of the first
//	lags        source, sensor,     how late its readings come; no sensor for the source as a whole
//	            part
//	trace       number, part        up to 2048 readings of one commit and what became of them; the number is that of the first. The bucket is there
//	                                only while readings are kept for tracing, and no part of the schema; its numbers are under state, trace
//
// Numbers are big-endian, so that key order is age. Every value ends in a CRC-32C over its logical key and its data,
// because bbolt has no checksum on its pages. Long values are cut into parts of at most 480 bytes: bbolt never splits a page
// that holds four keys or fewer, and would write big neighbours again with each commit.
//
// # Crash table
//
// For each write: the states that a power cut (or kill -9) may leave, and what start does with each.
//
//	write       steps                               left by a cut                  start
//	commit      1 file grown (truncate, fsync)      longer file, old meta page     old state; the tail is free space
//	            2 data pages written, fsync         pages that no meta names       old state; they are free (the free list is not
//	                                                                               stored, it is found by walking the tree)
//	            3 meta page written, fsync          old, new or torn meta page     old or new state; torn: its checksum fails, and if
//	                                                                               the pages of the commit are all there they are
//	                                                                               carried into a new file; else the old state
//	            4 Commit returns                    new state                      new state
//	            In 1 to 3 nothing was acknowledged, so the broker sends it again, DUP; if the new state is there, its packet
//	            memory knows it.
//	settle      is part of a commit                 server has points, the store   they are sent again, byte for byte the same
//	                                                still queues them
//	uplink      commits, each of which lets go of   some of the points let     the next start goes on with it
//	removed     some of what waits for it           go, and counted
//	floor       1 floor.tmp-* written, fsync        old floor, a stray temp        old floor holds; temp removed. The points it
//	                                                                               was raised for were not offered yet
//	            2 renamed over floor                old or new floor               either is right: new is only higher
//	            3 directory fsync                   new floor                      new floor
//	            on a full disk: line overwritten    old or new line; torn only if  torn: moved aside, the floor that the last
//	            in place, fsync                     a sector can be                commit noted is used, and a step more
//	creation    1 edgeagent.db.tmp-* built, fsync   no store, a stray temp         temp removed, made anew
//	            2 renamed                           none or the whole file         made anew, or used: it is empty and whole
//	            3 directory fsync                   the whole file                 used
//	in use      1 clean removed                     clean or no clean              either is right: nothing has been written yet
//	            2 directory fsync                   no clean                       checked at the next start
//	closing     1 file closed, clean made           clean or no clean              without it checked for nothing
//	            2 directory fsync                   clean                          not checked
//	set-aside   1 edgeagent.db.tmp-* built with     damaged file, a stray temp     temp removed, found damaged again
//	              what can be saved, fsync
//	            2 linked to …damaged-…              one file under two names       found damaged again; the name is kept
//	            3 directory fsync                   as 2                           as 2
//	            4 temp renamed over the file        old or whole new file          as 2, or the new file is used
//	            5 directory fsync                   whole new file                 used
//	            6 older damaged files removed       three or more kept             removed at the next set-aside
//	            where links are not known, 2 is     no store, a damaged file       made anew, with the floor; the rest is carried over
//	            a rename: between it and 4                                         by hand (buffer salvage)
//	compaction  1 edgeagent.db.tmp-* built, fsync   old file, a stray temp         temp removed
//	            2 renamed over the file             old or whole new file          either is right: they hold the same
//	            3 directory fsync                   whole new file                 used
//	            of an open store: the new file is   as 2                           as 2: no commit goes into the new file before 3. Where
//	            opened and locked before 2, and                                    3 fails the store refuses further work (ErrInDoubt)
//	            the old one closed after 3
//	salvage by  into an empty store: as compaction  old or new                     either is right
//	hand        into one that has begun: commits    some of the points             used; done again it sends some twice
//	import      1 edgeagent.db.tmp-* built          empty store, a stray temp      temp removed; the store is still empty
//	            2 floor, as above                   a higher floor                 as 1: what ends at or before it counts as late
//	            3 temp fsync, renamed over the      empty or whole new file        either is right; empty: import again
//	              file, directory fsync
//	            points alone: commits, each with    some of the points             used; done again it goes on behind them
//	            how many are in
//	rewind      1 floor, if it is lowered           a lower floor, old state       the last commit noted the old floor: it is raised again
//	            2 a commit                          old or new state               old: rewind again
//	upgrade     1 edgeagent.db.tmp-* built: a       old file, a stray temp         temp removed, migrated again
//	              migrated copy, fsync
//	            2 linked to …schema-N, then as      old file or whole new file     migrated again, or used
//	              set-aside 3 to 5
//	            where links are not known, 2 is     no store, …schema-N            renamed back, migrated again
//	            a rename: between it and 4
//
// # Assumptions
//
//  1. fsync and fdatasync tell the truth: what was written before they returned is there after a cut. SD cards may lie. Then a
//     meta page may name pages that are not there: bbolt may panic, or give pages that fail their CRC.
//  2. rename is atomic within a directory, and durable once the directory is synced. On FAT it may be neither; then the
//     floor or the new file is missing, which is the state before.
//  3. A 4096-byte write may be torn. Only the meta pages are written in place, and they carry a checksum.
//  4. A write to one page does not damage another. SD cards may break this with their big erase blocks; what is hit is found by
//     CRC and goes to quarantine, or the file as a whole is moved aside.
//  5. flock works on the data folder. On some network file systems it does not, and two agents would damage the file.
//  6. After an fsync that failed, what was written since the last good one may be lost although it can still be read. A commit
//     whose last fsync failed is therefore written once more, and if that fails too the store refuses further work
//     (ErrInDoubt) until it is opened again.
//
// # Damage
//
// bbolt panics on a page that is not what it expects, in part in goroutines of its own where no caller can recover, and to read a
// mapping past the end of its file kills the process. So bbolt is not given a file before it has been read another way:
//
//  1. Every start reads the meta pages and the pages of the tree with plain reads, which cannot fault (page.go, tree.go). Size, page numbers,
//     kinds, bounds, key order, double use and a stored free list are checked: all that bbolt will walk. The counters are compared with
//     what is there (census.go).
//  2. After a stop that was not orderly Options.Check has the file checked in a child process for up to five seconds: bbolt's own check,
//     the counters against what is there, and the checksum of every record. Only what that process says, or dies of, is proof.
//
// A file that is proven damaged is moved aside under a name of its own and a fresh one takes its place, into which is carried what can still be read
// (wreck.go, carry.go). Two transactions can be read: the last, and, since bbolt uses a freed page again only in the transaction after the next, the
// one before it. If the meta pages are lost, or the state of both is, roots are looked for in the whole file; pages of an older one may have been used
// again. State, marks and late counts are taken from one transaction, the one of which more is left, and the journal from the newest of which it
// is whole, which need not be the same: then M is learned from the journal too, until a state is committed (key partial). Packet memory goes with the
// journal; points come from all that are not older. Points and refused points count as carried. See Salvage for what that means for the floor.
//
// Of an uplink whose record is damaged nothing is known to be settled: all that is queued waits for it again.
//
// A single record that does not decode does not stop a load: it is logged as a RecordError, moved to the quarantine
// bucket, and the load goes on. Damage to the trace alone is never damage of the store: records that do not decode are left out, and go with their
// age; numbers that are lost are counted anew. A salvage leaves the trace behind.
//
// # Caveats
//
// A Store has one writer: Commit, Load, Journal and Queued are called from the goroutine that owns the agent's state. Peek, PeekFor, Newest,
// ParkedPoints, Counts, Books, Overtaken, Stats and Examine are safe beside it from any goroutine; Rewrite too, while which Commit waits.
//
// A failed commit makes bbolt walk the whole file again to find its free pages, so failures must be paced by the caller.
package buffer
