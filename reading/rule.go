package reading

// A Rule is one [[source]] of the configuration: which topics it takes and how their payloads become readings. Zero
// values mean the default, which Compile fills in; the vocabulary is described in docs/configuration.md.
type Rule struct {
	Name   string // for messages to people; "source 1", … unless given
	Topic  string // with captures: {name}, {name...}, +, #
	QoS    int    // 0 or 1
	Preset string // device family whose keys are used where this rule has none

	Format  string // json, text, csv, influx, form, senml, sparkplug, msgpack, ruuvi; "" is json
	Each    string // path to the records; "" is the whole payload
	Columns []string
	// ColumnsPath is the path to the column names of array records; exclusive with Columns.
	ColumnsPath string

	Sensor string // template; "" joins all captures with /
	Value  string // path; "" is the whole payload
	Scale  float64
	Unit   string // "C", "F", "K" or a path

	Time         string // path or {capture}; "" is arrival time
	TimeFormat   string // auto, unix, unix_ms, unix_us, unix_ns, rfc3339 or a Go layout; "" is auto
	Zone         string // IANA; "" is UTC
	TimeRequired bool
	NotBefore    int64 // ns; NoTime takes the default of the watermark section

	Reject   []float64
	Min, Max *float64 // nil is -90 and 150
	Retained string   // drop_untimed, keep, drop; "" is drop_untimed
	Tags     []Tag    // values are templates; sorted by key

	Blank []string // keys of the configuration given without a value, such as time = "": no preset fills these
}
