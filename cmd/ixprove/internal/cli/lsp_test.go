package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestLSP holds short sessions with the server: the results of a session are the client's, and nothing follows them.
func TestLSP(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	frame := func(contents ...string) string {
		var b strings.Builder
		for _, c := range contents {
			fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(c), c)
		}
		return b.String()
	}
	const hello, bye, exit = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`
	const last = `{"jsonrpc":"2.0","id":2,"result":null}` + "\n"
	for _, c := range []struct {
		name, in string
		args     []string
		code     int
		end      string
	}{
		{"a session", frame(hello, bye, exit), []string{"lsp"}, 0, last},
		{"as some editors start it", frame(hello, bye, exit), []string{"lsp", "--stdio"}, 0, last},
		{"no shutdown", frame(hello, exit), []string{"lsp"}, 1, "}\n"},
		{"no exit", frame(hello), []string{"lsp"}, 1, "}\n"},
		{"half a message", frame(hello, bye) + "Content-Length: 9\r\n\r\n{", []string{"lsp"}, 4, last},
		{"no message", strings.Repeat("x", 1<<16), []string{"lsp"}, 4, ""},
	} {
		var stdout, stderr bytes.Buffer
		code := Run(context.Background(), c.args, strings.NewReader(c.in), &stdout, &stderr)
		if code != c.code || !strings.HasSuffix(stdout.String(), c.end) || (stderr.Len() > 0) != (code != 0) {
			t.Errorf("%s: exit %d\n%s\n%s", c.name, code, stdout.String(), stderr.String())
		}
	}
}
