package status

import (
	"maps"
	"slices"
	"strings"
)

// A notice is one thing that somebody should know, worst first.
type notice struct {
	bad  bool // the work does not get done; else it does, but somebody should look
	text string
}

// notices says what is wrong, or not as it should be; nothing if all is well. r must be tidy.
func (r Report) notices() []notice {
	var all []notice
	say := func(when, bad bool, text string) {
		if when {
			all = append(all, notice{bad, text})
		}
	}
	healthy, reason := r.Healthy()
	say(!healthy, true, sentence(reason))
	say(!r.MQTT.Connected, true, "The broker is away"+sinceDay(r.MQTT.Since, r.Clock.Now)+".")
	say(len(r.MQTT.Refused) > 0, true, "The broker refuses the subscription to "+someOf(r.MQTT.Refused)+": nothing comes from there. Check its access rules.")
	for _, u := range r.uplinks() {
		s, name := u.Uplink, either(u.name == "", "The uplink", "The uplink "+u.name)
		say(s.State == "blocked", true, name+" is blocked"+sinceDay(s.Since, r.Clock.Now)+": somebody must act. Points wait in the store.")
		say(s.State == "down", true, name+" is down"+sinceDay(s.Since, r.Clock.Now)+". Points wait in the store.")
		say(s.State == "waiting", false, name+" waits"+sinceDay(s.Since, r.Clock.Now)+": the server asked for time.")
	}
	say(r.HTTPError != "", false, "The status page is not served: "+r.HTTPError+".")
	say(!r.Clock.Trusted, false, "The gateway's clock is not to be trusted: is the time set? Is NTP reachable?")
	say(r.Watermark.MaxEventTime != "" && r.Watermark.BehindS < -60, false,
		"Event time is "+span(-r.Watermark.BehindS)+" ahead of the gateway's clock: one of the two is wrong.")
	for _, u := range r.uplinks() {
		of := either(u.name == "", "", " of "+u.name)
		say(u.Points.Parked > 0, false, count(u.Points.Parked, "point")+" refused by the server"+of+"; see edgeagent buffer parked.")
		say(u.Points.Evicted > 0, false, count(u.Points.Evicted, "point")+either(of == "", "", " for "+u.name)+" dropped to make room since the store began.")
	}
	return all
}

// someOf names the first few.
func someOf(names []string) string {
	if n := len(names) - 3; n > 0 {
		return strings.Join(names[:3], ", ") + " and " + count(int64(n), "other filter")
	}
	return strings.Join(names, ", ")
}

// sinceDay is " since T, for D", T as short as the day allows.
func sinceDay(at, now string) string {
	if d, ok := between(at, now); ok {
		return " since " + dayTime(at, now) + ", for " + span(d)
	}
	return since(at, now)
}

// An uplinkPart is an uplink with its name; the only one has none.
type uplinkPart struct {
	name string
	UplinkPart
}

// uplinks are all uplinks, by name where there are several.
func (r Report) uplinks() []uplinkPart {
	if len(r.Uplinks) < 2 {
		return []uplinkPart{{"", UplinkPart{r.Points, r.Uplink}}}
	}
	var all []uplinkPart
	for _, name := range slices.Sorted(maps.Keys(r.Uplinks)) {
		all = append(all, uplinkPart{name, r.Uplinks[name]})
	}
	return all
}

// sentence gives a text a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	if s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	return s + "."
}
