package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ixprove/ixprove/lang/std"
)

var update = flag.Bool("update", false, "write what the server answers into the conversations")

// client is the editor's end of a session.
type client struct {
	t    *testing.T
	to   *io.PipeWriter
	from *frames
	end  chan error
}

func start(t *testing.T, cache string) *client {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &client{t, to, &frames{in: bufio.NewReader(from)}, make(chan error, 1)}
	go func() {
		err := Serve(t.Context(), in, out, Options{Version: "1.0", Cache: cache})
		in.Close()
		out.Close()
		c.end <- err
	}()
	t.Cleanup(func() { to.Close() })
	return c
}

// send writes bytes; the server may have left.
func (c *client) send(b []byte) {
	if _, err := c.to.Write(b); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		c.t.Error(err)
	}
}

func frame(content string) []byte {
	return fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(content), content)
}

// sync is a request that is answered in every state, so that all before it is done.
const sync = `{"jsonrpc":"2.0","id":"sync","method":"ixprove/nothing"}`

// replies are the messages up to the answer to sync, or to the end.
func (c *client) replies() (out []string) {
	c.t.Helper()
	for {
		content, err := c.from.read()
		if err == io.EOF {
			return append(out, fmt.Sprintf("end: %v", <-c.end))
		}
		if err != nil {
			c.t.Fatal(err)
		}
		if bytes.Contains(content, []byte(`"id":"sync"`)) {
			return out
		}
		out = append(out, string(content))
	}
}

// call sends messages and gives the replies.
func (c *client) call(contents ...string) []string {
	c.t.Helper()
	for _, content := range contents {
		c.send(frame(content))
	}
	c.send(frame(sync))
	return c.replies()
}

// script gives what is written in conversations a meaning: $ROOT and $STD are the URIs of the project and of the standard library's files, $TEXT(file) is a file of the project as a
// JSON string, and $AT(file, line, text) is the position of the first such text in a line.
type script struct {
	t         *testing.T
	root, std string
}

var (
	textCall = regexp.MustCompile(`\$TEXT\(([^)]*)\)`)
	atCall   = regexp.MustCompile(`\$AT\(([^,]*), (\d+), ([^)]*)\)`)
)

func (s *script) read(file string) string {
	text, err := os.ReadFile(filepath.Join("testdata/project", file))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *script) expand(line string) string {
	line = textCall.ReplaceAllStringFunc(line, func(call string) string {
		text, err := json.Marshal(s.read(textCall.FindStringSubmatch(call)[1]))
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text)
	})
	line = atCall.ReplaceAllStringFunc(line, func(call string) string {
		m := atCall.FindStringSubmatch(call)
		number, err := strconv.Atoi(m[2])
		if err != nil {
			s.t.Fatal(err)
		}
		before, _, ok := strings.Cut(strings.Split(s.read(m[1]), "\n")[number-1], m[3])
		if !ok {
			s.t.Fatalf("%s: no such text", call)
		}
		return fmt.Sprintf(`{"line":%d,"character":%d}`, number-1, len(utf16.Encode([]rune(before))))
	})
	line = strings.ReplaceAll(line, "$ROOT", s.root)
	return strings.ReplaceAll(line, "$STD", s.std)
}

// libraryPlace is a location in the standard library on one line.
var libraryPlace = regexp.MustCompile(`"uri":"\$STD/(\w+\.ix)","range":{"start":{"line":(\d+),"character":(\d+)},"end":{"line":\d+,"character":(\d+)}}`)

// named says what stands at locations in the standard library, whose lines move.
func (s *script) named(reply string) string {
	return libraryPlace.ReplaceAllStringFunc(reply, func(place string) string {
		m := libraryPlace.FindStringSubmatch(place)
		text, err := fs.ReadFile(std.FS, m[1])
		if err != nil {
			s.t.Fatal(err)
		}
		var numbers [3]int
		for i := range numbers {
			if numbers[i], err = strconv.Atoi(m[2+i]); err != nil {
				s.t.Fatal(err)
			}
		}
		line := strings.Split(string(text), "\n")[numbers[0]]
		return fmt.Sprintf(`"uri":"$STD/%s","name":%q`, m[1], line[numbers[1]:numbers[2]])
	})
}

