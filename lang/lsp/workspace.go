package lsp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ixprove/ixprove/lang/lower"
	"github.com/ixprove/ixprove/lang/std"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

const extension = ".ix"

// maxCandidates bounds the files beside and above an open one that are checked to see whether they import it.
const maxCandidates = 64

// document is a file that is open in the editor.
type document struct {
	uri     string // as the editor wrote it
	version int
	text    string
}

// workspace is what the editor has open, and the programs that this is part of. Files go by their path, and documents that are no files by their URI.
type workspace struct {
	folders  []string // paths
	open     map[string]*document
	library  string // folder of the standard library's files for editors; empty if there is no place for it
	checked  map[string]*program
	programs []*program // those that the open documents are part of, by root
}

// key is the name of a document in a workspace.
func key(uri string) string {
	if path, ok := pathOf(uri); ok {
		return path
	}
	return uri
}

// pathOf is the path of a file URI.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // /C:/folder
	}
	path = filepath.Clean(filepath.FromSlash(path))
	return path, filepath.IsAbs(path)
}

// uri is how the editor names a document or a file.
func (w *workspace) uri(key string) string {
	if d := w.open[key]; d != nil {
		return d.uri
	}
	if !filepath.IsAbs(key) {
		return key
	}
	path := filepath.ToSlash(key)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// source is a file's text or why there is none.
type source struct {
	text string
	err  error
}

// source is a file as the editor sees it: what is open there, and else what the disk holds.
func (w *workspace) source(key string) source {
	if d := w.open[key]; d != nil {
		return source{text: d.text}
	}
	info, err := os.Stat(key)
	if err != nil {
		return source{err: err}
	}
	if !info.Mode().IsRegular() {
		return source{err: &fs.PathError{Op: "read", Path: key, Err: errors.New("not a regular file")}}
	}
	f, err := os.Open(key)
	if err != nil {
		return source{err: err}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, syntax.MaxSourceBytes+1)) // the one byte more lets the checker refuse it
	return source{string(text), err}
}

// overlay is the folder of a program as the editor sees it. It notes what was read.
type overlay struct {
	w    *workspace
	root string // key of the program's first file
	name string // its name in the folder
	read map[string]source
}

