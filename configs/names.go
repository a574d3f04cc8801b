package configs

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestName is how many bytes a name may have that goes into a point.
const longestName = 256

// genericHosts are the names that images of operating systems come with.
var genericHosts = []string{
	"alarm", "alpine", "archlinux", "armbian", "bananapi", "beaglebone", "buildroot", "centos", "debian", "dietpi",
	"fedora", "hassio", "homeassistant", "lede", "libreelec", "linux", "localhost", "nanopi", "odroid", "openwrt",
	"orangepi", "pi", "raspberry", "raspberrypi", "raspbian", "rock64", "rockpi", "ubuntu", "yocto",
}

// BadGatewayID says why id cannot tell this gateway from every other; "" if it can.
func BadGatewayID(id string) string {
	if problem := uncarriable(id); problem != "" {
		return problem
	}
	if strings.ContainsAny(id, "/+#") {
		return "must not hold /, + or #, since it is a level of the topic edgeagent/<id>/status " + got(id)
	}
	host, _, _ := strings.Cut(strings.ToLower(id), ".")
	if slices.Contains(genericHosts, host) {
		return "is the name of every machine made from the same image: clones would overwrite each other's points; give each gateway a name of its own " + got(id)
	}
	return ""
}

// uncarriable says why s cannot be a name in line protocol; "" if it can. A backslash at the end would escape what
// follows, and no escape exists for control characters.
func uncarriable(s string) string {
	switch {
	case s == "":
		return "must not be empty"
	case len(s) > longestName:
		return fmt.Sprintf("must have at most %d bytes (got %d)", longestName, len(s))
	case !utf8.ValidString(s):
		return "must be valid UTF-8 " + got(s)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "must not hold control characters " + got(s)
	case strings.HasSuffix(s, `\`):
		return "must not end in a backslash " + got(s)
	}
	return ""
}

// taken are the keys that a tag may not have, and what each is already.
var taken = map[string]string{
	"gateway":        "a tag of every point",
	"sensor":         "a tag of every point",
	"time":           "the name InfluxDB gives the timestamp",
	"_time":          "the name InfluxDB gives the timestamp",
	"_field":         "reserved by InfluxDB",
	"_measurement":   "reserved by InfluxDB",
	"final":          "a field of the points",
	"total":          "a field of the points",
	"max_lateness_s": "a field of the points",
}

// badTagKey says why key cannot be the key of a tag; "" if it can.
func badTagKey(key string) string {
	if problem := uncarriable(key); problem != "" {
		return problem
	}
	what, ok := taken[key]
	if !ok && slices.Contains(aggregates, key) {
		what, ok = "a field of the points", true
	}
	if ok {
		return "cannot be the key of a tag: it is " + what + "; take another"
	}
	return ""
}

// aggregates are the fields that a window may have, in the order in which they are written.
var aggregates = []string{"max", "count", "min", "mean", "sum", "first", "last", "stddev"}

// badMeasurement says why name cannot be the measurement of the windows; "" if it can.
func badMeasurement(name string) string {
	if problem := uncarriable(name); problem != "" {
		return problem
	}
	switch {
	case name == "late_drops" || name == "late_readings" || name == "edgeagent":
		return "is what the agent calls points of its own; take another name " + got(name)
	case strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#"):
		return "must not begin with _ (reserved by InfluxDB) or # (a comment) " + got(name)
	}
	return ""
}
