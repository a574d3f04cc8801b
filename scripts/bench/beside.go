package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"edgeagent/testbed"
)

// A rival is a program that is to bring readings from a broker into InfluxDB.
type rival struct {
	name  string
	bin   string
	args  func(conf string) []string
	conf  func(h *host, broker, server string) string
	count string // InfluxQL that sums up the readings in the server
}

const (
	besideWindow = 10 * time.Second
	besideRate   = 50 // readings a second
	besideFor    = 60 * time.Second
)

// rivals are the agent, and telegraf twice: folding windows, and bringing every reading.
func rivals(s settings) []rival {
	telegraf := func(conf string) []string { return []string{"--config", conf} }
	return []rival{
		{"edgeagent, windows", s.agent, func(conf string) []string { return []string{"run", "-c", conf} }, agentBeside,
			`SELECT sum("count") FROM "temperature" WHERE "sensor" != 'clock'`},
		{"telegraf, windows", s.telegraf, telegraf, func(_ *host, b, i string) string { return fmt.Sprintf(telegrafBeside, b, windowsBeside, i) },
			`SELECT sum("temperature_count") FROM "mqtt_consumer" WHERE "topic" != 'bench/clock/temperature'`},
		{"telegraf, readings", s.telegraf, telegraf, func(_ *host, b, i string) string { return fmt.Sprintf(telegrafBeside, b, "", i) },
			`SELECT count("temperature") FROM "mqtt_consumer" WHERE "topic" != 'bench/clock/temperature'`},
	}
}

const telegrafBeside = `[agent]
interval = "1s"
flush_interval = "1s"
omit_hostname = true
[[inputs.mqtt_consumer]]
servers = [%q]
topics = ["bench/+/temperature"]
qos = 1
persistent_session = true
client_id = "beside"
data_format = "json"
json_time_key = "ts"
json_time_format = "unix_ms"
%s
[[outputs.influxdb]]
urls = [%q]
database = "beside"
skip_database_creation = true
`

// windowsBeside are windows as long as the agent's; the grace is what its delay is to it.
const windowsBeside = `[[aggregators.basicstats]]
period = "10s"
grace = "20s"
drop_original = true
stats = ["max", "count"]
`

func agentBeside(h *host, broker, server string) string {
	return fmt.Sprintf(config, broker, "beside", "20s", filepath.Join(h.TempDir(), "store"), server, "") +
		fmt.Sprintf("[window]\nsize = %q\n", besideWindow)
}

// beside has each rival bring the same readings through the same faults, one after the other, and prints how many are in the
// server at the end.
func beside(s settings) error {
	n := int(besideFor.Seconds() * besideRate)
	fmt.Printf("beside: %d readings at %d/s, QoS 1, persistent session; SIGKILL at 15 s and 45 s, the server away from 25 s to 40 s\n", n, besideRate)
	for _, r := range rivals(s) {
		if err := with(func(h *host) { r.run(h, n) }); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (r rival) run(h *host, n int) {
	broker, server := testbed.StartMosquitto(h, testbed.MosquittoOptions{Conf: []string{"log_type subscribe"}}), testbed.StartInfluxd(h, testbed.InfluxOptions{})
	server.CreateDB("beside")
	conf := filepath.Join(h.TempDir(), "conf")
	if err := os.WriteFile(conf, []byte(strings.Replace(r.conf(h, broker.URL(), server.URL()), `database = "bench"`, `database = "beside"`, 1)), 0o600); err != nil {
		h.Fatalf("write configuration: %v", err)
	}
	log := filepath.Join(h.TempDir(), "log")
	start := func() *testbed.Process { return testbed.Start(h, testbed.Command(r.bin, r.args(conf)...), log) }
	p := start()
	testbed.WaitFor(h, time.Minute, "a subscription", func() bool { return strings.Contains(broker.Log(), " 1 bench/+/temperature") })
	kill := func() { p.Kill(); p = start() }
	faults := map[int]func(){15: kill, 25: server.Stop, 40: server.Restart, 45: kill}
	r.publish(h, broker.URL(), n, faults)
	begin, got := time.Now(), int64(0)
	for time.Since(begin) < time.Minute && got < int64(n) {
		<-time.After(time.Second)
		got = r.counted(h, server)
	}
	fmt.Printf("  %-20s %d of %d readings in the server\n", r.name, got, n)
	p.Kill()
}

// publish sends the readings, with the faults at their seconds, and then lets event time go on for as long as windows wait.
func (r rival) publish(h *host, url string, n int, faults map[int]func()) {
	c, err := join(url, "bench-publisher", nil)
	if err != nil {
		h.Fatalf("connect: %v", err)
	}
	defer c.Disconnect(250)
	begin := time.Now()
	after := int((4 * besideWindow).Seconds()) * besideRate
	err = publish(c, n+after, func(i int) (string, string) {
		<-time.After(time.Duration(i)*time.Second/besideRate - time.Since(begin))
		if i%besideRate == 0 {
			if fault := faults[i/besideRate]; fault != nil {
				fault()
			}
		}
		// by its number and not by the clock: two readings of one sensor at one time would be one in the server
		topic, payload := reading(i%5, 15+float64(i%1000)/100, begin.Add(time.Duration(i)*time.Second/besideRate))
		if i >= n {
			topic = "bench/clock/temperature"
		}
		return topic, payload
	})
	if err != nil {
		h.Fatalf("%v", err)
	}
}

// counted is how many readings the server knows of.
func (r rival) counted(h *host, server *testbed.Influx) (sum int64) {
	for _, s := range server.Query("beside", r.count) {
		for _, v := range s.Values {
			if n, ok := v[1].(json.Number); ok {
				f, err := n.Float64()
				if err != nil {
					h.Fatalf("decode the sum: %v", err)
				}
				sum += int64(f)
			}
		}
	}
	return sum
}
