package reading

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A RuleError is one fault of one rule.
type RuleError struct {
	Source  int    // index of the rule in configuration order, -1 if not known
	Name    string // of the rule, "" if it has none
	Key     string // of the configuration, for instance "value"
	Problem string // what is wrong and what is allowed
}

// Error names the source by its number (from 1) and name, then the key and the problem.
func (e *RuleError) Error() string {
	who := "source"
	if e.Source >= 0 {
		who = fmt.Sprintf("source %d", e.Source+1)
	}
	if e.Name != "" {
		who += fmt.Sprintf(" (%q)", e.Name)
	}
	return who + ": " + e.Key + ": " + e.Problem
}

// A RetainPolicy says what a message delivered with the retain flag is worth.
type RetainPolicy uint8

const (
	DropUntimed RetainPolicy = iota // taken only if it brings its own time
	Keep                            // taken like any other
	Drop                            // never taken
)

var retainPolicies = map[string]RetainPolicy{"": DropUntimed, "drop_untimed": DropUntimed, "keep": Keep, "drop": Drop}

// The plausible range in Celsius unless a rule says otherwise.
const (
	defaultMin = -90
	defaultMax = 150
)

// A source is a compiled rule.
type source struct {
	name         string
	qos          byte
	topic        pattern
	format       format
	each         []path
	rows         bool // without each, the elements of an array are the records
	columns      []string
	columnsAt    []path
	sensor       template
	tags         []tagTemplate
	static       bool // the series follows from the topic alone
	value        []path
	absent       string // detail of a refusal: there is nothing at value
	scale        float64
	inverse      float64 // of scale if that is exact: dividing by it rounds once, 215 x 0.1 is 21.5; else 0
	unit         unit
	unitAt       []path
	time         []ref
	timeFormat   timeFormat
	zone         *time.Location
	timeRequired bool
	notBefore    int64
	reject       []float64
	min, max     float64
	retained     RetainPolicy
	eachCaps     int // index of the first capture of each; those of the topic come before
	valueCaps    int // index of the first capture of value
	captures     int // how many in all
	memoCount    int // how many rooted paths
}

type tagTemplate struct {
	key   string
	value template
}

