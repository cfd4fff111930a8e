// Command uncheck removes each check of the verifier in turn and reports whether a test notices.
//
// It copies the module's sources, guards every place that refuses a proof or key with a switch, builds the attack tests once, and runs them once a
// place with that place switched off. Run it from the module's root:
//
//	go run ./internal/tools/uncheck [-only P-13]
//
// It prints a table and exits with 1 if a check can be removed without a failing test.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// folders hold the checks.
var folders = []string{"formats", "verifier", "verifier/air", "verifier/fri", "verifier/merkle"}

// testPackage holds the tests of all checks.
const testPackage = "./prover"

// slow are tests of that package that attack nothing.
const slow = "Fixtures|Memory"

// limit is the time that a run of the tests may take: a verifier without a check may loop.
const limit = 2 * time.Minute

// helpers build errors for others and are no checks themselves.
var helpers = []string{"rejected", "reject", "invalid", "tooHigh", "fail", "failAs", "wrongKind"}

// kinds of failure of the decoder's reader, which names its checks by field.
var readerChecks = map[string]string{"sizeCheck": "P-1 K-1", "kindCheck": "P-3 K-2", "formCheck": "P-2 K-1"}

// faults of a multiproof, which package merkle names by constant.
var faults = map[string]string{"RowBytes": "P-29", "Siblings": "P-30 P-33", "Root": "P-31 P-34"}

var checkName = regexp.MustCompile(`^"([PK]-[0-9]+)"$`)

// site is a place that refuses.
type site struct{ check, at string }

func main() {
	only := flag.String("only", "", "switch off the places of this check alone")
	flag.Parse()
	ok, err := run(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "uncheck:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(only string) (bool, error) {
	dir, err := os.MkdirTemp("", "uncheck")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := copyModule(dir); err != nil {
		return false, err
	}
	var sites []site
	for _, folder := range folders {
		if sites, err = guard(dir, folder, sites); err != nil {
			return false, err
		}
	}
	binary := filepath.Join(dir, "attack.test")
	build := exec.Command("go", "test", "-c", "-o", binary, testPackage)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return false, fmt.Errorf("the guarded sources do not build: %v\n%s", err, out)
	}
	if out, failed := test(binary, dir, "none"); failed {
		return false, fmt.Errorf("the tests fail with every check in place:\n%s", out)
	}
	type outcome struct {
		out    string
		failed bool
	}
	var chosen []int
	for i, s := range sites {
		if only == "" || slices.Contains(strings.Fields(s.check), only) {
			chosen = append(chosen, i)
		}
	}
	outcomes := make([]chan outcome, len(sites))
	for _, i := range chosen {
		outcomes[i] = make(chan outcome, 1)
	}
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for i := range next {
				out, failed := test(binary, dir, strconv.Itoa(i))
				outcomes[i] <- outcome{out, failed}
			}
		}()
	}
	go func() {
		defer close(next)
		for _, i := range chosen {
			next <- i
		}
	}()
	missed := 0
	for _, i := range chosen {
		o := <-outcomes[i]
		verdict := firstFailure(o.out)
		if !o.failed {
			verdict = "NO TEST FAILS"
			missed++
		}
		fmt.Printf("%-10s %-34s %s\n", sites[i].check, sites[i].at, verdict)
	}
	fmt.Printf("%d places, %d of them without a failing test\n", len(chosen), missed)
	return missed == 0, nil
}

// test runs the tests with a site switched off. A panic and a run out of time are failures too.
func test(binary, dir, off string) (string, bool) {
	cmd := exec.Command(binary, "-test.failfast", "-test.skip", slow, "-test.timeout", limit.String())
	cmd.Dir = filepath.Join(dir, testPackage)
	cmd.Env = append(os.Environ(), "IXPROVE_UNCHECK="+off)
	out, err := cmd.CombinedOutput()
	return string(out), err != nil
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// firstFailure names the innermost test that failed first.
func firstFailure(out string) string {
	name := "failed"
	for _, m := range failure.FindAllStringSubmatch(out, -1) {
		if name = m[1]; strings.Contains(name, "/") {
			break
		}
	}
	if strings.Contains(out, "panic: ") {
		name += " (panic)"
	}
	return name
}

// copyModule copies the module but for what the build does not read.
func copyModule(to string) error {
	return filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, path), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), data, 0o644)
	})
}

