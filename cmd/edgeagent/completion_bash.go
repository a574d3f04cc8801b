package main

import (
	"fmt"
	"strings"
)

// bashScript is for bash 3.2 and later.
func bashScript(root completion) string {
	var b strings.Builder
	b.WriteString(`# bash completion for edgeagent, made by "edgeagent completion bash"
_edgeagent_files() {
    local f
    compopt -o filenames 2>/dev/null
    while IFS= read -r f; do COMPREPLY+=("$f"); done < <(compgen -f -- "$1")
}
_edgeagent() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= i=1 w
    COMPREPLY=()
    if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    while [ $i -lt "$COMP_CWORD" ]; do
        w=${COMP_WORDS[i]}
        case "$at:$w" in
`)
	for _, c := range root.all() {
		at := strings.Join(c.path, " ")
		for _, sub := range c.subs {
			fmt.Fprintf(&b, "            %s) at=%s ;;\n", shellWord(at+":"+sub.name()), shellWord(strings.Join(sub.path, " ")))
		}
		if names := bashFlags(c, func(f completionFlag) bool { return f.value }); len(names) > 0 {
			for i := range names {
				names[i] = shellWord(at + ":" + names[i])
			}
			fmt.Fprintf(&b, "            %s) i=$((i+1)) ;;\n", strings.Join(names, "|"))
		}
	}
	b.WriteString("        esac\n        i=$((i+1))\n    done\n    case \"$at:$prev\" in\n")
	for _, c := range root.all() {
		bashValues(&b, c)
	}
	b.WriteString("    esac\n    case \"$at\" in\n")
	for _, c := range root.all() {
		words := bashFlags(c, func(completionFlag) bool { return true })
		plain := append([]string(nil), c.words...)
		for _, sub := range c.subs {
			plain = append(plain, sub.name())
		}
		fmt.Fprintf(&b, "        %s)\n            case \"$cur\" in\n            -*) COMPREPLY=($(compgen -W '%s' -- \"$cur\")) ;;\n", shellWord(strings.Join(c.path, " ")), strings.Join(words, " "))
		switch {
		case len(plain) > 0:
			fmt.Fprintf(&b, "            *) COMPREPLY=($(compgen -W '%s' -- \"$cur\")) ;;\n", strings.Join(plain, " "))
		case c.files:
			b.WriteString("            *) _edgeagent_files \"$cur\" ;;\n")
		}
		b.WriteString("            esac ;;\n")
	}
	b.WriteString("    esac\n}\ncomplete -F _edgeagent edgeagent\n")
	return b.String()
}

// bashValues writes what is offered behind the flags that want a value.
func bashValues(b *strings.Builder, c completion) {
	at := strings.Join(c.path, " ")
	for _, f := range c.flags {
		if !f.value {
			continue
		}
		patterns := shellWord(at + ":--" + f.name)
		if f.short != "" {
			patterns += "|" + shellWord(at+":-"+f.short)
		}
		do := ""
		switch {
		case f.files:
			do = `_edgeagent_files "$cur"; `
		case len(f.words) > 0:
			do = fmt.Sprintf("COMPREPLY=($(compgen -W '%s' -- \"$cur\")); ", strings.Join(f.words, " "))
		}
		fmt.Fprintf(b, "        %s) %sreturn ;;\n", patterns, do)
	}
}

// bashFlags are the flags for which ok holds, as they are typed.
func bashFlags(c completion, ok func(completionFlag) bool) []string {
	var names []string
	for _, f := range c.flags {
		if !ok(f) {
			continue
		}
		names = append(names, "--"+f.name)
		if f.short != "" {
			names = append(names, "-"+f.short)
		}
	}
	return names
}

// shellWord is text in single quotes; it holds none itself.
func shellWord(text string) string { return "'" + text + "'" }
