package status

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// maxSocketPath is what fits into a socket address, on every system, with some room.
const maxSocketPath = 100

// Errors of ServeSocket and Ask.
var (
	// ErrNoAgent is returned by Ask when no agent listens there.
	ErrNoAgent = errors.New("no agent is running here")
	// ErrNotAllowed is returned by Ask when the socket belongs to another user.
	ErrNotAllowed = errors.New("not allowed to ask the agent")
	// ErrSocketTaken is returned by ServeSocket when another agent answers there, or when what lies there is no socket and
	// is therefore left alone.
	ErrSocketTaken = errors.New("control socket is taken")
)

// ServeSocket answers on a unix socket at path, which only the user of this process (and root) may open, until ctx is done;
// then it removes the socket and returns nil. A socket that a dead agent left is replaced, in one step, so that there is
// never one with wider permissions; call it only while holding the lock of the store. An error means that nothing is
// served.
func ServeSocket(ctx context.Context, path string, source Source) error {
	s, err := openSocket(ctx, path)
	if err != nil {
		return err
	}
	return s.serve(ctx, source)
}

// A socket is one that listens at path.
type socket struct {
	net.Listener
	path string
	mine fs.FileInfo // tells it from a successor's at the same path

	control Control // nil if only the status is served
	details Details // nil if there are none
}

// serve answers until ctx is done, and removes what openSocket made.
func (s socket) serve(ctx context.Context, source Source) error {
	logger := loggerOr(nil)
	err := serve(ctx, s.Listener, guarded(logger, controlled(s.control, readOnly(newSite(source, s.details, logger).routes()))), logger)
	if now, e := os.Lstat(s.path); e == nil && os.SameFile(s.mine, now) {
		err = errors.Join(err, removeSocket(s.path))
	}
	return err
}

// openSocket makes the socket beside path, with its permissions, and renames it to path. Whoever connects from then on is
// answered when serve runs.
func openSocket(ctx context.Context, path string) (socket, error) {
	if err := clearSocket(ctx, path); err != nil {
		return socket{}, err
	}
	ln, temp, err := listenBeside(path)
	if err != nil {
		return socket{}, err
	}
	mine, err := os.Lstat(temp)
	if err := errors.Join(err, os.Chmod(temp, 0o600), os.Rename(temp, path)); err != nil {
		return socket{}, errors.Join(fmt.Errorf("place control socket: %w", err), removeSocket(temp), ln.Close())
	}
	return socket{Listener: ln, path: path, mine: mine}, nil
}

// listenBeside listens on a name of its own in the folder of path.
func listenBeside(path string) (ln *net.UnixListener, temp string, err error) {
	temp = path + "." + strconv.Itoa(os.Getpid())
	if err := removeSocket(temp); err != nil { // of a process that had our number
		return nil, "", err
	}
	short, done, err := shortPath(temp)
	if err != nil {
		return nil, "", err
	}
	defer done()
	ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, "", fmt.Errorf("listen on control socket %s: %w", path, err)
	}
	ln.SetUnlinkOnClose(false) // its name will change
	return ln, temp, nil
}

// clearSocket makes sure that path is free, or holds a socket on which nobody answers.
func clearSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at control socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%w: %s is no socket; move it away", ErrSocketTaken, path)
	}
	conn, err := dialSocket(ctx, path)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%w: another agent answers on %s", ErrSocketTaken, path), conn.Close())
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil // left by a dead agent, perhaps of another user
	}
	return fmt.Errorf("%w: %s: %w", ErrSocketTaken, path, err)
}

func removeSocket(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove control socket: %w", err)
	}
	return nil
}

func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer done()
	d := net.Dialer{Timeout: 2 * time.Second}
	return d.DialContext(ctx, "unix", short)
}

// shortPath gives a name for path that fits into a socket address. A long one is named by its folder, held open until done
// is called.
func shortPath(path string) (short string, done func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, fmt.Errorf("open folder of control socket: %w", err)
	}
	short = fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path))
	if _, err := os.Stat(filepath.Dir(short)); err != nil || len(short) > maxSocketPath {
		dir.Close()
		return "", nil, fmt.Errorf("path of control socket has %d bytes, at most %d are possible here (choose a shorter buffer.dir): %s: %w",
			len(path), maxSocketPath, path, syscall.ENAMETOOLONG)
	}
	return short, func() { dir.Close() }, nil
}
