package keys

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
)

var (
	ctx    = context.Background()
	path   = Path{"plonk", "ab12", "cd34"}
	origin = formats.Setup{Mode: formats.SetupUniversal, Source: formats.Digest{1, 2, 3}, Name: "a ceremony"}
)

func store(t *testing.T) *Store {
	t.Helper()
	s := New(filepath.Join(t.TempDir(), "new", "store"))
	if err := s.Put(ctx, path, origin, Files{"key": Bytes([]byte("the key")), "points": Bytes(bytes.Repeat([]byte{7}, 1000))}); err != nil {
		t.Fatal(err)
	}
	return s
}

// names are the files of a folder.
func names(t *testing.T, folder string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func TestPutAndOpen(t *testing.T) {
	s := store(t)
	for range 2 { // an entry can be replaced
		e, err := s.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		key, err := e.Read(ctx, "key", 7)
		if err != nil || string(key) != "the key" || e.Setup != origin {
			t.Errorf("%q, %+v (%v)", key, e.Setup, err)
		}
		f, err := e.File(ctx, "points")
		if err != nil || f.Size() != 1000 {
			t.Fatal(err)
		}
		f.Close()
		if err := s.Put(ctx, path, origin, Files{"key": Bytes([]byte("the key")), "points": Bytes(make([]byte, 1000))}); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, filepath.Join(s.Folder(), "plonk", "ab12")); len(got) != 1 {
		t.Errorf("the folder has %v", got)
	}
	if list, err := s.List("plonk", "ab12"); err != nil || len(list) != 1 || list[0] != "cd34" {
		t.Errorf("%v (%v)", list, err)
	}
	if list, err := s.List("groth16"); err != nil || list != nil {
		t.Errorf("%v (%v)", list, err)
	}
	if _, err := s.Open(Path{"plonk", "none"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an entry that is not there: %v", err)
	}
}

// TestPutIsWhole fails and stops in the middle: what was there stays, nothing else does.
func TestPutIsWhole(t *testing.T) {
	s := store(t)
	stop, cancel := context.WithCancel(ctx)
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		ctx   context.Context
		write func(io.Writer) error
		want  error
	}{
		"a writer that fails": {ctx, func(w io.Writer) error { w.Write([]byte("half")); return broken }, broken},
		"an interruption":     {stop, func(w io.Writer) error { cancel(); _, err := w.Write([]byte("half")); return err }, context.Canceled},
		"a late interruption": {stop, func(w io.Writer) error { return nil }, context.Canceled},
	} {
		for _, at := range []Path{path, {"groth16", "ab"}} {
			if err := s.Put(c.ctx, at, origin, Files{"key": c.write}); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got := names(t, filepath.Join(s.Folder(), "groth16")); got != nil {
		t.Errorf("left over: %v", got)
	}
	if e, err := s.Open(path); err != nil {
		t.Error(err)
	} else if key, err := e.Read(ctx, "key", 100); err != nil || string(key) != "the key" {
		t.Errorf("%q (%v)", key, err)
	}
}

func TestDamage(t *testing.T) {
	type change func(t *testing.T, folder string)
	write := func(name, content string) change {
		return func(t *testing.T, folder string) {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	edit := func(old, new string) change {
		return func(t *testing.T, folder string) {
			data, err := os.ReadFile(filepath.Join(folder, metaName))
			if err != nil || !strings.Contains(string(data), old) {
				t.Fatalf("no %q in meta.json (%v)", old, err)
			}
			write(metaName, strings.Replace(string(data), old, new, 1))(t, folder)
		}
	}
	for name, c := range map[string]change{
		"a changed file":       write("key", "the kez"),
		"a longer file":        write("key", "the key, and more"),
		"a shorter file":       write("key", "the ke"),
		"no meta":              write(metaName, ""),
		"no object":            write(metaName, "[]"),
		"an endless meta":      write(metaName, strings.Repeat(" ", maxMetaBytes+1)),
		"another format":       edit(metaFormat, "ixprove-keys/2"),
		"an unknown field":     edit(`"mode"`, `"made"`),
		"another digest":       edit(`"sha256": "`, `"sha256": "00`),
		"a source of no bytes": edit(`"source": "0102`, `"source": "`),
		"a negative length":    edit(`"bytes": 7`, `"bytes": -7`),
		"a file less":          edit(`"key"`, `"kex"`),
	} {
		t.Run(name, func(t *testing.T) {
			s := store(t)
			c(t, filepath.Join(append([]string{s.Folder()}, path...)...))
			e, err := s.Open(path)
			if err == nil {
				_, err = e.Read(ctx, "key", 1<<20)
			}
			if !errors.Is(err, formats.Malformed) {
				t.Errorf("got %v", err)
			}
		})
	}
	s := store(t)
	e, err := s.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Read(ctx, "points", 999); !errors.Is(err, formats.Malformed) {
		t.Errorf("a file beyond its limit: %v", err)
	}
}

// TestPaths makes sure that no name leaves the store.
func TestPaths(t *testing.T) {
	s := store(t)
	for _, p := range []Path{nil, {""}, {".."}, {"plonk", "../x"}, {"/etc"}, {"a", "b", "c", "d", "e"}, {"A"}, {".new-1"}} {
		if _, err := s.Open(p); !errors.Is(err, formats.Internal) {
			t.Errorf("%q: %v", p, err)
		}
		if err := s.Put(ctx, p, origin, nil); !errors.Is(err, formats.Internal) {
			t.Errorf("%q: %v", p, err)
		}
	}
	if err := s.Put(ctx, path, origin, Files{"../key": Bytes(nil)}); !errors.Is(err, formats.Internal) {
		t.Errorf("a file outside: %v", err)
	}
	if _, err := s.List("..", ".."); !errors.Is(err, formats.Internal) {
		t.Errorf("a list outside: %v", err)
	}
	e, err := s.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.File(ctx, "../cd34/key"); !errors.Is(err, formats.Malformed) {
		t.Errorf("a file outside: %v", err)
	}
}