// Compile checks all rules and makes a Decoder for them. The error joins a *RuleError for every fault of every rule.
// defaultNotBefore, in ns, is for the rules whose NotBefore is NoTime. The rules are not kept.
func Compile(rules []Rule, defaultNotBefore int64) (*Decoder, error) {
	var faults []error
	sources := make([]source, len(rules))
	for i, r := range rules {
		c := compile(r, i, defaultNotBefore)
		faults = append(faults, c.faults...)
		sources[i] = c.source
	}
	if len(rules) > math.MaxUint16 {
		faults = append(faults, fmt.Errorf("more than %d sources", math.MaxUint16))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return newDecoder(sources), nil
}

// Check reports every fault of r, each a *RuleError with Source -1.
func (r Rule) Check() []error {
	return compile(r, -1, 0).faults
}

// A compiler turns one rule into a source and gathers its faults.
type compiler struct {
	rule   Rule
	index  int
	lost   bool     // its preset is not known: what that may have is not missed
	names  []string // captures known so far: of the topic, of each, of value
	faults []error
	source source
}

func compile(r Rule, index int, defaultNotBefore int64) *compiler {
	c := &compiler{rule: r, index: index}
	merged, err := r.WithPreset()
	c.check("preset", err)
	c.rule, c.lost = merged, err != nil
	c.source.name = r.Name
	if r.Name == "" {
		c.source.name = fmt.Sprintf("source %d", index+1)
	}
	c.topic()
	c.payload()
	c.number()
	c.times(defaultNotBefore)
	c.series()
	c.forFormat()
	c.memos()
	return c
}

func (c *compiler) check(key string, err error) {
	if err != nil {
		c.fault(key, "%v", err)
	}
}

func (c *compiler) fault(key, problem string, args ...any) {
	c.faults = append(c.faults, &RuleError{Source: c.index, Name: c.rule.Name, Key: key, Problem: fmt.Sprintf(problem, args...)})
}

func (c *compiler) topic() {
	var err error
	s := &c.source
	s.topic, err = parseTopic(c.rule.Topic)
	switch {
	case c.rule.Topic == "" && c.lost:
	case c.rule.Topic == "" && c.rule.Preset != "":
		c.fault("topic", "missing: preset %s leaves it to you; name what tells sensors apart, as in site/{sensor}", c.rule.Preset)
	case err != nil:
		c.fault("topic", "%q: %v", c.rule.Topic, err)
	}
	c.names = slices.Clone(s.topic.names)
	if c.rule.QoS != 0 && c.rule.QoS != 1 {
		c.fault("qos", "%d: 0 or 1 is allowed (1 for no loss)", c.rule.QoS)
	} else {
		s.qos = byte(c.rule.QoS)
	}
	var ok bool
	if s.retained, ok = retainPolicies[c.rule.Retained]; !ok {
		c.fault("retained", "%q: drop_untimed, keep or drop is allowed", c.rule.Retained)
	}
	if s.format, ok = formats[c.rule.Format]; !ok {
		c.fault("format", "%q: one of %s is allowed", c.rule.Format, strings.Join(formatNames(), ", "))
	}
}

// payload compiles each, columns and value, in the order in which their captures are numbered.
func (c *compiler) payload() {
	s := &c.source
	s.eachCaps = len(c.names)
	if c.rule.Each != "" {
		s.each = c.paths("each", c.rule.Each)
	} else {
		s.rows = s.format == csvFormat || s.format == influxFormat || s.format == senmlFormat || s.format == msgpackFormat
	}
	s.valueCaps = len(c.names)
	s.value = c.paths("value", c.rule.Value)
	s.absent = "nothing at " + c.rule.Value
	s.captures = len(c.names)
	if c.rule.Each != "" && slices.ContainsFunc(s.value, func(p path) bool { return p.rooted }) {
		c.fault("value", "%q: begins at the root, which no record of each can change", c.rule.Value)
	}
	s.columns = slices.Clone(c.rule.Columns)
	if c.rule.ColumnsPath != "" {
		s.columnsAt = c.columns("$." + strings.TrimPrefix(c.rule.ColumnsPath, "$."))
	}
	if len(s.columns) > 0 && len(s.columnsAt) > 0 {
		c.fault("columns", "either a list of names or a path to them, not both")
	}
}

// paths compiles a key whose path may find many values; its captures join the others.
func (c *compiler) paths(key, text string) []path {
	var names []string
	paths, err := parsePaths(text, &names)
	c.check(key, err)
	for _, name := range names {
		if slices.Contains(c.names, name) {
			c.fault(key, "capture {%s} is taken already", name)
		}
	}
	c.names = append(c.names, names...)
	return paths
}

// single compiles a key whose path finds one value.
func (c *compiler) single(key, text string) []path {
	var names []string
	paths, err := parsePaths(text, &names)
	c.check(key, err)
	c.check(key, singular(paths, text))
	return paths
}

// columns compiles the path to the names of columns: to a list, or with [*] to the names themselves.
func (c *compiler) columns(text string) []path {
	var names []string
	paths, err := parsePaths(text, &names)
	c.check("columns", err)
	if len(names) > 0 {
		c.fault("columns", "%q: {name} is for each and value", text)
	}
	return paths
}

func singular(paths []path, text string) error {
	wild := func(s step) bool { return s.kind == allStep || s.kind == anyStep || s.kind == affixStep }
	for _, p := range paths {
		if slices.ContainsFunc(p.steps, wild) {
			return fmt.Errorf("%q: must find one value; {name} and [*] are for each and value", text)
		}
	}
	return nil
}
