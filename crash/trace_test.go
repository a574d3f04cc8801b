package crash

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// traced are the system calls by which the agent changes files and sends.
const traced = "trace=openat,pwrite64,write,writev,sendto,fsync,fdatasync,ftruncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat"

// noSync makes every sync a lie: the call is not made, and says that all is well.
const noSync = "inject=fsync,fdatasync:retval=0"

// strace is what is put in front of the agent to have its calls written to a file; more are further -e arguments.
func strace(t *testing.T, file string, more ...string) []string {
	t.Helper()
	argv := []string{testbed.Need(t, "strace"), "-f", "--seccomp-bpf", "-qq", "-yy", "-xx", "-s", "4000000", "-o", file, "-e", traced}
	for _, m := range more {
		argv = append(argv, "-e", m)
	}
	return argv
}

// A call is one system call. Its effect may be there from begin on, and is there from end on: both are lines of the trace.
type call struct {
	name       string
	begin, end int
	fd         int
	path       string // of fd, or the first path among the arguments
	to         string // of a rename or link
	data       []byte
	number     int64 // offset of a pwrite64, length of an ftruncate
	flags      string
	result     int64
	lie        bool // it was not made
}

// TestParseCall holds the reading of a trace to calls as strace writes them, cut in two by another thread's too.
func TestParseCall(t *testing.T) {
	for line, want := range map[string]call{
		`ftruncate(11</d/f>, 4259840) = 0`:                                     {name: "ftruncate", begin: 7, end: 7, fd: 11, path: "/d/f", number: 4259840},
		`ftruncate(11</d/f>, 4259840 <unfinished ...>`:                         {name: "ftruncate", begin: 7, end: math.MaxInt, fd: 11, path: "/d/f", number: 4259840},
		`pwrite64(8</d/f>, "\x61\x62", 2, 8192) = 2`:                           {name: "pwrite64", begin: 7, end: 7, fd: 8, path: "/d/f", number: 8192, data: []byte("ab"), result: 2},
		`pwrite64(8</d/f>, "\x61\x62", 2, 8192 <unfinished ...>`:               {name: "pwrite64", begin: 7, end: math.MaxInt, fd: 8, path: "/d/f", number: 8192, data: []byte("ab")},
		`fdatasync(8</d/f>) = 0`:                                               {name: "fdatasync", begin: 7, end: 7, fd: 8, path: "/d/f"},
		`fdatasync(8</d/f> <unfinished ...>`:                                   {name: "fdatasync", begin: 7, end: math.MaxInt, fd: 8, path: "/d/f"},
		`fsync(8</d/f>) = 0 (INJECTED)`:                                        {name: "fsync", begin: 7, end: 7, fd: 8, path: "/d/f", lie: true},
		`renameat(AT_FDCWD</x>, "\x61", AT_FDCWD</x>, "\x62") = 0`:             {name: "renameat", begin: 7, end: 7, fd: -1, path: "a", to: "b"},
		`linkat(AT_FDCWD</x>, "\x61", AT_FDCWD</x>, "\x62", 0) = 0`:            {name: "linkat", begin: 7, end: 7, fd: -1, path: "a", to: "b"},
		`renameat(AT_FDCWD</x>, "\x61", AT_FDCWD</x>, "\x62" <unfinished ...>`: {name: "renameat", begin: 7, end: math.MaxInt, fd: -1, path: "a", to: "b"},
	} {
		got, err := parseCall(line, 7)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, %v; want %+v", line, got, err, want)
		}
	}
}

// readTrace reads what strace wrote. A call that never ended has an end beyond every line.
func readTrace(t *testing.T, file string) []call {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	open := map[string]int{} // index of a thread's unfinished call
	var calls []call
	for n := 1; in.Scan(); n++ {
		thread, text, _ := strings.Cut(in.Text(), " ")
		text = strings.TrimLeft(text, " ")
		if strings.HasPrefix(text, "<... ") {
			if i, ok := open[thread]; ok {
				calls[i].finish(text, n)
				delete(open, thread)
			}
			continue
		}
		c, err := parseCall(text, n)
		if err != nil {
			t.Fatalf("trace line %d: %v", n, err)
		}
		if c == nil {
			continue
		}
		calls = append(calls, *c)
		if c.end == math.MaxInt {
			open[thread] = len(calls) - 1
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

var (
	descriptor = regexp.MustCompile(`^(-?\d+|AT_FDCWD)<([^<]*?)>[,) ]`)
	result     = regexp.MustCompile(`\) += (-?\d+|\?)`)
)

// parseCall parses the line at which a call begins; nil if it is about something else.
func parseCall(text string, n int) (*call, error) {
	name, rest, ok := strings.Cut(text, "(")
	if !ok || strings.HasPrefix(text, "+++") || strings.HasPrefix(text, "---") {
		return nil, nil
	}
	c := &call{name: name, begin: n, end: math.MaxInt, fd: -1}
	args, unfinished := strings.CutSuffix(rest, "<unfinished ...>")
	if m := descriptor.FindStringSubmatch(args); m != nil {
		if m[1] != "AT_FDCWD" {
			c.fd, _ = strconv.Atoi(m[1])
			c.path = string(unhex(m[2]))
		}
		args = args[len(m[0])-1:]
	}
	var err error
	parts := strings.Split(args, `"`)
	if len(parts) >= 3 {
		c.data = unhex(parts[1])
	}
	switch name {
	case "openat", "rename", "unlink", "unlinkat", "renameat", "renameat2", "link", "linkat":
		c.path = string(c.data)
		if name == "openat" && len(parts) >= 3 {
			c.flags = parts[2]
		}
		if strings.HasPrefix(name, "rename") || strings.HasPrefix(name, "link") {
			if len(parts) < 5 {
				return nil, fmt.Errorf("no two paths in %q", text)
			}
			c.to = string(unhex(parts[3]))
		}
		c.data = nil
	case "pwrite64":
		fields := strings.Split(strings.TrimSuffix(parts[2], ") "), ", ")
		err = c.numbered(fields[2])
	case "ftruncate":
		err = c.numbered(args)
	}
	if err != nil {
		return nil, err
	}
	if !unfinished {
		c.finish(args, n)
	}
	return c, nil
}

// numbered takes the number out of the last argument of a call, which may be cut off behind it.
func (c *call) numbered(arg string) (err error) {
	text, _, _ := strings.Cut(arg, ")")
	c.number, err = strconv.ParseInt(strings.Trim(text, ", "), 10, 64)
	return err
}

// finish takes in the line at which a call ends.
func (c *call) finish(text string, n int) {
	c.end, c.result = n, -1
	if at := strings.LastIndex(text, ") "); at >= 0 {
		if m := result.FindStringSubmatch(text[at:]); m != nil {
			c.result, _ = strconv.ParseInt(m[1], 10, 64)
		}
	}
	c.lie = strings.HasSuffix(text, "(INJECTED)")
	if c.result >= 0 && int64(len(c.data)) > c.result {
		c.data = c.data[:c.result]
	}
}

// unhex decodes \x2f\x74; what is not of that form is returned as it is.
func unhex(s string) []byte {
	if !strings.HasPrefix(s, `\x`) {
		return []byte(s)
	}
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		return []byte(s)
	}
	return b
}