func uriOf(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// TestConversations holds conversations with the server: each line of a file that begins with -> is a message to it, => are bytes as a Go string, and the lines <- behind are all that it
// answers before it is idle again.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	project, err := filepath.Abs("testdata/project")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			cache := t.TempDir()
			s := &script{t, uriOf(project), uriOf(libraryFolder(cache))}
			c := start(t, cache)
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for line := range strings.Lines(string(want)) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "<- ") {
					continue
				}
				got.WriteString(line + "\n")
				var replies []string
				if content, ok := strings.CutPrefix(line, "-> "); ok {
					replies = c.call(strings.Replace(s.expand(content), "{", `{"jsonrpc":"2.0",`, 1))
				} else if quoted, ok := strings.CutPrefix(line, "=> "); ok {
					raw, err := strconv.Unquote(quoted)
					if err != nil {
						t.Fatalf("%s: %v", quoted, err)
					}
					c.send([]byte(raw))
					c.send(frame(sync))
					replies = c.replies()
				}
				for _, r := range replies {
					r = strings.TrimSuffix(r, "\n")
					for _, name := range []struct{ uri, is string }{{s.std, "$STD"}, {s.root, "$ROOT"}, {`"jsonrpc":"2.0",`, ""}} {
						r = strings.ReplaceAll(r, name.uri, name.is)
					}
					got.WriteString("<- " + s.named(r) + "\n")
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			have, should := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
			for i := range max(len(have), len(should)) {
				if i >= len(have) || i >= len(should) || have[i] != should[i] {
					t.Fatalf("line %d of %s\ngot  %s\nwant %s", i+1, file, strings.Join(have[min(i, len(have)):min(i+1, len(have))], ""), strings.Join(should[min(i, len(should)):min(i+1, len(should))], ""))
				}
			}
		})
	}
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}`

func didOpen(uri, text string) string {
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "text": text}}})
	return string(b)
}

func ask(method, uri string, line, character int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d}}}`, method, uri, line, character)
}

