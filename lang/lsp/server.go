// Package lsp is the language server of the program language: JSON-RPC 2.0 over a pair of streams, as the Language Server Protocol 3.17 has it.
//
// It reports what is wrong in the programs that open documents are part of, from the text in the editor, and answers hover, definition, formatting and document symbols. One goroutine
// does all work in the order of the messages; diagnostics wait until no message is waiting. No input ends it but the end of the input, a header that cannot be told from content, and exit.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Options of Serve.
type Options struct {
	Version string // of the program, for the editor's log; may be empty
	Cache   string // folder in which the standard library's files are written when the editor is to open one; empty for none
}

// ErrNoShutdown says that the client left without asking for shutdown; LSP wants exit code 1 for it.
var ErrNoShutdown = errors.New("ixprove: the client ended the session without shutdown")

// Serve serves one client until it sends exit, its stream ends, or ctx does. The error is nil after shutdown and exit, ErrNoShutdown, ctx's, one of a stream, or a *formats.Error of
// class Limit for a header without end. A read of in may still wait when Serve returns.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := &server{
		frames: &frames{bufio.NewReaderSize(in, maxHeaderBytes), out}, options: o, published: map[string]string{},
		workspace: &workspace{open: map[string]*document{}, library: libraryFolder(o.Cache), checked: map[string]*program{}},
	}
	done := make(chan struct{})
	defer close(done)
	queue := make(chan arrival, 64)
	go s.receive(queue, done)
	for s.broken == nil && s.state != exited {
		if s.dirty && len(queue) == 0 {
			s.publish()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a := <-queue:
			var bad *badFrame
			switch {
			case errors.As(a.err, &bad):
				s.fail(nil, &failure{parseError, bad.what})
			case a.err == io.EOF && s.state == leaving:
				return s.broken
			case a.err == io.EOF:
				return ErrNoShutdown
			case a.err != nil:
				return a.err
			default:
				s.accept(a.content)
			}
		}
	}
	if s.broken == nil && !s.orderly {
		return ErrNoShutdown
	}
	return s.broken
}

// arrival is a message's content, or why there is none.
type arrival struct {
	content []byte
	err     error
}

// receive reads messages until the stream or the session ends.
func (s *server) receive(queue chan<- arrival, done <-chan struct{}) {
	for {
		content, err := s.frames.read()
		select {
		case queue <- arrival{content, err}:
		case <-done:
			return
		}
		var bad *badFrame
		if err != nil && !errors.As(err, &bad) {
			return
		}
	}
}

// state is where a session is.
type state uint8

const (
	starting state = iota // before initialize
	running
	leaving // after shutdown
	exited
)

type server struct {
	*workspace
	frames    *frames
	options   Options
	state     state
	orderly   bool              // exit came after shutdown
	broken    error             // of the output
	dirty     bool              // documents changed since the last diagnostics
	published map[string]string // the last diagnostics, as sent, by URI

	markdown, tree, relate bool // what the client can show
}

func (s *server) send(v any) {
	if s.broken == nil {
		s.broken = s.frames.write(v)
	}
}

// fail answers a request with an error. Without a request's id the answer has the id null.
func (s *server) fail(id json.RawMessage, f *failure) {
	if id == nil {
		id = json.RawMessage("null")
	}
	s.send(errorResponse{"2.0", id, f})
}

func (s *server) notify(method string, params any) { s.send(notification{"2.0", method, params}) }

func (s *server) accept(content []byte) {
	m, f := decode(content)
	switch {
	case f != nil:
		s.fail(nil, f)
	case m.Method == "": // a response, and the server asks nothing
	case m.ID != nil:
		s.request(m)
	default:
		s.notification(m)
	}
}

// request answers a request.
func (s *server) request(m *message) {
	result, err := s.answer(m)
	var f *failure
	switch {
	case err == nil:
		s.send(response{"2.0", m.ID, result})
	case errors.As(err, &f):
		s.fail(m.ID, f)
	default:
		s.fail(m.ID, &failure{requestFailed, err.Error()})
	}
}

// Error makes a failure what a handler returns.
func (f *failure) Error() string { return f.Message }

// recovered turns a panic into an error: a bug must not end the editor's session.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = &failure{internalError, fmt.Sprint("a bug in ixprove: ", r)}
	}
}

// params reads a message's parameters.
func params[T any](m *message) (T, error) {
	var p T
	if m.Params == nil {
		return p, &failure{invalidParams, m.Method + " has parameters"}
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return p, &failure{invalidParams, "the parameters of " + m.Method + " are not as specified: " + err.Error()}
	}
	return p, nil
}

