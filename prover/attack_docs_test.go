package prover_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write docs/checks.md and the seeds of FuzzVerify anew")

const checksHead = `# Checks and their tests

Each check of [protocol.md](protocol.md) section 9 and the tests that reach exactly it, by the check that the error names. The tests are in package
` + "`prover_test`" + `, because most need a prover that can lie. ` + "`TestEveryPlaceOfAProof`, `TestEveryPlaceOfAKey`, `TestTruncations` and `TestBitFlips`" + ` change everything
else and expect any refusal. ` + "`go run ./internal/tools/uncheck`" + ` removes each check in turn, each alternative of its condition by itself, and reports the test that fails.

This page is written by ` + "`go test ./prover -run TestChecksPage -rewrite`" + ` from the tests' sources, and the same test compares it.

| check | tests |
|---|---|
`

var (
	testOfCheck = regexp.MustCompile(`^Test([PK])([0-9]+)`)
	checkName   = regexp.MustCompile(`^([PK])-([0-9]+)$`)
	checkRow    = regexp.MustCompile(`(?m)^\| ([PK]-[0-9]+) \|`)
)

// testsOfChecks finds, in the sources of this folder's tests, the functions named after a check and the rows of tables that start with a check and a name.
func testsOfChecks(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			if m := testOfCheck.FindStringSubmatch(f.Name.Name); m != nil {
				check := m[1] + "-" + m[2]
				out[check] = append(out[check], f.Name.Name)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				row, ok := n.(*ast.CompositeLit)
				if !ok || row.Type != nil || len(row.Elts) < 3 {
					return true
				}
				check, title := text(row.Elts[0]), text(row.Elts[1])
				if checkName.MatchString(check) && title != "" {
					out[check] = append(out[check], f.Name.Name+"/"+strings.ReplaceAll(check+" "+title, " ", "_"))
				}
				return true
			})
		}
	}
	return out
}

func text(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		if s, err := strconv.Unquote(l.Value); err == nil {
			return s
		}
	}
	return ""
}

// TestChecksPage keeps docs/checks.md equal to the tests, and asks for a test of each check of docs/protocol.md.
func TestChecksPage(t *testing.T) {
	protocol, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOfChecks(t)
	page, count := checksHead, 0
	var checks []string
	for _, m := range checkRow.FindAllStringSubmatch(string(protocol), -1) {
		check := m[1]
		checks = append(checks, check)
		if len(tests[check]) == 0 {
			t.Errorf("no test is named after %s", check)
		}
		count += len(tests[check])
		page += "| " + check + " | `" + strings.Join(tests[check], "`<br>`") + "` |\n"
	}
	for check := range tests {
		if !slices.Contains(checks, check) {
			t.Errorf("tests of %s, which docs/protocol.md does not have", check)
		}
	}
	page += fmt.Sprintf("\n%d checks, %d tests.\n", len(checks), count)
	const path = "../docs/checks.md"
	if *rewrite {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page {
		t.Errorf("docs/checks.md is out of date (%v): write it with go test ./prover -run TestChecksPage -rewrite", err)
	}
}
