//go:build emulated && !cuda

package cuda_test

import (
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/emulated"
)

func newDriver() (kernels.Driver, error) { return emulated.NewDriver(), nil }

// maxLongHeight is the log2 of the highest tables of -long.
const maxLongHeight = 12

// policies are the ways in which circuits are run here.
var policies = []kernels.CodePolicy{kernels.CodeAuto}