// guard rewrites the sources of a folder and adds the switch.
func guard(dir, folder string, sites []site) ([]site, error) {
	files, err := filepath.Glob(filepath.Join(dir, folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var name string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		g := &guarder{set: token.NewFileSet(), sites: sites, folder: folder}
		file, err := parser.ParseFile(g.set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		name = file.Name.Name
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && !slices.Contains(helpers, f.Name.Name) {
				g.function(f)
			}
		}
		sites = g.sites
		var out bytes.Buffer
		if err := format.Node(&out, g.set, file); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			return nil, err
		}
	}
	if name == "" {
		return nil, errors.New("no sources in " + folder)
	}
	return sites, os.WriteFile(filepath.Join(dir, folder, "unchecked.go"), []byte("package "+name+switchSource), 0o644)
}

// switchSource is the switch: unchecked(site) for statements and conditions, uncheckedValue for the rows of a table, whose last two values must be equal.
const switchSource = `

import "os"

var uncheckedSite = os.Getenv("IXPROVE_UNCHECK")

func unchecked(site string) bool { return site == uncheckedSite }

func uncheckedValue[T any](site string, wanted, got T) T {
	if unchecked(site) {
		return wanted
	}
	return got
}
`

// guarder guards the places of one file.
type guarder struct {
	set    *token.FileSet
	folder string
	sites  []site
}

// add records a site and returns the argument of its switch.
func (g *guarder) add(check string, n ast.Node) *ast.BasicLit {
	at := g.set.Position(n.Pos())
	g.sites = append(g.sites, site{check, fmt.Sprintf("%s/%s:%d", g.folder, filepath.Base(at.Filename), at.Line)})
	return &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(strconv.Itoa(len(g.sites) - 1))}
}

func call(name string, args ...ast.Expr) ast.Expr {
	return &ast.CallExpr{Fun: ast.NewIdent(name), Args: args}
}

func not(x ast.Expr) ast.Expr { return &ast.UnaryExpr{Op: token.NOT, X: x} }

// function guards the places of a function: bodies of ifs and clauses that refuse, rows of tables of checks, and a refusal at the end.
func (g *guarder) function(f *ast.FuncDecl) {
	var rewrites []func() // after the walk, which would go into what they make
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			// A constructor of errors is no place; nor is a callback, whose caller refuses.
			return !returnsOnlyErrors(n)
		case *ast.IfStmt:
			if check := own(n.Body.List); check != "" {
				rewrites = append(rewrites, func() {
					if g.alternatives(check, &n.Cond) > 0 {
						return
					}
					n.Body.List = []ast.Stmt{&ast.IfStmt{Cond: not(call("unchecked", g.add(check, n))), Body: &ast.BlockStmt{List: n.Body.List}}}
				})
			}
		case *ast.SwitchStmt:
			for _, s := range n.Body.List {
				c := s.(*ast.CaseClause)
				check := own(c.Body)
				if check == "" {
					continue
				}
				rewrites = append(rewrites, func() {
					off := not(call("unchecked", g.add(check, c)))
					if n.Tag == nil && len(c.List) == 1 { // the next clause is tried
						c.List[0] = &ast.BinaryExpr{X: &ast.ParenExpr{X: c.List[0]}, Op: token.LAND, Y: off}
					} else {
						c.Body = []ast.Stmt{&ast.IfStmt{Cond: off, Body: &ast.BlockStmt{List: c.Body}}}
					}
				})
			}
		case *ast.CompositeLit:
			if n.Type == nil && len(n.Elts) >= 4 { // a row: check, what, wanted, got
				if check := literal(n.Elts[0]); check != "" {
					rewrites = append(rewrites, func() {
						last := len(n.Elts) - 1
						n.Elts[last] = call("uncheckedValue", g.add(check, n), n.Elts[last-1], n.Elts[last])
					})
				}
			}
		}
		return true
	})
	for _, rewrite := range rewrites {
		rewrite()
	}
	last := len(f.Body.List) - 1
	if last < 0 {
		return
	}
	switch s := f.Body.List[last].(type) {
	case *ast.ReturnStmt: // what is refused unless something above accepted it
		if check := own([]ast.Stmt{s}); check != "" {
			guarded := &ast.IfStmt{Cond: not(call("unchecked", g.add(check, s))), Body: &ast.BlockStmt{List: []ast.Stmt{s}}}
			f.Body.List = append(f.Body.List[:last], guarded, &ast.ReturnStmt{Results: []ast.Expr{ast.NewIdent("nil")}})
		}
	case *ast.ExprStmt: // a method that fails as a whole
		if check := own([]ast.Stmt{s}); check != "" {
			f.Body.List[last] = &ast.IfStmt{Cond: not(call("unchecked", g.add(check, s))), Body: &ast.BlockStmt{List: []ast.Stmt{s}}}
		}
	}
}

