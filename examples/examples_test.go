package examples

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/values"
	"github.com/ixprove/ixprove/verifier/field"
)

// start compiles an example and reads its call and its private inputs.
func start(t *testing.T, e Example) (p *lang.Program, m *exec.Module, call *lang.Call, inputs [][]field.Element) {
	t.Helper()
	folder, err := e.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if p, err = lang.Compile(folder, "main.ix"); err != nil {
		t.Fatal(err)
	}
	if call, err = p.ParseCall(e.Call); err != nil {
		t.Fatal(err)
	}
	if m, err = exec.Load(p.Bytecode); err != nil {
		t.Fatal(err)
	}
	if e.Witness {
		data, err := fs.ReadFile(folder, "witness.json")
		if err != nil {
			t.Fatal(err)
		}
		private, err := values.Witness(&p.Entries[call.Entry], data, func(name string) ([]byte, error) { return fs.ReadFile(folder, name) })
		if err != nil {
			t.Fatal(err)
		}
		inputs = p.Inputs(call.Entry, private)
	}
	return p, m, call, inputs
}

func TestExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range All() {
		p, m, call, inputs := start(t, e)
		r, err := m.Execute(context.Background(), []exec.Call{{Entry: call.Entry, Args: call.Words}}, inputs, exec.Limits{})
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if got := values.Text(p.Entries[call.Entry].Result, p.Result(call.Entry, r.Claims[0].Results)); !strings.Contains(got, e.Shown) {
			t.Errorf("%s gives %s, want %s", e.Name, got, e.Shown)
		}
		folder, err := e.Folder()
		if err != nil {
			t.Fatal(err)
		}
		text, err := fs.ReadFile(folder, "main.ix")
		if err != nil {
			t.Fatal(err)
		}
		parsed, _ := syntax.Parse(syntax.NewFile("main.ix", string(text)))
		if syntax.Format(parsed) != string(text) {
			t.Errorf("%s is not formatted", e.Name)
		}
		if !strings.Contains(string(readme), "ixprove run "+e.Arguments()) {
			t.Errorf("README.md does not say: ixprove run %s", e.Arguments())
		}
	}
}

// TestFalseMembership checks that a wrong root is refused.
func TestFalseMembership(t *testing.T) {
	e, _ := ByName("membership")
	_, m, call, inputs := start(t, e)
	call.Words[0]++
	if _, err := m.Execute(context.Background(), []exec.Call{{Entry: call.Entry, Args: call.Words}}, inputs, exec.Limits{}); err == nil || !strings.Contains(err.Error(), "not in the tree") {
		t.Errorf("got %v", err)
	}
}
