// Command build makes the verifier module from ../guest: `go generate ./wasm`. It writes verifier.wasm and its digest for Go and JavaScript into the folder wasm, the current one.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/ixprove/ixprove/wasm/internal/module"
)

func main() {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func build() error {
	linked, err := module.Build("./guest", "")
	if err != nil {
		return err
	}
	for name, data := range module.Files(linked) {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("verifier.wasm: %d bytes, SHA-256 %x\n", len(linked), sha256.Sum256(linked))
	return nil
}
