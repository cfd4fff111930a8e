package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An editor starts the program, opens a file that is not saved, and asks where a name of the standard library is declared.
func TestLanguageServer(t *testing.T) {
	folder := t.TempDir()
	program := exec.Command(os.Args[0], "lsp")
	program.Env = append(os.Environ(), asProgram+"=1", "XDG_CACHE_HOME="+folder, "HOME="+folder)
	stdin, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(stdout)
	send := func(content string) {
		if _, err := fmt.Fprintf(stdin, "Content-Length: %d\r\n\r\n%s", len(content), content); err != nil {
			t.Fatal(err)
		}
	}
	// receive reads the next message's result or parameters.
	receive := func(v any) {
		header, err := textproto.NewReader(in).ReadMIMEHeader()
		if err != nil {
			t.Fatal(err)
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			t.Fatal(err)
		}
		content := make([]byte, length)
		if _, err := io.ReadFull(in, content); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, &struct{ Result, Params any }{v, v}); err != nil {
			t.Fatalf("%s: %v", content, err)
		}
	}
	uri := (&url.URL{Scheme: "file", Path: filepath.Join(folder, "not saved.ix")}).String()
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
	var greeting struct{ ServerInfo struct{ Name string } }
	if receive(&greeting); greeting.ServerInfo.Name != "ixprove" {
		t.Errorf("%+v", greeting)
	}
	send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"` + uri + `","languageId":"ix","version":1,"text":"import \"std/option\" (Option, unwrap);\npub fn f(x: Option<u8>) -> u64 { unwrap(x) }\n"}}}`)
	var problems struct {
		Diagnostics []struct{ Message string }
	}
	if receive(&problems); len(problems.Diagnostics) != 1 || !strings.Contains(problems.Diagnostics[0].Message, "the types differ") {
		t.Errorf("%+v", problems)
	}
	send(`{"jsonrpc":"2.0","id":2,"method":"textDocument/definition","params":{"textDocument":{"uri":"` + uri + `"},"position":{"line":1,"character":35}}}`)
	var places []struct {
		URI   string
		Range struct{ Start struct{ Line, Character int } }
	}
	receive(&places)
	if len(places) != 1 {
		t.Fatalf("%+v", places)
	}
	file, err := url.Parse(places[0].URI)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.FromSlash(file.Path))
	if err != nil {
		t.Fatal(err)
	}
	start := places[0].Range.Start
	if line := strings.Split(string(text), "\n")[start.Line]; !strings.HasPrefix(line[start.Character:], "unwrap<T>") {
		t.Errorf("%s is no declaration", line)
	}
	send(`{"jsonrpc":"2.0","id":3,"method":"shutdown"}`)
	var nothing any
	receive(&nothing)
	send(`{"jsonrpc":"2.0","method":"exit"}`)
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}
