// Package lsp is a language server: it tells an editor what is wrong with programs, what names are and where they are declared, and formats files. It speaks version 3.17 of the Language Server
// Protocol over a pair of streams.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/lang/std"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// maxMessage bounds a message from the editor.
const maxMessage = 64 << 20

// Serve answers an editor until it says exit, its stream ends, or ctx is done. The error says what broke the protocol.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := &server{out: out, open: map[string]string{}, flagged: map[string]bool{}}
	r := bufio.NewReader(in)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := read(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.Method == "exit" {
			return nil
		}
		if err := s.handle(m); err != nil {
			return err
		}
	}
}

// message is a request, or a notification if it has no ID (JSON-RPC 2.0).
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// read reads a message: a header with its length, an empty line and JSON.
func read(r *bufio.Reader) (*message, error) {
	length := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			if line != "" {
				return nil, errors.New("lsp: the header of a message is cut off")
			}
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxMessage {
				return nil, fmt.Errorf("lsp: a message has the length %q", value)
			}
		}
	}
	if length < 0 {
		return nil, errors.New("lsp: a message has no Content-Length")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, errors.New("lsp: a message is cut off")
	}
	m := &message{}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("lsp: a message is no JSON: %w", err)
	}
	return m, nil
}

type server struct {
	out     io.Writer
	open    map[string]string // text of open documents, by path
	flagged map[string]bool   // documents that the editor shows diagnostics of
}

func (s *server) send(m map[string]any) error {
	m["jsonrpc"] = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// Error codes of JSON-RPC.
const (
	invalidParams  = -32602
	methodNotFound = -32601
)

type place struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start place `json:"start"`
	End   place `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// params are the parameters of all the methods that this server knows.
type params struct {
	TextDocument struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"textDocument"`
	ContentChanges []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
	Position place `json:"position"`
}

func (s *server) handle(m *message) error {
	var p params
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			if m.ID == nil {
				return nil // a notification has no answer
			}
			return s.send(map[string]any{"id": m.ID, "error": map[string]any{"code": invalidParams, "message": err.Error()}})
		}
	}
	path := pathOf(p.TextDocument.URI)
	var result any
	switch m.Method {
	case "initialize":
		result = map[string]any{
			"serverInfo": map[string]any{"name": "ixprove"},
			"capabilities": map[string]any{
				"textDocumentSync": 1, // whole documents
				"hoverProvider":    true, "definitionProvider": true, "documentFormattingProvider": true,
			},
		}
	case "shutdown":
	case "textDocument/didOpen":
		s.open[path] = p.TextDocument.Text
		return s.diagnose()
	case "textDocument/didChange":
		if n := len(p.ContentChanges); n > 0 {
			s.open[path] = p.ContentChanges[n-1].Text
		}
		return s.diagnose()
	case "textDocument/didClose":
		delete(s.open, path)
		return s.diagnose()
	case "textDocument/hover":
		result = s.hover(path, p.Position)
	case "textDocument/definition":
		result = s.definition(path, p.Position)
	case "textDocument/formatting":
		result = s.format(path)
	default:
		if m.ID == nil {
			return nil
		}
		return s.send(map[string]any{"id": m.ID, "error": map[string]any{"code": methodNotFound, "message": "there is no method " + m.Method}})
	}
	if m.ID == nil {
		return nil
	}
	return s.send(map[string]any{"id": m.ID, "result": result})
}

// pathOf is the file of a URI; other URIs stand for themselves.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}

func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// overlay is a folder in which open documents stand before files.
type overlay struct {
	folder string
	fs.FS
	open map[string]string
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	if text, ok := o.open[filepath.Join(o.folder, filepath.FromSlash(name))]; ok {
		return document{strings.NewReader(text)}, nil
	}
	return o.FS.Open(name)
}

// document is an open document as a file.
type document struct{ *strings.Reader }

// Stat implements fs.File; a document is only read.
func (document) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

// Close implements fs.File.
func (document) Close() error { return nil }

// check checks the program that a document is the first file of. One that others import is looked at as a library. It also gives the folder that imports are relative to, and the document's name there.
func (s *server) check(path string) (p *types.Program, errs syntax.Errors, folder, name string) {
	folder = s.folder(path)
	name, err := filepath.Rel(folder, path)
	if err != nil {
		folder, name = filepath.Dir(path), filepath.Base(path)
	}
	name = filepath.ToSlash(name)
	p, errs = types.Check(overlay{folder, os.DirFS(folder), s.open}, name, types.Options{Library: true})
	return p, errs, folder, name
}

// maxLevels is how far above a document the first file of its program is looked for.
const maxLevels = 8

