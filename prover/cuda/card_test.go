//go:build cuda

package cuda_test

import (
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/driver"
)

func newDriver() (kernels.Driver, error) { return driver.NewDriver(0) }

// maxLongHeight is the log2 of the highest tables of -long.
const maxLongHeight = 22

// policies are the ways in which circuits are run here.
var policies = []kernels.CodePolicy{kernels.CodeInterpret, kernels.CodeCompile}
