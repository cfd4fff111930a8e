// Package reference evaluates checked programs directly, by the rules of docs/language.md and nothing else. It is slow and simple: tests compare the compiler and the executor with it.
package reference

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
	"github.com/ixprove/ixprove/lang/values"
)

// Limits of an evaluation.
const (
	MaxDepth = 20_000
	MaxSteps = 20_000_000
)

// ErrLimit says that an evaluation takes too long or too deep a recursion.
var ErrLimit = errors.New("reference: the evaluation takes too much")

// Call evaluates an entry for all its arguments, public and private, in order. The error is ErrLimit, or a *formats.Error of class Invalid if the program fails.
func Call(fn *types.Func, args []values.Value) (v values.Value, err error) {
	e := &evaluator{}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	return e.call(fn, nil, args, syntax.Span{}), nil
}

// failure unwinds an evaluation; it never leaves the package.
type failure struct{ err error }

type evaluator struct{ steps, depth int }

func fail(at syntax.Span, what string) {
	panic(failure{&formats.Error{Class: formats.Invalid, Place: at.String(), What: what}})
}

// env is a function that is being evaluated.
type env struct {
	fn    *types.Func
	types []types.Type
	vars  map[*types.Local]values.Value
}

func (n *env) of(t types.Type) types.Type {
	if n.fn == nil {
		return types.Resolve(t)
	}
	return types.Resolve(types.Substitute(t, n.fn.Params, n.types))
}

func (e *evaluator) call(fn *types.Func, args []types.Type, in []values.Value, at syntax.Span) values.Value {
	if e.depth++; e.depth > MaxDepth {
		panic(failure{ErrLimit})
	}
	defer func() { e.depth-- }()
	n := &env{fn, args, map[*types.Local]values.Value{}}
	for i, a := range fn.Args {
		n.vars[a.Local] = in[i]
	}
	if fn.Builtin != "" {
		return builtin(n, in, at)
	}
	return e.eval(n, fn.Body)
}

func number(v uint64) values.Value { return values.Value{Number: v} }

func truth(b bool) values.Value {
	if b {
		return number(1)
	}
	return number(0)
}

func (e *evaluator) all(n *env, list []types.Expr) []values.Value {
	out := make([]values.Value, len(list))
	for i, x := range list {
		out[i] = e.eval(n, x)
	}
	return out
}

func (e *evaluator) eval(n *env, x types.Expr) values.Value {
	if e.steps++; e.steps > MaxSteps {
		panic(failure{ErrLimit})
	}
	switch x := x.(type) {
	case *types.Lit:
		return number(x.Value)
	case *types.LocalRef:
		return n.vars[x.Local]
	case *types.LengthRef:
		return number(uint64(n.of(x.Param).(types.Length)))
	case *types.Call:
		args := make([]types.Type, len(x.Types))
		for i, t := range x.Types {
			args[i] = n.of(t)
		}
		return e.call(x.Func, args, e.all(n, x.Args), x.Place())
	case *types.Product:
		return values.Value{Parts: e.all(n, x.Elems)}
	case *types.Repeat:
		v := e.eval(n, x.Value)
		out := values.Value{}
		for range n.of(n.of(x.Type()).(*types.Array).Len).(types.Length) {
			out.Parts = append(out.Parts, v)
		}
		return out
	case *types.Make:
		return values.Value{Variant: x.Variant, Parts: e.all(n, x.Args)}
	case *types.Update:
		out := values.Value{Parts: append([]values.Value(nil), e.eval(n, x.Base).Parts...)}
		for i, a := range x.Args {
			if a != nil {
				out.Parts[i] = e.eval(n, a)
			}
		}
		return out
	case *types.Part:
		return e.eval(n, x.X).Parts[x.Index]
	case *types.Index:
		a, i := e.eval(n, x.X), e.eval(n, x.I)
		if i.Number >= uint64(len(a.Parts)) {
			fail(x.Place(), "the index is outside of the array")
		}
		return a.Parts[i.Number]
	case *types.Slice:
		length := n.of(n.of(x.Type()).(*types.Array).Len).(types.Length)
		return values.Value{Parts: e.eval(n, x.X).Parts[x.Low : x.Low+uint32(length)]}
	case *types.Unary:
		return e.unary(n, x)
	case *types.Binary:
		return e.binary(n, x)
	case *types.Cast:
		v := e.eval(n, x.X)
		to := n.of(x.Type()).(types.Prim)
		if v.Number > to.Max() {
			fail(x.Place(), "the value is no "+to.String())
		}
		return v
	case *types.If:
		switch {
		case e.eval(n, x.Cond).Number != 0:
			return e.eval(n, x.Then)
		case x.Else != nil:
			return e.eval(n, x.Else)
		}
		return values.Value{}
	case *types.Match:
		v := e.eval(n, x.X)
		for _, a := range x.Arms {
			if fits(n, a.Pattern, v) {
				return e.eval(n, a.Body)
			}
		}
		fail(x.Place(), "no arm fits")
	case *types.Loop:
		var acc values.Value
		low, high := e.eval(n, x.Low), e.eval(n, x.High)
		if x.Init != nil {
			acc = e.eval(n, x.Init)
		}
		for i := low.Number; i < high.Number; i++ {
			n.vars[x.Var] = number(i)
			if x.Acc != nil {
				fits(n, x.Acc, acc)
			}
			acc = e.eval(n, x.Body)
		}
		return acc
	case *types.Each:
		low, high := e.eval(n, x.Low), e.eval(n, x.High)
		out := values.Value{}
		for i := low.Number; i < high.Number; i++ {
			n.vars[x.Var] = number(i)
			out.Parts = append(out.Parts, e.eval(n, x.Body))
		}
		return out
	case *types.Block:
		return e.block(n, x)
	case *types.Fail:
		fail(x.Place(), "the program fails: "+x.Message)
	}
	return values.Value{}
}

