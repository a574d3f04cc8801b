package crash

import (
	"path/filepath"
	"strings"
)

// A disk is a folder as a power cut would leave it: what was synced is certain, what was written since may be there, in
// part, or not. Its rules are those of doc.go in package buffer: a sector holds one of the contents that it was given since
// the last sync, or the one before; names change in order.
type disk struct {
	dir   string
	names map[string]*inode // durable
	live  map[string]*inode // as the agent sees them
	moves []move            // of names, since the folder was last synced
	fds   map[int]*handle
}

// An inode is a file, whatever its name.
type inode struct {
	durable []byte
	pending []change
}

// A change of a file that is not synced: data at an offset, or a new length.
type change struct {
	call   *call
	off    int64
	data   []byte
	length int64 // -1: data
}

// A move is a name that came to mean a file; nil: none.
type move struct {
	call *call
	name string
	node *inode
}

type handle struct {
	node *inode
	off  int64
}

func newDisk(dir string) *disk {
	return &disk{dir: dir, names: map[string]*inode{}, live: map[string]*inode{}, fds: map[int]*handle{}}
}

// hold puts a file on the disk, that is there when the trace begins.
func (d *disk) hold(name string, content []byte) {
	node := &inode{durable: content}
	d.names[name], d.live[name] = node, node
}

// base is the name of a path in the folder, "" if it is elsewhere.
func (d *disk) base(path string) string {
	if filepath.Dir(path) != d.dir {
		return ""
	}
	return filepath.Base(path)
}

// issue follows a call of which the effect may be there from now on.
func (d *disk) issue(c *call) {
	switch c.name {
	case "openat":
		d.open(c)
	case "rename", "renameat", "renameat2":
		from, to := d.base(c.path), d.base(c.to)
		if node := d.live[from]; node != nil && from != "" && to != "" && c.result == 0 {
			delete(d.live, from)
			d.live[to] = node
			d.moves = append(d.moves, move{c, from, nil}, move{c, to, node})
		}
	case "link", "linkat":
		if node, to := d.live[d.base(c.path)], d.base(c.to); node != nil && to != "" && c.result == 0 {
			d.live[to] = node
			d.moves = append(d.moves, move{c, to, node})
		}
	case "unlink", "unlinkat":
		if name := d.base(c.path); d.live[name] != nil && c.result == 0 {
			delete(d.live, name)
			d.moves = append(d.moves, move{c, name, nil})
		}
	case "write", "pwrite64", "ftruncate":
		d.change(c)
	}
}

// open makes a file that is not there, and a handle for it.
func (d *disk) open(c *call) {
	name := d.base(c.path)
	if name == "" || c.result < 0 {
		return
	}
	node := d.live[name]
	if node == nil {
		node = &inode{}
		d.live[name] = node
		d.moves = append(d.moves, move{c, name, node})
	}
	if strings.Contains(c.flags, "O_TRUNC") {
		node.pending = append(node.pending, change{c, 0, nil, 0})
	}
	d.fds[int(c.result)] = &handle{node: node}
}

// change notes a write to a file of the folder. The path says whether the descriptor is one of it.
func (d *disk) change(c *call) {
	h := d.fds[c.fd]
	if h == nil || d.base(strings.TrimSuffix(c.path, " (deleted)")) == "" {
		return
	}
	switch c.name {
	case "ftruncate":
		h.node.pending = append(h.node.pending, change{c, 0, nil, c.number})
	case "pwrite64":
		h.node.pending = append(h.node.pending, change{c, c.number, c.data, -1})
	default:
		h.node.pending = append(h.node.pending, change{c, h.off, c.data, -1})
		h.off += int64(len(c.data))
	}
}

// isSync reports whether the call is a sync of something in the folder, or of the folder itself.
func (d *disk) isSync(c *call) bool {
	return (c.name == "fsync" || c.name == "fdatasync") && !c.lie && c.result == 0 && (c.path == d.dir || d.base(c.path) != "")
}

// sync makes certain what had ended when the sync began.
func (d *disk) sync(c *call) {
	if c.path == d.dir {
		for len(d.moves) > 0 && d.moves[0].call.end <= c.begin {
			d.moves[0].apply(d.names)
			d.moves = d.moves[1:]
		}
		return
	}
	h := d.fds[c.fd]
	if h == nil {
		return
	}
	var rest []change
	for _, p := range h.node.pending {
		if p.call.end > c.begin {
			rest = append(rest, p)
			continue
		}
		h.node.durable = p.whole(h.node.durable)
	}
	h.node.pending = rest
}

func (m move) apply(names map[string]*inode) {
	if m.node == nil {
		delete(names, m.name)
		return
	}
	names[m.name] = m.node
}

// whole applies a change to the content of a file, all of it.
func (p change) whole(content []byte) []byte {
	if p.length >= 0 {
		return resized(content, p.length)
	}
	if need := p.off + int64(len(p.data)); int64(len(content)) < need {
		content = resized(content, need)
	}
	copy(content[p.off:], p.data)
	return content
}

func resized(content []byte, n int64) []byte {
	if int64(len(content)) >= n {
		return content[:n]
	}
	return append(content, make([]byte, n-int64(len(content)))...)
}
