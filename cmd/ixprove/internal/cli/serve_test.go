package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/wasm/web"
)

// visitor reads the address from what the program prints, visits, and then stops the program, as a user would.
type visitor struct {
	printed bytes.Buffer
	visit   func(url string)
	stop    context.CancelFunc
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/`)

func (v *visitor) Write(b []byte) (int, error) {
	v.printed.Write(b)
	if url := string(address.Find(b)); url != "" {
		go func() {
			defer v.stop()
			v.visit(url)
		}()
	}
	return len(b), nil
}

func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	visited := ""
	v := &visitor{stop: stop, visit: func(url string) {
		r, err := http.Get(url)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Body.Close()
		page, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("Nothing leaves this tab")) {
			t.Errorf("got %s, %v\n%s", r.Status, err, page)
		}
		if got := r.Header.Get("Content-Security-Policy"); got != web.ContentSecurityPolicy {
			t.Errorf("the policy is %q", got)
		}
		visited = url
	}}
	var stdout bytes.Buffer
	code := Run(ctx, []string{"serve"}, nil, &stdout, v)
	if exit(code) != exitDone || visited == "" || stdout.String() != "stopped serving "+visited+"\n" {
		t.Fatalf("exit %d after a visit to %q\n%s%s", code, visited, &stdout, &v.printed)
	}
	if r, err := http.Get(visited); err == nil {
		r.Body.Close()
		t.Error("it still serves")
	}
}

// Without a browser the address is there all the same.
func TestServeOpen(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	v := &visitor{stop: stop, visit: func(string) {}}
	if code := Run(ctx, []string{"serve", "--open", "--json"}, nil, io.Discard, v); exit(code) != exitDone {
		t.Fatalf("exit %d\n%s", code, &v.printed)
	}
	if !address.Match(v.printed.Bytes()) {
		t.Errorf("printed %q", &v.printed)
	}
}

func TestServePort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, exitResource, "--port", "serve", "--port", port)
	expect(t, exitUsage, "0 to 65535", "serve", "--port", "65536")
	expect(t, exitUsage, "operand too many", "serve", "folder")
}

func TestServeExport(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "site")
	o := must(t, "serve", "--export", folder)
	if !strings.Contains(o.stdout, web.ContentSecurityPolicy) {
		t.Error("the policy is not mentioned:", o.stdout)
	}
	files, err := web.Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
		}
	}
	put(t, filepath.Join(folder, "file"), "")
	expect(t, exitResource, "file", "serve", "--export", filepath.Join(folder, "file"))
}
