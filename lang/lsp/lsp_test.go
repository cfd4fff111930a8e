package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// editor talks to a server over pipes, as an editor does.
type editor struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	done chan error
	id   int
}

func newEditor(t *testing.T) *editor {
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	e := &editor{t: t, in: in, out: bufio.NewReader(out), done: make(chan error, 1)}
	go func() {
		err := Serve(context.Background(), toServer, fromServer)
		fromServer.Close()
		e.done <- err
	}()
	return e
}

func (e *editor) send(m map[string]any) {
	e.t.Helper()
	m["jsonrpc"] = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s", len(body), body); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) receive() map[string]any {
	e.t.Helper()
	length := 0
	for {
		line, err := e.out.ReadString('\n')
		if err != nil {
			e.t.Fatal(err)
		}
		if line == "\r\n" {
			break
		}
		fmt.Sscanf(line, "Content-Length: %d", &length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(e.out, body); err != nil {
		e.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		e.t.Fatal(err)
	}
	return m
}

func (e *editor) request(method string, params any) map[string]any {
	e.t.Helper()
	e.id++
	e.send(map[string]any{"id": e.id, "method": method, "params": params})
	m := e.receive()
	if m["id"] != float64(e.id) {
		e.t.Fatalf("%s: got %v", method, m)
	}
	return m
}

// text of an answer, for looking things up.
func text(m any) string {
	b, _ := json.Marshal(m)
	return string(b)
}

func (e *editor) open(path, content string) string {
	e.t.Helper()
	e.send(map[string]any{"method": "textDocument/didOpen", "params": map[string]any{"textDocument": map[string]any{"uri": uriOf(path), "languageId": "ix", "version": 1, "text": content}}})
	return text(e.receive())
}

func at(path string, line, character int) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uriOf(path)}, "position": map[string]any{"line": line, "character": character}}
}

func (e *editor) mentions(what, where string) {
	e.t.Helper()
	if !strings.Contains(where, what) {
		e.t.Errorf("no %s in %s", what, where)
	}
}

func TestSession(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder := t.TempDir()
	path := filepath.Join(folder, "main.ix")
	library := filepath.Join(folder, "lib", "math.ix")
	if err := os.MkdirAll(filepath.Dir(library), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library, []byte("// twice is x and x.\npub fn twice(x: u64) -> u64 { x + x }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e := newEditor(t)
	e.mentions(`"hoverProvider":true`, text(e.request("initialize", map[string]any{"processId": nil, "rootUri": uriOf(folder), "capabilities": map[string]any{}})))
	e.send(map[string]any{"method": "initialized", "params": map[string]any{}})

	const source = "import \"lib/math\";\nimport \"std/list\" (List);\npub fn main(𝑥: u64) -> u64 { 1 }\n"
	e.mentions(`"diagnostics":[{"message":"no token starts with this character","range":{"end":{"character":14,"line":2},"start":{"character":12,"line":2}}`, e.open(path, source))
	fixed := "import \"lib/math\";\nimport \"std/list\" (List);\npub fn main(x: u64, private l: List<u64>) -> u64 {\n let y=math::twice(x);\n y + list::sum(l)\n}\n"
	e.send(map[string]any{"method": "textDocument/didChange", "params": map[string]any{"textDocument": map[string]any{"uri": uriOf(path), "version": 2}, "contentChanges": []any{map[string]any{"text": fixed}}}})
	e.mentions(`"diagnostics":[]`, text(e.receive()))

	e.mentions(`let y: u64`, text(e.request("textDocument/hover", at(path, 4, 1))))
	e.mentions(`fn twice(x: u64) -\u003e u64`, text(e.request("textDocument/hover", at(path, 3, 15))))
	e.mentions(`twice is x and x.`, text(e.request("textDocument/hover", at(path, 3, 15))))
	e.mentions(`"result":null`, text(e.request("textDocument/hover", at(path, 9, 15))))

	d := text(e.request("textDocument/definition", at(path, 3, 15)))
	e.mentions(uriOf(library), d)
	e.mentions(`"start":{"character":7,"line":1}`, d)
	e.mentions(`"start":{"character":5,"line":3}`, text(e.request("textDocument/definition", at(path, 4, 1))))
	e.mentions("/std/list.ix", text(e.request("textDocument/definition", at(path, 4, 12))))
	e.mentions(`let y = math::twice(x);`, text(e.request("textDocument/formatting", at(path, 0, 0))))

	// A change of an open library shows in the programs that import it before it is saved.
	e.open(library, "pub fn twice(x: u32) -> u32 { x + x }\n")
	e.mentions("the types differ", text(e.receive()))
	e.mentions(`"code":-32601`, text(e.request("textDocument/rename", at(path, 0, 0))))
	e.mentions(`"code":-32602`, text(e.request("textDocument/hover", []any{1})))
	e.mentions(`"result":null`, text(e.request("shutdown", nil)))
	e.send(map[string]any{"method": "exit"})
	if err := <-e.done; err != nil {
		t.Error(err)
	}
}

func TestBrokenProtocol(t *testing.T) {
	for _, in := range []string{"Content-Length: x\r\n\r\n", "Content-Length: 5\r\n\r\n{", "Content-Length: 1\r\n\r\n{", "\r\n", "Content-Length: 99999999999\r\n\r\n", "Content"} {
		if err := Serve(context.Background(), strings.NewReader(in), io.Discard); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
	if err := Serve(context.Background(), strings.NewReader(""), io.Discard); err != nil {
		t.Error(err)
	}
}
