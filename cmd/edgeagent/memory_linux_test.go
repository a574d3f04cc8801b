package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMachineMemory(t *testing.T) {
	const pi = "MemTotal:         436032 kB\nMemFree:          100000 kB\n" // a Zero with some of its 512 MiB given to video
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing is known", nil, 0},
		{"half of the machine", map[string]string{"proc/meminfo": pi}, 436032 << 10 / 2},
		{"a group without a limit", map[string]string{"proc/meminfo": pi, "proc/self/cgroup": "0::/system.slice/edgeagent.service\n",
			"sys/fs/cgroup/system.slice/edgeagent.service/memory.max": "max\n"}, 436032 << 10 / 2},
		{"a group with one", map[string]string{"proc/meminfo": pi, "proc/self/cgroup": "0::/system.slice/edgeagent.service\n",
			"sys/fs/cgroup/system.slice/edgeagent.service/memory.max": "67108864\n"}, 56 << 20},
		{"the limit of a group above", map[string]string{"proc/meminfo": pi, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max": "67108864\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 56 << 20},
		{"a container that sees its own group as the root", map[string]string{"proc/meminfo": pi, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "67108864\n"}, 56 << 20},
		{"version 1", map[string]string{"proc/meminfo": pi, "proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/x\n1:cpu:/\n",
			"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "67108864\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 56 << 20},
		{"a limit above the machine", map[string]string{"proc/meminfo": pi, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "67108864000\n"}, 436032 << 10 / 2},
		{"unreadable", map[string]string{"proc/meminfo": "MemTotal: many\n", "proc/self/cgroup": "x\n0::\n", "sys/fs/cgroup/memory.max": "-5\n"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tt.files {
				name = filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := (machine{root}).memory(); got != tt.want {
				t.Errorf("memory = %d, want %d", got, tt.want)
			}
		})
	}
}
