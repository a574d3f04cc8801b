package reading

import "testing"

// Trial A2's panic in our terms: a decoder that breaks on one message refuses that one, and its neighbours are read, those
// of the same source too.
func TestPanicLosesNoNeighbours(t *testing.T) {
	d := compileOne(t, Rule{Topic: "t/{s}", Value: "v", NotBefore: NoTime}, Rule{Name: "bad", Topic: "t/{s}/bad", Value: "v", NotBefore: NoTime})
	bad := &d.sources[1]
	whole, captures := bad.value, bad.captures
	broken := []path{{rooted: true, steps: []step{{kind: anyStep, slot: 99}}}}
	decoded := func(topic, payload string) Result {
		var res Result
		d.Decode(Message{Topic: topic, Payload: []byte(payload), Arrival: 1793779270e9}, &res)
		return res
	}
	refused := 0
	for i := range 1000 {
		topic := [...]string{"t/a", "t/b/bad"}[i%2]
		bad.value, bad.captures = whole, captures
		if i == 501 {
			bad.value, bad.captures = broken, -1
		}
		res := decoded(topic, `{"v": 20.5}`)
		switch {
		case i == 501 && len(res.Refusals) == 1 && len(res.Readings) == 0 && res.Refusals[0].Reason == Decode:
			refused++
		case len(res.Readings) != 1 || len(res.Refusals) != 0 || res.Readings[0].Value != 20.5:
			t.Errorf("message %d: %+v, want one reading", i, res)
		}
	}
	if refused != 1 {
		t.Errorf("%d refused, want the one that broke the decoder", refused)
	}
}
