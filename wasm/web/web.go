// Package web is a static page that checks proofs in a browser, with the verifier's WebAssembly module in a worker.
//
// The page needs nothing but its files: no build step, no server side and, once loaded, no network. Handler serves them; Files are for a web server of one's own. Its content security
// policy lets it contact nothing but where it came from.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/npm"
)

//go:generate go run ./internal/writesample sample.proof

//go:embed static
var static embed.FS

// sample is a proof of two Fibonacci numbers under the standard profile.
//
//go:embed sample.proof
var sample []byte

// ContentSecurityPolicy is the policy of every response. The page's own header repeats it, less frame-ancestors, for servers that send none. A worker obeys the policy of its
// own script's response, so a server of one's own should send it with every file (Content Security Policy Level 3, section 4.2.2).
const ContentSecurityPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Index is the name of the page among the files.
const Index = "index.html"

// contentTypes are the MIME types by extension. They are not left to the machine's tables: modules and workers need theirs exactly.
var contentTypes = map[string]string{
	".html":  "text/html; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".svg":   "image/svg+xml",
	".wasm":  "application/wasm",
	".key":   "application/octet-stream",
	".proof": "application/octet-stream",
}

// release is what the page's scripts know of the files beside them.
type release struct {
	Module string    `json:"module"`
	Sample string    `json:"sample"`
	Keys   []keyFile `json:"keys"`
}

type keyFile struct {
	File    string `json:"file"`
	System  string `json:"system"`
	Profile string `json:"profile"`
	Digest  string `json:"digest"`
}

// Files returns the page's files by path, to be written to one folder; the caller owns the map, not the bytes. An error is a mistake in the build.
func Files() (map[string][]byte, error) {
	files, err := files()
	return maps.Clone(files), err
}

var files = sync.OnceValues(func() (map[string][]byte, error) {
	about := release{Module: "verifier/verifier.wasm", Sample: "sample.proof"}
	out := map[string][]byte{about.Module: wasm.Module(), about.Sample: sample}
	for _, source := range []struct {
		from   fs.FS
		folder string
		to     string
	}{{static, "static", "."}, {npm.Browser, ".", "verifier"}} {
		entries, err := fs.ReadDir(source.from, source.folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if out[path.Join(source.to, e.Name())], err = fs.ReadFile(source.from, path.Join(source.folder, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	for _, k := range keys.All() {
		_, data, ok := keys.Find(k.Digest)
		if !ok {
			return nil, fs.ErrNotExist
		}
		name := "keys/" + k.FileName()
		out[name] = data
		about.Keys = append(about.Keys, keyFile{name, k.System, k.Profile, hex.EncodeToString(k.Digest[:])})
	}
	var err error
	if out["release.js"], err = script("export const release", about); err != nil {
		return nil, err
	}
	// The service worker keeps what files.js lists, and takes a change of it for a new version.
	site := struct {
		Version string   `json:"version"`
		Files   []string `json:"files"`
	}{version(out), slices.Sorted(maps.Keys(out))}
	site.Files[slices.Index(site.Files, Index)] = "./"
	out["files.js"], err = script("self.site", site)
	return out, err
})

// script is JavaScript that assigns a value.
func script(name string, value any) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	return slices.Concat([]byte(name+" = "), text, []byte(";\n")), err
}

// version names the content of all files.
func version(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		h.Write([]byte(name))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Handler serves the page at the root of a host. It answers GET and HEAD and keeps nothing.
func Handler() (http.Handler, error) {
	files, err := files()
	if err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for name, data := range files {
		sum := sha256.Sum256(data)
		tags[name] = `"` + hex.EncodeToString(sum[:16]) + `"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", ContentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the page takes nothing: proofs are checked in the browser", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = Index
		}
		data, ok := files[name]
		if !ok {
			http.Error(w, "there is no such file", http.StatusNotFound)
			return
		}
		h.Set("Content-Type", contentTypes[path.Ext(name)])
		h.Set("Cache-Control", "no-cache") // ask again, and be told that nothing has changed
		h.Set("ETag", tags[name])
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	}), nil
}
