package circuits

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/internal/tracecheck"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// forgery is a witness that starts honest and is changed in chosen places. Facts about words are answered whenever they are true, so that what remains wrong is what the change alone breaks.
type forgery struct {
	t       *testing.T
	system  *System
	checker *tracecheck.Checker
	witness *prover.Witness
	traces  []tracecheck.Trace // of shard 0
}

// forge starts with an honest witness, or with none where no execution exists.
func forge(t *testing.T, p *assembly.Program, inputs [][]field.Element, calls ...[]field.Element) *forgery {
	t.Helper()
	s := build(t, p)
	f := forgeSystem(t, s)
	if calls == nil {
		return f
	}
	f.follow(s.execute(t, inputs, calls...))
	return f
}

// follow takes the witness of an execution.
func (f *forgery) follow(r *exec.Record) {
	f.t.Helper()
	var err error
	if f.witness, err = f.system.Witness(r, 1, 3); err != nil {
		f.t.Fatal(err)
	}
	traces, err := f.checker.Write(f.witness)
	if err != nil {
		f.t.Fatal(err)
	}
	f.traces = traces[0]
}

func forgeSystem(t *testing.T, s *System) *forgery {
	t.Helper()
	c, err := tracecheck.New(s.Air, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	return &forgery{t: t, system: s, checker: c, witness: &prover.Witness{Shards: make([]prover.Shard, 1)}}
}

func (f *forgery) circuit(prefix string) int {
	for i, b := range f.system.Air.Circuits {
		if strings.HasPrefix(b.Name, prefix) {
			return i
		}
	}
	f.t.Fatalf("no circuit %s", prefix)
	return 0
}

// add appends an empty table of 2^log rows behind those of its circuit.
func (f *forgery) add(prefix string, log int) tracecheck.Trace {
	at, circuit := 0, f.circuit(prefix)
	for at < len(f.traces) && f.witness.Shards[0].Tables[at].Circuit <= circuit {
		at++
	}
	x := make(tracecheck.Trace, f.checker.Circuits[circuit].Columns)
	for i := range x {
		x[i] = make([]field.Element, 1<<log)
	}
	f.witness.Shards[0].Tables = slices.Insert(f.witness.Shards[0].Tables, at, prover.Table{Circuit: circuit, LogHeight: log})
	f.traces = slices.Insert(f.traces, at, x)
	return x
}

// table is the first table of a circuit.
func (f *forgery) table(prefix string) tracecheck.Trace {
	circuit := f.circuit(prefix)
	for i, t := range f.witness.Shards[0].Tables {
		if t.Circuit == circuit {
			return f.traces[i]
		}
	}
	return f.add(prefix, map[bool]int{true: wordsLog, false: 3}[circuit == f.system.first.words])
}

// column is a column of a circuit by name.
func (f *forgery) column(circuit, name string) int {
	c := slices.Index(f.system.Air.Circuits[f.circuit(circuit)].ColumnNames, name)
	if c < 0 {
		f.t.Fatalf("circuit %s has no column %s but %q", circuit, name, f.system.Air.Circuits[f.circuit(circuit)].ColumnNames)
	}
	return c
}

func (f *forgery) set(circuit, column string, row int, v field.Element) {
	f.table(circuit)[f.column(circuit, column)][row] = v
}

// find is the first row whose column has the value.
func (f *forgery) find(circuit, column string, v field.Element) int {
	return slices.Index(f.table(circuit)[f.column(circuit, column)], v)
}

// claim claims results of the first entry.
func (f *forgery) claim(args, results []field.Element) {
	c := formats.Claim{}
	for _, v := range args {
		c.Args = c.Args.Append(uint64(v))
	}
	for _, v := range results {
		c.Results = c.Results.Append(uint64(v))
	}
	f.witness.Claims = append([]formats.Claim{c}, f.witness.Claims...)
}

func (f *forgery) check() []tracecheck.Failure {
	failures, err := f.checker.Check(f.witness, [][]tracecheck.Trace{f.traces})
	if err != nil {
		f.t.Fatal(err)
	}
	return failures
}

// answer makes the table of words answer for all true facts that are asked for.
func (f *forgery) answer() {
	for _, x := range f.check() {
		k := slices.IndexFunc(f.system.facts, func(k fact) bool { return factNames[k] == x.Channel })
		if k < 0 {
			continue
		}
		at := x.Message[0]
		if f.system.facts[k] != factRange {
			at |= x.Message[1] << 8
		}
		if at < 1<<wordsLog && (len(x.Message) < 3 || x.Message[2] == x.Message[0]^x.Message[1]) {
			uses := &f.table("words")[k][at]
			*uses = field.Add(*uses, x.Excess)
		}
	}
}

// refused demands that exactly these constraints or channels fail, and that the verifier rejects a proof of the witness.
func (f *forgery) refused(want ...string) {
	f.t.Helper()
	f.answer()
	got := map[string]bool{}
	for _, x := range f.check() {
		got[x.Name()] = true
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		f.t.Errorf("these fail: %q, want %q", names, want)
		for _, x := range f.check() {
			f.t.Log(x)
		}
		return
	}
	f.proven(func(err error) bool { return err != nil })
}

// proven makes a proof of the witness and compares the verdict.
func (f *forgery) proven(want func(error) bool) {
	f.t.Helper()
	profile, _ := security.ProfileByName("dev")
	key, err := prover.Keygen(context.Background(), f.system.Air, hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		f.t.Fatal(err)
	}
	w := *f.witness
	w.Shards = []prover.Shard{{Tables: slices.Clone(w.Shards[0].Tables)}}
	for i := range w.Shards[0].Tables {
		w.Shards[0].Tables[i].Trace = written(f.traces[i])
	}
	result, err := prover.Prove(context.Background(), key, &w, prover.Options{Backend: cpu.Backend{}})
	if err == nil {
		_, err = verifier.Verify(key.Key, result.Proof, verifier.Policy{Insecure: true})
	}
	if !want(err) {
		f.t.Errorf("the verifier says %v", err)
	}
}

// written is a trace as it stands.
type written tracecheck.Trace

func (x written) WriteRows(columns [][]field.Element, first int) error {
	for i := range columns {
		copy(columns[i], x[i][first:])
	}
	return nil
}

// TestHonestForgery checks the harness: without a change, all is well.
func TestHonestForgery(t *testing.T) {
	f := forge(t, assembly.Squares(), nil, []field.Element{5})
	if got := f.check(); len(got) > 0 {
		t.Fatal(got[0])
	}
	f.proven(func(err error) bool { return err == nil })
}

// TestPaddingSupplies lets a padding row answer: fib(1) = 0 where fib(2) asks for it, and the claim fib(7) = 0.
func TestPaddingSupplies(t *testing.T) {
	t.Run("a call", func(t *testing.T) {
		f := forge(t, assembly.Fib(), nil, []field.Element{2})
		two, one, padding := f.find("fib", "in[0]", 2), f.find("fib", "in[0]", 1), 3
		f.witness.Claims[0].Results = formats.Elements{}.Append(0)
		f.set("fib", "uses", one, 0)
		f.set("fib", "uses", padding, 1)
		f.set("fib", "in[0]", padding, 1)
		plan := f.system.groups[0].Plans[0]
		result := plan.Body.Match.Blocks[2].Ops[2].Writes[0].Column // of the call of fib(1)
		f.table("fib")[result][two] = 0
		f.refused("padding supplies nothing")
	})
	t.Run("a claim", func(t *testing.T) {
		f := forge(t, assembly.Fib(), nil, []field.Element{2})
		f.claim([]field.Element{7}, []field.Element{0})
		f.set("fib", "in[0]", 3, 7)
		f.set("fib", `claims of "fib"`, 3, 1)
		f.refused("only calls are claimed")
	})
	t.Run("of a function with one way", func(t *testing.T) {
		f := forge(t, assembly.Squares(), nil, []field.Element{2})
		plan := f.system.groups[2].Plans[0]
		f.claim([]field.Element{9}, []field.Element{77})
		f.set("squares", "in[0]", 1, 9)
		f.set("squares", `claims of "squares"`, 1, 1)
		f.table("squares")[plan.Body.Ops[1].Writes[0].Column][1] = 77
		f.refused("only calls are claimed")
	})
}

// TestHalfARow lets a row be half a call: selectors that are no bits.
func TestHalfARow(t *testing.T) {
	f := forge(t, assembly.Fib(), nil, []field.Element{1})
	f.claim([]field.Element{1}, []field.Element{2}) // twice the truth
	f.set("fib", "in[0]", 1, 1)
	f.set("fib", `"fib" leaf 1`, 1, 2)
	f.set("fib", `claims of "fib"`, 1, 1)
	f.refused("a row is one call or none", "only calls are claimed")
}

// TestRowOfSeveralFunctions lets a row be parts of three functions that share a circuit: multiples that add up to one call whose function is the first, and whose result is whatever the prover likes.
func TestRowOfSeveralFunctions(t *testing.T) {
	p := assembly.New("parts")
	var parts []uint32
	for k := range 3 { // members 0, 1 and 2 of the group, whose results are 0, 1 and 4
		parts = append(parts, p.Function("part"+strconv.Itoa(k), 1, 1, func(b *assembly.Block, _ []bc.Value) { b.Return(b.Const(uint64(k * k))) }))
	}
	main := p.Function("main", 1, 1, func(b *assembly.Block, x []bc.Value) {
		b.Call(parts[1], x[0])
		b.Call(parts[2], x[0])
		b.Return(b.Call(parts[0], x[0])[0])
	})
	p.Entry(main, assembly.Fields(1), assembly.Fields(1))
	f := forge(t, p, nil, []field.Element{5})
	// Part 0 is supplied 1 + c times, part 1 -2c times, part 2 c times: the number of the function is -2c + 2c = 0, the result -2c·1 + c·4 = 2c.
	const c = 21
	f.set("part0", `"part0" leaf 0`, 0, 1+c)
	f.set("part0", `"part1" leaf 0`, 0, field.Neg(2*c))
	f.set("part0", `"part2" leaf 0`, 0, c)
	plan := f.system.groups[0].Plans[3]
	row := f.find("part0", `"main" leaf 0`, 1)
	f.table("part0")[plan.Body.Ops[2].Writes[0].Column][row] = 2 * c
	f.witness.Claims[0].Results = formats.Elements{}.Append(2 * c)
	f.refused("a row is a call of one function")
}

// TestHintsAreChosenInEachRow proves what docs/language.md warns of: where a condition leaves a choice, calls with equal arguments may have different results in a proof. Each row is a possible call, and rows know nothing of each other.
func TestHintsAreChosenInEachRow(t *testing.T) {
	p := assembly.New("choice")
	same := p.Function("same", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(x[0]) })
	bit := p.Function("bit", 1, 1, func(b *assembly.Block, x []bc.Value) {
		h := b.Hint(same, x[0])[0]
		b.Op(bc.OpAssertZero, 0, 0, b.Mul(h, b.Sub(h, b.Const(1))))
		b.Return(h)
	})
	other := p.Function("other", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(b.Call(bit, x[0])[0]) })
	main := p.Function("main", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(b.Sub(b.Call(other, x[0])[0], b.Call(bit, x[0])[0])) })
	p.Entry(main, assembly.Fields(1), assembly.Fields(1))
	f := forge(t, p, nil, []field.Element{0}) // main(0) = 0 in an execution
	plans := f.system.groups[0].Plans
	row := func(function string) int { return f.find("bit", formats.Quote(function)+" leaf 0", 1) }
	x, padding := f.table("bit"), 7
	for i := range x {
		x[i][padding] = x[i][row("bit")]
	}
	f.set("bit", "uses", row("bit"), 1)
	f.set("bit", "uses", padding, 1)
	x[plans[0].Body.Ops[0].Writes[0].Column][padding] = 1 // the hint
	x[plans[1].Body.Ops[0].Writes[0].Column][row("other")] = 1
	x[plans[2].Body.Ops[0].Writes[0].Column][row("main")] = 1
	f.witness.Claims[0].Results = formats.Elements{}.Append(1)
	if got := f.check(); len(got) > 0 {
		t.Fatal(got[0])
	}
	f.proven(func(err error) bool { return err == nil })
}

