package reading

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// pb builds protobuf by hand.
type pb []byte

func (p pb) varint(field, v uint64) pb {
	return binary.AppendUvarint(binary.AppendUvarint(p, field<<3), v)
}

func (p pb) data(field uint64, b []byte) pb {
	return append(binary.AppendUvarint(binary.AppendUvarint(p, field<<3|2), uint64(len(b))), b...)
}

func (p pb) float(field uint64, v float32) pb {
	return binary.LittleEndian.AppendUint32(binary.AppendUvarint(p, field<<3|5), math.Float32bits(v))
}

func payload(metrics ...pb) []byte {
	p := pb(nil).varint(1, 1793779270123)
	for _, m := range metrics {
		p = p.data(2, m)
	}
	return p
}

func sparkplugDecoder(t *testing.T) *Decoder {
	return compileOne(t, Rule{Topic: "spBv1.0/{g}/{k}/{node}/{dev}", Format: "sparkplug", Each: "metrics[name=T]", Value: "value",
		Sensor: "{node}/{dev}", Time: "timestamp|$.timestamp", NotBefore: NoTime})
}

func named(alias uint64) pb { return pb(nil).data(1, []byte("T")).varint(2, alias) }

func decodeSparkplug(d *Decoder, kind, device string, b []byte) string {
	return summary(outcome(d, Message{Topic: "spBv1.0/G/" + kind + "/N/" + device, Payload: b, Arrival: 1}))
}

func TestSparkplugValues(t *testing.T) {
	for _, c := range []struct {
		what string
		m    pb
		want string
	}{
		{"float", named(1).float(12, 21.1), "N/D=21.1"},
		{"int8", named(1).varint(4, 1).varint(10, 0xee), "N/D=-18"},
		{"int16", named(1).varint(4, 2).varint(10, 0xffee), "N/D=-18"},
		{"int32", named(1).varint(4, 3).varint(10, 0xffffffee), "N/D=-18"},
		{"int64", named(1).varint(4, 4).varint(11, math.MaxUint64), "N/D=-1"},
		{"uint8", named(1).varint(4, 5).varint(10, 21), "N/D=21"},
		{"text", named(1).data(15, []byte("21,5")), "N/D=21.5"},
		{"boolean", named(1).varint(14, 1), "decode"},
		{"null", named(1).varint(7, 1), "no_value"},
		{"nan", named(1).float(12, float32(math.NaN())), "no_value"},
		{"no value", named(1), "no_value"},
		{"other name", pb(nil).data(1, []byte("U")).float(12, 1), "decode"},
	} {
		if got := decodeSparkplug(sparkplugDecoder(t), "DDATA", "D", payload(c.m)); got != c.want {
			t.Errorf("%s = %q, want %q", c.what, got, c.want)
		}
	}
}

func TestSparkplugMessages(t *testing.T) {
	good := payload(named(1).float(12, 1))
	for _, c := range []struct {
		kind string
		in   []byte
		want string
	}{
		{"DCMD", good, "decode"}, // a command is a wish, not a reading
		{"DDEATH", good, "decode"},
		{"DDATA", good[:len(good)-1], "decode"},
		{"DDATA", []byte{0x0b}, "decode"},
		{"DDATA", []byte{0xff}, "decode"},
		{"DDATA", nil, "no_value"},
		{"DBIRTH", good, "N/D=1"},
	} {
		if got := decodeSparkplug(sparkplugDecoder(t), c.kind, "D", c.in); got != c.want {
			t.Errorf("%s %x = %q, want %q", c.kind, c.in, got, c.want)
		}
	}
}

// TestAliases follows births, data and a restart.
func TestAliases(t *testing.T) {
	d := sparkplugDecoder(t)
	aliased := payload(pb(nil).varint(2, 7).varint(10, 0xffee))
	if got := decodeSparkplug(d, "DDATA", "D", aliased); got != "decode" || d.AliasesChanged() || d.Aliases() != nil {
		t.Fatalf("before the birth: %q, changed %v", got, d.AliasesChanged())
	}
	birth := payload(named(7).varint(4, 2).varint(10, 20))
	decodeSparkplug(d, "DBIRTH", "D", birth)
	if !d.AliasesChanged() {
		t.Fatal("a birth did not change the table")
	}
	saved := d.Aliases()
	decodeSparkplug(d, "DBIRTH", "D", birth)
	if d.AliasesChanged() || !bytes.Equal(saved, d.Aliases()) {
		t.Error("the same birth again changed the table")
	}
	again := sparkplugDecoder(t)
	if err := again.SetAliases(saved); err != nil {
		t.Fatal(err)
	}
	if got := decodeSparkplug(again, "DDATA", "D", aliased); got != "N/D=-18" {
		t.Errorf("after a restart: %q, want the type of the birth too: N/D=-18", got)
	}
	decodeSparkplug(again, "NBIRTH", "D", payload(pb(nil).data(1, []byte("bdSeq")).varint(2, 1)))
	if got := decodeSparkplug(again, "DDATA", "D", aliased); got != "decode" || !again.AliasesChanged() {
		t.Errorf("after a new session: %q, want decode", got)
	}
	if err := again.SetAliases([]byte("{")); err == nil {
		t.Error("SetAliases of junk: no error")
	}
	if err := again.SetAliases(nil); err != nil || again.Aliases() != nil {
		t.Errorf("SetAliases(nil): %v, table %s", err, again.Aliases())
	}
}

// TestAliasBounds has more edge nodes than fit: the oldest births go.
func TestAliasBounds(t *testing.T) {
	var table aliasTable
	const nodes, each = 20, 1000
	for n := range nodes {
		var metrics []metric
		for i := range uint64(each) {
			metrics = append(metrics, metric{name: "m", alias: i, aliased: true})
		}
		table.learn(fmt.Sprint("G/", n), metrics, true)
	}
	if table.count > maxAliases || table.bytes > maxAliasBytes || len(table.nodes) != maxAliases/each {
		t.Errorf("%d aliases of %d nodes in %d bytes", table.count, len(table.nodes), table.bytes)
	}
	if table.find(fmt.Sprint("G/", nodes-1)) < 0 || table.find("G/0") >= 0 {
		t.Error("the wrong nodes went")
	}
	table.learn("G/huge", []metric{{name: string(make([]byte, maxAliasBytes)), aliased: true}}, true)
	if table.find("G/huge") >= 0 || table.count == 0 {
		t.Errorf("a node that is too large was kept, or pushed others out: %d left", table.count)
	}
}
