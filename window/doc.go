// Package window keeps readings by event-time window: it aligns, folds, finalizes, remembers for duplicates, and counts
// late drops by interval.
//
// A Set holds what one watermark governs (the whole stream, or one sensor). Its windows pass through three stages as the
// watermark W advances:
//
//	open       W < end                    readings fold in
//	final      end <= W < end + allowed   its point is out; a reading still folds in and puts out the point anew
//	remembered end + allowed <= W < end + keep   the aggregate is gone, the readings are known for duplicates
//
// and are then forgotten. A LateCounts holds the late drops of the same scope by series and interval of M.
//
// Everything here is a value owned by its caller: no goroutine, clock, lock or I/O. A window is named by its start.
package window
