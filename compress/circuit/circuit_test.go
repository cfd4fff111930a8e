package circuit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/plonk"
	backend "github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/logger"
	"github.com/consensys/gnark/test/unsafekzg"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

func TestMain(m *testing.M) {
	logger.Disable()
	os.Exit(m.Run())
}

// sample is an honest root proof.
type sample struct {
	pk      *prover.ProvingKey
	witness *prover.Witness
	proof   []byte
}

func prove(t testing.TB, system *air.System, profile string, w *prover.Witness) *sample {
	t.Helper()
	pk := keygen(t, system, profile)
	r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	return &sample{pk, w, r.Proof}
}

// numbers is a proof of Fibonacci numbers, in a table that reaches the last.
func numbers(t testing.TB, profile string, indices ...uint32) *sample {
	t.Helper()
	w, err := fibonacci.Witness(indices, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	return prove(t, fibonacci.System(), profile, w)
}

// tiny is a proof with a table of 2^8 rows.
func tiny(t testing.TB) *sample { return numbers(t, "root-dev", 7, 200) }

// anchored is a proof of a system with an entry that states nothing, between two that state a number.
func anchored(t testing.TB) *sample {
	t.Helper()
	s := air.NewSystem("anchored")
	x := []formats.Value{{Name: "x", Type: formats.TypeU8}}
	first, anchor, second := s.Channel("first", 1), s.Channel("anchor", 0), s.Channel("second", 1)
	s.Entry("first", first, x, nil)
	s.Entry("anchor", anchor, nil, nil)
	s.Entry("second", second, nil, x)
	c := s.Circuit("all")
	v := c.Column("x")
	c.Assert("x counts", c.Transition().Mul(v.Next().Sub(v).Minus(1)))
	c.Assert("x starts at 0", c.First().Mul(v))
	c.Pull(first, c.Column("first"), v)
	c.Pull(second, c.Column("second"), v)
	c.Pull(anchor, c.First())
	rows := make(columns, 3)
	for i := range rows {
		rows[i] = make([]field.Element, 16)
	}
	for r := range rows[0] {
		rows[0][r] = field.Element(r)
	}
	rows[1][3], rows[2][9] = 1, 1
	one := func(x uint64) formats.Elements { return formats.Elements{}.Append(x) }
	return prove(t, s, "root-dev", &prover.Witness{
		Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: 4, Trace: rows}}}},
		Claims: []formats.Claim{{Entry: 2, Results: one(9)}, {Entry: 0, Args: one(3)}, {Entry: 1}},
	})
}

// columns are a trace that is written as it is.
type columns [][]field.Element

func (c columns) WriteRows(out [][]field.Element, first int) error {
	for i := range out {
		copy(out[i], c[i][first:])
	}
	return nil
}

// build is the circuit of the sample.
func (s *sample) build(t testing.TB, o Options) frontend.Circuit {
	t.Helper()
	var tables []formats.Table
	for _, table := range s.witness.Shards[0].Tables {
		tables = append(tables, formats.Table{Circuit: uint32(table.Circuit), LogHeight: uint8(table.LogHeight)})
	}
	c, err := Build(s.pk.Key, tables, len(s.witness.Claims), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *sample) assign(t testing.TB, o Options) (*rootCircuit, Statement) {
	t.Helper()
	c, statement, err := Assign(s.pk.Key, s.proof, o)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*rootCircuit), statement
}

func compile(t testing.TB, builder frontend.NewBuilder, c frontend.Circuit, o ...frontend.CompileOption) constraint.ConstraintSystem {
	t.Helper()
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), builder, c, o...)
	if err != nil {
		t.Fatal(err)
	}
	return ccs
}

