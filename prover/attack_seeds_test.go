package prover_test

import (
	"bytes"
	"os"
	"testing"
)

// TestVerifierSeeds keeps the seeds of FuzzVerify in package verifier equal to what is proven today. They are fixtures of version 1 as well: if they change, the
// protocol or the prover's choices did.
func TestVerifierSeeds(t *testing.T) {
	for _, name := range []string{"toy", "fibonacci"} {
		s := samples()[name]
		for path, want := range map[string][]byte{name + ".key": s.pk.Encoded, name + ".proof": s.data} {
			path = "../verifier/testdata/" + path
			if len(want) > 20_000 {
				t.Errorf("%s: %d bytes are too many for a seed", path, len(want))
			}
			if *rewrite {
				if err := os.WriteFile(path, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what is proven (%v): if the format or the protocol changed on purpose, write it with -rewrite", path, err)
			}
		}
	}
}
