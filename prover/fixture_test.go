package prover_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

var update = flag.Bool("update", false, "write the proof fixtures anew: only with a new protocol version, and a reason in docs/decisions.md")

// The committed proofs are what this prover makes, byte for byte, on every architecture, and what this verifier accepts. A change that alters one of them changes
// the protocol.
func TestProofFixtures(t *testing.T) {
	fibonacciWitness := func(minLogHeight int) (*prover.Witness, error) {
		return fibonacci.Witness([]uint32{90, 7, 300}, 2, minLogHeight)
	}
	blake3Witness := func(minLogHeight int) (*prover.Witness, error) {
		file := make([]byte, 3000)
		for i := range file {
			file[i] = byte(i % 251)
		}
		return blake3.Witness([][]byte{file, nil}, nil, minLogHeight)
	}
	for _, c := range []struct {
		name    string
		system  *air.System
		profile string
		witness func(int) (*prover.Witness, error)
	}{
		{"fibonacci-standard-v1", fibonacci.System(), "standard", fibonacciWitness},
		{"fibonacci-fast-v1", fibonacci.System(), "fast", fibonacciWitness},
		{"blake3-dev-v1", blake3.System(), "dev", blake3Witness},
		{"fibonacci-root-dev-v1", fibonacci.System(), "root-dev", func(int) (*prover.Witness, error) { return fibonacciWitness(8) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := security.ProfileByName(c.profile)
			suite, _ := hash.Named(p.Suite, suites)
			pk, err := prover.Keygen(context.Background(), c.system, suite, p, cpu.Backend{})
			if err != nil {
				t.Fatal(err)
			}
			w, err := c.witness(p.MinLogHeight)
			if err != nil {
				t.Fatal(err)
			}
			r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string][]byte{c.name + ".key": pk.Encoded, c.name + ".proof": r.Proof} {
				path := filepath.Join("testdata", name)
				if *update {
					if err := os.WriteFile(path, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s: these bytes are not the committed ones", name)
				}
			}
			encoded, err := os.ReadFile(filepath.Join("testdata", c.name+".key"))
			if err != nil {
				t.Fatal(err)
			}
			key, err := verifier.ParseKey(encoded, suites...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := verifier.Verify(key, r.Proof, verifier.Policy{Claims: w.Claims, Insecure: strings.HasSuffix(c.profile, "dev")}); err != nil {
				t.Error(err)
			}
		})
	}
}
