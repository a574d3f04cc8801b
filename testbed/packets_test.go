package testbed

import (
	"bytes"
	"reflect"
	"testing"
)

func TestPackets(t *testing.T) {
	long := append([]byte{0x30, 0x85, 0x01, 0, 1, 'a'}, bytes.Repeat([]byte{'x'}, 130)...) // two bytes of length: 133
	tests := []struct {
		name   string
		chunks []Chunk
		want   []Packet
	}{
		{"none", nil, nil},
		{"PUBLISH with QoS 1 and DUP", []Chunk{{1, 1, FromServer, []byte{0x3a, 7, 0, 1, 'a', 0, 9, 'h', 'i'}}},
			[]Packet{{1, 1, FromServer, 3, 10, 9, "a", []byte("hi")}}},
		{"PUBLISH with QoS 0", []Chunk{{1, 1, FromServer, []byte{0x31, 5, 0, 1, 'a', 'h', 'i'}}},
			[]Packet{{1, 1, FromServer, 3, 1, 0, "a", []byte("hi")}}},
		{"long, in three pieces", []Chunk{{1, 1, FromServer, long[:1]}, {2, 1, FromServer, long[1:2]}, {3, 1, FromServer, long[2:]}},
			[]Packet{{3, 1, FromServer, 3, 0, 0, "a", long[6:]}}},
		{"two in one, ways and connections apart",
			[]Chunk{{1, 1, FromClient, []byte{0x40, 2, 1, 2, 0xc0, 0, 0x40}}, {2, 2, FromClient, []byte{0x40, 2, 0, 5}}, {3, 1, FromServer, []byte{0xd0, 0}}, {4, 1, FromClient, []byte{2, 0, 3}}},
			[]Packet{{1, 1, FromClient, 4, 0, 258, "", []byte{1, 2}}, {1, 1, FromClient, 12, 0, 0, "", []byte{}}, {2, 2, FromClient, 4, 0, 5, "", []byte{0, 5}},
				{3, 1, FromServer, 13, 0, 0, "", []byte{}}, {4, 1, FromClient, 4, 0, 3, "", []byte{0, 3}}}},
		{"cut off", []Chunk{{1, 1, FromServer, []byte{0x30, 9, 0, 1, 'a'}}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Packets(tt.chunks); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Packets =\n%v\nwant\n%v", got, tt.want)
			}
		})
	}
}