// endless is a program of calls that need themselves: once is f(x) = f(x), twice asks for itself two times, even and odd for each other two times.
func endless() *assembly.Program {
	p := assembly.New("endless")
	once, twice, even, odd := p.Declare("once", 1, 1), p.Declare("twice", 1, 1), p.Declare("even", 1, 1), p.Declare("odd", 1, 1)
	p.Define(once, func(b *assembly.Block, x []bc.Value) { b.Return(b.Call(once, x[0])[0]) })
	double := func(f uint32) func(b *assembly.Block, x []bc.Value) {
		return func(b *assembly.Block, x []bc.Value) {
			b.Call(f, x[0])
			b.Return(b.Call(f, x[0])[0])
		}
	}
	p.Define(twice, double(twice))
	p.Define(even, double(odd))
	p.Define(odd, double(even))
	for _, f := range []uint32{once, twice, even} {
		p.Entry(f, assembly.Fields(1), assembly.Fields(1))
	}
	return p
}

// loop writes the first row of a function of endless, with the result that the prover likes. gap is what the row says its rank exceeds the callee's by, less 1.
func (f *forgery) loop(function string, group int, x, y, rank, callee, gap, uses, claims field.Element) {
	plan := f.system.groups[group].Plans[0]
	trace := f.table(function)
	set := func(c int, v field.Element) { trace[c][0] = v }
	set(plan.Params[0], x)
	set(plan.Uses, uses)
	set(plan.Rank, rank)
	if plan.Claims != none {
		set(plan.Claims, claims)
	}
	for i := range plan.Body.Ops {
		writes := plan.Body.Ops[i].Writes
		set(writes[0].Column, y)
		if len(writes) > 1 {
			set(writes[1].Column, callee)
			set(writes[2].Column, gap&0xffff) // the low limb; the high one follows
		}
	}
	f.set(function, formats.Quote(function)+" leaf 0", 0, 1)
}

