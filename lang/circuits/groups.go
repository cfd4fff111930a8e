package circuits

import "github.com/ixprove/ixprove/lang/exec"

// groupFunctions says which functions share a circuit.
func groupFunctions(m *exec.Module) (groups [][]int) {
	for f := range m.Program.Functions {
		if m.Constrained[f] {
			groups = append(groups, []int{f})
		}
	}
	return groups
}
