package configs

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// variable is ${NAME}, or the escape $${, or a ${ that is neither.
var variable = regexp.MustCompile(`\$\$\{|\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$\{`)

var reference = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

// isReference reports whether v is one variable and nothing else.
func isReference(v any) bool {
	s, ok := v.(string)
	return ok && reference.MatchString(s)
}

// expand replaces the variables in text, and in the text of lists and tables. Keys stay as they are.
func expand(v any, env func(string) (string, bool)) (_ any, problem string) {
	switch v := v.(type) {
	case string:
		return expandText(v, env)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			if out[i], problem = expand(v[i], env); problem != "" {
				return nil, problem
			}
		}
		return out, ""
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			if out[k], problem = expand(v[k], env); problem != "" {
				return nil, problem
			}
		}
		return out, ""
	}
	return v, ""
}

func expandText(s string, env func(string) (string, bool)) (_, problem string) {
	out := variable.ReplaceAllStringFunc(s, func(found string) string {
		if found == "$${" {
			return "${"
		}
		name := strings.TrimSuffix(strings.TrimPrefix(found, "${"), "}")
		if name == "" {
			problem = "has a ${ that names no variable; write ${NAME}, or $${ for the characters themselves"
			return ""
		}
		value, ok := "", false
		if env != nil {
			value, ok = env(name)
		}
		switch {
		case !ok:
			problem = fmt.Sprintf("the environment variable %s is not set; set it for the service", name)
		case !utf8.ValidString(value):
			problem = fmt.Sprintf("the environment variable %s is not valid UTF-8", name)
		}
		return value
	})
	return out, problem
}

// badSecret says why a secret cannot be sent, without showing it.
func badSecret(s string) string {
	switch {
	case s == "":
		return "the environment variable is empty; set it"
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "the environment variable holds a line break or another control character; set it to the secret alone"
	}
	return ""
}
