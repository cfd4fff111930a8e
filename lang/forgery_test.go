package lang_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/verifier/field"
)

// forged is a program in which the n-th hint, of those that the compiler makes itself, is given by a function of the same operands instead. It says how many such hints there are. Private inputs and calls that the
// source marks as unconstrained are left alone: there a prover may choose.
func forged(p *bytecode.Program, n int, lie func(o *bytecode.Op) bytecode.Function) (*bytecode.Program, int) {
	out := *p
	out.Functions = slices.Clone(p.Functions)
	seen := 0
	replace := func(o bytecode.Op) []bytecode.Op {
		if o.IsHint() && o.Code != bytecode.OpInput && !o.Unconstrained() {
			if seen++; seen-1 == n {
				f := lie(&o)
				f.Name = "lie"
				f.Params, f.Results = p.Arity(&o)
				o = bytecode.Op{Code: bytecode.OpCall, A: uint64(len(out.Functions)), Args: o.Args}
				out.Functions = append(out.Functions, f)
			}
		}
		return []bytecode.Op{o}
	}
	for i := range p.Functions {
		body := assembly.Rewrite(p.Functions[i].Body, replace) // which may append a function
		out.Functions[i].Body = body
	}
	return &out, seen
}

// lie gives results for a hint: any, honest ones that are moved a little, or quotients and rests of which x = y·q + r holds in the field.
func lie(o *bytecode.Op, g *rand.Rand) (f bytecode.Function) {
	edges := []uint64{0, 1, 2, 3, 4, 5, 7, 10, 255, 256, 1<<32 - 1, 1 << 32, 1<<32 + 1, field.Modulus - 2, field.Modulus - 1}
	next := bytecode.Value(len(o.Args))
	emit := func(code bytecode.Code, a uint64, args ...bytecode.Value) bytecode.Value {
		f.Body.Ops = append(f.Body.Ops, bytecode.Op{Code: code, A: a, B: o.B, Args: args})
		if code != o.Code {
			f.Body.Ops[len(f.Body.Ops)-1].B = 0
		}
		next++
		return next - 1
	}
	constant := func() bytecode.Value { return emit(bytecode.OpConst, edges[g.IntN(len(edges))]) }
	product := func(x, y bytecode.Value) bytecode.Value { return emit(bytecode.OpMul, 0, x, y) }
	sum := func(x, y bytecode.Value) bytecode.Value { return emit(bytecode.OpAdd, 0, x, y) }
	difference := func(x, y bytecode.Value) bytecode.Value { return emit(bytecode.OpSub, 0, x, y) }
	var results []bytecode.Value
	honest := func(k int) {
		first := emit(o.Code, o.A, positions(0, len(o.Args))...)
		next += bytecode.Value(k) - 1
		results = positions(int(first), k)
	}
	x, y, k := positions(0, int(o.A)), positions(int(o.A), int(o.B)), int(o.A+o.B)
	switch {
	case o.Code != bytecode.OpHintDivMod && g.IntN(2) == 0:
		honest(1)
		results[0] = sum(results[0], constant())
	case o.Code != bytecode.OpHintDivMod:
		results = append(results, constant())
	default:
		switch g.IntN(5) {
		case 0:
			for range k {
				results = append(results, constant())
			}
		case 1: // one more or less in the quotient, and the rest that belongs to it
			honest(k)
			d := emit(bytecode.OpConst, []uint64{1, 2, field.Modulus - 1}[g.IntN(3)])
			q, r := results[:o.A], results[o.A:]
			q[0] = difference(q[0], d)
			for i := range r {
				r[i] = sum(r[i], product(d, y[i]))
			}
		case 2: // halves that make the same number, without being halves
			honest(k)
			d := constant()
			i := g.IntN(k)
			results[i] = sum(results[i], product(d, emit(bytecode.OpConst, 1<<32)))
			if i++; i < k {
				results[i] = difference(results[i], d)
			}
		case 3: // another half
			honest(k)
			i := g.IntN(k)
			results[i] = sum(results[i], constant())
		default: // any rest below the divisor, or not
			rest := constant()
			results = append(results, product(difference(x[0], rest), emit(bytecode.OpHintInverse, 0, y[0])))
			for len(results) < k {
				results = append(results, emit(bytecode.OpConst, 0))
			}
			results[o.A] = rest
		}
	}
	f.Body.End = bytecode.End{Kind: bytecode.EndReturn, Values: results}
	return f
}

// positions are n values from one on.
func positions(first, n int) []bytecode.Value {
	out := make([]bytecode.Value, n)
	for i := range out {
		out[i] = bytecode.Value(first + i)
	}
	return out
}

// TestForgedHints changes the hints of random programs: whatever a prover gives, a program fails or has the honest result.
func TestForgedHints(t *testing.T) {
	accepted, refused := 0, 0
	for seed := uint64(20_000); seed < 26_000; seed++ {
		random := newSample(t, seed)
		if random == nil {
			continue
		}
		g, p, m, in := random.generator, random.program, random.module, random.in
		_, hints := forged(p.Bytecode, -1, nil)
		honest, honestErr := record(p, m, in)
		for n := range min(hints, 8) {
			for range 12 {
				q := *p
				q.Bytecode, _ = forged(p.Bytecode, n, func(o *bytecode.Op) bytecode.Function { return lie(o, g.Rand) })
				liar, err := exec.Load(q.Bytecode)
				if err != nil {
					t.Fatal(err)
				}
				got, err := record(&q, liar, in)
				if err != nil {
					refused++
					continue
				}
				if accepted++; honestErr != nil || !slices.Equal(honest.Claims[0].Results, got.Claims[0].Results) {
					t.Fatalf("seed %d, hint %d: %v\n%s\nhonestly it is %v", seed, n, in, g.out.String(), honestErr)
				}
			}
		}
	}
	if accepted < 20 || refused < 500 {
		t.Errorf("%d forgeries have the honest result and %d none: they say little", accepted, refused)
	}
}
