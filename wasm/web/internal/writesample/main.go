// Command writesample proves the claims of the page's sample and writes the proof: go generate ./wasm/web. The prover is deterministic, so it changes with the protocol alone.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(name string) error {
	ctx := context.Background()
	profile, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(ctx, fibonacci.System(), hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		return err
	}
	witness, err := fibonacci.Witness([]uint32{10, 90}, 1, profile.MinLogHeight)
	if err != nil {
		return err
	}
	r, err := prover.Prove(ctx, pk, witness, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		return err
	}
	return os.WriteFile(name, r.Proof, 0o644)
}
