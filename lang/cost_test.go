package lang_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/lang/circuits"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// columns is what the circuit of the program's first function commits to, by kind, under a profile.
func columns(t testing.TB, text string, profile string, circuit string) (main, aux, quotient int) {
	t.Helper()
	m, err := exec.Load(compile(t, text).Bytecode)
	if err != nil {
		t.Fatal(err)
	}
	s, err := circuits.Build(m)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := security.ProfileByName(profile)
	key, err := s.Air.Compile(hash.Blake3{}.Name(), verifier.RawProfile(p), p.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	for i := range key.Circuits {
		if key.Circuits[i].Name == circuit {
			c, err := air.CheckCircuit(&key.Circuits[i], key.Channels, p.LogBlowup, p.MinLogHeight)
			if err != nil {
				t.Fatal(err)
			}
			return int(c.Columns), c.AuxColumns(), c.QuotientColumns()
		}
	}
	t.Fatalf("no circuit %s", circuit)
	return 0, 0, 0
}

// TestCellsPerOperation measures operations in code without branches: columns for 17 of them less columns for 1, by 16.
func TestCellsPerOperation(t *testing.T) {
	for _, c := range []struct{ name, typ, op string }{
		{"u32 +", "u32", "x%d + b"}, {"u32 *", "u32", "x%d * b"}, {"u32 -", "u32", "x%d - b"}, {"u64 +", "u64", "x%d + b"}, {"u64 *", "u64", "x%d * b"}, {"field *", "field", "x%d * b"},
	} {
		for _, profile := range []string{"fast", "standard"} {
			width := func(n int) (int, int) {
				var b strings.Builder
				fmt.Fprintf(&b, "pub fn f(x0: %s, b: %s) -> %s {\n", c.typ, c.typ, c.typ)
				for i := range n {
					fmt.Fprintf(&b, "let x%d = "+c.op+";\n", i+1, i)
				}
				fmt.Fprintf(&b, "x%d }", n)
				main, aux, _ := columns(t, b.String(), profile, "f")
				return main, aux
			}
			m1, a1 := width(1)
			m17, a17 := width(17)
			t.Logf("%-10s %-9s main %.2f aux %.2f total %.2f", c.name, profile, float64(m17-m1)/16, float64(a17-a1)/16, float64(m17-m1+a17-a1)/16)
		}
	}
}