func full(t testing.TB, c frontend.Circuit, o ...frontend.WitnessOption) backend.Witness {
	t.Helper()
	w, err := frontend.NewWitness(c, ecc.BN254.ScalarField(), o...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestValidProofs finds that valid proofs have witnesses, of the statement that anyone can compute, and of no other.
func TestValidProofs(t *testing.T) {
	samples := map[string]*sample{"tiny": tiny(t), "no layers": numbers(t, "root-dev", 5), "an entry that states nothing": anchored(t)}
	if *long {
		samples["profile root"] = numbers(t, "root", 300)
		w, err := blake3.Witness([][]byte{[]byte("a file")}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		samples["many tables"] = prove(t, blake3.System(), "root-dev", w)
	}
	for name, s := range samples {
		for _, o := range []Options{{Commitments: true}, {}} {
			for _, b := range builders {
				place := fmt.Sprintf("%s, %s, %+v", name, b.name, o)
				ccs := compile(t, b.new, s.build(t, o))
				c, statement := s.assign(t, o)
				if err := ccs.IsSolved(full(t, c)); err != nil {
					t.Errorf("%s: %v", place, err)
				}
				want, err := StatementOf(s.pk.Key, c.shape.tables(), s.witness.Claims)
				if err != nil || want != statement || statement.Program != s.pk.Digest() {
					t.Errorf("%s: %v, want %v, %v", place, statement, want, err)
				}
				for name, change := range map[string]func(s *Statement){
					"program, high": func(s *Statement) { s.Program[15] ^= 1 }, "program, low": func(s *Statement) { s.Program[31] ^= 1 },
					"claims, high": func(s *Statement) { s.Claims[0] ^= 1 }, "claims, low": func(s *Statement) { s.Claims[16] ^= 1 },
					"protocol": func(s *Statement) { s.Protocol[31] ^= 1 },
				} {
					wrong := statement
					change(&wrong)
					c.state(wrong)
					if ccs.IsSolved(full(t, c)) == nil {
						t.Errorf("%s: another %s is accepted", place, name)
					}
				}
			}
		}
	}
}

// variables visits every variable of a witness.
func variables(v reflect.Value, visit func(*frontend.Variable)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			variables(v.Field(i), visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			variables(v.Index(i), visit)
		}
	case reflect.Interface:
		visit(v.Addr().Interface().(*frontend.Variable))
	}
}

// TestEveryVariable changes variables of a witness one at a time, which a proof could not always: rows and siblings of a query alone, nodes of a crown.
func TestEveryVariable(t *testing.T) {
	s, o := tiny(t), Options{Commitments: true}
	ccs := compile(t, r1cs.NewBuilder[constraint.U64], s.build(t, o))
	c, _ := s.assign(t, o)
	count := 0
	variables(reflect.ValueOf(&c.Witness).Elem(), func(v *frontend.Variable) {
		count++
		if count%5 != 0 && !*long {
			return
		}
		was := *v
		x, ok := was.(*big.Int)
		if !ok {
			x = new(big.Int)
			if u, ok := was.(uint64); ok {
				x.SetUint64(u)
			}
		}
		*v = new(big.Int).Add(x, big.NewInt(1))
		if ccs.IsSolved(full(t, c)) == nil {
			t.Errorf("variable %d is free", count)
		}
		*v = was
	})
	if err := ccs.IsSolved(full(t, c)); err != nil {
		t.Error(err)
	}
	t.Logf("%d variables", count)
}

// TestRefusals asks for circuits and statements that there are none of.
func TestRefusals(t *testing.T) {
	s, mute := tiny(t), anchored(t)
	tables := []formats.Table{{LogHeight: 8}}
	uneven := air.NewSystem("uneven")
	for i, types := range [][]formats.Value{{{Name: "x", Type: formats.TypeU8}}, {{Name: "x", Type: formats.TypeU64}}} {
		name := string(rune('a' + i))
		ch := uneven.Channel(name, i+1)
		uneven.Entry(name, ch, types, nil)
		c := uneven.Circuit(name)
		c.Pull(ch, c.Column("m"), c.ColumnVector("x", i+1)...)
	}
	silent := air.NewSystem("silent")
	c := silent.Circuit("both")
	c.Column("nothing")
	for _, name := range []string{"a", "b"} {
		ch := silent.Channel(name, 0)
		silent.Entry(name, ch, nil, nil)
		c.Pull(ch, c.First())
	}
	for _, c := range []struct {
		name, check string
		class       formats.Class
		err         func() error
	}{
		{"no claims", "P-5", formats.Rejected, func() error { _, err := Build(s.pk.Key, tables, 0, Options{}); return err }},
		{"too many claims", "P-5", formats.Rejected, func() error { _, err := Build(s.pk.Key, tables, formats.MaxClaims+1, Options{}); return err }},
		{"no tables", "P-11", formats.Rejected, func() error { _, err := Build(s.pk.Key, nil, 1, Options{}); return err }},
		{"no such circuit", "P-12", formats.Rejected, func() error {
			_, err := Build(s.pk.Key, []formats.Table{{Circuit: 1, LogHeight: 8}}, 1, Options{})
			return err
		}},
		{"too high", "P-14", formats.Rejected, func() error { _, err := Build(s.pk.Key, []formats.Table{{LogHeight: 28}}, 1, Options{}); return err }},
		{"too weak", "P-17", formats.Rejected, func() error {
			_, err := Build(keygen(t, wide(16_000), "root").Key, []formats.Table{{LogHeight: 27}}, 1, Options{})
			return err
		}},
		{"too many claims for a circuit", "", formats.Limit, func() error { _, err := Build(s.pk.Key, tables, 2_000, Options{}); return err }},
		{"too many columns for a circuit", "", formats.Limit, func() error {
			_, err := Build(keygen(t, wide(40_000), "root-dev").Key, []formats.Table{{LogHeight: 8}}, 1, Options{})
			return err
		}},
		{"too many trees for a circuit", "", formats.Limit, func() error {
			many, err := checkedShape(s.pk.Key, tables, 1)
			if err != nil {
				return err
			}
			many.Trees = slices.Repeat(many.Trees, 1<<11) // as of circuits with fixed columns
			return many.checkSize()
		}},
		{"another suite", "K-3", formats.Incompatible, func() error { _, err := Build(blake3Key(t), tables, 1, Options{}); return err }},
		{"entries of several sizes", "", formats.Invalid, func() error { _, err := Build(keygen(t, uneven, "root-dev").Key, tables, 1, Options{}); return err }},
		{"a claim out of range", "P-8", formats.Rejected, func() error {
			_, err := StatementOf(s.pk.Key, tables, []formats.Claim{{Args: formats.Elements{}.Append(1 << 32), Results: formats.Elements{}.Append(1)}})
			return err
		}},
		{"an entry that states nothing, unclaimed", "P-38", formats.Rejected, func() error {
			_, err := Build(keygen(t, silent, "root-dev").Key, []formats.Table{{LogHeight: 4}}, 1, Options{})
			return err
		}},
		{"more claims than such entries", "P-38", formats.Rejected, func() error {
			_, err := Build(keygen(t, silent, "root-dev").Key, []formats.Table{{LogHeight: 4}}, 3, Options{})
			return err
		}},
		{"claimed twice", "P-38", formats.Rejected, func() error {
			_, err := StatementOf(mute.pk.Key, []formats.Table{{LogHeight: 4}}, []formats.Claim{{Entry: 1}, {Entry: 1}})
			return err
		}},
		{"not claimed last", "", formats.Invalid, func() error {
			_, err := StatementOf(mute.pk.Key, []formats.Table{{LogHeight: 4}}, []formats.Claim{{Entry: 1}, {Entry: 0, Args: formats.Elements{}.Append(3)}})
			return err
		}},
		{"no proof", "P-2", formats.Malformed, func() error { _, _, err := Assign(s.pk.Key, nil, Options{}); return err }},
		{"two shards", "", formats.Invalid, func() error {
			w, err := fibonacci.Witness([]uint32{7, 200}, 2, 1)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = Assign(s.pk.Key, prove(t, fibonacci.System(), "root-dev", w).proof, Options{})
			return err
		}},
	} {
		err := c.err()
		var e *formats.Error
		if !errors.As(err, &e) || e.Check != c.check || e.Class != c.class {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestProtocolID computes the id as docs/circuit.md says, and holds the page to the version.
func TestProtocolID(t *testing.T) {
	page, err := os.ReadFile("../../docs/circuit.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("the circuit's version (%d)", Version); !strings.Contains(string(page), want) {
		t.Errorf("docs/circuit.md does not say %q", want)
	}
	s := anchored(t)
	var b []byte
	number := func(n uint64) { b = binary.BigEndian.AppendUint64(b, n) }
	text := func(s string) { number(uint64(len(s))); b = append(b, s...) }
	digest, p := s.pk.Key.Digest(), s.pk.Key.Profile
	text("ixprove/1 root circuit")
	number(2)
	b = append(b, digest[:]...)
	text("poseidon2-bn254")
	for _, n := range []int{p.LogBlowup, p.Queries, p.GrindingBits, p.LogArity, p.LogFinal, p.Multiplicity} {
		number(uint64(n))
	}
	text("insecure dev")
	for _, n := range []uint64{1, 0, 4, 3} { // tables; circuit and log height; claims
		number(n)
	}
	want := formats.Digest(sha256.Sum256(b))
	want[0] &= 0x1f
	statement, err := StatementOf(s.pk.Key, []formats.Table{{LogHeight: 4}}, []formats.Claim{
		{Entry: 2, Results: formats.Elements{}.Append(9)}, {Entry: 0, Args: formats.Elements{}.Append(3)}, {Entry: 1}})
	if err != nil || statement.Protocol != want {
		t.Errorf("the protocol is %x, want %x (%v)", statement.Protocol, want, err)
	}
}

// TestSNARKs makes and checks a proof of each backend, with keys that are worth nothing.
func TestSNARKs(t *testing.T) {
	if !*long {
		t.Log("package compress proves end to end; with -long this test does too")
		return
	}
	s := tiny(t)
	for _, o := range []Options{{Commitments: true}, {}} {
		c, statement := s.assign(t, o)
		x := statement.Publics() // what a verifier has
		public := full(t, &rootCircuit{Program: [2]frontend.Variable{x[0], x[1]}, Claims: [2]frontend.Variable{x[2], x[3]}, Protocol: x[4]}, frontend.PublicOnly())
		if o.Commitments {
			ccs := compile(t, scs.NewBuilder[constraint.U64], s.build(t, o))
			srs, lagrange, err := unsafekzg.NewSRS(ccs)
			if err != nil {
				t.Fatal(err)
			}
			pk, vk, err := plonk.Setup(ccs, srs, lagrange)
			if err != nil {
				t.Fatal(err)
			}
			proof, err := plonk.Prove(ccs, pk, full(t, c))
			if err != nil {
				t.Fatal(err)
			}
			if err := plonk.Verify(proof, vk, public); err != nil {
				t.Error(err)
			}
		}
		ccs := compile(t, r1cs.NewBuilder[constraint.U64], s.build(t, o))
		pk, vk, err := groth16.Setup(ccs)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := groth16.Prove(ccs, pk, full(t, c))
		if err != nil {
			t.Fatal(err)
		}
		if err := groth16.Verify(proof, vk, public); err != nil {
			t.Error(err)
		}
	}
}

// TestTamperedHints changes outputs of hints in a whole circuit, calls spread over all of it: none is free.
func TestTamperedHints(t *testing.T) {
	s, o := tiny(t), Options{Commitments: true}
	ccs := compile(t, builders[1].new, s.build(t, o))
	c, _ := s.assign(t, o)
	w := full(t, c)
	for name, hint := range goldilocks.Hints() {
		// run solves with a change to output out of one call, counted in the order of a solver with one worker. It returns how many calls there are.
		run := func(call, out int) (calls int, err error) {
			_, err = ccs.Solve(w, solver.WithNbTasks(1), solver.OverrideHint(solver.GetHintID(hint), func(field *big.Int, in, outs []*big.Int) error {
				if err := hint(field, in, outs); err != nil {
					return err
				}
				if calls == call {
					outs[out%len(outs)].Add(outs[out%len(outs)], big.NewInt(1))
				}
				calls++
				return nil
			}))
			return calls, err
		}
		calls, err := run(-1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for k := 0; k < calls; k += calls/24 + 1 {
			if _, err := run(k, k); err == nil {
				t.Errorf("hint %q: call %d of %d is free", name, k, calls)
			}
		}
	}
}
