// Package accel holds the functions that programs call as single operations: compression functions of hashes, each with a circuit of its own.
package accel

import (
	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/systems/poseidon2"
	"github.com/ixprove/ixprove/systems/sha256"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// Kind names an accelerator.
type Kind int

// The accelerators.
const (
	Blake3 Kind = iota
	Sha256
	Poseidon2
	NumKinds
)

// Accelerator is a function of field elements.
type Accelerator struct {
	Name          string
	Args, Results int
	Words         bool // all arguments must be below 2^32
	// Compute writes the results of arguments that are as they must be. The slices must not overlap.
	Compute func(args, results []field.Element)
}

var accelerators = [NumKinds]Accelerator{
	Blake3:    {"blake3", 28, 8, true, computeBlake3},
	Sha256:    {"sha256", 24, 8, true, computeSha256},
	Poseidon2: {"poseidon2", poseidon2.Width, poseidon2.Width, false, computePoseidon2},
}

// Of returns an accelerator.
func (k Kind) Of() *Accelerator { return &accelerators[k] }

// ByCode returns the accelerator that an operation calls, and false for other codes.
func ByCode(c bytecode.Code) (Kind, bool) {
	switch c {
	case bytecode.OpBlake3:
		return Blake3, true
	case bytecode.OpSha256:
		return Sha256, true
	case bytecode.OpPoseidon2:
		return Poseidon2, true
	}
	return 0, false
}

// Wrong is the number of the first argument that is not as it must be, -1 if there is none.
func (a *Accelerator) Wrong(args []field.Element) int {
	for i, v := range args {
		if a.Words && v>>32 != 0 {
			return i
		}
	}
	return -1
}

func words(out []uint32, in []field.Element) {
	for i := range out {
		out[i] = uint32(in[i])
	}
}

func computeBlake3(args, results []field.Element) {
	var cv [8]uint32
	var block [16]uint32
	words(cv[:], args)
	words(block[:], args[8:])
	out := blake3.Compress(&cv, &block, uint64(args[24])|uint64(args[25])<<32, uint32(args[26]), uint32(args[27]))
	for i, w := range out {
		results[i] = field.Element(w)
	}
}

func computeSha256(args, results []field.Element) {
	var state [8]uint32
	var block [16]uint32
	words(state[:], args)
	words(block[:], args[8:])
	for i, w := range sha256.Compress(&state, &block) {
		results[i] = field.Element(w)
	}
}

func computePoseidon2(args, results []field.Element) {
	s := [poseidon2.Width]field.Element(args)
	poseidon2.Permute(&s)
	copy(results, s[:])
}
