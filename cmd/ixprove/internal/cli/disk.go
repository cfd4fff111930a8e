package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// disk makes files; tests put a failing one in its place.
type disk interface {
	// temporary makes a new file in a folder.
	temporary(folder string) (file, error)
}

// file is an output in the making.
type file interface {
	io.Writer
	Name() string
	Sync() error
	Close() error
}

type realDisk struct{}

func (realDisk) temporary(folder string) (file, error) { return os.CreateTemp(folder, ".ixprove-*") }

// write makes a file appear whole: a temporary file beside it, synced, then renamed. What is there already and is no regular file, such as a device, is written to as it is.
func (t *tool) write(path string, data []byte) (err error) {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = cannotWrite(path, err)
		}
	}()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInto(path, data)
	}
	path = target(path)
	f, err := t.disk.temporary(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		syncFolder(filepath.Dir(path))
	}
	return err
}

// writable finds out whether write could succeed, before long work is done for nothing, and that it would not replace an input.
func (t *tool) writable(path string, inputs ...string) error {
	if path == stream {
		return usageError("--output", "standard output is for the result", "the name of a file", path, "")
	}
	for _, input := range inputs {
		a, err1 := os.Stat(path)
		b, err2 := os.Stat(input)
		if err1 == nil && err2 == nil && a.Mode().IsRegular() && os.SameFile(a, b) {
			return usageError("--output", "the output would replace an input", "another file", strconv.Quote(path), "")
		}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return cannotWrite(path, errors.New("this is a folder"))
		}
		return nil
	}
	f, err := t.disk.temporary(filepath.Dir(target(path)))
	if err != nil {
		return cannotWrite(path, err)
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// target is what a path that may be a link leads to, so that the file is replaced and not the link.
func target(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func writeInto(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// syncFolder makes the rename last. Not every file system can; the file is whole either way.
func syncFolder(folder string) {
	if d, err := os.Open(folder); err == nil {
		d.Sync()
		d.Close()
	}
}

// stream is the operand that stands for standard input.
const stream = "-"

// read reads an input that the command line names. Of one that is longer than limit it reads a byte more than that, for its decoder to refuse.
func (t *tool) read(path string, limit int) ([]byte, error) {
	if path == stream {
		return readAll("standard input", t.stdin, limit)
	}
	return readFile(path, limit)
}

func readFile(path string, limit int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	defer f.Close()
	return readAll(path, f, limit)
}

func readAll(path string, r io.Reader, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, cannotRead(path, err)
	}
	return data, nil
}

// regularSize is the size of a regular file.
func regularSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, cannotRead(path, err)
	}
	if !info.Mode().IsRegular() {
		return 0, cannotRead(path, errors.New("this is not a regular file"))
	}
	return info.Size(), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
