//go:build unix

package codecache

import (
	"fmt"
	"os"
	"syscall"
)

// private says why somebody else could have written a file, or could write to it.
func private(info os.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("others may write to it: its mode is %04o", mode)
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("its owner is unknown")
	}
	if int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, not to %d", s.Uid, os.Geteuid())
	}
	return nil
}

// open opens a file that is not a link, and does not wait for a pipe's other end.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
