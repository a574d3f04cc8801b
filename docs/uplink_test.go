// Package docs holds the tests of the documents beside it.
package docs

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"edgeagent/configs"
)

// rest is what a gateway needs beside its uplink.
const rest = `
[gateway]
id = "gw-07"
[mqtt]
brokers = ["tcp://127.0.0.1:1883"]
[[source]]
topic = "sensors/{sensor}/temperature"
`

// Every configuration shown in uplink.md is complete, and means what the text before it says.
func TestUplinkExamples(t *testing.T) {
	text, err := os.ReadFile("uplink.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	want := []string{"v1 sensors year", "v2 example sensors", "v2 unused sensors/year", "v3 sensors"}
	if len(blocks) != len(want) {
		t.Fatalf("%d examples, want %d", len(blocks), len(want))
	}
	for i, block := range blocks {
		c, err := configs.Parse("uplink.md", []byte(rest+block[1]), nil)
		if err == nil {
			err = c.CheckRun()
		}
		if err != nil {
			t.Errorf("%v\n%s", err, block[1])
			continue
		}
		u := c.Uplinks[0]
		got := strings.Join(strings.Fields(fmt.Sprint(u.API, " ", u.Org, " ", u.Bucket, " ", u.Database, " ", u.RetentionPolicy)), " ")
		if got != want[i] {
			t.Errorf("got %q, want %q", got, want[i])
		}
	}
}
