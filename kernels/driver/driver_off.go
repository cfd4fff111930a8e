//go:build !cuda

// Package driver is an NVIDIA card, through the CUDA driver.
package driver

import "github.com/ixprove/ixprove/kernels"

// Built says whether this build has CUDA support.
const Built = false

var errBuild = &kernels.Error{Kind: kernels.Unsupported, Place: "CUDA", What: "this build has no CUDA support", Next: "build with make cuda"}

// Devices fails: this build has no CUDA support.
func Devices() ([]kernels.Info, error) { return nil, errBuild }

// Open fails: this build has no CUDA support.
func Open(int) (*kernels.Device, error) { return nil, errBuild }

// NewDriver fails: this build has no CUDA support.
func NewDriver(int) (kernels.Driver, error) { return nil, errBuild }

// Check fails: this build has no CUDA support.
func Check(int) error { return errBuild }
