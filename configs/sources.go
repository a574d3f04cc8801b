package configs

import (
	"fmt"
	"slices"
	"strings"

	"edgeagent/reading"
)

// emptySource is a [[source]] without a key.
func emptySource() reading.Rule { return reading.Rule{QoS: 1, NotBefore: reading.NoTime} }

// sourceDefaults is what a source is without a key or a preset. The reading package fills it in by itself; this is for
// people to see.
func sourceDefaults(notBefore int64) reading.Rule {
	lowest, highest := -90.0, 150.0
	return reading.Rule{
		QoS: 1, Format: "json", Scale: 1, Unit: "C", TimeFormat: "auto", Zone: "UTC", NotBefore: notBefore,
		Min: &lowest, Max: &highest, Retained: "drop_untimed",
	}
}

// takeSources takes the [[source]] tables out of the tree.
func (l *loader) takeSources(tree map[string]any) []any {
	v, ok := tree["source"]
	if !ok {
		return nil
	}
	delete(tree, "source")
	all, ok := v.([]any)
	if !ok {
		l.fault(at("source"), "is not a list; write [[source]], with double brackets, above each source")
		return nil
	}
	return all
}

// sources fills in the rules. Defaults that a preset may set stay zero: the reading package fills them in.
func (l *loader) sources(all []any) {
	names := map[string]bool{}
	for i, v := range all {
		l.config.Sources = append(l.config.Sources, emptySource())
		r := &l.config.Sources[i]
		p := l.source(i)
		l.section(sourceSection(r), p, v)
		r.Blank = blankKeys(v)
		if r.Name == "" {
			r.Name = fmt.Sprintf("source %d", i+1)
		}
		if problem := uncarriable(r.Name); problem != "" {
			l.fault(p.key("name"), "%s", problem)
		}
		if names[r.Name] {
			l.fault(p.key("name"), "another source has this name; each needs one of its own %s", got(r.Name))
		}
		names[r.Name] = true
	}
}

// blankKeys are the keys given without a value, sorted, if there is a preset that they keep from filling them.
func blankKeys(v any) []string {
	table, _ := v.(map[string]any)
	if name, _ := table["preset"].(string); name == "" {
		return nil
	}
	var blank []string
	for key, v := range table {
		list, isList := v.([]any)
		if v == "" || v == false || isList && len(list) == 0 {
			blank = append(blank, key)
		}
	}
	slices.Sort(blank)
	return blank
}

// source is the path of a source, from 0.
func (l *loader) source(i int) path { return at("source").index(i) }

// checkSources judges what is wrong with the sources together, and has the reading package judge each.
func (l *loader) checkSources() {
	if len(l.config.Sources) == 0 {
		l.fault(at("source"), `there is none; add a [[source]] with at least topic = "…", or a preset`)
		return
	}
	for i := range l.config.Sources {
		l.checkSourceTags(l.source(i), l.config.Sources[i].Tags)
	}
	for _, e := range compileSources(l.config.Sources, l.config.Watermark.NotBefore) {
		p := at("source")
		if e.Source >= 0 {
			p = l.source(e.Source)
		}
		if e.Key == "sensor" && l.faulty[p.key("topic").id] {
			continue // its default comes from the topic
		}
		if e.Key != "" {
			p = p.key(e.Key)
		}
		if !l.faultyBelow(p) {
			l.fault(p, "%s", e.Problem)
		}
	}
}

// faultyBelow reports whether a fault is noted for a part of what stands at p.
func (l *loader) faultyBelow(p path) bool {
	for id := range l.faulty {
		if strings.HasPrefix(id, p.id+".") {
			return true
		}
	}
	return false
}

// checkSourceTags judges the keys; the values are templates, known only when a message comes.
func (l *loader) checkSourceTags(p path, tags []reading.Tag) {
	for _, t := range tags {
		key := p.key("tags").key(t.Key)
		if problem := badTagKey(t.Key); problem != "" {
			l.fault(key, "%s", problem)
		}
		for _, g := range l.config.Gateway.Tags {
			if g.Key == t.Key {
				l.fault(key, "gateway.tags has this key too; every point would carry it twice, so rename one of them")
			}
		}
	}
}
