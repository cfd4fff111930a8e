package circuits

import (
	"cmp"
	"slices"

	"github.com/ixprove/ixprove/lang/exec"
)

// mostHot is how many circuits the functions that run often may have. Every column of a circuit is opened by every proof that the circuit has a row in, so that a proof by hundreds of
// small circuits is mostly openings.
const mostHot = 40

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
	for percent := 100; ; percent += percent / 8 { // of the narrowest function that the widest one of a group may have
		groups = nil
		least := 0
		for _, f := range rest {
			if last := len(groups) - 1; last >= 0 && len(rest) > mostHot && width(f)*100 <= least*percent {
				groups[last] = append(groups[last], f)
				continue
			}
			groups, least = append(groups, []int{f}), width(f)
		}
		if len(groups) <= mostHot {
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
