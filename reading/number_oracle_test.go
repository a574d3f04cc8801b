package reading

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// numberForm is all that counts as a number in a text: one decimal number, then perhaps a unit of temperature.
var numberForm = regexp.MustCompile(`(?i)^([+-]?(?:[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)(?:e[+-]?[0-9]+)?)[ \t\x{a0}\x{202f}]*((?:(?:°|º|degrees|degree|deg)[ _]*)?(?:c|f|k|cel|fah|kel|celsius|fahrenheit|kelvin|℃|℉)[°º]*)?$`)

var nothingForm = regexp.MustCompile(`(?i)^(null|[+-]?nan|[+-]?inf|none|unavailable|unknown|n/a|-)?$`)

// TestNumbersAgainstOracle puts texts together from what numbers are made of and compares with a grammar.
func TestNumbersAgainstOracle(t *testing.T) {
	rng := testbed.Random(t)
	numbers := 0
	for range 60_000 {
		var b strings.Builder
		for range rng.IntN(7) {
			b.WriteString(pick(rng, "1", "27", "0", ".", ",", "-", "+", "e", "E", " ", "°", "C", "F", "K", "deg", "celsius", "x", "nan", "inf", "\u00a0", "_", "null", "℃"))
		}
		in := b.String()
		trimmed := strings.Trim(in, " ")
		x, u, reason := parseNumber(in)
		m := numberForm.FindStringSubmatch(trimmed)
		switch {
		case nothingForm.MatchString(trimmed):
			if reason != NoValue {
				t.Fatalf("%q: %v %v, want no_value", in, x, reason)
			}
		case m == nil:
			if reason != Value {
				t.Fatalf("%q = %v %v (%v), want value", in, x, u, reason)
			}
		default:
			want, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
			if reason != NumReasons || err == nil && x != want && !math.IsInf(x, 0) {
				t.Fatalf("%q = %v (%v), want %v", in, x, reason, want)
			}
			if want := unitOfWord(m[2]); u != want {
				t.Fatalf("%q has unit %v, want %v", in, u, want)
			}
			numbers++
		}
	}
	if numbers < 1000 {
		t.Errorf("only %d numbers among the texts: the test is weak", numbers)
	}
}

// unitOfWord is the unit by the letter that tells it.
func unitOfWord(s string) unit {
	for _, word := range []string{"°", "º", "degrees", "degree", "deg", " ", "_"} {
		s = strings.ReplaceAll(strings.ToLower(s), word, "")
	}
	switch {
	case s == "":
		return noUnit
	case strings.HasPrefix(s, "c") || s == "℃":
		return celsius
	case strings.HasPrefix(s, "f") || s == "℉":
		return fahrenheit
	}
	return kelvin
}

func TestUnitNames(t *testing.T) {
	for in, want := range map[string]unit{
		"C": celsius, "c": celsius, "°C": celsius, "ºC": celsius, "℃": celsius, "Cel": celsius, "celsius": celsius, "CELSIUS": celsius, "degC": celsius,
		"deg C": celsius, "DEGREES_CELSIUS": celsius, "degree_Celsius": celsius, "C°": celsius, "° C": celsius, "CEL": celsius,
		"F": fahrenheit, "°F": fahrenheit, "℉": fahrenheit, "fahrenheit": fahrenheit, "degF": fahrenheit, "FAH": fahrenheit, "degrees Fahrenheit": fahrenheit,
		"K": kelvin, "°K": kelvin, "Kelvin": kelvin, "KEL": kelvin,
		"": noUnit, "%": noUnit, "%RH": noUnit, "hPa": noUnit, "deg": noUnit, "°": noUnit, "CC": noUnit, "Cf": noUnit, "R": noUnit, "kPa": noUnit, "mC": noUnit,
	} {
		if got := unitNamed(in); got != want {
			t.Errorf("%q = %v, want %v", in, got, want)
		}
	}
	for _, c := range []struct {
		unit     unit
		in, want float64
	}{
		{celsius, 21, 21}, {noUnit, 21, 21}, {fahrenheit, 32, 0}, {fahrenheit, 212, 100}, {fahrenheit, -40, -40}, {kelvin, 273.15, 0}, {kelvin, 0, -273.15},
	} {
		if got := c.unit.toCelsius(c.in); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v of %v = %v, want %v", c.in, c.unit, got, c.want)
		}
	}
}
