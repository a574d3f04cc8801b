package doctor

import "golang.org/x/sys/unix"

// room is how many bytes a user may still write to the file system of dir, -1 if that is not known, and whether it is mounted read-only.
func room(dir string) (free int64, readOnly bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return -1, false
	}
	return int64(st.Bavail) * int64(st.Bsize), st.Flags&unix.ST_RDONLY != 0
}
