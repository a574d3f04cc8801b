package sim

import (
	"reflect"
	"strings"
	"testing"

	"edgeagent/reading"
)

func TestRecordLine(t *testing.T) {
	for _, c := range []struct {
		record Record
		want   string
	}{
		{Record{Topic: "a/b", Payload: []byte(`{"v": 1.50}`), Time: reading.NoTime}, `{"topic":"a/b","payload":{"v": 1.50}}`},
		{Record{Topic: "a", Payload: []byte("21.5"), Retained: true, Time: ns(0.5)}, `{"topic":"a","payload":21.5,"retained":true,"time":"2023-11-14T22:15:00.5Z"}`},
		{Record{Topic: `q"<>`, Payload: []byte(`{"a`), Time: 0}, `{"topic":"q\"<>","payload":"{\"a","time":"1970-01-01T00:00:00Z"}`},
		{Record{Topic: "a", Payload: []byte(`"text"`), Time: reading.NoTime}, `{"topic":"a","payload":"\"text\""}`},
		{Record{Topic: "a", Payload: []byte("{\n}"), Time: reading.NoTime}, `{"topic":"a","payload":"{\n}"}`},
		{Record{Topic: "a", Payload: []byte(" 1"), Time: reading.NoTime}, `{"topic":"a","payload":" 1"}`},
		{Record{Topic: "a", Payload: []byte{}, Time: reading.NoTime}, `{"topic":"a","payload":""}`},
		{Record{Topic: "a", Payload: []byte{0xff, 0}, Time: reading.NoTime}, `{"topic":"a","payload_b64":"/wA="}`},
	} {
		line := string(c.record.Line())
		if line != c.want+"\n" {
			t.Errorf("got %s, want %s", line, c.want)
		}
		back, err := ReadRecords(strings.NewReader("\n" + line))
		if err != nil || len(back) != 1 || !reflect.DeepEqual(back[0], c.record) {
			t.Errorf("%s: read back %+v, %v, want %+v", c.want, back, err, c.record)
		}
	}
}

func TestReadRecordsNamesTheLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{\"topic\":\"a\",\"payload\":1}\nnonsense", "read record line 2: "},
		{`{"topic":"a","payload_b64":"*"}`, "read record line 1: "},
	} {
		if _, err := ReadRecords(strings.NewReader(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s…", c.text, err, c.want)
		}
	}
}
