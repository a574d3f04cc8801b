package buffer

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	damagedMark = ".damaged-"
	keepDamaged = 2
)

// inspect looks at a file before bbolt maps it: reading a mapping past the end of its file kills the process, and so does
// a page in the tree that is not what bbolt expects. It wants a valid meta page, all the pages that it claims, and a sound
// tree.
func inspect(f *os.File) error {
	metas, size, err := readMetas(f)
	if err != nil {
		return err
	}
	if len(metas) == 0 {
		return fmt.Errorf("%w: neither meta page is valid", ErrDamaged)
	}
	m := metas[0]
	if pages := uint64(size) / pageSize; m.pages > pages {
		return fmt.Errorf("%w: %d of %d pages are there", ErrDamaged, pages, m.pages)
	}
	if err := verify(&pageFile{r: f, pages: m.pages}, m); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if len(metas) == 1 && lostCommit(f) {
		return fmt.Errorf("%w: the meta page of the last commit is lost", ErrDamaged)
	}
	return nil
}

// readMetas gives the valid meta pages of a file, the newest first, and the file's size in bytes.
func readMetas(f *os.File) (metas []meta, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("not a regular file")
	}
	buf := make([]byte, 2*pageSize)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, 2*pageSize), buf); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, 0, fmt.Errorf("%w: only %d bytes long", ErrDamaged, info.Size())
		}
		return nil, 0, err
	}
	for _, page := range [...][]byte{buf[:pageSize], buf[pageSize:]} {
		if m, ok := parseMeta(page); ok {
			metas = append(metas, m)
		}
	}
	slices.SortFunc(metas, func(a, b meta) int { return cmp.Compare(b.txid, a.txid) })
	return metas, info.Size(), nil
}

type meta struct{ root, freelist, pages, txid uint64 }

// parseMeta decodes bbolt's meta page, which is in the byte order of the machine: a header of 16 bytes, then magic, version,
// page size, flags (32 bits each), root page, root sequence, free list, high-water mark, transaction, checksum (64 bits each).
func parseMeta(page []byte) (meta, bool) {
	const (
		magic   = 0xED0CDAED
		version = 2
		sumAt   = 56
	)
	b, order := page[headerSize:], binary.NativeEndian
	h := fnv.New64a()
	h.Write(b[:sumAt])
	ok := order.Uint32(b) == magic && order.Uint32(b[4:]) == version && order.Uint32(b[8:]) == pageSize &&
		order.Uint64(b[sumAt:]) == h.Sum64()
	return meta{root: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]), pages: order.Uint64(b[40:]), txid: order.Uint64(b[48:])}, ok
}

// setAside renames a damaged file to a name of its own and removes older ones.
func setAside(path string, o Options) (string, error) {
	to, _, err := nameAside(path, o)
	if err != nil {
		return "", err
	}
	if err := rename(path, to, !o.NoSync); err != nil {
		return "", err
	}
	return to, dropAsides(path, keepDamaged)
}

// nameAside gives the name under which a damaged file is kept, NAME.damaged-DATE-N, and N. N rises by one each time, since the date may
// be wrong. A file that was given such a name before a cut keeps it.
func nameAside(path string, o Options) (string, int, error) {
	old, err := asides(path)
	if err != nil {
		return "", 0, err
	}
	n := 1
	if len(old) > 0 {
		newest := old[len(old)-1]
		if sameFile(newest.path, path) {
			return newest.path, newest.n, nil
		}
		n = newest.n + 1
	}
	return path + damagedMark + o.Now().UTC().Format("20060102") + "-" + strconv.Itoa(n), n, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// swap keeps the file at path under the name aside and puts temp in its place. Where the file system has links there is a file at
// path at every instant.
func swap(temp, path, aside string, sync bool) error {
	if !sameFile(path, aside) {
		if err := os.Link(path, aside); err != nil {
			if err := os.Rename(path, aside); err != nil {
				return err
			}
		}
		if sync {
			if err := syncDir(filepath.Dir(path)); err != nil {
				return err
			}
		}
	}
	return rename(temp, path, sync)
}

// dropAsides removes all but the newest keep of the files moved aside from path.
func dropAsides(path string, keep int) error {
	old, err := asides(path)
	if err != nil {
		return err
	}
	for len(old) > keep {
		if err := os.Remove(old[0].path); err != nil {
			return err
		}
		old = old[1:]
	}
	return nil
}

type aside struct {
	path string
	n    int
}

// asides lists the files that were moved aside from path, oldest first.
func asides(path string) ([]aside, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var list []aside
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+damagedMark)
		_, number, _ := strings.Cut(rest, "-")
		if n, err := strconv.Atoi(number); ok && err == nil {
			list = append(list, aside{filepath.Join(filepath.Dir(path), e.Name()), n})
		}
	}
	slices.SortFunc(list, func(a, b aside) int { return cmp.Compare(a.n, b.n) })
	return list, nil
}
