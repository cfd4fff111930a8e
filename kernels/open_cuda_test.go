//go:build cuda

package kernels_test

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/driver"
)

func openDevice() (*kernels.Device, error) { return driver.Open(0) }

func newDriver() (kernels.Driver, error) { return driver.NewDriver(0) }

// maxTestLog is the largest log height that tests transform.
const maxTestLog = 20

// tallestLog is that of which some values are compared.
const tallestLog = formats.MaxLogHeight

// policies are the ways in which circuits are run here.
var policies = []kernels.CodePolicy{kernels.CodeInterpret, kernels.CodeCompile}
