package doctor

import (
	"io/fs"
	"syscall"
)

// ownerOf is whose a file is; ok is false where that is not known.
func ownerOf(info fs.FileInfo) (uid, gid uint32, ok bool) {
	if st, is := info.Sys().(*syscall.Stat_t); is {
		return st.Uid, st.Gid, true
	}
	return 0, 0, false
}