// TestCallJustifiesItself makes rows whose answers are their own questions. Nothing but the order of ranks is in their way.
func TestCallJustifiesItself(t *testing.T) {
	claimed := func(t *testing.T, entry uint32) *forgery {
		f := forge(t, endless(), nil)
		f.claim([]field.Element{3}, []field.Element{42})
		f.witness.Claims[0].Entry = entry
		return f
	}
	t.Run("once", func(t *testing.T) {
		f := claimed(t, 0)
		f.loop("once", 0, 3, 42, 5, 0, 0, 1, 1)
		f.refused("call once") // the row asks for rank 4 and answers for rank 5
	})
	t.Run("twice", func(t *testing.T) {
		f := claimed(t, 1)
		f.loop("twice", 1, 3, 42, 5, 5, field.Neg(1), 2, 1)
		f.refused("range")
	})
	t.Run("each other", func(t *testing.T) {
		f := claimed(t, 2)
		f.loop("even", 2, 3, 42, 5, 4, 0, 2, 1)
		f.loop("odd", 3, 3, 42, 4, 5, field.Neg(2), 2, 0)
		f.refused("range")
	})
	t.Run("around the field", func(t *testing.T) {
		// Ranks may be any elements, gaps may not: this chain would have to be as long as the field.
		f := claimed(t, 1)
		const step = 1 << 32
		f.loop("twice", 1, 3, 42, 0, field.Neg(step), step-1, 2, 1)
		f.refused("call twice") // its callee, of rank -2^32, is not there
	})
}