// alternatives guards each operand of the ors in a condition, and returns their number.
func (g *guarder) alternatives(check string, cond *ast.Expr) int {
	switch x := (*cond).(type) {
	case *ast.ParenExpr:
		return g.alternatives(check, &x.X)
	case *ast.BinaryExpr:
		n := 0
		for _, side := range []*ast.Expr{&x.X, &x.Y} {
			switch inside := g.alternatives(check, side); {
			case inside > 0:
				n += inside
			case x.Op == token.LOR:
				*side = &ast.BinaryExpr{X: &ast.ParenExpr{X: *side}, Op: token.LAND, Y: not(call("unchecked", g.add(check, *side)))}
				n++
			}
		}
		return n
	}
	return 0
}

// returnsOnlyErrors reports whether a literal is a constructor of errors, as bad in checkNodes.
func returnsOnlyErrors(f *ast.FuncLit) bool {
	r := f.Type.Results
	return r != nil && len(r.List) == 1 && strings.Contains(fmt.Sprint(r.List[0].Type), "Error") && len(f.Type.Params.List) > 1
}

// own is the check that a list of statements refuses by, inner ifs and switches apart; "" if it does not.
func own(list []ast.Stmt) (check string) {
	for _, s := range list {
		switch s.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.BlockStmt:
			continue
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.BasicLit:
				if c := literal(n); c != "" {
					check = c
				}
			case *ast.SelectorExpr:
				if c := readerChecks[n.Sel.Name]; c != "" {
					check = c
				}
			case *ast.CompositeLit:
				if t, ok := n.Type.(*ast.Ident); ok && t.Name == "Failure" && len(n.Elts) > 0 {
					check = faults[fault(n.Elts[0])]
				}
			case *ast.AssignStmt:
				if x, ok := n.Lhs[0].(*ast.Ident); ok && x.Name == "expected" && n.Tok == token.ASSIGN { // refused after the switch
					check = readerChecks["formCheck"]
				}
			case *ast.CallExpr:
				name := ""
				switch f := n.Fun.(type) {
				case *ast.Ident:
					name = f.Name
				case *ast.SelectorExpr:
					if x, ok := f.X.(*ast.Ident); ok && x.Name == "r" { // formats' reader
						name = f.Sel.Name
					}
				}
				switch name {
				case "fail":
					check = readerChecks["formCheck"]
				case "wrongKind":
					check = readerChecks["kindCheck"]
				case "bad":
					check = "K-7"
				case "tooHigh":
					if check == "" {
						check = "K-8"
					}
				}
			}
			return true
		})
	}
	return check
}

// fault is the first value of a merkle.Failure.
func fault(e ast.Expr) string {
	if kv, ok := e.(*ast.KeyValueExpr); ok {
		e = kv.Value
	}
	x, _ := e.(*ast.Ident)
	return x.Name
}

func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok {
		if m := checkName.FindStringSubmatch(l.Value); m != nil {
			return m[1]
		}
	}
	return ""
}
