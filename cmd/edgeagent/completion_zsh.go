package main

import (
	"fmt"
	"strings"
)

// zshScript is for zsh 5 and later.
func zshScript(root completion) string {
	var b strings.Builder
	b.WriteString("#compdef edgeagent\n# zsh completion for edgeagent, made by \"edgeagent completion zsh\"\n")
	for _, c := range root.all() {
		fmt.Fprintf(&b, "%s() {\n", zshName(c))
		args := zshFlags(c)
		switch {
		case len(c.subs) > 0:
			zshCommands(&b, c, args)
		case len(c.words) > 0:
			fmt.Fprintf(&b, "    _arguments -s %s '1:argument:(%s)'\n", args, strings.Join(c.words, " "))
		case c.files:
			fmt.Fprintf(&b, "    _arguments -s %s '*:file:_files'\n", args)
		default:
			fmt.Fprintf(&b, "    _arguments -s %s\n", args)
		}
		b.WriteString("}\n")
	}
	b.WriteString("if [ \"$funcstack[1]\" = _edgeagent ]; then _edgeagent \"$@\"; else compdef _edgeagent edgeagent; fi\n")
	return b.String()
}

// zshName is the function for a command.
func zshName(c completion) string {
	return "_" + strings.Join(append([]string{"edgeagent"}, c.path...), "_")
}

// zshCommands writes the choice between the commands below c.
func zshCommands(b *strings.Builder, c completion, args string) {
	fmt.Fprintf(b, "    local curcontext=\"$curcontext\" state line\n    _arguments -C %s '1:command:->command' '*::argument:->argument'\n", args)
	b.WriteString("    case $state in\n    command)\n        local -a commands=(")
	for _, sub := range c.subs {
		fmt.Fprintf(b, " '%s:%s'", sub.name(), helpLine(sub.help))
	}
	b.WriteString(" )\n        _describe command commands ;;\n    argument)\n        case $words[1] in\n")
	for _, sub := range c.subs {
		fmt.Fprintf(b, "        %s) %s ;;\n", sub.name(), zshName(sub))
	}
	b.WriteString("        esac ;;\n    esac\n")
}

// zshFlags are the flags of c as _arguments wants them.
func zshFlags(c completion) string {
	var specs []string
	for _, f := range c.flags {
		value := ""
		switch {
		case f.files:
			value = ":file:_files"
		case len(f.words) > 0:
			value = ":value:(" + strings.Join(f.words, " ") + ")"
		case f.value:
			value = ":value: "
		}
		help := strings.ReplaceAll(f.help, ":", "")
		if f.short != "" {
			specs = append(specs, fmt.Sprintf("'-%s[%s]%s'", f.short, help, value))
		}
		specs = append(specs, fmt.Sprintf("'--%s%s[%s]%s'", f.name, map[bool]string{true: "="}[f.value], help, value))
	}
	return strings.Join(specs, " ")
}
