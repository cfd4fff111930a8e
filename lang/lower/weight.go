package lower

import (
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// weights estimates what code costs a row of its circuit, in columns; a lookup counts as three. The estimates decide about inlining, not about results.
type weights struct {
	*shapes
	recursive map[*types.Func]bool
	memo      map[*types.Func]int
	arms      map[types.Expr]int // of matches, which loops make again
}

const (
	callWeight = 10 // of a call and of the row it makes, besides arguments and results
	matchArm   = 2
)

// weigh finds the recursive functions of a program (Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1(2), 1972).
func weigh(p *types.Program, s *shapes) *weights {
	w := &weights{s, map[*types.Func]bool{}, map[*types.Func]int{}, map[types.Expr]int{}}
	calls := map[*types.Func][]*types.Func{}
	for _, f := range p.Funcs {
		if f.Body == nil {
			continue
		}
		types.Walk(f.Body, func(x types.Expr) {
			if c, ok := x.(*types.Call); ok {
				calls[f] = append(calls[f], c.Func)
			}
		})
	}
	type node struct{ index, low, next int }
	nodes := map[*types.Func]*node{}
	onStack := map[*types.Func]bool{}
	var stack, path []*types.Func
	for _, root := range p.Funcs {
		if nodes[root] != nil {
			continue
		}
		visit := func(f *types.Func) {
			nodes[f] = &node{index: len(nodes), low: len(nodes)}
			stack, path = append(stack, f), append(path, f)
			onStack[f] = true
		}
		visit(root)
		for len(path) > 0 {
			f := path[len(path)-1]
			n := nodes[f]
			if n.next < len(calls[f]) {
				g := calls[f][n.next]
				n.next++
				switch {
				case nodes[g] == nil:
					visit(g)
				case onStack[g]:
					n.low = min(n.low, nodes[g].index)
				}
				if f == g {
					w.recursive[f] = true
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				nodes[path[len(path)-1]].low = min(nodes[path[len(path)-1]].low, n.low)
			}
			if n.low != n.index {
				continue
			}
			for single := stack[len(stack)-1] == f; ; {
				g := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				onStack[g] = false
				if !single {
					w.recursive[g] = true
				}
				if g == f {
					break
				}
			}
		}
	}
	return w
}

// worthInlining reports whether a function's body costs no more than a call of it.
func (w *weights) worthInlining(f *types.Func, hinting bool) bool {
	if w.recursive[f] || f.Body == nil || f.Unconstrained && !hinting {
		return false
	}
	limit := callWeight + 2*w.words(f.Result)
	for _, a := range f.Args {
		limit += w.words(a.Local.Type)
	}
	return w.function(f) <= limit
}

func (w *weights) function(f *types.Func) int {
	if n, ok := w.memo[f]; ok {
		return n
	}
	w.memo[f] = maxOps // of a recursive function
	n := maxOps
	if !w.recursive[f] && f.Body != nil {
		n = w.of(f.Body)
	}
	w.memo[f] = n
	return n
}

// arm is the weight of the body of a match's arm.
func (w *weights) arm(x types.Expr) int {
	n, ok := w.arms[x]
	if !ok {
		n = w.of(x)
		w.arms[x] = n
	}
	return n
}

func (w *weights) all(list []types.Expr) int {
	n := 0
	for _, x := range list {
		if x != nil {
			n += w.of(x)
		}
	}
	return n
}

// of is the weight of an expression.
func (w *weights) of(x types.Expr) int {
	n := 0
	switch x := x.(type) {
	case *types.Call:
		n = w.all(x.Args)
		switch {
		case x.Func.Builtin != "":
			n += 8
		case x.Func.Inline == types.InlineAlways:
			n += w.function(x.Func)
		default:
			n += min(w.function(x.Func), callWeight+w.words(x.Type()))
		}
	case *types.Product:
		n = w.all(x.Elems)
	case *types.Repeat:
		n = w.of(x.Value)
	case *types.Make:
		n = w.all(x.Args)
	case *types.Update:
		n = w.of(x.Base) + w.all(x.Args)
	case *types.Part:
		n = w.of(x.X)
	case *types.Index:
		n = w.of(x.X) + w.of(x.I)
		if _, ok := x.I.(*types.Lit); !ok {
			if a, ok := x.X.Type().(*types.Array); ok {
				length, _ := types.Resolve(a.Len).(types.Length)
				n += int(length) + w.words(a.Elem)
			}
		}
	case *types.Slice:
		n = w.of(x.X)
	case *types.Unary:
		n = w.of(x.X)
		if x.Op == syntax.And || x.Op == syntax.Star {
			n += 4 + w.words(x.Type())
		}
	case *types.Binary:
		n = w.of(x.L) + w.of(x.R) + w.operatorWeight(x.Op, x.L.Type())
	case *types.Cast:
		n = w.of(x.X)
		from, _ := x.X.Type().(types.Prim)
		to, _ := x.Type().(types.Prim)
		if to != types.Field && bitsOf(to) < bitsOf(from) || from == types.Field && to == types.U64 {
			n += 8
		}
	case *types.If:
		n = w.of(x.Cond) + 3 + w.of(x.Then)
		if x.Else != nil {
			n = w.of(x.Cond) + 3 + max(w.of(x.Then), w.of(x.Else)) + w.words(x.Type())
		}
	case *types.Match:
		for _, a := range x.Arms {
			n = max(n, w.of(a.Body))
		}
		n += w.of(x.X) + matchArm*len(x.Arms) + w.words(x.Type())
	case *types.Loop:
		n = w.times(x.Low, x.High) * w.of(x.Body)
		if x.Init != nil {
			n += w.of(x.Init)
		}
	case *types.Each:
		n = w.times(x.Low, x.High) * w.of(x.Body)
	case *types.Block:
		for _, s := range x.Stmts {
			switch s := s.(type) {
			case *types.Let:
				n += w.of(s.Value)
			case *types.Hint:
				n += w.all(s.Call.Args) + w.of(s.Where) + 4*w.words(s.Call.Type())
			case *types.Assert:
				n += w.of(s.Cond)
			case *types.Do:
				n += w.of(s.X)
			}
		}
		if x.Result != nil {
			n += w.of(x.Result)
		}
	}
	return min(n, maxOps)
}

func (w *weights) times(low, high types.Expr) int {
	l, okL := low.(*types.Lit)
	h, okH := high.(*types.Lit)
	if okL && okH && h.Value >= l.Value {
		return int(min(h.Value-l.Value, maxOps))
	}
	return 8
}

// operatorWeight is the weight of an operator: products, range checks and splits.
func (w *weights) operatorWeight(op syntax.Kind, t types.Type) int {
	prim, _ := types.Resolve(t).(types.Prim)
	switch op {
	case syntax.AndAnd, syntax.OrOr:
		return 1
	case syntax.Equal, syntax.NotEqual:
		return 2 * max(1, w.words(t))
	case syntax.Less, syntax.LessEqual, syntax.Greater, syntax.GreaterEqual:
		return 8 * w.words(t)
	}
	switch prim {
	case types.Field:
		if op == syntax.Star || op == syntax.Slash {
			return 1
		}
		return 0
	case types.U8:
		return 4
	case types.U32:
		if op == syntax.And || op == syntax.Or || op == syntax.Caret {
			return 30
		}
		return 8
	}
	return 24
}

// free reports whether making a value costs no columns and cannot fail.
func (w *weights) free(x types.Expr) bool {
	switch x := x.(type) {
	case *types.Lit, *types.LocalRef, *types.LengthRef:
		return true
	case *types.Product:
		return each(x.Elems, w.free)
	case *types.Make:
		return each(x.Args, w.free)
	case *types.Part:
		return w.free(x.X)
	case *types.Block:
		return len(x.Stmts) == 0 && (x.Result == nil || w.free(x.Result))
	case *types.Unary:
		return (x.Op == syntax.Minus || x.Op == syntax.Not) && w.free(x.X)
	case *types.Binary:
		return x.L.Type() == types.Type(types.Field) && (x.Op == syntax.Plus || x.Op == syntax.Minus) && w.free(x.L) && w.free(x.R)
	case *types.Cast:
		return widens(x) && w.free(x.X)
	}
	return false
}

// total reports whether making a value cannot fail and calls nothing.
func (w *weights) total(x types.Expr) bool {
	if w.free(x) {
		return true
	}
	switch x := x.(type) {
	case *types.Part:
		return w.total(x.X)
	case *types.Product:
		return each(x.Elems, w.total)
	case *types.Make:
		return each(x.Args, w.total)
	case *types.Cast:
		return widens(x) && w.total(x.X)
	case *types.Unary:
		return (x.Op == syntax.Minus || x.Op == syntax.Not) && w.total(x.X)
	case *types.Block:
		return len(x.Stmts) == 0 && x.Result != nil && w.total(x.Result)
	case *types.Binary:
		switch x.Op {
		case syntax.Equal, syntax.NotEqual, syntax.Less, syntax.LessEqual, syntax.Greater, syntax.GreaterEqual, syntax.AndAnd, syntax.OrOr, syntax.And, syntax.Or, syntax.Caret:
		case syntax.Plus, syntax.Minus, syntax.Star:
			if x.L.Type() != types.Type(types.Field) {
				return false
			}
		default:
			return false
		}
		return w.total(x.L) && w.total(x.R)
	}
	return false
}

func widens(x *types.Cast) bool {
	from, okFrom := x.X.Type().(types.Prim)
	to, okTo := x.Type().(types.Prim)
	switch {
	case !okFrom || !okTo:
		return false
	case from == to:
		return true
	case from == types.Field || from == types.U64:
		return false
	}
	return to == types.Field || bitsOf(to) > bitsOf(from)
}

func each(list []types.Expr, f func(types.Expr) bool) bool {
	for _, x := range list {
		if !f(x) {
			return false
		}
	}
	return true
}
