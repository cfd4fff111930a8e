package circuit

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/circuits"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
)

const powerProgram = `
pub fn power(x: field, n: field) -> field {
    match n {
        0 => 1,
        _ => x * power(x, n - 1),
    }
}
`

// listProgram has memory.
const listProgram = `
enum List {
    Nil,
    Cons(field, &List),
}

fn count(n: field) -> List {
    match n {
        0 => List::Nil,
        _ => List::Cons(n, &count(n - 1)),
    }
}

fn total(l: List) -> field {
    match l {
        List::Nil => 0,
        List::Cons(x, rest) => x + total(*rest),
    }
}

pub fn sum(n: field) -> field {
    total(count(n))
}
`

// program is a compiled program with a key.
type program struct {
	*lang.Program
	module *exec.Module
	system *circuits.System
	pk     *prover.ProvingKey
}

func newProgram(t testing.TB, text string) *program {
	t.Helper()
	compiled, err := lang.Compile(fstest.MapFS{"main.ix": {Data: []byte(text)}}, "main.ix")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{Program: compiled}
	if p.module, err = exec.Load(compiled.Bytecode); err != nil {
		t.Fatal(err)
	}
	if p.system, err = circuits.Build(p.module); err != nil {
		t.Fatal(err)
	}
	p.pk = keygen(t, p.system.Air, "root-dev")
	return p
}

