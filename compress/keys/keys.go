// Package keys keeps what a setup makes, in a folder: powers of tau, Lagrange points, proving and verifying keys. An entry is a folder of files with a meta.json that lists their lengths
// and digests. Entries appear whole, and a file is given out only after its digest was checked. What lies in the folder is not otherwise trusted: decoders check it again.
package keys

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/formats"
)

// metaFormat is the version of meta.json.
const metaFormat = "ixprove-keys/1"

const (
	metaName     = "meta.json"
	maxMetaBytes = 64 << 10
	tempPrefix   = ".new-"
	oldPrefix    = ".old-"
)

// Store is a folder of entries.
type Store struct{ folder string }

// New is the store in a folder, which need not be there yet.
func New(folder string) *Store { return &Store{folder} }

// Folder is where the entries are.
func (s *Store) Folder() string { return s.folder }

// Path names an entry: one to four plain names, such as plonk/<circuit>/<setup>.
type Path []string

var plainName = regexp.MustCompile(`^[0-9a-z][0-9a-z-]{0,127}$`)

func (p Path) check() error {
	if len(p) < 1 || len(p) > 4 || slices.ContainsFunc(p, func(n string) bool { return !plainName.MatchString(n) }) {
		return &formats.Error{Class: formats.Internal, Place: "key store", What: "this names no entry", Got: strconv.Quote(strings.Join(p, "/"))}
	}
	return nil
}

// Files are the contents of a new entry.
type Files map[string]func(w io.Writer) error

// Bytes writes what is in memory.
func Bytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(b); return err }
}

type meta struct {
	Format string              `json:"format"`
	Setup  setup               `json:"setup"`
	Files  map[string]fileMeta `json:"files"`
}

type setup struct {
	Mode   string `json:"mode"`
	Source string `json:"source"`
	Name   string `json:"name"`
}

type fileMeta struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Put makes an entry, in place of one that is there. It is written beside its place, synced and renamed, so that it is there whole or not at all. Errors are those of the file system or
// of a file's writer, or that of ctx; then nothing is left.
func (s *Store) Put(ctx context.Context, path Path, origin formats.Setup, files Files) (err error) {
	if err := path.check(); err != nil {
		return err
	}
	place := filepath.Join(append([]string{s.folder}, path...)...)
	parent := filepath.Dir(place)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, tempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) // it is gone already if all went well
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	m := meta{Format: metaFormat, Setup: setup{origin.Mode, hex.EncodeToString(origin.Source[:]), origin.Name}, Files: map[string]fileMeta{}}
	for name, write := range files {
		if !plainName.MatchString(name) {
			return Path{name}.check()
		}
		h := sha256.New()
		n, err := writeFile(filepath.Join(temp, name), func(w io.Writer) error { return write(&stoppable{ctx, io.MultiWriter(w, h)}) })
		if err != nil {
			return err
		}
		m.Files[name] = fileMeta{n, hex.EncodeToString(h.Sum(nil))}
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if _, err := writeFile(filepath.Join(temp, metaName), Bytes(append(data, '\n'))); err != nil {
		return err
	}
	syncFolder(temp)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.replace(place, temp); err != nil {
		return err
	}
	syncFolder(parent)
	return nil
}

