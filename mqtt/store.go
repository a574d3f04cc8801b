package mqtt

import "github.com/eclipse/paho.mqtt.golang/packets"

// noStore keeps nothing. paho's own store would hold every message whose acknowledgement does not go through paho, and
// none of ours does; what we publish needs no memory, since each connection says it anew.
type noStore struct{}

func (noStore) Open()                             {}
func (noStore) Put(string, packets.ControlPacket) {}
func (noStore) Get(string) packets.ControlPacket  { return nil }
func (noStore) All() []string                     { return nil }
func (noStore) Del(string)                        {}
func (noStore) Close()                            {}
func (noStore) Reset()                            {}