func (e *evaluator) block(n *env, x *types.Block) values.Value {
	for _, s := range x.Stmts {
		switch s := s.(type) {
		case *types.Let:
			fits(n, s.Pattern, e.eval(n, s.Value))
		case *types.Hint:
			fits(n, s.Pattern, e.eval(n, s.Call))
			if e.eval(n, s.Where).Number == 0 {
				fail(s.Span, "the hint does not satisfy its condition")
			}
		case *types.Assert:
			if e.eval(n, s.Cond).Number == 0 {
				fail(s.Span, "the assertion fails")
			}
		case *types.Do:
			e.eval(n, s.X)
		}
	}
	if x.Result == nil {
		return values.Value{}
	}
	return e.eval(n, x.Result)
}

func (e *evaluator) unary(n *env, x *types.Unary) values.Value {
	v := e.eval(n, x.X)
	switch x.Op {
	case syntax.And:
		return values.Value{Parts: []values.Value{v}}
	case syntax.Star:
		return v.Parts[0]
	case syntax.Not:
		return number(1 - v.Number)
	}
	if v.Number == 0 {
		return v
	}
	return number(types.Modulus - v.Number)
}

func (e *evaluator) binary(n *env, x *types.Binary) values.Value {
	l := e.eval(n, x.L)
	switch {
	case x.Op == syntax.AndAnd && l.Number == 0, x.Op == syntax.OrOr && l.Number == 1:
		return l
	}
	r := e.eval(n, x.R)
	switch x.Op {
	case syntax.AndAnd, syntax.OrOr:
		return r
	case syntax.Equal:
		return truth(equal(l, r))
	case syntax.NotEqual:
		return truth(!equal(l, r))
	case syntax.Less:
		return truth(l.Number < r.Number)
	case syntax.LessEqual:
		return truth(l.Number <= r.Number)
	case syntax.Greater:
		return truth(l.Number > r.Number)
	case syntax.GreaterEqual:
		return truth(l.Number >= r.Number)
	}
	return number(arithmetic(x, n.of(x.Type()).(types.Prim), l.Number, r.Number))
}

