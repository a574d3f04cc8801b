package discover

import (
	"fmt"
	"strings"
)

// maxLevels bounds the captures of a pattern made from topics.
const maxLevels = 16

// pattern makes the topic of a source from topics with the same number of levels: what differs becomes a capture, with the
// text around it that all have. It is "" if a level holds characters that a pattern gives a meaning.
func pattern(topics []string) string {
	columns := columnsOf(topics)
	if columns == nil || len(columns) > maxLevels {
		return ""
	}
	var out []string
	n := 0
	for i, c := range columns {
		if strings.ContainsAny(strings.Join(c, ""), "{}+#") {
			return ""
		}
		pre, post, same := common(c)
		if same {
			out = append(out, c[0])
			continue
		}
		n++
		out = append(out, pre+"{"+captureName(i, n, len(columns), columns)+"}"+post)
	}
	return strings.Join(out, "/")
}

// columnsOf are the distinct texts of each level; nil if topics differ in length.
func columnsOf(topics []string) [][]string {
	var columns [][]string
	for i, t := range topics {
		levels := strings.Split(t, "/")
		if i == 0 {
			columns = make([][]string, len(levels))
		}
		if len(levels) != len(columns) {
			return nil
		}
		for j, l := range levels {
			columns[j] = append(columns[j], l)
		}
	}
	return columns
}

// captureName is sensor where one level differs, else level1 and so on.
func captureName(i, n, levels int, columns [][]string) string {
	differing := 0
	for _, c := range columns {
		if _, _, same := common(c); !same {
			differing++
		}
	}
	if differing == 1 {
		return "sensor"
	}
	return fmt.Sprintf("level%d", i+1)
}

// common is what all texts begin and end with, up to a word's boundary, and whether they are all the same.
func common(texts []string) (pre, post string, same bool) {
	pre, post, same = texts[0], texts[0], true
	shortest := len(texts[0])
	for _, t := range texts[1:] {
		same = same && t == texts[0]
		shortest = min(shortest, len(t))
		for !strings.HasPrefix(t, pre) {
			pre = pre[:len(pre)-1]
		}
		for !strings.HasSuffix(t, post) {
			post = post[1:]
		}
	}
	if same {
		return pre, post, true
	}
	pre = pre[:strings.LastIndexAny(pre, "_-:.")+1]
	if i := strings.IndexAny(post, "_-:."); i >= 0 {
		post = post[i:]
	} else {
		post = ""
	}
	if len(pre)+len(post) >= shortest {
		return "", "", false
	}
	return pre, post, false
}