func (s *server) answer(m *message) (result any, err error) {
	defer recovered(&err)
	if m.Method == "initialize" {
		if s.state != starting {
			return nil, &failure{invalidRequest, "the session is initialized already"}
		}
		return s.initialize(m)
	}
	switch s.state {
	case starting:
		return nil, &failure{serverNotInitialized, "the first request is initialize"}
	case leaving:
		return nil, &failure{invalidRequest, "the session is shut down"}
	}
	if s.dirty {
		s.publish()
	}
	switch m.Method {
	case "shutdown":
		s.state = leaving
		return nil, nil
	case "textDocument/hover":
		p, err := params[positionParams](m)
		if err != nil {
			return nil, err
		}
		if h := s.hover(key(p.Document.URI), p.Position, s.markdown); h != nil {
			return h, nil
		}
		return nil, nil
	case "textDocument/definition":
		p, err := params[positionParams](m)
		if err != nil {
			return nil, err
		}
		if list, err := s.definitions(key(p.Document.URI), p.Position); err != nil || list != nil {
			return list, err
		}
		return nil, nil
	case "textDocument/formatting", "textDocument/documentSymbol":
		p, err := params[documentParams](m)
		if err != nil {
			return nil, err
		}
		d := s.open[key(p.Document.URI)]
		if d == nil {
			return nil, &failure{invalidParams, "the document is not open: " + p.Document.URI}
		}
		if m.Method == "textDocument/formatting" {
			if edits := format(d.text); edits != nil {
				return edits, nil
			}
			return nil, nil
		}
		list := symbols(d.text)
		if s.tree {
			return list, nil
		}
		return flat(list, d.uri, ""), nil
	}
	return nil, &failure{methodNotFound, "there is no such method: " + m.Method}
}

func (s *server) initialize(m *message) (any, error) {
	p, err := params[initializeParams](m)
	if err != nil {
		return nil, err
	}
	s.state = running
	if p.Folders == nil && p.RootURI != "" {
		p.Folders = []workspaceFolder{{URI: p.RootURI}}
	}
	s.changeFolders(p.Folders, nil)
	can := p.Capabilities.TextDocument
	s.markdown = slices.Contains(can.Hover.ContentFormat, "markdown")
	s.tree, s.relate = can.DocumentSymbol.Hierarchical, can.PublishDiagnostics.RelatedInformation
	r := initializeResult{ServerInfo: serverInfo{"ixprove", s.options.Version}, Capabilities: serverCapabilities{
		PositionEncoding: "utf-16", TextDocumentSync: textDocumentSync{OpenClose: true, Change: syncFull, Save: true}, Hover: true, Definition: true, DocumentSymbol: true, Formatting: true,
	}}
	r.Capabilities.Workspace.Folders.Supported, r.Capabilities.Workspace.Folders.ChangeNotifications = true, true
	return r, nil
}

func (s *server) changeFolders(added, removed []workspaceFolder) {
	for _, f := range removed {
		if path, ok := pathOf(f.URI); ok {
			s.folders = slices.DeleteFunc(s.folders, func(g string) bool { return g == path })
		}
	}
	for _, f := range added {
		if path, ok := pathOf(f.URI); ok && !slices.Contains(s.folders, path) {
			s.folders = append(s.folders, path)
		}
	}
}

// notification does what a notification asks. What is wrong with one goes to the editor's log.
func (s *server) notification(m *message) {
	if err := s.note(m); err != nil {
		s.notify("window/logMessage", logMessageParams{messageError, err.Error()})
	}
}

func (s *server) note(m *message) (err error) {
	defer recovered(&err)
	if m.Method == "exit" {
		s.orderly, s.state = s.state == leaving, exited
		return nil
	}
	if s.state != running {
		return nil // as LSP says
	}
	switch m.Method {
	case "textDocument/didOpen":
		p, err := params[didOpenParams](m)
		if err != nil {
			return err
		}
		s.open[key(p.Document.URI)] = &document{p.Document.URI, p.Document.Version, p.Document.Text}
		s.dirty = true
	case "textDocument/didChange":
		p, err := params[didChangeParams](m)
		if err != nil {
			return err
		}
		d := s.open[key(p.Document.URI)]
		if d == nil {
			return errors.New("a document changed that is not open: " + p.Document.URI)
		}
		for _, c := range p.Changes {
			if c.Range != nil {
				return errors.New("a change of a part was sent, and the server asks for whole documents: " + p.Document.URI)
			}
			d.text = c.Text
		}
		d.version, s.dirty = p.Document.Version, true
	case "textDocument/didClose":
		p, err := params[documentParams](m)
		if err != nil {
			return err
		}
		delete(s.open, key(p.Document.URI))
		s.dirty = true
	case "workspace/didChangeWorkspaceFolders":
		p, err := params[foldersParams](m)
		if err != nil {
			return err
		}
		s.changeFolders(p.Event.Added, p.Event.Removed)
		s.dirty = true
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.dirty = true
	}
	return nil
}

// publish checks what changed and sends the diagnostics that are not as they were sent before.
func (s *server) publish() {
	s.dirty = false
	var err error
	func() {
		defer recovered(&err)
		s.refresh()
	}()
	if err != nil {
		s.notify("window/logMessage", logMessageParams{messageError, err.Error()})
		return
	}
	list := s.diagnostics(s.relate)
	now := map[string]diagnosticsParams{}
	for uri := range s.published { // those without errors now
		now[uri] = diagnosticsParams{URI: uri, Diagnostics: []diagnostic{}}
	}
	for k, d := range s.open {
		now[d.uri] = diagnosticsParams{d.uri, &d.version, append([]diagnostic{}, list[k]...)}
	}
	for k, of := range list {
		if s.open[k] == nil {
			now[s.uri(k)] = diagnosticsParams{URI: s.uri(k), Diagnostics: of}
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(now)) {
		p := now[uri]
		text, _ := json.Marshal(p) // of strings and numbers
		if s.published[uri] == string(text) {
			continue
		}
		s.notify("textDocument/publishDiagnostics", p)
		s.published[uri] = string(text)
		if len(p.Diagnostics) == 0 && s.open[key(uri)] == nil {
			delete(s.published, uri)
		}
	}
}
