package doctor

import (
	"io/fs"
	"os"
	"path/filepath"

	"edgeagent/buffer"
)

// A user is whom the agent runs as, by the owner of its data folder: whoever runs doctor, mostly root, may do more than that one.
type user struct {
	uid, gid uint32
	known    bool // false: there is no folder yet, it belongs to root, who may do all, or owners are not known here
}

func agentUser(dir string) user {
	info, err := os.Stat(dir)
	if err != nil {
		return user{}
	}
	uid, gid, ok := ownerOf(info)
	return user{uid: uid, gid: gid, known: ok && uid != 0}
}

// Bits of the mode of a file, for its owner.
const (
	mayRead  fs.FileMode = 0o400
	mayWrite fs.FileMode = 0o200
)

// barred reports whether the user may certainly not do to a file what the bit of its owner says. What a group allows that is not the
// folder's is taken as allowed: the user may be in it.
func (u user) barred(info fs.FileInfo, bit fs.FileMode) bool {
	uid, gid, ok := ownerOf(info)
	switch {
	case !u.known || !ok:
		return false
	case uid == u.uid:
		return info.Mode()&bit == 0
	case gid == u.gid:
		return info.Mode()&(bit>>3) == 0
	}
	return info.Mode()&(bit>>3|bit>>6) == 0
}

// seeBarred is the first of the data folder and the files in it that the agent's user may not write, "" if there is none.
func seeBarred(dir string) string {
	u := agentUser(dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range append([]string{dir, buffer.Path(dir)}, files...) {
		if info, err := os.Stat(file); err == nil && (info.Mode().IsRegular() || info.IsDir()) && u.barred(info, mayWrite) {
			return file
		}
	}
	return ""
}

// judgeBarred tells of a file that root has left behind, or whose mode somebody has changed.
func judgeBarred(dir, file string) Report {
	if file == "" {
		return nil
	}
	return Report{fail("store", "chown -R --reference="+dir+" "+dir+"; chmod -R u+rwX "+dir, "the owner of the data folder, as whom the agent runs, may not write %s: was it started by root once?", file)}
}