// replace renames temp to place. An entry that was there moves out of the way first: for a moment there is none, never half of one.
func (s *Store) replace(place, temp string) error {
	err := os.Rename(temp, place)
	if err == nil || !errors.Is(err, fs.ErrExist) && !isNotEmpty(place) {
		return err
	}
	old, err := os.MkdirTemp(filepath.Dir(place), oldPrefix+"*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(old)
	if err := os.Rename(place, filepath.Join(old, "entry")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(temp, place)
}

func isNotEmpty(folder string) bool {
	entries, err := os.ReadDir(folder)
	return err == nil && len(entries) > 0
}

func writeFile(path string, write func(io.Writer) error) (n int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return 0, err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err == nil {
		n, err = f.Seek(0, io.SeekCurrent)
	}
	return n, errors.Join(err, f.Close())
}

type stoppable struct {
	ctx context.Context
	w   io.Writer
}

func (s *stoppable) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(b)
}

// syncFolder makes renames last. Not every file system can; entries are whole either way.
func syncFolder(folder string) {
	if d, err := os.Open(folder); err == nil {
		d.Sync()
		d.Close()
	}
}

// List names the entries one level below a path, in order. A path that is not there has none.
func (s *Store) List(path ...string) ([]string, error) {
	if len(path) > 0 {
		if err := Path(path).check(); err != nil {
			return nil, err
		}
	}
	found, err := os.ReadDir(filepath.Join(append([]string{s.folder}, path...)...))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range found {
		if e.IsDir() && plainName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Entry is an entry whose meta.json was read.
type Entry struct {
	Setup formats.Setup

	folder, place string
	files         map[string]fileMeta
}

// Open opens an entry. Without one it returns an error that is fs.ErrNotExist; one that is damaged is an *formats.Error of class Malformed.
func (s *Store) Open(path Path) (*Entry, error) {
	if err := path.check(); err != nil {
		return nil, err
	}
	e := &Entry{folder: filepath.Join(append([]string{s.folder}, path...)...), place: "key store, " + strings.Join(path, "/")}
	f, err := os.Open(filepath.Join(e.folder, metaName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMetaBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxMetaBytes {
		return nil, e.damaged(metaName, "at most "+strconv.Itoa(maxMetaBytes)+" bytes", "more")
	}
	var m meta
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, e.damaged(metaName, "an object of "+metaFormat, err.Error())
	}
	if m.Format != metaFormat {
		return nil, e.damaged(metaName, metaFormat, strconv.Quote(m.Format))
	}
	source, err := hex.DecodeString(m.Setup.Source)
	if err != nil || len(source) != len(e.Setup.Source) {
		return nil, e.damaged(metaName, "a digest of the setup", strconv.Quote(m.Setup.Source))
	}
	e.Setup = formats.Setup{Mode: m.Setup.Mode, Source: formats.Digest(source), Name: m.Setup.Name}
	e.files = m.Files
	return e, nil
}

func (e *Entry) damaged(name, expected, got string) error {
	return &formats.Error{Class: formats.Malformed, Place: e.place + "/" + name, What: "a kept file is damaged", Expected: expected, Got: got, Next: "remove " + e.folder + " and set up again"}
}

// Damaged is the error for a file of the entry that a decoder refused.
func (e *Entry) Damaged(name string, err error) error {
	return e.damaged(name, "what the setup wrote", err.Error())
}

// File is an opened file whose digest was checked.
type File struct {
	*os.File
	size int64
}

// Size is the file's length in bytes.
func (f *File) Size() int64 { return f.size }

// File opens a file of the entry and checks its length and digest. Memory does not grow with it. Errors are those of Open, or that of ctx.
func (e *Entry) File(ctx context.Context, name string) (*File, error) {
	want, ok := e.files[name]
	if !ok || !plainName.MatchString(name) {
		return nil, e.damaged(name, "a file in meta.json", "none")
	}
	f, err := os.Open(filepath.Join(e.folder, name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.place, err)
	}
	h := sha256.New()
	n, err := io.Copy(&stoppable{ctx, h}, io.LimitReader(f, want.Bytes+1))
	switch got := hex.EncodeToString(h.Sum(nil)); {
	case err != nil:
	case n != want.Bytes:
		err = e.damaged(name, strconv.FormatInt(want.Bytes, 10)+" bytes", "another length")
	case got != want.SHA256:
		err = e.damaged(name, "SHA-256 "+want.SHA256, got)
	default:
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f, n}, nil
}

// Read reads a file of at most limit bytes whole. Errors are those of File.
func (e *Entry) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	f, err := e.File(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.size > limit {
		return nil, e.damaged(name, "at most "+strconv.FormatInt(limit, 10)+" bytes", strconv.FormatInt(f.size, 10))
	}
	data := make([]byte, f.size)
	_, err = io.ReadFull(f, data)
	return data, err
}
