package agent

import "testing"

func TestRecordsAreForgottenInTime(t *testing.T) {
	r := newRig(t, nil)
	for i := range 600 {
		r.live("a", float64(10*i), float64(i))
		r.note()
		if n := r.store.Stats().JournalRecords; n > 151 {
			t.Fatalf("%d records after %d readings 10 s apart, want those of size + 2 x delay at most", n, i+1)
		}
	}
	r.reopen(nil)
	if n := int64(len(r.e.journal.records)); n != r.store.Stats().JournalRecords {
		t.Errorf("the engine knows of %d records, the store holds %d", n, r.store.Stats().JournalRecords)
	}
}

// A silent sensor with a watermark of its own pins the records in which its open window is. They are rewritten, and memory
// stays exact: what is remembered is a duplicate, what is forgotten is late, after rewriting and after a restart.
func TestSilentSensorPinsLittle(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t, func(s *Setup) { s.Rules.PerSensor = true })
		r.e.journal.compactAt = 64
		r.live("silent", 10, 7)
		r.live("silent", 20, 9)
		for i := range 8000 {
			r.live("busy", float64(i), float64(i))
			if i%10 == 9 {
				r.note()
			}
			if i == 1000 {
				r.live("silent", 30, 8)
			}
		}
		if n := r.store.Stats().JournalRecords; n > 650 {
			t.Errorf("%d records of 800", n)
		}
		if live, total := r.e.journal.live, r.e.journal.total; total > 4*live+10 {
			t.Errorf("%d readings are journalled for %d remembered", total, live)
		}
		if restart {
			r.sameAfterRestart()
		}
		r.took()
		was := r.e.Ledger()
		r.live("silent", 20, 9)
		r.live("busy", 7999, 7999)
		r.live("busy", 6600, 6600)
		r.live("busy", 6599, 6599)
		l := r.e.Ledger()
		if l.Duplicate != was.Duplicate+3 || l.Late != was.Late+1 {
			t.Errorf("restart %v: %d duplicates, %d late, want 3, 1: W is 7399, so that [6600,6900) is remembered until 7500, [6300,6600) until 7200",
				restart, l.Duplicate-was.Duplicate, l.Late-was.Late)
		}
		r.live("silent", 900, 1)
		r.puts("its window is whole", "silent@0 count=3 max=9")
	}
}

// A journal that a sensor pins for ever does not grow without end when the sensor makes room for another.
func TestExpiredSensorPinsNothing(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.PerSensor, s.Rules.MaxSensors, s.Rules.SensorExpiry = true, 2, hour })
	r.live("gone", 0, 1)
	r.live("busy", 4000, 1)
	r.note()
	r.live("new", 4000, 1)
	for i := range 300 {
		r.live("busy", 4000+float64(i)*10, 1)
		r.live("new", 4000+float64(i)*10, 1)
		r.note()
	}
	if n := r.store.Stats().JournalRecords; n > 151 {
		t.Errorf("%d records, want those of size + 2 x delay at most", n)
	}
}
