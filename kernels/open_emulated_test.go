//go:build emulated && !cuda

package kernels_test

import (
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/emulated"
)

func openDevice() (*kernels.Device, error) { return emulated.Open() }

func newDriver() (kernels.Driver, error) { return emulated.NewDriver(), nil }

// maxTestLog is the largest log height that tests transform.
const maxTestLog = 14

// tallestLog is that of which some values are compared.
const tallestLog = 16

// policies are the ways in which circuits are run here.
var policies = []kernels.CodePolicy{kernels.CodeAuto}
