package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// procFile reads a file that Linux keeps for a process.
func procFile(h *host, pid int, name string) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		h.Fatalf("look at the process: %v", err)
	}
	return string(text)
}

// field finds "key: number", with or without a unit behind it.
func field(text, key string) (int64, error) {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		if words := strings.Fields(rest); name == key && len(words) > 0 {
			return strconv.ParseInt(words[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("no %s in it", key)
}

func mustField(h *host, pid int, file, key string) int64 {
	n, err := field(procFile(h, pid, file), key)
	if err != nil {
		h.Fatalf("read %s of the process: %v", file, err)
	}
	return n
}

// peak is the largest resident set so far, bytes.
func peak(h *host, pid int) int64 { return mustField(h, pid, "status", "VmHWM") << 10 }

// written is what a process has had written to a disk so far, bytes; on a file system in memory it stays 0.
func written(h *host, pid int) int64 { return mustField(h, pid, "io", "write_bytes") }

// cpu is the user and system time of a process so far.
func cpu(h *host, pid int) time.Duration {
	d, err := cpuOf(procFile(h, pid, "stat"))
	if err != nil {
		h.Fatalf("read the CPU time of the process: %v", err)
	}
	return d
}

// cpuOf reads /proc/PID/stat, whose times are in hundredths of a second. What is counted starts behind the program's
// name, which may hold anything.
func cpuOf(stat string) (time.Duration, error) {
	const utime, stime = 11, 12
	words := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(words) <= stime {
		return 0, fmt.Errorf("%d fields", len(words))
	}
	user, err := strconv.ParseInt(words[utime], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(words[stime], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, err
}

// commits is the number of the last transaction of a bbolt file that may be in use. It is read from the two meta pages
// at its start, of which the newer counts.
func commits(h *host, store string) int64 {
	f, err := os.Open(filepath.Join(store, "edgeagent.db"))
	if err != nil {
		h.Fatalf("look at the store: %v", err)
	}
	defer f.Close()
	const pageSize, txid, size = 24, 64, 72 // offsets in a meta page, and its length
	var first, second [size]byte
	if _, err := f.ReadAt(first[:], 0); err != nil {
		h.Fatalf("read the store: %v", err)
	}
	if _, err := f.ReadAt(second[:], int64(binary.NativeEndian.Uint32(first[pageSize:]))); err != nil {
		h.Fatalf("read the store: %v", err)
	}
	return int64(max(binary.NativeEndian.Uint64(first[txid:]), binary.NativeEndian.Uint64(second[txid:])))
}
