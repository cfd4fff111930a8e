package types

import (
	"math/bits"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/verifier/field"
)

// maxConstant bounds the parts of a constant's value.
const maxConstant = 1 << 18

// fold evaluates a constant expression to literals, products and variants.
func fold(x Expr) (Expr, *syntax.Diagnostic) {
	f := folder{}
	v := f.fold(x)
	return v, f.problem
}

type folder struct {
	parts   int
	problem *syntax.Diagnostic
}

func (f *folder) fail(x Expr, what string) Expr {
	if f.problem == nil {
		f.problem = &syntax.Diagnostic{Span: x.Place(), What: what, Got: x.Place().Text()}
	}
	return &Lit{base: base{x.Type(), x.Place()}}
}

func (f *folder) all(list []Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = f.fold(e)
	}
	return out
}

func (f *folder) fold(x Expr) Expr {
	if f.problem != nil {
		return x
	}
	if f.parts++; f.parts > maxConstant {
		f.fail(x, "the constant is too large")
		f.problem.Class = formats.Limit
		return x
	}
	b := base{x.Type(), x.Place()}
	switch x := x.(type) {
	case *Lit:
		return &Lit{base{x.typ, x.span}, x.Value}
	case *Product:
		return &Product{b, f.all(x.Elems)}
	case *Make:
		return &Make{b, x.Variant, f.all(x.Args)}
	case *Repeat:
		n, _ := Resolve(x.Type().(*Array).Len).(Length)
		p := &Product{base: b}
		for range n {
			p.Elems = append(p.Elems, f.fold(x.Value))
		}
		return p
	case *Part:
		return f.part(f.fold(x.X), x.Index)
	case *Index:
		i, p := f.fold(x.I), f.fold(x.X)
		if f.problem != nil {
			return x
		}
		if n := i.(*Lit).Value; n < uint64(len(p.(*Product).Elems)) {
			return f.part(p, int(n))
		}
		return f.fail(x, "the index is outside of the array")
	case *Slice:
		if p, ok := f.fold(x.X).(*Product); ok {
			n := Resolve(x.Type().(*Array).Len).(Length)
			return &Product{b, p.Elems[x.Low : x.Low+uint32(n)]}
		}
	case *Cast:
		return f.cast(x)
	case *Unary:
		return f.unary(x)
	case *Binary:
		return f.binary(x)
	case *If:
		c, ok := f.fold(x.Cond).(*Lit)
		switch {
		case !ok || x.Else == nil:
		case c.Value != 0:
			return f.fold(x.Then)
		default:
			return f.fold(x.Else)
		}
	case *Block:
		if len(x.Stmts) == 0 && x.Result != nil {
			return f.fold(x.Result)
		}
	case *LengthRef:
		f.fail(x, "this is no constant expression")
		f.problem.Next = "a constant parameter is a length only alone: [x; " + x.Param.Name + "]"
		return x
	case *LocalRef:
		f.fail(x, "this is no constant expression")
		f.problem.Next = "a variable has its value later: use a constant, or a constant parameter alone"
		return x
	}
	return f.fail(x, "this is no constant expression")
}

func (f *folder) part(x Expr, i int) Expr {
	switch x := x.(type) {
	case *Product:
		return x.Elems[i]
	case *Make:
		return x.Args[i]
	}
	return x
}

func (f *folder) cast(x *Cast) Expr {
	l, ok := f.fold(x.X).(*Lit)
	if !ok {
		return x
	}
	to, _ := x.Type().(Prim)
	if l.Value > to.Max() {
		return f.fail(x, "the value has no counterpart in "+to.String())
	}
	return &Lit{base{to, x.span}, l.Value}
}

func (f *folder) unary(x *Unary) Expr {
	l, ok := f.fold(x.X).(*Lit)
	switch {
	case !ok:
	case x.Op == syntax.Not:
		return &Lit{base{Bool, x.span}, 1 - l.Value}
	case x.Op == syntax.Minus:
		return &Lit{base{Field, x.span}, uint64(field.Neg(field.New(l.Value)))}
	}
	return f.fail(x, "this is no constant expression")
}

func (f *folder) binary(x *Binary) Expr {
	l, ok := f.fold(x.L).(*Lit)
	if !ok {
		return f.fail(x, "this is no constant expression")
	}
	if x.Op == syntax.AndAnd && l.Value == 0 || x.Op == syntax.OrOr && l.Value == 1 {
		return l
	}
	r, ok := f.fold(x.R).(*Lit)
	if !ok || f.problem != nil {
		return f.fail(x, "this is no constant expression")
	}
	v, problem := Arithmetic(x.Op, x.L.Type(), l.Value, r.Value)
	if problem != "" {
		return f.fail(x, problem)
	}
	return &Lit{base{x.Type(), x.span}, v}
}

