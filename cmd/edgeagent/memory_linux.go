package main

import (
	"bufio"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// A machine is where the kernel tells about memory: / but in tests.
type machine struct{ root string }

// memory is how many bytes this process may use: the smallest limit of its control groups, or half of the machine's
// memory, which it shares with everything else on the gateway. 0 if neither is known.
func (m machine) memory() int64 {
	limit := int64(math.MaxInt64)
	if total := m.total(); total > 0 {
		limit = total / 2
	}
	if group := m.group(); group < math.MaxInt64 {
		limit = min(limit, group-group/8) // stacks, the binary and the pages of the store count there too
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// total is the memory of the machine, 0 if it is not known.
func (m machine) total() int64 {
	f, err := os.Open(path.Join(m.root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if fields := strings.Fields(in.Text()); len(fields) >= 2 && fields[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// group is the smallest memory limit of the control groups that this process is in, of either version; MaxInt64 if there
// is none.
func (m machine) group() int64 {
	limit := int64(math.MaxInt64)
	text, err := os.ReadFile(path.Join(m.root, "proc/self/cgroup"))
	if err != nil {
		return limit
	}
	for line := range strings.Lines(string(text)) {
		// number:controllers:path
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, name := "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		if parts[1] == "" {
			base, name = "sys/fs/cgroup", "memory.max"
		} else if parts[1] != "memory" {
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			limit = min(limit, m.limitIn(path.Join(base, dir, name)))
			if dir == "/" {
				break
			}
		}
	}
	return limit
}

// limitIn reads one limit; MaxInt64 if there is none. Version 1 writes a huge number for none.
func (m machine) limitIn(file string) int64 {
	text, err := os.ReadFile(path.Join(m.root, file))
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 || n >= 1<<60 {
		return math.MaxInt64
	}
	return n
}

// machineMemory is what this process may use of this machine.
func machineMemory() int64 { return machine{"/"}.memory() }