// Open implements fs.FS.
func (o *overlay) Open(name string) (fs.File, error) {
	path := o.root
	if name != o.name {
		if !filepath.IsAbs(o.root) { // a document that is no file has no folder
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		path = filepath.Join(filepath.Dir(o.root), filepath.FromSlash(name))
	}
	s := o.w.source(path)
	o.read[path] = s
	if s.err != nil {
		return nil, s.err
	}
	return openFile{strings.NewReader(s.text)}, nil
}

// lone is a folder of one file, alone.ix, with this text.
type lone string

const loneName = "alone" + extension

// Open implements fs.FS.
func (l lone) Open(name string) (fs.File, error) {
	if name != loneName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return openFile{strings.NewReader(string(l))}, nil
}

// openFile is a text as a file, which is only read.
type openFile struct{ *strings.Reader }

// Stat implements fs.File.
func (openFile) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

// Close implements fs.File.
func (openFile) Close() error { return nil }

// program is a checked program.
type program struct {
	root    string // key of its first file
	checked *types.Program
	errors  syntax.Errors
	files   map[string]*types.Module // by key
	keys    map[*syntax.File]string
	read    map[string]source // what it was made of
}

// program checks the program that begins in a file, or gives what was found before if nothing of it changed.
func (w *workspace) program(root string) *program {
	if p := w.checked[root]; p != nil && p.fresh(w) {
		return p
	}
	p := &program{root: root, files: map[string]*types.Module{}, keys: map[*syntax.File]string{}, read: map[string]source{}}
	folder := filepath.Dir(root)
	if w.inLibrary(root) {
		module := strings.TrimSuffix(filepath.Base(root), extension)
		p.checked, p.errors = types.Check(lone(`import "std/`+module+`";`), loneName, types.Options{Library: true})
	} else {
		o := &overlay{w, root, filepath.Base(root), p.read}
		p.checked, p.errors = types.Check(o, o.name, types.Options{})
		if len(p.errors) == 0 { // what only compilation finds
			_, _, p.errors = lower.Compile(p.checked, "program")
		}
	}
	for i, m := range p.checked.Modules {
		k := filepath.Join(folder, filepath.FromSlash(m.Path)+extension)
		switch {
		case i == 0 && w.inLibrary(root):
			continue
		case i == 0:
			k = root
		case strings.HasPrefix(m.Path, "std/"):
			k = filepath.Join(w.library, filepath.FromSlash(strings.TrimPrefix(m.Path, "std/"))+extension)
		}
		p.files[k], p.keys[m.File] = m, k
	}
	w.checked[root] = p
	return p
}

// fresh reports whether all that the program was made of is as it was.
func (p *program) fresh(w *workspace) bool {
	for path, was := range p.read {
		if is := w.source(path); is.text != was.text || (is.err == nil) != (was.err == nil) {
			return false
		}
	}
	return true
}

// holds reports whether a file is part of the program.
func (p *program) holds(key string) bool { return key == p.root || p.files[key] != nil }

// refresh finds and checks the programs that the open documents are part of: those of files that import them, and the document's own if no other file does.
func (w *workspace) refresh() {
	used := map[string]*program{}
	roots := map[string]*program{}
	for _, k := range slices.Sorted(maps.Keys(w.open)) {
		used[k] = w.program(k)
		roots[k] = used[k]
		for _, c := range w.candidates(k) {
			used[c] = w.program(c)
			if used[c].holds(k) {
				roots[c] = used[c]
			}
		}
	}
	w.checked, w.programs = used, nil
	for _, k := range slices.Sorted(maps.Keys(roots)) {
		p := roots[k]
		imported := false
		for _, q := range roots { // of files that import each other, the first in order is the root
			imported = imported || q != p && q.holds(p.root) && (!p.holds(q.root) || q.root < p.root)
		}
		if !imported {
			w.programs = append(w.programs, p)
		}
	}
}

// candidates are the files whose programs a file may be part of: an import names what is below the folder of a program's first file. They are looked for up to the
// workspace's folder.
func (w *workspace) candidates(key string) (out []string) {
	if !filepath.IsAbs(key) || w.inLibrary(key) {
		return nil
	}
	for folder := filepath.Dir(key); ; folder = filepath.Dir(folder) {
		entries, _ := os.ReadDir(folder) // what cannot be read holds no candidates
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if len(out) < maxCandidates && filepath.Ext(path) == extension && path != key {
				out = append(out, path)
			}
		}
		inside := slices.ContainsFunc(w.folders, func(f string) bool { return within(folder, f) && folder != f })
		if !inside || folder == filepath.Dir(folder) {
			return out
		}
	}
}

// within reports whether a path is a folder or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// programOf is a program that a document is part of, and its module there; nil if the document is not open or cannot be read.
func (w *workspace) programOf(key string) (*program, *types.Module) {
	for _, p := range w.programs {
		if m := p.files[key]; m != nil {
			return p, m
		}
	}
	return nil, nil
}

// libraryFolder is where the files of the standard library are written for editors, in a folder for caches. Its name changes with the files.
func libraryFolder(cache string) string {
	if cache == "" {
		return ""
	}
	h := sha256.New()
	for _, m := range std.Modules() {
		text, _ := fs.ReadFile(std.FS, libraryFile(m)) // what is embedded can be read
		h.Write([]byte(m + "\x00" + string(text) + "\x00"))
	}
	return filepath.Join(cache, "std-"+hex.EncodeToString(h.Sum(nil)[:8]))
}

func libraryFile(module string) string { return strings.TrimPrefix(module, "std/") + extension }

func (w *workspace) inLibrary(key string) bool {
	return w.library != "" && within(key, w.library) && key != w.library
}

// writeLibrary writes the standard library's files, read-only, unless they are there.
func (w *workspace) writeLibrary() error {
	if w.library == "" {
		return errors.New("there is no folder for the files of the standard library: the environment names none for caches")
	}
	if err := os.MkdirAll(w.library, 0o755); err != nil {
		return err
	}
	for _, m := range std.Modules() {
		text, err := fs.ReadFile(std.FS, libraryFile(m))
		if err != nil {
			return err
		}
		path := filepath.Join(w.library, libraryFile(m))
		if have, err := os.ReadFile(path); err == nil && string(have) == string(text) {
			continue
		}
		if err := replace(path, text); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a read-only file that appears complete.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o444), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
