package circuits

import (
	"github.com/ixprove/ixprove/lang/accel"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/prover"
)

func (a *assembler) buildAccelerator(k accel.Kind) {}

func (s *System) acceleratorTables(r *exec.Record, w *prover.Witness, counts *counts, minLogHeight int) {
}
