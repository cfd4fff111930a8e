//go:build browser

package web_test

import (
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// prove makes the key of a system and a proof under the standard profile, both encoded.
func prove(t *testing.T, system *air.System, witness func(minLogHeight int) (*prover.Witness, error)) (key, proof []byte) {
	t.Helper()
	profile, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(t.Context(), system, hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness(profile.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	r, err := prover.Prove(t.Context(), pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	return pk.Encoded, r.Proof
}
