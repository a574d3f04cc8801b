package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// fileName is the name of a file that holds a secret. Somebody may have written the secret itself there.
type fileName struct{ text }

func (f fileName) set(v any) string {
	if _, ok := v.(string); !ok {
		return "must be the path of a file, in quotes"
	}
	return f.text.set(v)
}

func (f fileName) show() string {
	if ShowsFile(*f.to) {
		return f.text.show()
	}
	return secret(f).show()
}

// ShowsFile reports whether the value of a key such as token_file may be shown: not if it may be the secret itself. A path is what begins as one, or
// is the name of a file that is there. Random text in base64 may begin with a slash too, but mostly ends in =. "" is shown.
func ShowsFile(name string) bool {
	if name == "" {
		return true
	}
	if _, err := os.Stat(name); err == nil {
		return true
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(name, begin) {
			return !strings.HasSuffix(name, "=") && !strings.ContainsAny(name, "\r\n")
		}
	}
	return false
}

// FileName is a value as ShowsFile allows it to be told: itself, or its length.
func FileName(name string) string {
	if ShowsFile(name) {
		return name
	}
	return fmt.Sprintf("(%d bytes, not shown: this is no path from /)", len(name))
}

// FileError is the error of a file that such a key names, without a name that is not to be shown.
func FileError(err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) || ShowsFile(at.Path) {
		return err
	}
	return fmt.Errorf("%s %s: %w; the key takes the path of a file, not what is in it", at.Op, FileName(at.Path), at.Err)
}

// lookAt tells of a name that is none: a secret in its place would else be found out only when it is needed.
func (w *warner) lookAt(f secretFile) {
	info, err := os.Stat(f.name)
	switch {
	case err == nil:
		w.mode(f, info.Mode())
	case !ShowsFile(f.name):
		w.warn(f.at, "there is no such file; write the path of the file that holds the secret, from / on, never the secret itself (got %d bytes, not shown)", len(f.name))
	}
}
