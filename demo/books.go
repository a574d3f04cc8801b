package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"edgeagent/reading"
	"edgeagent/sim"
	"edgeagent/status"
)

// maxDiffs is how many differences are printed.
const maxDiffs = 20

// compare recomputes from what the fleet sent what the server and the ledger must hold now, and finds the differences.
func (d *demo) compare(r status.Report) outcome {
	o := outcome{report: r, got: d.world.receiver.Snapshot()}
	o.want = sim.Oracle(sim.Params{Size: windowSize, Delay: delay}, sim.Items(d.fleet.sent, false))
	o.diffs = sim.Compare(o.want, o.got, sim.Naming{Tags: []reading.Tag{{Key: "gateway", Value: gateway}}})
	o.diffs = append(o.diffs, ledgerDiffs(o.want.Ledger, r.Ledger)...)
	return o
}

// ledgerDiffs names the columns that differ.
func ledgerDiffs(want sim.Ledger, got status.Ledger) []string {
	var diffs []string
	check := func(column string, want, got int64) {
		if want != got {
			diffs = append(diffs, fmt.Sprintf("ledger: %s: want %d, got %d", column, want, got))
		}
	}
	check("received", want.Received, got.Received)
	check("windowed", want.Windowed, got.Windowed)
	check("late", want.Late, got.Late)
	check("duplicate", want.Duplicate, got.Duplicate)
	check("retained", want.Retained, got.Retained)
	for _, reason := range reasons(got) {
		check("rejected "+reason, want.Rejected[reason], got.Rejected[reason])
	}
	return diffs
}

// reasons are the names of all reasons of refusal, sorted.
func reasons(l status.Ledger) []string {
	var names []string
	for name := range l.Rejected {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// judge prints the books and the comparison; the error is ErrBooks if anything is wrong.
func (d *demo) judge() error {
	readings, points := readingsBook(d.end.report.Ledger), pointsBook(d.end.report.Points)
	d.say.title("The books")
	d.say.text("Every reading that reached the agent is in exactly one column:")
	d.say.lines(readings.table()...)
	d.say.text("Rejected: %s.", rejectedInWords(d.end.report.Ledger))
	d.say.text("%s", readings.verdict())
	d.say.text("Every point it made is accounted for:")
	d.say.lines(points.table()...)
	d.say.text("%s", points.verdict())
	d.say.title("The proof")
	d.sayComparison()
	if !readings.balances() || !points.balances() || len(d.end.diffs) > 0 {
		return ErrBooks
	}
	d.sayNext()
	return nil
}

func (d *demo) sayComparison() {
	got, want := len(d.end.got), len(d.end.want.Last())
	d.say.text("A second, independent implementation of the rules recomputed from the %d messages that were sent what the "+
		"server must hold, outage and restart or not.", len(d.fleet.sent))
	if len(d.end.diffs) == 0 {
		d.say.text("%d points at the server, %d expected: all equal. The ledger too, column by column.", got, want)
		return
	}
	d.say.text("%d points at the server, %d expected. DIFFERENCES: %d", got, want, len(d.end.diffs))
	shown := d.end.diffs[:min(len(d.end.diffs), maxDiffs)]
	for _, diff := range shown {
		d.say.write(wrap(diff, "  - ", "    "))
	}
	if more := len(d.end.diffs) - len(shown); more > 0 {
		d.say.text("and %d more", more)
	}
}

func (d *demo) sayNext() {
	d.say.write("\nWhat next:\n" +
		"  edgeagent check -c configs/minimal.toml       is this configuration right?\n" +
		"  edgeagent try -c configs/minimal.toml FILE    what it makes of your messages\n" +
		"  edgeagent run -c configs/minimal.toml         the agent itself\n" +
		"In a checkout write \"go run ./cmd/edgeagent\" for \"edgeagent\".\n")
}

// columnsInWords is the identity of the readings in one sentence.
func columnsInWords(l status.Ledger) string {
	return fmt.Sprintf("%d received = %d windowed + %d late + %d duplicate + %d retained + %d rejected.",
		l.Received, l.Windowed, l.Late, l.Duplicate, l.Retained, rejected(l))
}

func rejected(l status.Ledger) int64 {
	var n int64
	for _, v := range l.Rejected {
		n += v
	}
	return n
}

// A book is an identity: both sides add up to the same.
type book struct{ in, out []entry }

type entry struct {
	name string
	n    int64
	note string
}

func readingsBook(l status.Ledger) book {
	return book{
		in: []entry{{"received", l.Received, ""}},
		out: []entry{{"windowed", l.Windowed, "in a window"}, {"late", l.Late, "after their window was final"},
			{"duplicate", l.Duplicate, "sent again"}, {"retained", l.Retained, "old, kept by the broker"},
			{"rejected", rejected(l), "not a temperature"}},
	}
}

// rejectedInWords lists the reasons that occurred.
func rejectedInWords(l status.Ledger) string {
	var why []string
	for _, reason := range reasons(l) {
		if n := l.Rejected[reason]; n > 0 {
			why = append(why, fmt.Sprintf("%s %d", reason, n))
		}
	}
	return strings.Join(why, ", ")
}

func pointsBook(p status.Points) book {
	return book{
		in: []entry{{"finalized", p.Finalized, ""}, {"updated", p.Updated, ""}, {"late reports", p.LateReports, ""},
			{"late readings", p.LateReadings, ""}, {"health", p.Health, ""}, {"carried", p.Carried, ""}},
		out: []entry{{"uploaded", p.Uploaded, "stored by the server"}, {"queued", p.Queued, "waiting"},
			{"parked", p.Parked, "refused by the server"}, {"evicted", p.Evicted, "given up for lack of room"},
			{"superseded", p.Superseded, "replaced while queued"}},
	}
}

func sum(entries []entry) int64 {
	var n int64
	for _, e := range entries {
		n += e.n
	}
	return n
}

func (b book) balances() bool { return sum(b.in) == sum(b.out) }

func (b book) verdict() string {
	if b.balances() {
		return fmt.Sprintf("%s = %s: the books balance.", terms(b.in), terms(b.out))
	}
	return fmt.Sprintf("%s is not %s: THE BOOKS DO NOT BALANCE.", terms(b.in), terms(b.out))
}

// terms is a sum, written out.
func terms(entries []entry) string {
	var parts []string
	for _, e := range entries {
		parts = append(parts, strconv.FormatInt(e.n, 10))
	}
	return strings.Join(parts, " + ")
}

// table sets both sides beside each other.
func (b book) table() []string {
	var lines []string
	for i := range max(len(b.in), len(b.out)) {
		left, right := fmt.Sprintf("%21s", ""), ""
		if i < len(b.in) {
			left = fmt.Sprintf("%-13s %7d", b.in[i].name, b.in[i].n)
		}
		if i < len(b.out) {
			e := b.out[i]
			right = fmt.Sprintf("%-10s %7d  %s", e.name, e.n, e.note)
		}
		mark := " "
		if i == 0 {
			mark = "="
		}
		lines = append(lines, left+"  "+mark+"  "+right)
	}
	return lines
}
