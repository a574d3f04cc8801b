package main

import (
	"fmt"
	"strings"
)

// fishScript is for fish 3 and later.
func fishScript(root completion) string {
	var b strings.Builder
	b.WriteString("# fish completion for edgeagent, made by \"edgeagent completion fish\"\ncomplete -c edgeagent -f\n")
	for _, c := range root.all() {
		when := fishWhen(root, c)
		for _, sub := range c.subs {
			fmt.Fprintf(&b, "complete -c edgeagent -n '%s' -a %s -d '%s'\n", when, sub.name(), helpLine(sub.help))
		}
		for _, word := range c.words {
			fmt.Fprintf(&b, "complete -c edgeagent -n '%s' -a %s\n", when, word)
		}
		if c.files {
			fmt.Fprintf(&b, "complete -c edgeagent -n '%s' -F\n", when)
		}
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c edgeagent -n '%s' -l %s%s\n", when, f.name, fishFlag(f))
		}
	}
	return b.String()
}

// fishFlag is how a flag goes on behind its name.
func fishFlag(f completionFlag) string {
	text := ""
	if f.short != "" {
		text += " -s " + f.short
	}
	switch {
	case f.files:
		text += " -r -F"
	case len(f.words) > 0:
		text += " -x -a '" + strings.Join(f.words, " ") + "'"
	case f.value:
		text += " -x"
	}
	return text + " -d '" + f.help + "'"
}

// fishWhen is the condition under which c is the command at hand: its words have been typed, and none of a command below
// it; a word of another command at the top is none of them either, since some names are in two places.
func fishWhen(root, c completion) string {
	if len(c.path) == 0 {
		return "__fish_use_subcommand"
	}
	var parts, others []string
	for _, word := range c.path {
		parts = append(parts, "__fish_seen_subcommand_from "+word)
	}
	for _, sub := range c.subs {
		others = append(others, sub.name())
	}
	for _, top := range root.subs {
		if len(c.path) == 1 && top.name() != c.path[0] && len(top.subs) > 0 {
			others = append(others, top.name())
		}
	}
	if len(others) > 0 {
		parts = append(parts, "not __fish_seen_subcommand_from "+strings.Join(others, " "))
	}
	return strings.Join(parts, "; and ")
}