// arithmetic computes with integers of any size.
func arithmetic(x *types.Binary, t types.Prim, l, r uint64) uint64 {
	a, b, p := new(big.Int).SetUint64(l), new(big.Int).SetUint64(r), new(big.Int).SetUint64(types.Modulus)
	v := new(big.Int)
	zero := func() {
		if r == 0 {
			fail(x.Place(), "division by zero")
		}
	}
	switch x.Op {
	case syntax.Plus:
		v.Add(a, b)
	case syntax.Minus:
		v.Sub(a, b)
	case syntax.Star:
		v.Mul(a, b)
	case syntax.Slash:
		zero()
		if t == types.Field {
			v.Mul(a, new(big.Int).ModInverse(b, p))
		} else {
			v.Div(a, b)
		}
	case syntax.Percent:
		zero()
		v.Mod(a, b)
	case syntax.And:
		v.And(a, b)
	case syntax.Or:
		v.Or(a, b)
	case syntax.Caret:
		v.Xor(a, b)
	case syntax.ShiftLeft, syntax.ShiftRight:
		if r >= uint64(t.Bits()) {
			fail(x.Place(), "the shift is by all bits or more")
		}
		if x.Op == syntax.ShiftLeft {
			v.Lsh(a, uint(r))
		} else {
			v.Rsh(a, uint(r))
		}
	}
	if t == types.Field {
		return v.Mod(v, p).Uint64()
	}
	if v.Sign() < 0 || v.BitLen() > t.Bits() {
		fail(x.Place(), "the result is no "+t.String())
	}
	return v.Uint64()
}

func equal(a, b values.Value) bool {
	if a.Number != b.Number || a.Variant != b.Variant || len(a.Parts) != len(b.Parts) {
		return false
	}
	for i := range a.Parts {
		if !equal(a.Parts[i], b.Parts[i]) {
			return false
		}
	}
	return true
}

// fits reports whether a pattern fits a value, and binds its variables.
func fits(n *env, p types.Pattern, v values.Value) bool {
	all := func(list []types.Pattern) bool {
		for i, q := range list {
			if !fits(n, q, v.Parts[i]) {
				return false
			}
		}
		return true
	}
	switch p := p.(type) {
	case *types.Bind:
		if p.Sub != nil && !fits(n, p.Sub, v) {
			return false
		}
		n.vars[p.Local] = v
	case *types.LitPattern:
		return v.Number == p.Value
	case *types.ProductPattern:
		return all(p.Elems)
	case *types.MakePattern:
		return v.Variant == p.Variant && all(p.Args)
	case *types.PointerPattern:
		return fits(n, p.To, v.Parts[0])
	case *types.OrPattern:
		for _, a := range p.Alts {
			if fits(n, a, v) {
				return true
			}
		}
		return false
	}
	return true
}

// builtin evaluates what has no body: the operations of the standard library that tests of programs meet.
func builtin(n *env, in []values.Value, at syntax.Span) values.Value {
	switch n.fn.Builtin {
	case "u64.parts":
		if len(in) == 2 {
			return number(in[0].Number | in[1].Number<<32)
		}
		return values.Value{Parts: []values.Value{number(in[0].Number & 0xffffffff), number(in[0].Number >> 32)}}
	case "u32.bytes":
		out := values.Value{}
		for i := range 4 {
			out.Parts = append(out.Parts, number(in[0].Number>>(8*i)&0xff))
		}
		return out
	case "u32.join":
		v := uint64(0)
		for i, b := range in[0].Parts {
			v |= b.Number << (8 * i)
		}
		return number(v)
	case "u32.sum":
		v := uint64(0)
		for _, w := range in {
			v += w.Number
		}
		return number(v & 0xffffffff)
	case "u32.wrapping_sub":
		return number((in[0].Number - in[1].Number) & 0xffffffff)
	case "u32.wide_mul":
		v := in[0].Number * in[1].Number
		return values.Value{Parts: []values.Value{number(v & 0xffffffff), number(v >> 32)}}
	case "u32.split":
		if in[1].Number > 32 {
			fail(at, "the split is by more than all bits")
		}
		return values.Value{Parts: []values.Value{number(in[0].Number & (1<<in[1].Number - 1)), number(in[0].Number >> in[1].Number)}}
	case "field.split":
		if in[1].Number+in[2].Number < 64 && in[0].Number>>(in[1].Number+in[2].Number) != 0 {
			fail(at, "the element has more bits")
		}
		return values.Value{Parts: []values.Value{number(in[0].Number & (1<<in[1].Number - 1)), number(in[0].Number >> in[1].Number)}}
	case "array.set":
		if in[1].Number >= uint64(len(in[0].Parts)) {
			fail(at, "the index is outside of the array")
		}
		out := append([]values.Value(nil), in[0].Parts...)
		out[in[1].Number] = in[2]
		return values.Value{Parts: out}
	}
	panic(failure{fmt.Errorf("reference: no rule for builtin %s", n.fn.Builtin)})
}
