package status

import (
	"net/url"
	"strconv"
	"strings"
)

// Bounds of what a reader may ask for.
const (
	pageRows = 50  // sensors on one page of the table
	maxFind  = 100 // bytes of a search
	// maxNumber bounds page and limit, so that their product is an int on every board.
	maxNumber = 1 << 15
)

// A query is what a reader asks of the table of sensors. The zero query is the first page, by name.
type query struct {
	sort  string // key of a column
	down  bool   // largest first
	find  string // what the name holds, in small letters; "" is anything
	page  int    // from 0
	limit int    // rows of a JSON answer; 0 is all
}

// queryOf reads a query from an address; what makes no sense is as if it were not there.
func queryOf(v url.Values) query {
	q := query{sort: v.Get("sort"), down: v.Get("dir") == "down", find: strings.TrimSpace(v.Get("find"))}
	if columnOf(q.sort) == nil {
		q.sort = sensorColumns()[0].key
	}
	if len(q.find) > maxFind {
		q.find = strings.ToValidUTF8(q.find[:maxFind], "")
	}
	q.page, q.limit = number(v.Get("page")), number(v.Get("limit"))
	return q
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxNumber {
		return 0
	}
	return n
}

// link is the address of the table as q asks for it, without what goes without saying.
func (q query) link() string {
	v := url.Values{}
	v.Set("sort", q.sort)
	if q.down {
		v.Set("dir", "down")
	}
	if q.find != "" {
		v.Set("find", q.find)
	}
	if q.page > 0 {
		v.Set("page", strconv.Itoa(q.page))
	}
	return "?" + v.Encode() + "#sensors"
}

// by is q with another column first, or the other way round if it is that already.
func (q query) by(c *sensorColumn) query {
	q.down = c.down != (c.key == q.sort && q.down == c.down)
	q.sort, q.page = c.key, 0
	return q
}