// folder is the nearest folder at or above a document's that has all that the document imports: that of the program's first file. Without one it is the document's own.
func (s *server) folder(path string) string {
	own := filepath.Dir(path)
	m, _ := syntax.Parse(syntax.NewFile(path, s.open[path]))
	missing := func(folder string) bool {
		return slices.ContainsFunc(m.Imports, func(i *syntax.Import) bool {
			name := strings.TrimSuffix(i.Path, ".ix") + ".ix"
			if strings.HasPrefix(name, "std/") || !fs.ValidPath(name) {
				return false
			}
			file := filepath.Join(folder, filepath.FromSlash(name))
			_, open := s.open[file]
			_, err := os.Stat(file)
			return !open && err != nil
		})
	}
	for folder, level := own, 0; level < maxLevels; level++ {
		if !missing(folder) {
			return folder
		}
		folder = filepath.Dir(folder)
	}
	return own
}

// diagnose publishes the diagnostics of all open documents, and empty lists for those that had some.
func (s *server) diagnose() error {
	found := map[string][]map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(s.open)) {
		found[path] = []map[string]any{}
	}
	for path := range s.flagged {
		if found[path] == nil {
			found[path] = []map[string]any{}
		}
	}
	for path := range s.open {
		_, errs, _, name := s.check(path)
		for _, e := range errs {
			if e.Span.File == nil || e.Span.File.Name != name {
				continue // shown with its own document
			}
			text := e.What
			for _, part := range []struct{ label, text string }{{"expected", e.Expected}, {"got", e.Got}, {"next", e.Next}} {
				if part.text != "" {
					text += "\n" + part.label + ": " + part.text
				}
			}
			found[path] = append(found[path], map[string]any{"range": rangeOf(e.Span), "severity": 1, "source": "ixprove", "message": text})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		s.flagged[path] = len(found[path]) > 0
		if err := s.send(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": uriOf(path), "diagnostics": found[path]}}); err != nil {
			return err
		}
	}
	return nil
}

func rangeOf(s syntax.Span) span {
	at := func(offset int) place {
		line, units := s.File.Units(offset)
		return place{line, units}
	}
	return span{at(s.Start), at(max(s.End, s.Start))}
}

// find is the smallest reference at a place of a document, and the folder of its program.
func (s *server) find(path string, at place) (best *types.Ref, folder string) {
	p, _, folder, _ := s.check(path)
	if len(p.Modules) == 0 {
		return nil, folder
	}
	file := p.Modules[0].File
	offset := file.Offset(at.Line, at.Character)
	for i := range p.Refs {
		r := &p.Refs[i]
		if r.Span.File == file && r.Span.Start <= offset && offset <= r.Span.End && (best == nil || r.Span.End-r.Span.Start < best.Span.End-best.Span.Start) {
			best = r
		}
	}
	return best, folder
}

func (s *server) hover(path string, at place) any {
	r, _ := s.find(path, at)
	if r == nil {
		return nil
	}
	text := r.Text
	if r.Type != nil {
		text = r.What + " " + r.Span.Text() + ": " + r.Type.String()
	}
	value := "```ix\n" + text + "\n```"
	if r.Doc != "" {
		value += "\n\n" + r.Doc
	}
	return map[string]any{"contents": map[string]any{"kind": "markdown", "value": value}, "range": rangeOf(r.Span)}
}

func (s *server) definition(path string, at place) any {
	r, folder := s.find(path, at)
	if r == nil || r.Def.File == nil {
		return nil
	}
	name := r.Def.File.Name
	if module, ok := strings.CutPrefix(name, "std/"); ok {
		file, err := standardFile(module)
		if err != nil {
			return nil
		}
		return location{uriOf(file), rangeOf(r.Def)}
	}
	return location{uriOf(filepath.Join(folder, filepath.FromSlash(name))), rangeOf(r.Def)}
}

// standardFile writes a module of the standard library into the user's cache, so that an editor can show it.
func standardFile(name string) (string, error) {
	text, err := fs.ReadFile(std.FS, name)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "ixprove", "std")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(folder, name)
	if have, err := os.ReadFile(file); err == nil && string(have) == string(text) {
		return file, nil
	}
	return file, os.WriteFile(file, text, 0o644)
}

// format replaces a document by its standard form, if it has no errors.
func (s *server) format(path string) any {
	text, ok := s.open[path]
	if !ok {
		return nil
	}
	file := syntax.NewFile(path, text)
	m, errs := syntax.Parse(file)
	if len(errs) > 0 {
		return nil
	}
	return []map[string]any{{"range": rangeOf(syntax.Span{File: file, Start: 0, End: len(text)}), "newText": syntax.Format(m)}}
}
