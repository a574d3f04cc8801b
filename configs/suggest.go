package configs

import (
	"fmt"
	"slices"
	"strings"

	"edgeagent/reading"
)

// suggest is what to write instead of an unknown key: the nearest key of its section, or the section that does have
// such a key; "" if nothing is near.
func suggest(key string, s section, p path) string {
	all := section{subs: append(schema(Default()), sourceSection(&reading.Rule{}))}
	if p.id == "" {
		s = all
	}
	lower := strings.ToLower(key)
	if near := nearest(lower, s.keys()); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	if owner := all.owner("", lower); owner != "" {
		return fmt.Sprintf("; %s is a key of [%s]", lower, owner)
	}
	return ""
}

// HidesValue reports whether what stands behind the key in a file is not to be shown: a secret, or the value of a key that no section has, which may be one that is misspelt.
func HidesValue(key string) bool {
	var known func([]section) bool
	known = func(all []section) bool {
		for _, s := range all {
			if s.name == key || known(s.subs) || slices.ContainsFunc(s.fields, func(f field) bool { _, is := f.value.(secret); return f.key == key && !is }) {
				return true
			}
		}
		return false
	}
	return !known(append(schema(Default()), sourceSection(&reading.Rule{})))
}

func (s section) keys() []string {
	var keys []string
	for _, f := range s.fields {
		keys = append(keys, f.key)
	}
	for _, sub := range s.subs {
		keys = append(keys, sub.name)
	}
	return keys
}

// owner is the only section below s that has the key, "" if none or several do.
func (s section) owner(prefix, key string) string {
	var found []string
	for _, sub := range s.subs {
		name := prefix + sub.name
		for _, f := range sub.fields {
			if f.key == key {
				found = append(found, name)
			}
		}
		if o := sub.owner(name+".", key); o != "" {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// nearest is the word that takes the fewest edits to reach; "" if none is within a third of its letters (but two edits in
// four letters, for a swap).
func nearest(word string, words []string) string {
	best, least := "", 0
	for _, w := range words {
		allowed := max(1, len(w)/3)
		if len(w) > 3 {
			allowed = max(2, allowed)
		}
		if len(word) > 2*len(w) {
			continue
		}
		if d := edits(word, w); d <= allowed && (best == "" || d < least) {
			best, least = w, d
		}
	}
	return best
}

// edits counts the letters to insert, delete or replace on the way from a to b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
