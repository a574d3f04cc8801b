package main

import (
	"fmt"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/testbed"
)

// Whoever looks on at a shared subscription takes nothing from the agents of its group.
func TestLookingOnTakesNothingFromAGroup(t *testing.T) {
	b := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	got := make(chan string, 1000)
	member := client(t, b, "member", true)
	defer member.Disconnect(0)
	done(t, member.Subscribe("$share/site/plain/+", 1, func(_ paho.Client, m paho.Message) { got <- string(m.Payload()) }))
	config := writeConfig(t, fmt.Sprintf("[gateway]\nid = \"gw\"\n[mqtt]\nbrokers = [%q]\n[[source]]\ntopic = \"$share/site/plain/{sensor}\"\nformat = \"text\"\n[uplink]\nurl = \"http://127.0.0.1:1\"\ndatabase = \"d\"\n", b.URL()))
	sender := client(t, b, "sender", true)
	defer sender.Disconnect(0)
	for _, args := range [][]string{{"doctor", "-c", config, "--listen", "1s"}, {"try", "-c", config, "--listen", "1s"}} {
		ended := make(chan string, 1)
		go func() {
			_, out, errs := command(t, args...)
			ended <- out + errs
		}()
		sent := 0
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for out := ""; out == ""; {
			select {
			case out = <-ended:
			case <-tick.C:
				done(t, sender.Publish("plain/x", 1, false, fmt.Sprint(sent)))
				sent++
			}
		}
		for i := range sent {
			select {
			case payload := <-got:
				if payload != fmt.Sprint(i) {
					t.Errorf("%s: message %d is %s", args[0], i, payload)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: message %d of %d was taken away", args[0], i, sent)
			}
		}
	}
}