// TestRecursiveRowsAreHeavy checks what bounds a cycle's length: each row with gaps weighs 2^32, so that no batch has 2^32 of them (P-16).
func TestRecursiveRowsAreHeavy(t *testing.T) {
	gaps := map[string]bool{"twice": true, "even": true, "odd": true, "fib": true}
	for _, p := range []*assembly.Program{endless(), assembly.Fib(), assembly.Squares(), assembly.Loop()} {
		s := build(t, p)
		c, err := tracecheck.New(s.Air, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		for g := range s.groups {
			if gaps[s.groups[g].Name] != (c.Circuits[g].Weights >= heavy) {
				t.Errorf("%s: a row of %s weighs %d", p.Name, s.groups[g].Name, c.Circuits[g].Weights)
			}
		}
	}
	profile, _ := security.ProfileByName("dev")
	s := build(t, assembly.Fib())
	key, err := prover.Keygen(context.Background(), s.Air, hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	tall := prover.Shard{Tables: []prover.Table{{Circuit: 0, LogHeight: 27, Trace: written(nil)}}}
	_, err = prover.Shapes(key.Key, &prover.Witness{Shards: slices.Repeat([]prover.Shard{tall}, 32)})
	var e *formats.Error
	if !errors.As(err, &e) || e.Check != "P-16" {
		t.Errorf("2^32 recursive rows: %v", err)
	}
	if _, err := prover.Shapes(key.Key, &prover.Witness{Shards: slices.Repeat([]prover.Shard{tall}, 31)}); err != nil {
		t.Errorf("fewer: %v", err)
	}
}

// TestMemoryIsOne tries to give a pointer two meanings.
func TestMemoryIsOne(t *testing.T) {
	second := func(f *forgery) { // a list of one element 1000000, whose pointer is 0, too
		x := f.add("memory 3", 3)
		for i := range x[1] {
			x[1][i] = field.Element(i)
		}
		x[2][0], x[3][0] = 1, 1000000
	}
	t.Run("a pointer twice", func(t *testing.T) {
		f := forge(t, assembly.Squares(), nil, []field.Element{3})
		f.set("memory 3", "pointer", 7, 0) // a padding row
		f.refused("cells 3")
	})
	t.Run("a second chain", func(t *testing.T) {
		f := forge(t, assembly.Squares(), nil, []field.Element{3})
		second(f)
		f.refused("cells 3")
	})
	t.Run("a second anchor", func(t *testing.T) {
		f := forge(t, assembly.Squares(), nil, []field.Element{3})
		second(f)
		f.set("anchor", "real", 1, 1)
		f.set("anchor", "cells of width 3", 1, 8)
		f.refused("anchor")
		f.witness.Claims = append(f.witness.Claims, f.witness.Claims[1]) // claimed twice, all balances
		if got := f.check(); len(got) > 0 {
			t.Fatal(got[0])
		}
		f.proven(func(err error) bool {
			var e *formats.Error
			return errors.As(err, &e) && e.Check == "P-38"
		})
	})
	t.Run("half an anchor twice", func(t *testing.T) {
		f := forge(t, assembly.Squares(), nil, []field.Element{3})
		half, _ := field.Inverse(2)
		f.set("anchor", "real", 0, half)
		f.set("anchor", "real", 1, half)
		f.set("anchor", "cells of width 3", 1, 8)
		f.refused("an anchor is or is not", "weight of a push on cells 3")
	})
	t.Run("no anchor", func(t *testing.T) {
		f := forge(t, assembly.Squares(), nil, []field.Element{3})
		f.set("anchor", "real", 0, 0)
		f.refused("anchor", "cells 3")
	})
}

// TestWrongBranch takes a branch that the value does not lead to.
func TestWrongBranch(t *testing.T) {
	t.Run("a case", func(t *testing.T) {
		f := forge(t, assembly.Fib(), nil, []field.Element{1})
		f.set("fib", `"fib" leaf 1`, 0, 0)
		f.set("fib", `"fib" leaf 0`, 0, 1) // fib(1) = 0
		f.witness.Claims[0].Results = formats.Elements{}.Append(0)
		f.refused("the case has the value")
	})
	t.Run("the default", func(t *testing.T) {
		// fib(1) = fib(0) + fib(-1), and fib(-1), supplied by another row, is a base case no more than fib(1) is: it is left out, and so its channel fails too.
		f := forge(t, assembly.Fib(), nil, []field.Element{1})
		f.set("fib", `"fib" leaf 1`, 0, 0)
		f.set("fib", `"fib" leaf 2`, 0, 1)
		got := map[string]bool{}
		for _, x := range f.check() {
			got[x.Name()] = true
		}
		if !got["no case has the value"] {
			t.Errorf("got %v", got)
		}
	})
}

// word finds the column that an operation of the kitchen's body writes.
func (f *forgery) writes(op int) []write { return f.system.groups[0].Plans[0].Body.Ops[op].Writes }

// TestNumbers forges results of operations that bound numbers.
func TestNumbers(t *testing.T) {
	kitchen := func(t *testing.T, x, y field.Element) *forgery {
		return forge(t, assembly.Kitchen(), [][]field.Element{{5, 6}}, []field.Element{x, y})
	}
	// result changes result k of the claim.
	result := func(f *forgery, k int, v field.Element) {
		old := f.witness.Claims[0].Results
		var out formats.Elements
		for i := range old.Len() {
			if i == k {
				out = out.Append(uint64(v))
			} else {
				out = out.Append(old.At(i))
			}
		}
		f.witness.Claims[0].Results = out
	}
	columns := func(f *forgery, op int) (out []int) {
		for _, w := range f.writes(op) {
			if w.Column != none {
				out = append(out, w.Column)
			}
		}
		return out
	}
	t.Run("a product that is not canonical", func(t *testing.T) {
		f := kitchen(t, 1, 3) // 3 = 4 + 2^32·(2^32-1) modulo p
		c := columns(f, 3)    // low limbs, the high word, its low limb, the quotient
		x := f.table("kitchen")
		x[c[0]][0], x[c[1]][0], x[c[2]][0], x[c[3]][0] = 4, 0, 1<<32-1, 0xffff
		result(f, 1, 4)
		result(f, 2, 1<<32-1)
		f.refused("a canonical pair")
	})
	t.Run("a carry that is no bit", func(t *testing.T) {
		f := kitchen(t, 1, 1) // 2 = low + 2^32·high
		c := columns(f, 1)
		x := f.table("kitchen")
		x[c[0]][0] = 3 // then high is -1/2^32
		inverse, _ := field.Inverse(1 << 32)
		result(f, 0, field.Neg(inverse))
		f.checker.System.Entries[0].Results[0].Type = formats.TypeField
		got := map[string]bool{}
		f.answer()
		for _, x := range f.check() {
			got[x.Name()] = true
		}
		if !got["a bit is 0 or 1"] {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a xor", func(t *testing.T) {
		f := kitchen(t, 1, 3)
		x := f.table("kitchen")
		x[columns(f, 6)[0]][0] = 7
		result(f, 3, 7)
		f.refused("xor")
	})
	t.Run("1 for a value that is not 0", func(t *testing.T) {
		f := kitchen(t, 5, 3)
		c := columns(f, 8)
		x := f.table("kitchen")
		x[c[0]][0] = 0 // no inverse
		x[c[1]][0] = 1
		got := map[string]bool{}
		for _, x := range f.check() {
			got[x.Name()] = true
		}
		if !got["0 unless the value is 0"] || got["1 unless the value has an inverse"] {
			t.Errorf("got %v", got)
		}
	})
}

// TestClaims changes claims of a finished proof: other results, arguments, a private function, another arity.
func TestClaims(t *testing.T) {
	profile, _ := security.ProfileByName("dev")
	s := build(t, assembly.Squares())
	key, err := prover.Keygen(context.Background(), s.Air, hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Witness(s.execute(t, nil, []field.Element{4}), 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	result, err := prover.Prove(context.Background(), key, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, check string
		change      func(c *[]formats.Claim)
	}{
		{"another result", "P-25", func(c *[]formats.Claim) { (*c)[0].Results = formats.Elements{}.Append(15) }},
		{"another argument", "P-25", func(c *[]formats.Claim) { (*c)[0].Args = formats.Elements{}.Append(5) }},
		{"an argument more", "P-7", func(c *[]formats.Claim) { (*c)[0].Args = (*c)[0].Args.Append(0) }},
		{"a function that is no entry", "P-6", func(c *[]formats.Claim) { (*c)[0].Entry = 2 }},
		{"no memory", "P-38", func(c *[]formats.Claim) { *c = (*c)[:1] }},
		{"two memories", "P-38", func(c *[]formats.Claim) { *c = append(*c, (*c)[1]) }},
	} {
		p, err := formats.DecodeProof(slices.Clone(result.Proof), len(result.Proof))
		if err != nil {
			t.Fatal(err)
		}
		c.change(&p.Claims)
		data, err := encode.Proof(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = verifier.Verify(key.Key, data, verifier.Policy{Insecure: true})
		var e *formats.Error
		if !errors.As(err, &e) || e.Check != c.check {
			t.Errorf("%s: %v, want %s", c.name, err, c.check)
		}
	}
}

// TestPromotedRows proves a program whose entries are first made unconstrained: without promotion, what they call would have no rows.
func TestPromotedRows(t *testing.T) {
	p := assembly.New("promote")
	leaf := p.Function("leaf", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(b.Mul(x[0], x[0])) })
	middle := p.Function("middle", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(b.Call(leaf, x[0])[0]) })
	main := p.Function("main", 1, 1, func(b *assembly.Block, x []bc.Value) {
		h := b.Hint(middle, x[0])[0]
		b.Return(b.Add(h, b.Call(middle, x[0])[0]))
	})
	p.Entry(main, assembly.Fields(1), assembly.Fields(1))
	f := forge(t, p, nil, []field.Element{5})
	if got := f.check(); len(got) > 0 {
		t.Fatal(got[0])
	}
	f.proven(func(err error) bool { return err == nil })
}
