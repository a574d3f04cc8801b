package reading

import (
	"math/rand/v2"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// TestFuzzBriefly runs every fuzz target over its committed finds and over random changes of its seeds, within seconds.
// EDGEAGENT_SEED repeats a run.
func TestFuzzBriefly(t *testing.T) {
	rng := testbed.Random(t)
	texts := func(seeds []string, check func(testing.TB, string)) func() {
		return func() { check(t, string(mutate(rng, []byte(seeds[rng.IntN(len(seeds))])))) }
	}
	d := compileOne(t, fuzzRules()...)
	payloads := decodeSeeds(t)
	for name, one := range map[string]func(){
		"decode": func() {
			s := payloads[rng.IntN(len(payloads))]
			checkDecode(t, d, seed{s.which, mutate(rng, s.payload)})
		},
		"number":  texts(numberSeeds, checkNumber),
		"time":    texts(timeSeeds, checkTime),
		"rule":    texts(ruleSeeds, checkRule),
		"aliases": texts([]string{`[{"node":"g/e","metrics":{"5":{"name":"T","type":3}}}]`, "[]", "null"}, func(t testing.TB, s string) { checkAliases(t, []byte(s)) }),
	} {
		n := 0
		for end := time.Now().Add(1200 * time.Millisecond); n < 20_000 && !t.Failed() && time.Now().Before(end); n++ {
			one()
		}
		t.Logf("%s: %d changed seeds", name, n)
	}
}

// mutate changes a few bytes of a copy of b.
func mutate(rng *rand.Rand, b []byte) []byte {
	words := []string{"nan", "null", "{", "}", "[", "]", "\"", "\\", ",", "1e999", "-", "\x00", "\xff\xff", "{a}", "[*]", "|", "$.", "\u00e9", "99999999999999999999"}
	out := append([]byte{}, b...)
	for range 1 + rng.IntN(4) {
		at := rng.IntN(len(out) + 1)
		end := min(len(out), at+rng.IntN(8))
		switch rng.IntN(5) {
		case 0:
			out = append(out[:at:at], out[end:]...)
		case 1:
			out = append(out[:at:at], append([]byte(words[rng.IntN(len(words))]), out[at:]...)...)
		case 2:
			out = append(out[:at:at], append(append([]byte{}, out[at:end]...), out[at:]...)...)
		case 3:
			out = out[:at]
		default:
			if at < len(out) {
				out[at] ^= 1 << rng.IntN(8)
			}
		}
	}
	return out
}

// TestAllocationIsBounded decodes what might make much of little: claims of great lengths, and many records in few bytes.
func TestAllocationIsBounded(t *testing.T) {
	d := compileOne(t, fuzzRules()...)
	many := func(open, one, end string) []byte {
		return []byte(open + strings.Repeat(one, (64<<10-len(open)-len(end))/len(one)) + end)
	}
	for _, s := range []seed{
		{0, many("[", "1,", "1]")}, {0, many("[", "{},", "{}]")}, {0, many("{\"o\":[", "[],", "1]}")}, {0, many("", "[", "")}, {0, many("[", "nan,", "1]")},
		{2, many("", "\n", "")}, {2, many("", "a;", "")}, {2, many("", "\"\"\n", "")}, {3, many("", "m a=1\n", "")}, {4, many("", "a=&", "a=")},
		{5, many("[", `{"v":1},`, `{"v":1}]`)}, {5, []byte{0x9a, 0xff, 0xff, 0xff, 0xff}}, {5, many("\x9f", "\xa0", "\xff")}, {5, []byte{0x81, 0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{6, many("", "\x12\x00", "")}, {6, many("", "\x12\x02\x10\x01", "")}, {7, []byte{0xdf, 0xff, 0xff, 0xff, 0xff}}, {7, many("", "\x90", "")}, {7, many("\xdd\x00\x00\xff\xf0", "\x80", "")},
		{7, many("", "\x91", "")}, {8, many(`{"data":"`, "FF", `"}`)}, {1, many("", "1", "")},
	} {
		before := allocated()
		checkDecode(t, d, s)
		if got, most := allocated()-before, uint64(4<<20+1500*len(s.payload)); got > most {
			t.Errorf("topic %d, %.20q… (%d bytes): %d bytes allocated, want at most %d", s.which, s.payload, len(s.payload), got, most)
		}
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestCorporaAreSeeds keeps the committed finds where go test looks for them.
func TestCorporaAreSeeds(t *testing.T) {
	dirs, err := filepath.Glob("testdata/fuzz/Fuzz*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no corpora: %v", err)
	}
	known := map[string]bool{"FuzzDecode": true, "FuzzNumber": true, "FuzzTime": true, "FuzzRule": true, "FuzzAliases": true, "FuzzLineProtocol": true}
	for _, dir := range dirs {
		if !known[filepath.Base(dir)] {
			t.Errorf("%s: no such target", dir)
		}
	}
}
