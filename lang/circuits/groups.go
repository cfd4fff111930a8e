package circuits

import (
	"cmp"
	"slices"

	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
)

// How many circuits the functions that run often may have: mostHot if sharing makes none of them more than twice as wide, mostCircuits at any price. Every column of a circuit is opened by every proof that
// the circuit has a row in, so that a proof by hundreds of small circuits is mostly openings.
const (
	mostHot      = 40
	mostCircuits = 512
)

// groupFunctions says which functions share a circuit.
//
// How often functions will be called is not known when circuits are made. But a function that no recursive function reaches has a row for each way to it through the program at most. Such cold functions share
// one circuit: it is as wide as the widest, and the others' rows are few. The rest keep circuits of their own, since a shared circuit costs all its rows the width of the widest function and a higher degree of
// lookups; only where there are very many do those of about the same width share.
func groupFunctions(m *exec.Module, width func(f int) int) [][]int {
	hot := m.UnderRecursion()
	var cold, rest []int
	for f := range m.Program.Functions {
		switch {
		case !m.Constrained[f]:
		case hot[f]:
			rest = append(rest, f)
		default:
			cold = append(cold, f)
		}
	}
	slices.SortStableFunc(rest, func(f, g int) int { return cmp.Compare(width(f), width(g)) })
	var groups [][]int
	for percent := 100; ; percent += percent / 8 { // of the narrowest function that the widest of a group, and all selectors of it, may have
		groups = nil
		least, selectors := 0, 0
		for _, f := range rest {
			n := selectorsOf(&m.Program.Functions[f].Body)
			if last := len(groups) - 1; last >= 0 && len(rest) > mostHot && max(width(f), selectors+n)*100 <= least*percent {
				groups[last] = append(groups[last], f)
				selectors += n
				continue
			}
			groups, least, selectors = append(groups, []int{f}), width(f), n
		}
		if len(groups) <= mostHot || percent > 200 && len(groups) <= mostCircuits {
			break
		}
	}
	for _, g := range groups {
		slices.Sort(g)
	}
	if len(cold) > 0 {
		groups = append(groups, cold)
	}
	slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return groups
}

// alone is every function in a circuit of its own.
func alone(m *exec.Module) (groups [][]int) {
	for f := range m.Program.Functions {
		if m.Constrained[f] {
			groups = append(groups, []int{f})
		}
	}
	return groups
}

// selectorsOf is how many columns a function's selectors take, which functions of a group do not share.
func selectorsOf(b *bc.Block) (n int) {
	inner := func(b *bc.Block) { n += selectorsOf(b) }
	for i := range b.Ops {
		if m := b.Ops[i].Match; m != nil {
			m.Blocks(inner)
		}
	}
	if b.End.Match != nil {
		b.End.Match.Blocks(inner)
		return n
	}
	return n + 1
}
