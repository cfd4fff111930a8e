// Writekeys writes the verifying keys of the built-in systems under every profile to a folder (go generate ./systems).
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier/hash"
)

func main() {
	folder := os.Args[1]
	files, err := systems.Keys(context.Background(), cpu.Backend{}, hash.Blake3{}, poseidon2.Suite{})
	if err != nil {
		log.Fatal(err)
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.key"))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			log.Fatal(err)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			log.Fatal(err)
		}
	}
	log.Printf("%d files, digests in %s", len(files), keys.Index)
}
