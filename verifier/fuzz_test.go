package verifier_test

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
)

// FuzzVerify hands any key and any proof to the verifier: it must end with a typed error, in memory bounded by what it was given, and accept nothing but the seeds.
// A proof that decodes is tried again as one for the key, which the check of the digest (P-4) would keep from all that follows.
func FuzzVerify(f *testing.F) {
	var proofs [][]byte
	for _, name := range []string{"toy", "fibonacci"} {
		key, err := os.ReadFile("testdata/" + name + ".key")
		if err != nil {
			f.Fatal(err)
		}
		proof, err := os.ReadFile("testdata/" + name + ".proof")
		if err != nil {
			f.Fatal(err)
		}
		proofs = append(proofs, proof)
		f.Add(key, proof)
		f.Add(key, proof[:len(proof)/2])
	}
	f.Fuzz(func(t *testing.T, key, proof []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		k, err := verifier.ParseKey(key)
		if err != nil {
			typed(t, err)
			return
		}
		_, err = verifier.Verify(k, proof, verifier.Policy{Insecure: true})
		runtime.ReadMemStats(&after)
		if used, most := after.TotalAlloc-before.TotalAlloc, uint64(4<<20+200*(len(key)+len(proof))); used > most {
			t.Errorf("%d bytes allocated for %d bytes of key and %d of proof", used, len(key), len(proof))
		}
		if err == nil {
			for _, seed := range proofs {
				if bytes.Equal(proof, seed) {
					return
				}
			}
			t.Fatal("a proof was accepted that nobody made")
		}
		typed(t, err)
		p, err := formats.DecodeProof(proof, len(proof))
		if err != nil || p.Key == k.Digest() {
			return
		}
		p.Key = k.Digest()
		data, err := encode.Proof(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = verifier.Verify(k, data, verifier.Policy{Insecure: true}); err == nil {
			t.Fatal("a proof for another key was accepted")
		}
		typed(t, err)
	})
}

func typed(t *testing.T, err error) {
	t.Helper()
	var e *formats.Error
	if !errors.As(err, &e) || e.Class == formats.Internal || e.Check == "" || e.What == "" {
		t.Errorf("a poor error: %#v", err)
	}
}
