package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Block is a piece of a document that is set apart, between fences or by an indent of four.
type Block struct {
	File  string // as it was named to Read
	Line  int    // of the first line of Text, from 1
	Lang  string // behind the fence; "" without one
	Text  string // without fences and indent; every line ends in a newline
	lines []string
}

// A Document is one of ours, taken apart.
type Document struct {
	File   string
	Blocks []Block
	Prose  []string // line by line, from 1; those of blocks are empty
}

// Place names a line of the document for a message.
func (d Document) Place(line int) string { return fmt.Sprintf("%s:%d", d.File, line) }

// All reads every document of the checkout at root: those of its top folder and of docs. They come by name.
func All(root string) ([]Document, error) {
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	var all []Document
	for _, file := range files {
		d, err := Read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// Read takes one document apart.
func Read(file string) (Document, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Document{}, fmt.Errorf("read document: %w", err)
	}
	d := Document{File: file, Prose: []string{""}}
	var open *Block // the block that we are in
	fenced := false
	for i, line := range strings.Split(string(text), "\n") {
		prose := ""
		switch {
		case fenced && line == "```":
			d.end(&open)
			fenced = false
		case fenced:
			open.lines = append(open.lines, line)
		case strings.HasPrefix(line, "```"):
			d.end(&open)
			open, fenced = &Block{File: file, Line: i + 2, Lang: line[3:]}, true
		case strings.HasPrefix(line, "    ") && (open != nil || d.Prose[i] == ""):
			if open == nil {
				open = &Block{File: file, Line: i + 1}
			}
			open.lines = append(open.lines, line[4:])
		case line == "" && open != nil:
			open.lines = append(open.lines, "")
		default:
			d.end(&open)
			prose = line
		}
		d.Prose = append(d.Prose, prose)
	}
	d.end(&open)
	return d, nil
}

// end closes the open block, if there is one.
func (d *Document) end(open **Block) {
	b := *open
	if b == nil {
		return
	}
	b.Text = strings.TrimRight(strings.Join(b.lines, "\n"), "\n") + "\n"
	d.Blocks, *open = append(d.Blocks, *b), nil
}

// A Command is one command line of a document.
type Command struct {
	Place string // file and line
	Line  string // the program and what it is given; no prompt, comment, pipe or redirection
}

// end of a command on its line
var commandEnd = regexp.MustCompile(`\s+#\s.*$|\s+[0-9]?>>?\s*\S+.*$`)

// Commands are the command lines of a block. Where some lines have the prompt "$ " the others are output.
func (b Block) Commands() []Command {
	prompt := ""
	if strings.HasPrefix(b.Text, "$ ") || strings.Contains(b.Text, "\n$ ") {
		prompt = "$ "
	}
	var all []Command
	for i, line := range strings.Split(b.Text, "\n") {
		line, ok := strings.CutPrefix(line, prompt)
		if !ok {
			continue
		}
		line = commandEnd.ReplaceAllString(line, "")
		for _, part := range regexp.MustCompile(` && | \|\|? |; `).Split(line, -1) {
			part = strings.TrimPrefix(strings.TrimSpace(part), "sudo ")
			all = append(all, Command{fmt.Sprintf("%s:%d", b.File, b.Line+i), part})
		}
	}
	return all
}

var inSentence = regexp.MustCompile("`(?:sudo )?(edgeagent [^`]+)`")

// Named are the commands of ours that sentences name.
func (d Document) Named() []Command {
	var all []Command
	for i, line := range d.Prose {
		for _, m := range inSentence.FindAllStringSubmatch(line, -1) {
			all = append(all, Command{d.Place(i), m[1]})
		}
	}
	return all
}
