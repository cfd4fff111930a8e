//go:build browser

package web_test

import (
	"bytes"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// largeProof proves the digest of a file of 64 KiB under the standard profile. The proof is nearly as large, and takes nearly as long to verify, as that of a file of 1 MiB.
func largeProof(t *testing.T) (key, proof []byte) {
	t.Helper()
	profile, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(t.Context(), blake3.System(), hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := blake3.Witness([][]byte{bytes.Repeat([]byte("measured"), 8<<10)}, nil, profile.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	r, err := prover.Prove(t.Context(), pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	return pk.Encoded, r.Proof
}