// Arithmetic applies a binary operator to two values of type t, which is field, bool, u8, u32 or u64; a shift's amount is any number. problem says why there is no result.
func Arithmetic(op syntax.Kind, t Type, a, b uint64) (v uint64, problem string) {
	p, _ := t.(Prim)
	if p == Field {
		x, y := field.New(a), field.New(b)
		switch op {
		case syntax.Plus:
			return uint64(field.Add(x, y)), ""
		case syntax.Minus:
			return uint64(field.Sub(x, y)), ""
		case syntax.Star:
			return uint64(field.Mul(x, y)), ""
		case syntax.Slash:
			inverse, ok := field.Inverse(y)
			if !ok {
				return 0, "division by zero"
			}
			return uint64(field.Mul(x, inverse)), ""
		}
	}
	switch op {
	case syntax.Equal:
		return bit(a == b), ""
	case syntax.NotEqual:
		return bit(a != b), ""
	case syntax.Less:
		return bit(a < b), ""
	case syntax.LessEqual:
		return bit(a <= b), ""
	case syntax.Greater:
		return bit(a > b), ""
	case syntax.GreaterEqual:
		return bit(a >= b), ""
	case syntax.AndAnd, syntax.And:
		return a & b, ""
	case syntax.OrOr, syntax.Or:
		return a | b, ""
	case syntax.Caret:
		return a ^ b, ""
	case syntax.Plus:
		v, carry := bits.Add64(a, b, 0)
		return inRange(p, carry, v)
	case syntax.Minus:
		v, borrow := bits.Sub64(a, b, 0)
		return inRange(p, borrow, v)
	case syntax.Star:
		hi, lo := bits.Mul64(a, b)
		return inRange(p, hi, lo)
	case syntax.Slash, syntax.Percent:
		if b == 0 {
			return 0, "division by zero"
		}
		if op == syntax.Slash {
			return a / b, ""
		}
		return a % b, ""
	case syntax.ShiftLeft, syntax.ShiftRight:
		if b >= uint64(p.Bits()) {
			return 0, "the shift is by all bits or more"
		}
		if op == syntax.ShiftRight {
			return a >> b, ""
		}
		hi, lo := bits.Mul64(a, 1<<b)
		return inRange(p, hi, lo)
	}
	return 0, "this is no constant expression"
}

func inRange(p Prim, high, v uint64) (uint64, string) {
	if high != 0 || v > p.Max() {
		return 0, "overflow: the result is no " + p.String()
	}
	return v, ""
}

// mentions collects the variables that an expression uses.
func mentions(x Expr, used map[*Local]bool) {
	Walk(x, func(y Expr) {
		if l, ok := y.(*LocalRef); ok {
			used[l.Local] = true
		}
	})
}

// Walk calls f for an expression and all expressions in it, in the order of the source.
func Walk(x Expr, f func(Expr)) {
	if x == nil {
		return
	}
	f(x)
	all := func(list ...Expr) {
		for _, e := range list {
			if e != nil {
				Walk(e, f)
			}
		}
	}
	switch x := x.(type) {
	case *Call:
		all(x.Args...)
	case *Product:
		all(x.Elems...)
	case *Repeat:
		all(x.Value)
	case *Make:
		all(x.Args...)
	case *Update:
		all(x.Base)
		all(x.Args...)
	case *Part:
		all(x.X)
	case *Index:
		all(x.X, x.I)
	case *Slice:
		all(x.X)
	case *Unary:
		all(x.X)
	case *Binary:
		all(x.L, x.R)
	case *Cast:
		all(x.X)
	case *If:
		all(x.Cond, x.Then, x.Else)
	case *Match:
		all(x.X)
		for _, a := range x.Arms {
			all(a.Body)
		}
	case *Loop:
		all(x.Low, x.High, x.Init, x.Body)
	case *Each:
		all(x.Low, x.High, x.Body)
	case *Block:
		for _, s := range x.Stmts {
			switch s := s.(type) {
			case *Let:
				all(s.Value)
			case *Hint:
				all(s.Call, s.Where)
			case *Assert:
				all(s.Cond)
			case *Do:
				all(s.X)
			}
		}
		all(x.Result)
	}
}