// witness is the witness of a root of the calls.
func (p *program) witness(t testing.TB, calls ...string) *prover.Witness {
	t.Helper()
	var list []exec.Call
	for _, text := range calls {
		c, err := p.ParseCall(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, exec.Call{Entry: c.Entry, Args: c.Words})
	}
	r, err := p.module.Execute(context.Background(), list, nil, exec.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.system.RootWitness(r)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (p *program) prove(t testing.TB, w *prover.Witness) *sample {
	t.Helper()
	r, err := prover.Prove(context.Background(), p.pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verifier.Verify(p.pk.Key, r.Proof, verifier.Policy{Insecure: true}); err != nil {
		t.Fatal(err)
	}
	return &sample{p.pk, w, r.Proof}
}

func (p *program) statement(t testing.TB, w *prover.Witness) Statement {
	t.Helper()
	var tables []formats.Table
	for _, table := range w.Shards[0].Tables {
		tables = append(tables, formats.Table{Circuit: uint32(table.Circuit), LogHeight: uint8(table.LogHeight)})
	}
	s, err := StatementOf(p.pk.Key, tables, w.Claims)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPrograms solves the circuits of programs with and without memory: one circuit for all calls of like size.
func TestPrograms(t *testing.T) {
	o := Options{Commitments: true}
	for _, c := range []struct {
		text         string
		calls, large []string
		wrong        uint64 // a result
	}{
		{powerProgram, []string{"power(3, 5)", "power(2, 200)", "power(7, 0)"}, []string{"power(1, 300)"}, 244},
		{listProgram, []string{"sum(10)", "sum(200)", "sum(0)"}, []string{"sum(300)"}, 56},
	} {
		p := newProgram(t, c.text)
		var ccs constraint.ConstraintSystem
		var protocol formats.Digest
		for i, call := range c.calls {
			s := p.prove(t, p.witness(t, call))
			a, statement := s.assign(t, o)
			if i == 0 {
				protocol, ccs = statement.Protocol, compile(t, r1cs.NewBuilder[constraint.U64], s.build(t, o))
			}
			if statement.Protocol != protocol {
				t.Errorf("%s has a circuit of its own", call)
			}
			if err := ccs.IsSolved(full(t, a)); err != nil {
				t.Errorf("%s: %v", call, err)
			}
			if i > 0 {
				continue
			}
			// Another result, in the claim and in its digest.
			claims := append([]formats.Claim(nil), s.witness.Claims...)
			claims[0].Results = formats.Elements{}.Append(c.wrong)
			elements := a.Witness.Elements[0]
			elements[len(elements)-1] = c.wrong
			a.state(p.statement(t, &prover.Witness{Claims: claims, Shards: s.witness.Shards}))
			if ccs.IsSolved(full(t, a)) == nil {
				t.Errorf("%s: another result is accepted", call)
			}
		}
		if p.statement(t, p.witness(t, c.large...)).Protocol == protocol {
			t.Errorf("%v has a circuit of smaller tables", c.large)
		}
	}
}

// TestSilentClaims puts the claims of entries that state nothing where the circuit has no place for them, leaves them out, and makes them twice.
func TestSilentClaims(t *testing.T) {
	p := newProgram(t, listProgram)
	w := p.witness(t, "sum(10)", "sum(4)")
	p.statement(t, w)
	sum, memory := w.Claims[0], w.Claims[2]
	for _, c := range []struct {
		name, check string
		class       formats.Class
		claims      []formats.Claim
	}{
		{"first", "", formats.Invalid, []formats.Claim{memory, sum, sum}},
		{"none", "P-38", formats.Rejected, []formats.Claim{sum, sum}},
		{"two", "P-38", formats.Rejected, []formats.Claim{sum, memory, memory}},
	} {
		var tables []formats.Table
		for _, table := range w.Shards[0].Tables {
			tables = append(tables, formats.Table{Circuit: uint32(table.Circuit), LogHeight: uint8(table.LogHeight)})
		}
		_, err := StatementOf(p.pk.Key, tables, c.claims)
		var e *formats.Error
		if !errors.As(err, &e) || e.Check != c.check || e.Class != c.class {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	w.Claims = []formats.Claim{memory, sum, w.Claims[1]}
	s := p.prove(t, w) // the verifier takes any order
	_, _, err := Assign(p.pk.Key, s.proof, Options{})
	var e *formats.Error
	if !errors.As(err, &e) || e.Class != formats.Invalid || e.Place != "claim 0" {
		t.Errorf("a proof of the memory first: %v", err)
	}
	// A key whose entries all state nothing.
	key := entriesKey(t, nil, nil)
	for _, claims := range []int{1, 3} {
		if _, err := Build(key, []formats.Table{{LogHeight: 8}}, claims, Options{}); !errors.As(err, &e) || e.Check != "P-38" {
			t.Errorf("%d claims of two entries: %v", claims, err)
		}
	}
	if _, err := Build(key, []formats.Table{{LogHeight: 8}}, 2, Options{}); err != nil {
		t.Error(err)
	}
}

// TestClaimWords reads the claims of a key with entries that state nothing between others: the first claim is of one that states something, the other two are fixed.
func TestClaimWords(t *testing.T) {
	u8 := func() []formats.Value { return []formats.Value{{Type: formats.TypeU8}} }
	s := entries(t, 3, nil, u8(), nil, u8())
	const most = 8
	ccs := compileGadget(t, builders[0].new, 3+most, func(api frontend.API, in []frontend.Variable) {
		w := &witness{Choices: [][]frontend.Variable{in[:2]}, Elements: [][]frontend.Variable{in[2:3]}}
		v := &checker{api: api, hasher: hasher{api}, chip: goldilocks.New(api, goldilocks.Options{}), shape: s, witness: w}
		statement := &verifier.Statement[frontend.Variable]{}
		for _, claim := range v.claims() {
			statement.Claims = append(statement.Claims, verifier.ClaimWords[frontend.Variable]{Entry: claim.entry, Elements: words(claim.elements...)})
			api.AssertIsEqual(claim.channel.Variable(), api.Add(claim.entry, 1)) // channels are in the order of the entries
		}
		got := statement.Words(func(n uint64) frontend.Variable { return n })
		if len(got) != most {
			t.Fatalf("%d words", len(got))
		}
		for i := range got {
			api.AssertIsEqual(got[i], in[3+i])
		}
	})
	for _, c := range []struct {
		choice [2]any
		words  [most]any
		want   bool
	}{
		{[2]any{1, 0}, [most]any{3, 1, 1, 9, 0, 0, 2, 0}, true},
		{[2]any{0, 1}, [most]any{3, 3, 1, 9, 0, 0, 2, 0}, true},
		{[2]any{0, 1}, [most]any{3, 1, 1, 9, 0, 0, 2, 0}, false},
		{[2]any{0, 0}, [most]any{3, 0, 1, 9, 0, 0, 2, 0}, false},
		{[2]any{1, 0}, [most]any{3, 1, 1, 9, 2, 0, 2, 0}, false},
		{[2]any{1, 0}, [most]any{3, 1, 1, 9, 0, 0, 0, 0}, false},
	} {
		if got := solved(t, ccs, append(append(c.choice[:], 9), c.words[:]...)...); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
}
