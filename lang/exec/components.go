package exec

import (
	"cmp"
	"slices"

	bc "github.com/ixprove/ixprove/lang/bytecode"
)

// components fills Order, Recursive and Constrained. Tarjan's algorithm numbers components in the order in which they are finished, callees first; it is written with a stack of its own, since
// a chain of calls may be as long as the program.
func (m *Module) components() {
	n := len(m.Program.Functions)
	calls := make([][]int, n)
	m.Order, m.Recursive, m.Constrained = make([]int, n), make([]bool, n), make([]bool, n)
	for i := range calls {
		seen := map[int]bool{}
		constrainedCalls(&m.Program.Functions[i].Body, func(f int) {
			m.Recursive[i] = m.Recursive[i] || f == i
			if !seen[f] {
				seen[f] = true
				calls[i] = append(calls[i], f)
			}
		})
	}
	type visit struct{ function, next int }
	number, low, onStack := make([]int, n), make([]int, n), make([]bool, n) // numbers count from 1
	var stack []int
	count, finished := 0, 0
	for root := range n {
		if number[root] != 0 {
			continue
		}
		path := []visit{{root, 0}}
		for len(path) > 0 {
			v := &path[len(path)-1]
			f := v.function
			if v.next == 0 {
				count++
				number[f], low[f], onStack[f] = count, count, true
				stack = append(stack, f)
			}
			if v.next < len(calls[f]) {
				g := calls[f][v.next]
				v.next++
				switch {
				case number[g] == 0:
					path = append(path, visit{g, 0})
				case onStack[g]:
					low[f] = min(low[f], number[g])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1].function
				low[up] = min(low[up], low[f])
			}
			if low[f] != number[f] {
				continue
			}
			for several := stack[len(stack)-1] != f; ; {
				g := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				onStack[g], m.Order[g] = false, finished
				m.Recursive[g] = m.Recursive[g] || several
				if g == f {
					break
				}
			}
			finished++
		}
	}
	var reach []int
	mark := func(f int) {
		if !m.Constrained[f] {
			m.Constrained[f] = true
			reach = append(reach, f)
		}
	}
	for i := range m.Program.Entries {
		mark(int(m.Program.Entries[i].Function))
	}
	for len(reach) > 0 {
		f := reach[len(reach)-1]
		reach = reach[:len(reach)-1]
		for _, g := range calls[f] {
			mark(g)
		}
	}
}

// UnderRecursion says of each function whether a recursive function reaches it over constrained calls, or it is one: the number of its calls has no bound.
func (m *Module) UnderRecursion() []bool {
	out := make([]bool, len(m.Order))
	order := make([]int, len(m.Order)) // callers first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Order[b], m.Order[a]) })
	for _, f := range order {
		if out[f] = out[f] || m.Recursive[f]; out[f] {
			constrainedCalls(&m.Program.Functions[f].Body, func(g int) { out[g] = true })
		}
	}
	return out
}

// constrainedCalls calls f for each constrained call of a block.
func constrainedCalls(b *bc.Block, f func(callee int)) {
	inner := func(b *bc.Block) { constrainedCalls(b, f) }
	for i := range b.Ops {
		switch o := &b.Ops[i]; {
		case o.Code == bc.OpCall && !o.Unconstrained():
			f(int(o.A))
		case o.Match != nil:
			o.Match.Blocks(inner)
		}
	}
	if b.End.Match != nil {
		b.End.Match.Blocks(inner)
	}
}
