// Package ixprove_test holds the rules between packages.
package ixprove_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ixprove/ixprove"

// layers lists the top folders by rank: a package may import its own folder and folders of lower rank.
var layers = map[string]int{
	"formats": 0, "verifier": 1, "kernels": 2, "prover": 3, "compress": 4, "systems": 5, "lang": 6, "examples": 6, "wasm": 6, "cmd": 7,
}

// portable is what the verifier and the decoders may import of the standard library: nothing that formats, reflects, locks, reads the clock or talks to
// the system.
var portable = []string{"bytes", "cmp", "encoding/binary", "errors", "iter", "math", "math/bits", "slices", "strconv", "strings"}

// rule says what a package of a folder may import besides packages of the same folder.
type rule struct {
	folder   string
	standard []string // allowed packages of the standard library; nil for all
	foreign  []string // allowed packages of other modules
	own      []string // allowed packages of this module, by folder
}

// rules apply to the longest folder that matches; folders without one have only their rank.
var rules = []rule{
	{folder: "formats", standard: portable},
	{folder: "formats/encode", foreign: []string{"github.com/fxamacker/cbor/v2"}, own: []string{"formats"}},
	{folder: "formats/claims", own: []string{"formats"}},
	{folder: "verifier", standard: portable, own: []string{"formats"}},
	// The suite alone, without gnark: whoever checks roots links no more.
	{folder: "compress/poseidon2", foreign: []string{"github.com/consensys/gnark-crypto/ecc/bn254/fr", "github.com/consensys/gnark-crypto/ecc/bn254/fr/poseidon2"},
		own: []string{"formats", "verifier", "verifier/field", "verifier/hash", "verifier/merkle"}},
}

// file is a source file that is no test.
type file struct {
	path, folder string
	tree         *ast.File
	imports      []string
}

func sources(t *testing.T) (out []file) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "shared"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		tree, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		f := file{path: path, folder: filepath.ToSlash(filepath.Dir(path)), tree: tree}
		for _, i := range tree.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, p)
		}
		out = append(out, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

func ruleOf(folder string) *rule {
	var best *rule
	for i := range rules {
		if r := &rules[i]; within(folder, r.folder) && (best == nil || len(r.folder) > len(best.folder)) {
			best = r
		}
	}
	return best
}

func top(folder string) string {
	first, _, _ := strings.Cut(folder, "/")
	return first
}

// TestImports checks that imports go one way, formats <- verifier <- prover <- the rest, and that the lower layers keep to what they may use.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range sources(t) {
		seen[top(f.folder)] = true
		rank, ranked := layers[top(f.folder)]
		r := ruleOf(f.folder)
		for _, path := range f.imports {
			own := path == module || strings.HasPrefix(path, module+"/")
			to := strings.TrimPrefix(path, module+"/")
			standard := !strings.Contains(top(path), ".")
			if own && ranked && top(to) != top(f.folder) {
				if other, ok := layers[top(to)]; !ok || other >= rank {
					t.Errorf("%s imports %s: imports go one way", f.path, path)
				}
			}
			if within(to, "kernels") && !within(f.folder, "kernels") && !within(f.folder, "prover") && !within(f.folder, "cmd") {
				t.Errorf("%s imports %s: kernels are for backends, and for the command line that lists devices", f.path, path)
			}
			switch {
			case r == nil:
			case own:
				if !slices.Contains(r.own, to) && ruleOf(to) != r {
					t.Errorf("%s imports %s: %s may not", f.path, path, r.folder)
				}
			case standard:
				if r.standard != nil && !slices.Contains(r.standard, path) {
					t.Errorf("%s imports %s: not among the standard packages that %s may use", f.path, path, r.folder)
				}
			case !slices.Contains(r.foreign, path):
				t.Errorf("%s imports %s: %s may not", f.path, path, r.folder)
			}
		}
	}
	for _, folder := range []string{"formats", "verifier", "prover", "systems"} {
		if !seen[folder] {
			t.Errorf("no file of %s was looked at", folder)
		}
	}
}

// TestLeafPackages checks that the verifier and the decoders do no work at start-up, start no goroutine, use no channel, never panic on purpose, and
// have no assembly, no C and no compiler directives that could change what they mean.
func TestLeafPackages(t *testing.T) {
	for _, f := range sources(t) {
		if !within(f.folder, "verifier") && f.folder != "formats" {
			continue
		}
		for _, group := range f.tree.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:") && c.Text != "//go:noinline" { // which only keeps error paths out of the Wasm module's hot code
					t.Errorf("%s: %s", f.path, c.Text)
				}
			}
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: an init function", f.path)
				}
				if n.Body == nil {
					t.Errorf("%s: %s has no body", f.path, n.Name.Name)
				}
			case *ast.GoStmt:
				t.Errorf("%s: a go statement", f.path)
			case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
				t.Errorf("%s: a channel", f.path)
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "panic" || name.Name == "recover" || name.Name == "print" || name.Name == "println") {
					t.Errorf("%s: a call of %s", f.path, name.Name)
				}
			}
			return true
		})
	}
	for _, pattern := range []string{"*.s", "*.c", "*.h", "*.syso"} {
		for _, folder := range []string{"formats", "verifier", "verifier/*"} {
			found, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range found {
				t.Errorf("%s: no Go", path)
			}
		}
	}
}
