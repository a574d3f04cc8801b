package window

import "sort"

// An item is one remembered reading.
type item struct {
	t int64
	v float64
}

// A memory is the set of readings remembered for one window of one series, in order of (time, value). Readings mostly
// come in order, so adding is mostly an append; 16 bytes a reading.
type memory []item

// find is the place of (t, v), and whether it is there.
func (m memory) find(t int64, v float64) (int, bool) {
	n := len(m)
	if n == 0 || less(m[n-1], t, v) {
		return n, false
	}
	i := sort.Search(n, func(i int) bool { return !less(m[i], t, v) })
	return i, i < n && m[i].t == t && m[i].v == v
}

// add puts (t, v) in unless it is there already; it reports whether it did.
func (m *memory) add(t int64, v float64) bool {
	i, found := m.find(t, v)
	if found {
		return false
	}
	*m = append(*m, item{})
	copy((*m)[i+1:], (*m)[i:])
	(*m)[i] = item{t, v}
	return true
}

func less(a item, t int64, v float64) bool {
	return a.t < t || a.t == t && a.v < v
}
