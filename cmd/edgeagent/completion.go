package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c completionCmd) Help() string {
	return `The script is made from the commands and flags of this very program.

Example: edgeagent completion bash > /etc/bash_completion.d/edgeagent

    edgeagent completion zsh > /usr/share/zsh/vendor-completions/_edgeagent

    edgeagent completion fish > /etc/fish/completions/edgeagent.fish`
}

func (c completionCmd) Run(k *kong.Context, s streams) error {
	root := completionOf(k.Model.Node)
	script := map[string]func(completion) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell](root)
	if _, err := fmt.Fprint(s.out, script); err != nil {
		return fmt.Errorf("write script: %w", err)
	}
	return nil
}

// A completion is what a shell can offer behind one command.
type completion struct {
	path  []string // the words that lead here, without the program's name
	help  string
	subs  []completion
	flags []completionFlag
	words []string // values of the first argument, if they are few
	files bool     // the arguments are files
}

// A completionFlag is one flag.
type completionFlag struct {
	name  string
	short string // one letter, or ""
	help  string
	value bool // it wants one
	files bool // a file or a folder
	words []string
}

// name is the command's own word, "" for the program.
func (c completion) name() string {
	if len(c.path) == 0 {
		return ""
	}
	return c.path[len(c.path)-1]
}

// all is c and everything below it, in order.
func (c completion) all() []completion {
	list := []completion{c}
	for _, sub := range c.subs {
		list = append(list, sub.all()...)
	}
	return list
}

// completionOf takes what there is to offer out of the command line's own model; what is hidden there stays so.
func completionOf(n *kong.Node) completion {
	c := completion{help: n.Help}
	if n.Type == kong.CommandNode {
		c.path = strings.Fields(strings.TrimPrefix(n.FullPath(), "edgeagent"))
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			c.flags = append(c.flags, flagOf(f))
		}
	}
	for i, p := range n.Positional {
		c.files = c.files || isFile(p.Name)
		if i == 0 && p.Enum != "" {
			c.words = p.EnumSlice()
		}
	}
	for _, sub := range n.Children {
		if !sub.Hidden && sub.Type == kong.CommandNode {
			c.subs = append(c.subs, completionOf(sub))
		}
	}
	return c
}

func flagOf(f *kong.Flag) completionFlag {
	out := completionFlag{name: f.Name, help: helpLine(f.Help), value: !f.IsBool() && !f.IsCounter()}
	if f.Short != 0 {
		out.short = string(f.Short)
	}
	if out.value {
		out.files = isFile(f.PlaceHolder)
		if f.Enum != "" {
			out.words = f.EnumSlice()
		}
	}
	return out
}

// isFile reports whether a placeholder or the name of an argument says that a file or a folder is wanted.
func isFile(name string) bool {
	switch strings.ToLower(name) {
	case "file", "files", "dir":
		return true
	}
	return false
}

// helpLine is the first sentence of a help text, without what quoting would have to mind.
func helpLine(s string) string {
	s, _, _ = strings.Cut(s, " (default")
	s, _, _ = strings.Cut(s, "; ")
	s, _, _ = strings.Cut(s, ": ")
	return strings.TrimSuffix(strings.NewReplacer("'", "", `"`, "", "`", "", "$", "", `\`, "", "[", "(", "]", ")").Replace(s), ".")
}
