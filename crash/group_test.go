package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// A memoryGroup is a control group of the kernel that ends what takes more memory than it has.
type memoryGroup struct {
	dir           string
	limit, peak   string // files of it, by version
	events        string // holds the line "oom_kill N"
	launcher      []string
	limitsAllSwap string
}

// newMemoryGroup makes a group of so many bytes, swap included; nil where this machine lets nobody make one, as in most containers, and where an emulator
// or the race detector, which take many times the memory, would count too.
func newMemoryGroup(t *testing.T, bytes int64) *memoryGroup {
	t.Helper()
	if raced || emulated() {
		return nil
	}
	for _, dir := range parentGroups() {
		g := memoryGroup{dir: filepath.Join(dir, fmt.Sprintf("edgeagent-test-%d", os.Getpid())),
			limit: "memory.max", peak: "memory.peak", events: "memory.events", limitsAllSwap: "memory.swap.max"}
		if os.Mkdir(g.dir, 0o755) != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(g.dir, "memory.limit_in_bytes")); err == nil {
			g.limit, g.peak, g.events, g.limitsAllSwap = "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control", "memory.memsw.limit_in_bytes"
		}
		if os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.FormatInt(bytes, 10)), 0o644) != nil {
			_ = os.Remove(g.dir) // has no memory controller
			continue
		}
		noSwap := strconv.FormatInt(bytes, 10)
		if g.limit == "memory.max" {
			noSwap = "0"
		}
		_ = os.WriteFile(filepath.Join(g.dir, g.limitsAllSwap), []byte(noSwap), 0o644) // not there without swap
		g.launcher = []string{"sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, g.dir}
		t.Cleanup(func() {
			if err := os.Remove(g.dir); err != nil {
				t.Errorf("remove control group: %v", err)
			}
		})
		return &g
	}
	return nil
}

// parentGroups are the folders in which this process may perhaps make a group with a limit on memory: its own groups, and those above.
func parentGroups() (list []string) {
	text, _ := os.ReadFile("/proc/self/cgroup") // none if it cannot be read
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "memory" && parts[1] != "" {
			continue
		}
		root := filepath.Join("/sys/fs/cgroup", parts[1])
		for dir := filepath.Join(root, parts[2]); ; dir = filepath.Dir(dir) {
			list = append(list, dir)
			if len(dir) <= len(root) {
				break
			}
		}
	}
	return list
}

// number reads a number of the group: that after word, or the whole file. -1 if it is not there.
func (g *memoryGroup) number(file, word string) int64 {
	text, _ := os.ReadFile(filepath.Join(g.dir, file))
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 0 && (word == "" || f[0] == word) {
			if n, err := strconv.ParseInt(f[len(f)-1], 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// starve has another process of the group take all its memory, until the kernel has ended the agent for it.
func (g *memoryGroup) starve(t *testing.T, agent *gateway) {
	t.Helper()
	writeFile(t, fmt.Sprintf("/proc/%d/oom_score_adj", agent.Pid()), "1000") // the agent first
	script := `echo $$ > "$0/cgroup.procs" && echo 500 > /proc/self/oom_score_adj && exec tail /dev/zero`
	hog := testbed.Start(t, exec.Command("sh", "-c", script, g.dir), filepath.Join(t.TempDir(), "hog.log"))
	if code, ok := agent.Wait(soon); code != -1 || !ok {
		t.Errorf("the agent ended with code %d, by itself %v; want it to be killed", code, ok)
	}
	hog.Kill()
	if n := g.number(g.events, "oom_kill"); n < 1 {
		t.Errorf("the kernel has ended %d processes for want of memory, want the agent", n)
	}
}
