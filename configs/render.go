package configs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"edgeagent/reading"
)

// Render writes the whole configuration with its defaults as TOML that Parse takes. A secret from a variable is written
// as that variable, never as its value. Keys that a source leaves to its preset are comments.
func (c *Config) Render(w io.Writer) error {
	var b bytes.Buffer
	for i := range c.Sources {
		c.renderSource(&b, c.Sources[i])
	}
	return c.RenderWith(w, b.String())
}

// RenderWith is Render with a text in place of the sources.
func (c *Config) RenderWith(w io.Writer, sources string) error {
	var b bytes.Buffer
	shown := *c
	for _, s := range schema(&shown) {
		if s.name == "window" { // sources come where the example files have them
			b.WriteString(sources)
		}
		if s.name == "uplink" {
			c.renderUplinks(&b)
			continue
		}
		c.renderSection(&b, "["+s.name+"]", at(s.name), s)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}

// renderUplinks writes one table, or a list of them.
func (c *Config) renderUplinks(b *bytes.Buffer) {
	o := c.origin
	if o == nil {
		o = &origin{}
	}
	for i := range c.Uplinks {
		shown := c.Uplinks[i]
		c.renderSection(b, c.header(), o.uplink(i), uplinkSection(&shown))
	}
}

// header is the line that an uplink stands under.
func (c *Config) header() string {
	if len(c.Uplinks) > 1 {
		return "[[uplink]]"
	}
	return "[uplink]"
}

func (c *Config) renderSection(b *bytes.Buffer, header string, p path, s section) {
	fmt.Fprintf(b, "%s\n", header)
	for _, f := range s.fields {
		fmt.Fprintf(b, "%s = %s\n", f.key, c.show(p.key(f.key), f.value))
	}
	b.WriteByte('\n')
	for _, sub := range s.subs {
		sp := p.key(sub.name)
		c.renderSection(b, "["+sp.shown+"]", sp, sub)
	}
}

// show is a value as TOML; a secret is the variable it came from.
func (c *Config) show(p path, v value) string {
	if s, ok := v.(secret); ok && *s.to != "" && c.origin != nil && c.origin.refs[p.id] != "" {
		return quote(c.origin.refs[p.id])
	}
	return v.show()
}

// renderSource leaves out what is empty. What a preset fills in follows as comments: written as keys it would stay as it is
// when the preset is mended.
func (c *Config) renderSource(b *bytes.Buffer, r reading.Rule) {
	empty, filled := emptySource(), sourceDefaults(c.Watermark.NotBefore)
	unset, defaults := sourceSection(&empty).fields, sourceSection(&filled).fields
	whole := r
	if merged, err := r.WithPreset(); err == nil {
		whole = merged
	}
	all := sourceSection(&whole).fields
	b.WriteString("[[source]]\n")
	var more []string
	for i, f := range sourceSection(&r).fields {
		blank := slices.Contains(r.Blank, f.key)
		switch s, given := f.value.show(), all[i].value.show(); {
		case blank || s != unset[i].value.show():
			fmt.Fprintf(b, "%s = %s\n", f.key, s)
		case given != unset[i].value.show():
			more = append(more, f.key+" = "+given)
		case isEmpty(defaults[i].value.show()):
		case r.Preset != "" && f.key != "qos":
			more = append(more, f.key+" = "+defaults[i].value.show())
		default:
			fmt.Fprintf(b, "%s = %s\n", f.key, defaults[i].value.show())
		}
	}
	if r.Preset != "" {
		fmt.Fprintf(b, "# preset %s expands to:\n#   %s\n", r.Preset, strings.Join(more, "\n#   "))
	}
	b.WriteByte('\n')
}

// SourceText is a [[source]] as TOML with the keys that r has, nothing else: a piece of a configuration to start from.
func SourceText(r reading.Rule) string {
	var b strings.Builder
	empty := emptySource()
	unset := sourceSection(&empty).fields
	b.WriteString("[[source]]\n")
	for i, f := range sourceSection(&r).fields {
		if s := f.value.show(); s != unset[i].value.show() {
			fmt.Fprintf(&b, "%s = %s\n", f.key, s)
		}
	}
	return b.String()
}

// ListText is a list of text as TOML.
func ListText(items []string) string { return list{&items}.show() }

// isEmpty reports whether a default is none.
func isEmpty(shown string) bool { return shown == `""` || shown == "[]" || shown == "{}" }
