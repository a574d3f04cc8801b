package configs

import (
	"errors"

	"edgeagent/reading"
)

// compileSources has the reading package judge the rules.
func compileSources(rules []reading.Rule, notBefore int64) []*reading.RuleError {
	_, err := reading.Compile(rules, notBefore)
	var faults []*reading.RuleError
	for _, err := range parts(err) {
		var in *reading.RuleError
		if !errors.As(err, &in) {
			in = &reading.RuleError{Source: -1, Problem: err.Error()}
		}
		faults = append(faults, in)
	}
	return faults
}

// parts takes a joined error apart.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
