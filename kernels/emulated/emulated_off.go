//go:build !emulated

// Package emulated is a device that runs the CUDA sources, compiled as C++, on the processor.
package emulated

import "github.com/ixprove/ixprove/kernels"

// Open fails: this build has no emulated device.
func Open() (*kernels.Device, error) {
	return nil, &kernels.Error{Kind: kernels.Unsupported, Place: "emulated device", What: "this build has no emulated device", Next: "build with -tags emulated and a C++ compiler"}
}