// TestPrograms checks which program a file is part of.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		open  []string
		roots []string
	}{
		{"a file that no other imports is a program", map[string]string{"a.ix": "", "b.ix": ""}, []string{"a.ix"}, []string{"a.ix"}},
		{"a module is part of what imports it", map[string]string{"z.ix": `import "a";`, "a.ix": ""}, []string{"a.ix"}, []string{"z.ix"}},
		{"through another, in a folder above", map[string]string{"main.ix": `import "l/b";`, "l/b.ix": `import "l/c";`, "l/c.ix": ""}, []string{"l/c.ix"}, []string{"main.ix"}},
		{"both open", map[string]string{"z.ix": `import "a";`, "a.ix": ""}, []string{"a.ix", "z.ix"}, []string{"z.ix"}},
		{"of two", map[string]string{"x.ix": `import "a";`, "y.ix": `import "a";`, "a.ix": ""}, []string{"a.ix"}, []string{"x.ix", "y.ix"}},
		{"in a circle", map[string]string{"a.ix": `import "b";`, "b.ix": `import "a";`}, []string{"a.ix", "b.ix"}, []string{"a.ix"}},
	} {
		folder := t.TempDir()
		w := &workspace{folders: []string{folder}, open: map[string]*document{}, checked: map[string]*program{}}
		for name, text := range c.files {
			path := filepath.Join(folder, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range c.open {
			w.open[filepath.Join(folder, name)] = &document{text: c.files[name]}
		}
		w.refresh()
		var roots []string
		for _, p := range w.programs {
			name, err := filepath.Rel(folder, p.root)
			if err != nil {
				t.Fatal(err)
			}
			roots = append(roots, filepath.ToSlash(name))
		}
		if !slices.Equal(roots, c.roots) {
			t.Errorf("%s: %v, want %v", c.name, roots, c.roots)
		}
		before := w.programs[0]
		if w.refresh(); w.programs[0] != before {
			t.Errorf("%s: checked again without a change", c.name)
		}
		if err := os.WriteFile(filepath.Join(folder, c.roots[0]), []byte("// other\n"+c.files[c.roots[0]]), 0o644); err != nil {
			t.Fatal(err)
		}
		w.open = map[string]*document{filepath.Join(folder, c.open[0]): {text: c.files[c.open[0]] + "// other"}}
		if w.refresh(); w.programs[0] == before {
			t.Errorf("%s: not checked again", c.name)
		}
	}
}

// TestCandidates checks where importers are looked for: up to the workspace's folder, or beside the file without one, and not among any number of files.
func TestCandidates(t *testing.T) {
	folder := t.TempDir()
	inner := filepath.Join(folder, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, at := range []string{inner, filepath.Dir(inner), folder} {
		path := filepath.Join(at, "p.ix")
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.WriteFile(filepath.Join(at, "p.txt"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		all = append(all, path)
	}
	file := filepath.Join(inner, "open.ix")
	for _, c := range []struct {
		folders []string
		want    int
	}{{nil, 1}, {[]string{inner}, 1}, {[]string{filepath.Dir(inner)}, 2}, {[]string{folder}, 3}, {[]string{filepath.Join(folder, "a", "bb")}, 1}} {
		if got := (&workspace{folders: c.folders}).candidates(file); !slices.Equal(got, all[:c.want]) {
			t.Errorf("%v: %v", c.folders, got)
		}
	}
	for i := range 2 * maxCandidates {
		if err := os.WriteFile(filepath.Join(inner, fmt.Sprintf("q%d.ix", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := (&workspace{folders: []string{folder}}).candidates(file); len(got) != maxCandidates {
		t.Errorf("%d candidates", len(got))
	}
}

// TestFormat checks that the edit makes the standard form of the text, and is of whole lines but at the text's end.
func TestFormat(t *testing.T) {
	for _, c := range []struct{ text, want, edit string }{
		{"fn f() {}\n", "fn f() {}\n", "[]"},
		{"fn f(){}\nfn g() {}\n", "fn f() {}\nfn g() {}\n", `[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}},"newText":"fn f() {}\n"}]`},
		{"fn f() {}\r\nfn g() {}", "fn f() {}\nfn g() {}\n", `[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":9}},"newText":"fn f() {}\nfn g() {}\n"}]`},
		{"fn f() {}\n\n\n\nfn g() {}\n", "fn f() {}\n\nfn g() {}\n", `[{"range":{"start":{"line":2,"character":0},"end":{"line":4,"character":0}},"newText":""}]`},
		{"fn f() { fail \"𝄞\" }", "fn f() { fail \"𝄞\" }\n", `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":20}},"newText":"fn f() { fail \"𝄞\" }\n"}]`},
		{"fn f( {}", "", "null"},
	} {
		edits := format(c.text)
		got, err := json.Marshal(edits)
		if err != nil || string(got) != c.edit {
			t.Errorf("%q\ngot  %s\nwant %s", c.text, got, c.edit)
		}
		lines := strings.SplitAfter(c.text, "\n")
		at := func(p position) int {
			offset := 0
			for _, l := range lines[:p.Line] {
				offset += len(l)
			}
			return offset + len(string(utf16.Decode(utf16.Encode([]rune(lines[p.Line]))[:p.Character])))
		}
		for _, e := range edits {
			if got := c.text[:at(e.Range.Start)] + e.NewText + c.text[at(e.Range.End):]; got != c.want {
				t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
			}
		}
	}
}

// TestLibrary checks the files that are written for editors: they are those of the program, read-only, and whole again after a change.
func TestLibrary(t *testing.T) {
	w := &workspace{library: libraryFolder(t.TempDir())}
	for range 2 {
		if err := w.writeLibrary(); err != nil {
			t.Fatal(err)
		}
		for _, m := range std.Modules() {
			path := filepath.Join(w.library, libraryFile(m))
			want, err := fs.ReadFile(std.FS, libraryFile(m))
			got, err2 := os.ReadFile(path)
			info, err3 := os.Stat(path)
			if err := errors.Join(err, err2, err3); err != nil || string(got) != string(want) || info.Mode().Perm() != 0o444 {
				t.Errorf("%s: %v", m, err)
			}
			if err := errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := (&workspace{}).writeLibrary(); err == nil {
		t.Error("written nowhere")
	}
}

// Whole documents come quickly one after another while a user types; the last one counts.
func TestTyping(t *testing.T) {
	c := start(t, "")
	c.call(hello, didOpen("untitled:a", ""))
	var typed []string
	const text = "pub fn f() -> u8 { 1 } "
	for i := range text {
		b, _ := json.Marshal(text[:i+1])
		typed = append(typed, fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:a","version":%d},"contentChanges":[{"text":%s}]}}`, i+2, b))
	}
	replies := c.call(typed...)
	if last, want := strings.TrimSpace(replies[len(replies)-1]), fmt.Sprintf(`"version":%d,"diagnostics":[]}}`, len(text)+1); !strings.HasSuffix(last, want) {
		t.Errorf("got %s, want %s", last, want)
	}
}

// A client that goes away without a word, a session that is stopped, an output that is closed.
func TestEnds(t *testing.T) {
	if err := Serve(t.Context(), strings.NewReader(""), io.Discard, Options{}); err != ErrNoShutdown {
		t.Errorf("end of the input: %v", err)
	}
	if err := Serve(t.Context(), strings.NewReader("Content-Length: 7\r\n\r\n{"), io.Discard, Options{}); err != io.ErrUnexpectedEOF {
		t.Errorf("end within a message: %v", err)
	}
	in, to := io.Pipe()
	defer to.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, in, io.Discard, Options{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	closed, out := io.Pipe()
	closed.Close()
	if err := Serve(t.Context(), io.MultiReader(bytes.NewReader(frame(hello)), in), out, Options{}); err != io.ErrClosedPipe {
		t.Errorf("closed output: %v", err)
	}
	if err := Serve(t.Context(), strings.NewReader(strings.Repeat("x", 1<<20)), io.Discard, Options{}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a header without end: %v", err)
	}
	long := strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n%s%s", maxContentBytes+1, strings.Repeat(" ", maxContentBytes+1), frame(hello)))
	var answer bytes.Buffer
	if err := Serve(t.Context(), long, &answer, Options{}); err != ErrNoShutdown || !strings.Contains(answer.String(), "at most") || !strings.Contains(answer.String(), "positionEncoding") {
		t.Errorf("a long message: %v, %s", err, answer.String())
	}
}

// Every position of the project can be asked for.
func TestEveryPosition(t *testing.T) {
	s := &script{t: t}
	folder, err := filepath.Abs("testdata/project")
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, t.TempDir())
	c.call(hello)
	for _, name := range []string{"main.ix", "lib/shapes.ix"} {
		text, uri := s.read(name), uriOf(filepath.Join(folder, name))
		c.call(didOpen(uri, text))
		for i, line := range strings.Split(text, "\n") {
			for j := range len(utf16.Encode([]rune(line))) + 2 {
				for _, r := range c.call(ask("textDocument/hover", uri, i, j), ask("textDocument/definition", uri, i, j)) {
					if strings.Contains(r, `"error"`) {
						t.Fatalf("%s:%d:%d: %s", name, i, j, r)
					}
				}
			}
		}
	}
}

// conversation is a session in one stream, for tests that break it.
func conversation(text string) []byte {
	var b []byte
	for _, m := range []string{
		hello, `{"jsonrpc":"2.0","method":"initialized","params":{}}`, didOpen("untitled:a", text), ask("textDocument/hover", "untitled:a", 1, 5), ask("textDocument/definition", "untitled:a", 1, 5),
		`{"jsonrpc":"2.0","id":"s","method":"textDocument/documentSymbol","params":{"textDocument":{"uri":"untitled:a"}}}`,
		`{"jsonrpc":"2.0","id":"f","method":"textDocument/formatting","params":{"textDocument":{"uri":"untitled:a"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`,
	} {
		b = append(b, frame(m)...)
	}
	return b
}

const source1 = "import \"std/list\" (List, sum);\npub fn f(x: u64, private l: List<u64>) -> u64 { let y = x + sum(l); y }\n"

// check runs a session on bytes and fails if the server met a bug of its own.
func check(t *testing.T, input []byte) {
	t.Helper()
	var out bytes.Buffer
	err := Serve(t.Context(), bytes.NewReader(input), &out, Options{})
	if strings.Contains(out.String(), "a bug in ixprove") {
		t.Fatalf("%q: %v\n%s", input, err, out.String())
	}
	for in := (&frames{in: bufio.NewReader(&out)}); ; {
		content, err := in.read()
		if err == io.EOF {
			return
		}
		if err != nil || !json.Valid(content) {
			t.Fatalf("%q: the output is no messages: %v", input, err)
		}
	}
}

// TestMutations sends sessions with parts moved, removed and replaced, some of them with lengths that are right.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		b := conversation(source1)
		if round%2 == 0 {
			text := []byte(source1)
			for range 1 + r.IntN(4) {
				i := r.IntN(len(text))
				text = slices.Delete(text, i, min(len(text), i+r.IntN(6)))
			}
			b = conversation(string(text))
		}
		for range r.IntN(5) {
			i := r.IntN(len(b))
			part := slices.Clone(b[i : i+r.IntN(min(40, len(b)-i))])
			switch r.IntN(4) {
			case 0:
				b = slices.Delete(b, i, i+len(part))
			case 1:
				b[i] = "{}[]\":,0-n\r\n \\"[r.IntN(14)]
			case 2:
				b = slices.Insert(b, r.IntN(len(b)), part...)
			case 3:
				b[i] = byte(r.Uint32())
			}
		}
		check(t, b)
	}
}

func FuzzServe(f *testing.F) {
	f.Add(conversation(source1))
	f.Add([]byte("Content-Length: 2\r\n\r\n[]"))
	f.Add([]byte("Content-Length: -1\r\n\r\nContent-Length: 99999999999999999999\r\n\r\n\r\n"))
	f.Fuzz(check)
}
