package main

import (
	"context"
	"os"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

func main() {
	p, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(context.Background(), blake3.System(), hash.Blake3{}, p, cpu.Backend{})
	if err != nil {
		panic(err)
	}
	file := make([]byte, 1<<20)
	for i := range file {
		file[i] = byte(i % 251)
	}
	w, err := blake3.Witness([][]byte{file}, nil, p.MinLogHeight)
	if err != nil {
		panic(err)
	}
	r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		panic(err)
	}
	os.WriteFile("/tmp/w/mk/1m.key", pk.Encoded, 0o644)
	os.WriteFile("/tmp/w/mk/1m.proof", r.Proof, 0o644)
	println(len(r.Proof))
}
