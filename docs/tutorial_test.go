package docs_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// fibonacciSystem defines the statement "the n-th Fibonacci number modulo p is v".
func fibonacciSystem() *air.System {
	system := air.NewSystem("tutorial")
	answers := system.Channel("answers", 2)
	system.Entry("fibonacci", answers,
		[]formats.Value{{Name: "n", Type: formats.TypeU32}},
		[]formats.Value{{Name: "v", Type: formats.TypeField}})

	c := system.Circuit("walk")
	i, a, b := c.Column("i"), c.Column("a"), c.Column("b")
	c.Assert("i starts at 0", c.First().Mul(i))
	c.Assert("a starts at 0", c.First().Mul(a))
	c.Assert("b starts at 1", c.First().Mul(b.Minus(1)))
	c.Assert("i counts", c.Transition().Mul(i.Next().Sub(i).Minus(1)))
	c.Assert("a moves on", c.Transition().Mul(a.Next().Sub(b)))
	c.Assert("b is the sum", c.Transition().Mul(b.Next().Sub(a).Sub(b)))

	asked := c.Column("asked")
	c.Pull(answers, asked, i, a)
	return system
}

// walk writes the rows of the circuit and answers once, in row n.
type walk struct{ n int }

func (w walk) WriteRows(columns [][]field.Element, first int) error {
	a, b := field.Element(0), field.Element(1)
	for row := range first + len(columns[0]) {
		if i := row - first; i >= 0 {
			columns[0][i], columns[1][i], columns[2][i] = field.Element(row), a, b
			if row == w.n {
				columns[3][i] = 1
			}
		}
		a, b = b, field.Add(a, b)
	}
	return nil
}

func Example() {
	ctx := context.Background()
	profile, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(ctx, fibonacciSystem(), hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		fmt.Println(err)
		return
	}

	claim := formats.Claim{
		Args:    formats.Elements(nil).Append(90),
		Results: formats.Elements(nil).Append(2880067194370816120),
	}
	witness := &prover.Witness{
		Claims: []formats.Claim{claim},
		Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: 7, Trace: walk{n: 90}}}}},
	}
	result, err := prover.Prove(ctx, pk, witness, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		fmt.Println(err)
		return
	}

	key, err := verifier.ParseKey(pk.Encoded)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := verifier.Verify(key, result.Proof, verifier.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(key.ClaimText(&report.Claims[0]))
	fmt.Println(report.ProvenBits, "proven bits")

	claim.Results = formats.Elements(nil).Append(1)
	_, err = verifier.Verify(key, result.Proof, verifier.Policy{Claims: []formats.Claim{claim}})
	fmt.Println(err)
	// Output:
	// fibonacci(n 90) = v 2880067194370816120
	// 128 proven bits
	// ixprove: rejected: this is not the claim that was expected (P-9, claim 0)
}

// The tutorial shows this file's code, word for word.
func TestTutorialShowsThisFile(t *testing.T) {
	page, err := os.ReadFile("tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("tutorial_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the tutorial has no code")
	}
	for _, b := range blocks {
		code, _, _ := strings.Cut(b, "```")
		if !strings.Contains(string(source), code) {
			t.Errorf("this code of tutorial.md is not in tutorial_test.go:\n%s", code)
		}
	}
}
