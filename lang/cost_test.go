package lang_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/circuits"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/security"
)

// width is the columns of a program's circuit under a profile, all that a proof commits to.
func width(t testing.TB, p *bytecode.Program, profile, circuit string) int {
	t.Helper()
	m, err := exec.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	s, err := circuits.Build(m)
	if err != nil {
		t.Fatal(err)
	}
	level, _ := security.ProfileByName(profile)
	key, err := s.Air.Compile(level.Suite, verifier.RawProfile(level), level.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	for i := range key.Circuits {
		if key.Circuits[i].Name != circuit {
			continue
		}
		c, err := air.CheckCircuit(&key.Circuits[i], key.Channels, level.LogBlowup, level.MinLogHeight)
		if err != nil {
			t.Fatal(err)
		}
		return int(c.Columns) + c.AuxColumns() + c.QuotientColumns()
	}
	t.Fatalf("no circuit %s", circuit)
	return 0
}

// TestCellsPerOperation keeps the table of docs/language-internals.md equal to the circuits. Operations are measured in code without branches, by the columns of 33 of them less those of 1.
func TestCellsPerOperation(t *testing.T) {
	doc, err := os.ReadFile("../docs/language-internals.md")
	if err != nil {
		t.Fatal(err)
	}
	profiles := []string{"fast", "standard", "compact"}
	var rows []string
	for _, c := range []struct{ name, typ, op string }{
		{"`field` product", "field", "x%d * b"}, {"`u32` sum", "u32", "x%d + b"}, {"`u32` product", "u32", "x%d * b"}, {"`u64` sum", "u64", "x%d + b"}, {"`u64` product", "u64", "x%d * b"},
	} {
		row := "| " + c.name + " |"
		for _, profile := range profiles {
			of := func(n int) int {
				var b strings.Builder
				fmt.Fprintf(&b, "pub fn f(x0: %s, b: %s) -> %s {\n", c.typ, c.typ, c.typ)
				for i := range n {
					fmt.Fprintf(&b, "let x%d = "+c.op+";\n", i+1, i)
				}
				fmt.Fprintf(&b, "x%d }", n)
				return width(t, compile(t, b.String()).Bytecode, profile, "f")
			}
			row += fmt.Sprintf(" %.1f |", float64(of(33)-of(1))/32)
		}
		rows = append(rows, row)
	}
	for _, c := range []struct {
		name, circuit string
		code          bytecode.Code
		rows          int
	}{{"BLAKE3 compression", "blake3", bytecode.OpBlake3, blake3.CallRows}} {
		row := "| " + c.name + " |"
		for _, profile := range profiles {
			row += fmt.Sprintf(" %d |", c.rows*width(t, &assembly.Hash(c.code).Program, profile, c.circuit))
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/language-internals.md lacks %s", row)
		}
	}
}
