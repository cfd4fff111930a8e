// Package cu holds the CUDA C++ sources of the kernels and the PTX made from them by `go generate ./kernels`.
package cu

import "embed"

// PTX is the compiled kernels, one file a source.
//
//go:embed *.ptx
var PTX embed.FS

// Sources is what the emulated device compiles. It is here so that a change of a source rebuilds the package that includes it.
//
//go:embed *.cu *.cuh
var Sources embed.FS
