package web_test

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/web"
)

func site(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := web.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFiles(t *testing.T) {
	files := site(t)
	if !bytes.Equal(files["verifier/verifier.wasm"], wasm.Module()) {
		t.Error("the module is not the embedded one")
	}
	if !bytes.Contains(files["verifier/digest.js"], []byte(wasm.Digest)) {
		t.Error("the digest is not the module's")
	}
	for _, k := range keys.All() {
		for _, mention := range []string{verifier.Hex(k.Digest), "keys/" + k.FileName()} {
			if !bytes.Contains(files["release.js"], []byte(mention)) {
				t.Errorf("%s is not listed", mention)
			}
		}
	}
	// What is needed offline is kept: every file but the list itself, which the browser keeps with the worker; the page goes by its address.
	for name := range files {
		if listed := bytes.Contains(files["files.js"], []byte(`"`+name+`"`)); listed != (name != "files.js" && name != web.Index) {
			t.Errorf("%s: listed to be kept: %v", name, listed)
		}
	}
	clear(files)
	if len(site(t)) == 0 {
		t.Error("the caller's map is not its own")
	}
}

// A file that is referred to is there, and nothing is referred to elsewhere.
func TestReferences(t *testing.T) {
	files := site(t)
	reference := regexp.MustCompile(`(?:src|href)="([^"#]+)"|(?:from|import) "([^"]+)"|new Worker\("([^"]+)"|importScripts\("([^"]+)"|register\("([^"]+)"`)
	found := 0
	for name, data := range files {
		if ext := path.Ext(name); ext != ".html" && ext != ".js" {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(string(data), -1) {
			to := path.Join(path.Dir(name), strings.Join(m[1:], ""))
			if _, ok := files[to]; !ok {
				t.Errorf("%s refers to %s, which is not there", name, to)
			}
			found++
		}
	}
	if found < 10 {
		t.Errorf("%d references were found", found)
	}
	for name, data := range files {
		if i := bytes.Index(data, []byte("://")); i >= 0 && name != "verifier/verifier.wasm" && name != "icon.svg" {
			t.Errorf("%s has an address: %s", name, data[max(i-20, 0):min(i+20, len(data))])
		}
	}
}

func TestPolicyInPage(t *testing.T) {
	want := strings.TrimSuffix(web.ContentSecurityPolicy, "; frame-ancestors 'none'") // which has no effect in a page
	if !bytes.Contains(site(t)[web.Index], []byte(`http-equiv="Content-Security-Policy" content="`+want+`"`)) {
		t.Error("the page's own policy differs from", want)
	}
	for name, data := range site(t) {
		if strings.HasSuffix(name, ".html") && regexp.MustCompile(`(?i)\sstyle=|\son[a-z]+=|<style|<script(?:>|[^>]*[^"]>)`).Match(data) {
			t.Errorf("%s has a style or script that the policy forbids", name)
		}
	}
}

// Every check of the protocol is explained, and no other.
func TestExplanations(t *testing.T) {
	protocol, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	checks := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([PK]-[0-9]+) \|`).FindAllSubmatch(protocol, -1) {
		checks[string(m[1])] = true
	}
	explained := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  "([PK]-[0-9]+)": `).FindAllSubmatch(site(t)["explain.js"], -1) {
		explained[string(m[1])] = true
	}
	for c := range checks {
		if !explained[c] {
			t.Errorf("%s is not explained", c)
		}
	}
	for c := range explained {
		if !checks[c] {
			t.Errorf("%s is explained but is no check", c)
		}
	}
	if len(checks) < 40 {
		t.Errorf("docs/protocol.md has %d checks", len(checks))
	}
}

func TestSample(t *testing.T) {
	_, encoded, ok := keys.Encoded("fibonacci", "standard")
	if !ok {
		t.Fatal("no such key")
	}
	key, err := verifier.ParseKey(encoded)
	if err != nil {
		t.Fatal(err)
	}
	r, err := verifier.Verify(key, site(t)["sample.proof"], verifier.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Claims) != 2 || key.ClaimText(&r.Claims[1]) != "fibonacci(n 90) = value 2880067194370816120" {
		t.Errorf("the sample claims %v", r.Claims)
	}
}

func TestHandler(t *testing.T) {
	handler, err := web.Handler()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, target string, header http.Header) *http.Response {
		r := httptest.NewRequest(method, target, nil)
		r.Header = header
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Result()
	}
	for name, want := range site(t) {
		r := ask("GET", "/"+name, nil)
		got, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK || !bytes.Equal(got, want) {
			t.Errorf("%s: %s, %v", name, r.Status, err)
		}
		if _, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil {
			t.Errorf("%s: type %q: %v", name, r.Header.Get("Content-Type"), err)
		}
		if again := ask("GET", "/"+name, http.Header{"If-None-Match": {r.Header.Get("ETag")}}); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: %s the second time", name, again.Status)
		}
	}
	for _, c := range []struct {
		method, target string
		status         int
		contentType    string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8"},
		{"HEAD", "/", 200, "text/html; charset=utf-8"},
		{"GET", "/page.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/verifier/verifier.wasm?again", 200, "application/wasm"},
		{"POST", "/", 405, "text/plain; charset=utf-8"},
		{"GET", "/keys/", 404, "text/plain; charset=utf-8"},
		{"GET", "/../web.go", 404, "text/plain; charset=utf-8"},
		{"GET", "//", 404, "text/plain; charset=utf-8"},
	} {
		r := ask(c.method, c.target, nil)
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != c.contentType {
			t.Errorf("%s %s: %s, %s", c.method, c.target, r.Status, r.Header.Get("Content-Type"))
		}
		if r.Header.Get("Content-Security-Policy") != web.ContentSecurityPolicy || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: the policy is missing", c.method, c.target)
		}
	}
}
