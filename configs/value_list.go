package configs

import (
	"cmp"
	"slices"
	"strings"

	"edgeagent/reading"
)

// list is a list of text.
type list struct{ to *[]string }

func (l list) set(v any) string {
	items, ok := v.([]any)
	if !ok {
		return `must be a list of text, such as ["a", "b"] ` + got(v)
	}
	out := make([]string, len(items))
	for i, item := range items {
		if out[i], ok = item.(string); !ok {
			return "must hold nothing but text in quotes " + got(item)
		}
	}
	*l.to = out
	return ""
}

func (l list) show() string {
	out := make([]string, len(*l.to))
	for i, s := range *l.to {
		out[i] = quoteText(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// columns is a list of names, or the path to one.
type columns struct{ rule *reading.Rule }

func (c columns) set(v any) string {
	if _, ok := v.(string); ok {
		return text{&c.rule.ColumnsPath}.set(v)
	}
	if _, ok := v.([]any); ok {
		return list{&c.rule.Columns}.set(v)
	}
	return `must be a list of names, such as ["time", "temperature"], or the path to one ` + got(v)
}

func (c columns) show() string {
	if c.rule.ColumnsPath != "" {
		return quoteText(c.rule.ColumnsPath)
	}
	return list{&c.rule.Columns}.show()
}

// numbers is a list of numbers.
type numbers struct{ to *[]float64 }

func (n numbers) set(v any) string {
	items, ok := v.([]any)
	if !ok {
		return "must be a list of numbers, such as [85, -127] " + got(v)
	}
	out := make([]float64, len(items))
	for i, item := range items {
		if out[i], ok = number(item); !ok {
			return "must hold nothing but finite numbers " + got(item)
		}
	}
	*n.to = out
	return ""
}

func (n numbers) show() string {
	out := make([]string, len(*n.to))
	for i, f := range *n.to {
		out[i] = showNumber(f)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// tags is a table of text; in the Config it is sorted by key.
type tags struct{ to *[]reading.Tag }

func (t tags) set(v any) string {
	table, ok := v.(map[string]any)
	if !ok {
		return `must be a table of text, such as { site = "north" } ` + got(v)
	}
	var out []reading.Tag
	for k, v := range table {
		s, ok := v.(string)
		if !ok {
			return "must hold nothing but text in quotes " + got(v)
		}
		out = append(out, reading.Tag{Key: k, Value: s})
	}
	slices.SortFunc(out, func(a, b reading.Tag) int { return cmp.Compare(a.Key, b.Key) })
	*t.to = out
	return ""
}

func (t tags) show() string {
	if len(*t.to) == 0 {
		return "{}"
	}
	out := make([]string, len(*t.to))
	for i, tag := range *t.to {
		out[i] = keyText(tag.Key) + " = " + quoteText(tag.Value)
	}
	return "{ " + strings.Join(out, ", ") + " }"
}
