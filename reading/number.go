package reading

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A unit is a scale of temperature.
type unit uint8

const (
	noUnit unit = iota
	celsius
	fahrenheit
	kelvin
)

// unitNames are the names of the units, in any case of letters.
var unitNames = []struct {
	name string
	unit unit
}{
	{"C", celsius}, {"F", fahrenheit}, {"K", kelvin}, {"Cel", celsius}, {"Fah", fahrenheit}, {"Kel", kelvin},
	{"Celsius", celsius}, {"Fahrenheit", fahrenheit}, {"Kelvin", kelvin}, {"℃", celsius}, {"℉", fahrenheit},
}

// degreeWords are what may stand before the name of a unit.
var degreeWords = []string{"°", "º", "degrees", "degree", "deg"}

// latinDegree is the degree sign of Latin-1, as small sketches and old firmware send it: a byte that begins no UTF-8.
const latinDegree = "\xb0"

// unitNamed is the unit that a text names, such as C, °F, Cel, degC, "deg C", C°, fahrenheit or DEGREES_CELSIUS; noUnit if
// it names none.
func unitNamed(s string) unit {
	s = strings.TrimPrefix(s, latinDegree)
	for _, word := range degreeWords {
		if len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			s = strings.TrimLeft(s[len(word):], " _")
			break
		}
	}
	s = strings.TrimRight(s, "°º")
	for _, n := range unitNames {
		if strings.EqualFold(s, n.name) {
			return n.unit
		}
	}
	return noUnit
}

// letter is u as the configuration has it.
func (u unit) letter() string {
	return [...]string{celsius: "C", fahrenheit: "F", kelvin: "K"}[u]
}

// toCelsius converts x from u; noUnit is Celsius.
func (u unit) toCelsius(x float64) float64 {
	switch u {
	case fahrenheit:
		return (x - 32) * 5 / 9
	case kelvin:
		return x - 273.15
	}
	return x
}

// parseNumber reads a text that holds exactly one decimal number: a sign, digits with one point or comma, an exponent, and
// a temperature unit, with blanks around and between number and unit. A comma is a decimal comma. NumReasons means that
// there is a number; it may be infinite if it is too large.
func parseNumber(s string) (float64, unit, Reason) {
	s = strip(s)
	if noValueWord(s) {
		return 0, noUnit, NoValue
	}
	end, comma, ok := scanNumber(s)
	if !ok {
		return 0, noUnit, Value
	}
	u := noUnit
	if rest := strings.TrimLeft(s[end:], " \t\u00a0\u202f"); rest != "" {
		if u = unitNamed(rest); u == noUnit {
			return 0, noUnit, Value
		}
	}
	digits := s[:end]
	if comma {
		digits = strings.Replace(digits, ",", ".", 1)
	}
	return parseFloat(digits), u, NumReasons
}

// parseFloat reads a text that is known to be a decimal number. One too large for a float is infinite.
func parseFloat(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return math.NaN() // which is refused as not finite
	}
	return x
}

// scanNumber reports where the number at the start of s ends, and whether it has a decimal comma.
func scanNumber(s string) (end int, comma, ok bool) {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	whole := digitsFrom(s, i)
	i += whole
	if i < len(s) && (s[i] == '.' || s[i] == ',') {
		comma = s[i] == ','
		frac := digitsFrom(s, i+1)
		if frac == 0 {
			return 0, false, false
		}
		i += 1 + frac
	} else if whole == 0 {
		return 0, false, false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		n := digitsFrom(s, j)
		if n == 0 {
			return 0, false, false
		}
		i = j + n
	}
	return i, comma, true
}

// digitsFrom counts the digits of s from i on.
func digitsFrom(s string, i int) int {
	n := 0
	for i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '9' {
		n++
	}
	return n
}

// noValueWord reports whether s says that there is no value, in any case of letters.
func noValueWord(s string) bool {
	if len(s) > len("unavailable") || digitsFrom(s, 0) > 0 || len(s) > 1 && digitsFrom(s, 1) > 0 {
		return false // too long, or begins with a digit, perhaps after a sign
	}
	switch strings.ToLower(s) {
	case "", "null", "nan", "+nan", "-nan", "inf", "+inf", "-inf", "none", "unavailable", "unknown", "n/a", "-":
		return true
	}
	return false
}

// number reads the value at a path. NumReasons means that there is one.
func number(v gjson.Result) (float64, unit, Reason) {
	switch v.Type {
	case gjson.Number:
		return parseFloat(v.Raw), noUnit, NumReasons
	case gjson.String:
		return parseNumber(v.Str)
	case gjson.Null:
		return 0, noUnit, NoValue
	}
	return 0, noUnit, Decode
}

// unitAt reads the unit at a path: noUnit if there is none. The Reason is NumReasons unless it is no unit of temperature.
func unitAt(v gjson.Result) (unit, Reason) {
	switch v.Type {
	case gjson.Null:
		return noUnit, NumReasons
	case gjson.String:
		s := strings.TrimSpace(v.Str)
		if s == "" {
			return noUnit, NumReasons
		}
		if u := unitNamed(s); u != noUnit {
			return u, NumReasons
		}
		return noUnit, Value
	}
	return noUnit, Decode
}

// sentinel reports whether x is one of the list, to seven digits: enough to catch one that passed through a float32, far
// finer than any probe resolves.
func sentinel(list []float64, x float64) bool {
	for _, s := range list {
		if math.Abs(x-s) <= 1e-7*math.Max(1, math.Abs(s)) {
			return true
		}
	}
	return false
}
