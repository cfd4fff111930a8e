// Package codecache keeps compiled kernels on disk.
//
// What is loaded is code, which runs on the device with everything that the process has there. So the folder has to belong to the user that runs the process, and so does each
// file, and nobody else may write to them; else nothing is read from there. A digest in each file finds what was cut off or damaged; against the user itself it protects nothing.
package codecache

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// MaxImageBytes bounds an image.
const MaxImageBytes = 16 << 20

// Key says what an image is of. Equal keys have equal images, or images that do the same.
type Key struct {
	Kernel       string // the kernel's name, a digest of its text: letters, digits and underscores
	Architecture int    // of the device, 10*major + minor
	Driver       int    // the driver's version, whose compiler made the image
	Level        int    // of optimisation
}

var kernelName = regexp.MustCompile(`^\w{1,100}$`)

func (k Key) file() (string, error) {
	if !kernelName.MatchString(k.Kernel) {
		return "", fmt.Errorf("codecache: %q is no kernel's name", k.Kernel)
	}
	return fmt.Sprintf("%s.sm%d.driver%d.O%d.cubin", k.Kernel, k.Architecture, k.Driver, k.Level), nil
}

// Cache is a folder. It is safe for concurrent use, also by several processes.
type Cache struct{ folder string }

// Open makes the folder unless it is there. It fails when somebody else could write to it.
func Open(folder string) (*Cache, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("codecache: %w", err)
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return nil, fmt.Errorf("codecache: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("codecache: %s is no folder", folder)
	}
	if err := private(info); err != nil {
		return nil, fmt.Errorf("codecache: %s: %w", folder, err)
	}
	return &Cache{folder}, nil
}

// Default is the cache of the user: ixprove/kernels in the folder that the system has for caches ($XDG_CACHE_HOME or ~/.cache).
func Default() (*Cache, error) {
	root, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("codecache: %w", err)
	}
	return Open(filepath.Join(root, "ixprove", "kernels"))
}

// Folder is where the files are.
func (c *Cache) Folder() string { return c.folder }

const magic = "ixprove-code-1\n"

// digest binds an image to its file's name.
func digest(name string, image []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(name), name)
	h.Write(image)
	return h.Sum(nil)
}

// Load returns an image, and an error when there is none that can be trusted; errors.Is(err, os.ErrNotExist) when there is none at all.
func (c *Cache) Load(k Key) ([]byte, error) {
	name, err := k.file()
	if err != nil {
		return nil, err
	}
	f, err := open(filepath.Join(c.folder, name))
	if err != nil {
		return nil, fmt.Errorf("codecache: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("codecache: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("codecache: %s is no file", name)
	}
	if err := private(info); err != nil {
		return nil, fmt.Errorf("codecache: %s: %w", name, err)
	}
	content, err := io.ReadAll(io.LimitReader(f, MaxImageBytes+1<<10))
	if err != nil {
		return nil, fmt.Errorf("codecache: %w", err)
	}
	sum, ok := bytes.CutPrefix(content, []byte(magic))
	if !ok || len(sum) <= sha256.Size || len(sum) > sha256.Size+MaxImageBytes || !bytes.Equal(sum[:sha256.Size], digest(name, sum[sha256.Size:])) {
		return nil, fmt.Errorf("codecache: %s is damaged", name)
	}
	return sum[sha256.Size:], nil
}

// Store writes an image, at once or not at all, in place of what was there.
func (c *Cache) Store(k Key, image []byte) (err error) {
	name, err := k.file()
	if err != nil {
		return err
	}
	if len(image) == 0 || len(image) > MaxImageBytes {
		return fmt.Errorf("codecache: %d bytes are no image", len(image))
	}
	f, err := os.CreateTemp(c.folder, ".new-*")
	if err != nil {
		return fmt.Errorf("codecache: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("codecache: %w", err)
		}
	}()
	_, err = f.Write(append(append([]byte(magic), digest(name, image)...), image...))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(c.folder, name))
}
