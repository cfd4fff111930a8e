// Package circuit is the verifier of root proofs (docs/protocol.md) as a gnark circuit over BN254, generated from a verifying key and a shape.
package circuit

import (
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// Options chooses between the two forms of the circuit, which prove the same statement.
type Options struct {
	// Commitments checks ranges by logarithmic derivatives, with a challenge that a gnark commitment yields: fewer constraints, and the only sensible form for Plonk. Without it
	// ranges are checked by bits: a Groth16 proof of 256 bytes that any Groth16 verifier accepts.
	Commitments bool
}

// Build generates the circuit of root proofs with one shard of the tables and the given number of claims, to be given to frontend.Compile with the builder r1cs or scs over BN254.
// It is a function of its arguments. Errors are *formats.Error: a key of another suite, or a shape that the protocol or its security accounting refuses.
func Build(key *verifier.Key, tables []formats.Table, claims int, o Options) (frontend.Circuit, error) {
	return nil, &formats.Error{Class: formats.Internal, Place: "circuit", What: "the generator is in the making"}
}

// Assign verifies a root proof and makes the full witness of its circuit: the one of Build for the proof's tables and number of claims and the same options. The statement is what the
// witness's public part says. Errors are those of verifier.Verify and of Build.
func Assign(key *verifier.Key, proof []byte, o Options) (frontend.Circuit, Statement, error) {
	return nil, Statement{}, &formats.Error{Class: formats.Internal, Place: "circuit", What: "the generator is in the making"}
}
