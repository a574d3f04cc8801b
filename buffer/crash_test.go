package buffer

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"edgeagent/reading"
	"edgeagent/testbed"
)

const crashDir = "EDGEAGENT_TEST_CRASH_DIR"

// TestCrashChild is the child of TestKillNine: it commits numbered batches, and says so after each.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return // only of use as a child
	}
	o := options(dir)
	o.NoSync = false
	o.FloorStep = minute
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := int(s.cur.Load().NextSeq) - 1; ; i++ {
		b := Batch{State: []byte(strconv.Itoa(i)), Journal: []Entry{{Series: "a", Time: int64(i)}}, Points: []Point{point(i + 1)}}
		if i%7 == 6 {
			b.Settle = []Settlement{{Through: uint64(i - 3)}}
		}
		if _, err := s.Commit(&b); err != nil {
			t.Fatal(err)
		}
		fmt.Println("committed", i)
		if i%5 == 0 {
			p, _, err := s.Newest("")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("offered", p.End)
		}
	}
}

func TestKillNine(t *testing.T) {
	r := testbed.Random(t)
	o := options(t.TempDir())
	next := 0
	for range 8 {
		committed, offered := killAfter(t, o.Dir, 1+r.IntN(40))
		s := open(t, o)
		snap := load(t, s)
		stored, _ := strconv.Atoi(string(snap.State))
		if stored < committed || stored > committed+1 {
			t.Fatalf("state %d after %d was reported committed", stored, committed)
		}
		next = stored + 1
		if snap.NextSeq != uint64(next)+1 || snap.NextRecord != uint64(next)+1 || !snap.Counts.Balanced() || snap.Counts.Finalized != int64(next) {
			t.Fatalf("after %d commits: %+v", next, snap)
		}
		if got := journal(t, s); len(got) != next || got[uint64(next)][0].Time != int64(stored) {
			t.Fatalf("%d journal records after %d commits", len(got), next)
		}
		if f := readFloor(t, o.Dir); f < offered {
			t.Fatalf("floor %d below what was offered, %d", f, offered)
		}
		if got := names(t, o.Dir); !slices.Equal(got, []string{fileName, floorName}) {
			t.Fatalf("files %v", got)
		}
		closeChecked(t, s)
	}
}

// killAfter runs the child and kills it after n reports; it gives the newest of each.
func killAfter(t *testing.T, dir string, n int) (committed int, offered int64) {
	t.Helper()
	offered = reading.NoTime
	argv := again("TestCrashChild")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		switch what, value, _ := strings.Cut(lines.Text(), " "); what {
		case "committed":
			committed, err = strconv.Atoi(value)
		case "offered":
			offered, err = strconv.ParseInt(value, 10, 64)
		default:
			t.Fatalf("child says %q", lines.Text())
		}
		if err != nil {
			t.Fatal(err)
		}
		if i == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	return committed, offered
}
