//go:build unix

package codecache_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ixprove/ixprove/kernels/codecache"
)

var key = codecache.Key{Kernel: "quotient_0123456789abcdef", Architecture: 90, Driver: 13000, Level: 1}

func open(t *testing.T) *codecache.Cache {
	t.Helper()
	c, err := codecache.Open(filepath.Join(t.TempDir(), "cache", "kernels"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stored is a cache with one image, and its file.
func stored(t *testing.T) (c *codecache.Cache, file string) {
	t.Helper()
	c = open(t)
	if err := c.Store(key, []byte("image")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(c.Folder())
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	return c, filepath.Join(c.Folder(), entries[0].Name())
}

func TestStore(t *testing.T) {
	c, file := stored(t)
	if image, err := c.Load(key); err != nil || string(image) != "image" {
		t.Fatalf("%q, %v", image, err)
	}
	if err := c.Store(key, []byte("other")); err != nil {
		t.Fatal(err)
	}
	if image, err := c.Load(key); err != nil || string(image) != "other" {
		t.Fatalf("%q, %v", image, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	info, err = os.Stat(c.Folder())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("the folder's mode %v, %v", info.Mode(), err)
	}
	for _, other := range []codecache.Key{{"quotient_0", 90, 13000, 1}, {key.Kernel, 80, 13000, 1}, {key.Kernel, 90, 12040, 1}, {key.Kernel, 90, 13000, 4}} {
		if _, err := c.Load(other); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: %v", other, err)
		}
	}
}

func TestRefusedKeysAndImages(t *testing.T) {
	c := open(t)
	for _, name := range []string{"", "../x", "a/b", "a.b", strings.Repeat("a", 101)} {
		if err := c.Store(codecache.Key{Kernel: name}, []byte("image")); err == nil {
			t.Errorf("%q was stored", name)
		}
		if _, err := c.Load(codecache.Key{Kernel: name}); err == nil {
			t.Errorf("%q was loaded", name)
		}
	}
	if c.Store(key, nil) == nil || c.Store(key, make([]byte, codecache.MaxImageBytes+1)) == nil {
		t.Error("an image of a wrong size was stored")
	}
	if entries, err := os.ReadDir(c.Folder()); err != nil || len(entries) != 0 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
}

// TestDamage changes a file in every byte, at every length and in name.
func TestDamage(t *testing.T) {
	c, file := stored(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, content []byte) {
		t.Helper()
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Load(key); err == nil || errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		refused("a changed byte", bad)
		refused("a short file", good[:i])
	}
	refused("a longer file", append(bytes.Clone(good), 0))
	refused("a huge file", append(bytes.Clone(good), make([]byte, codecache.MaxImageBytes+2<<10)...))
	other := key
	other.Architecture = 80
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, strings.Replace(file, "sm90", "sm80", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load(other); err == nil {
		t.Error("an image was taken for another's")
	}
	if err := c.Store(other, []byte("again")); err != nil {
		t.Fatal(err)
	}
	if image, err := c.Load(other); err != nil || string(image) != "again" {
		t.Fatalf("after it was stored again: %q, %v", image, err)
	}
}

// TestPermissions has files and folders to which others may write, links, and what is no file.
func TestPermissions(t *testing.T) {
	c, file := stored(t)
	for _, mode := range []os.FileMode{0o620, 0o602, 0o666} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Load(key); err == nil {
			t.Errorf("a file of mode %o was loaded", mode)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load(key); err != nil {
		t.Errorf("a file that others may read: %v", err)
	}
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(file, away); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, file); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load(key); err == nil {
		t.Error("a link was followed")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load(key); err == nil {
		t.Error("a pipe was read")
	}
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777} {
		if err := os.Chmod(c.Folder(), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := codecache.Open(c.Folder()); err == nil {
			t.Errorf("a folder of mode %o was opened", mode)
		}
	}
	if _, err := codecache.Open(away); err == nil {
		t.Error("a file was opened as a folder")
	}
	if err := os.Chmod(c.Folder(), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(c.Folder(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := codecache.Open(link); err == nil {
		t.Error("a link to a folder was opened")
	}
}

// TestOwner needs root, as in a container, to give files away; others have nobody's files to try.
func TestOwner(t *testing.T) {
	c, file := stored(t)
	if os.Geteuid() != 0 {
		if _, err := codecache.Open("/"); err == nil {
			t.Error("root's folder was opened")
		}
		return
	}
	if err := os.Chown(file, 1234, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load(key); err == nil {
		t.Error("another user's file was loaded")
	}
	if err := os.Chown(c.Folder(), 1234, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := codecache.Open(c.Folder()); err == nil {
		t.Error("another user's folder was opened")
	}
}

// TestConcurrently has readers see whole images only.
func TestConcurrently(t *testing.T) {
	c, _ := stored(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 50 {
				if i%2 == 0 {
					if err := c.Store(key, bytes.Repeat([]byte{byte(i)}, 1<<12+i)); err != nil {
						t.Error(err)
					}
				} else if _, err := c.Load(key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if entries, err := os.ReadDir(c.Folder()); err != nil || len(entries) != 1 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

func TestDefault(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "caches"))
	t.Setenv("HOME", "/nonexistent")
	if c, err := codecache.Default(); err == nil && !strings.HasSuffix(c.Folder(), filepath.Join("ixprove", "kernels")) {
		t.Error(c.Folder())
	}
}
