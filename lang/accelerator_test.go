package lang_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/ixprove/ixprove/lang/circuits"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/values"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// TestAcceleratorProofs proves programs that hash through the standard library. No proof says that they have another result.
func TestAcceleratorProofs(t *testing.T) {
	ctx := context.Background()
	profile, _ := security.ProfileByName("dev")
	text := "a message of more than one block, so that the second compression begins with the state that the first one ends with"
	for _, c := range []struct{ source, call, witness, want, circuit string }{
		{`import "std/bytes" (Bytes); import "std/digest" (Digest); import "std/sha256"; pub fn digest(private b: Bytes) -> Digest { sha256::hash(b) }`,
			"digest()", fmt.Sprintf(`{"b": {"hex": "%x"}}`, text), fmt.Sprintf("%x", sha256.Sum256([]byte(text))), "sha256 calls"},
		{`import "std/poseidon2"; pub fn first(n: field) -> field { poseidon2::permute([for i in 0..12 => n + i as field])[0] }`, // the designers' known answer
			"first(0)", "{}", fmt.Sprint(uint64(0x01eaef96bdf1c0c1)), "poseidon2 calls"},
		{`import "std/poseidon2"; pub fn chain(n: u32) -> [field; 4] { match n { 0 => [0; 4], _ => poseidon2::hash_pair(chain(n - 1), [1, 2, 3, 4]) } }`,
			"chain(20)", "{}", "", "poseidon2 calls"},
	} {
		p := compile(t, c.source)
		call, err := p.ParseCall(c.call)
		if err != nil {
			t.Fatal(explain(err))
		}
		private, err := values.Witness(&p.Entries[call.Entry], []byte(c.witness), func(string) ([]byte, error) { return nil, errors.New("no files here") })
		if err != nil {
			t.Fatal(err)
		}
		m, err := exec.Load(p.Bytecode)
		if err != nil {
			t.Fatal(err)
		}
		record, err := m.Execute(ctx, []exec.Call{{Entry: call.Entry, Args: call.Words}}, p.Inputs(call.Entry, private), exec.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := values.Text(p.Entries[call.Entry].Result, p.Result(call.Entry, record.Claims[0].Results)); c.want != "" && got != c.want {
			t.Errorf("%s = %s, want %s", c.call, got, c.want)
		}
		s, err := circuits.Build(m)
		if err != nil {
			t.Fatal(err)
		}
		key, err := prover.Keygen(ctx, s.Air, hash.Blake3{}, profile, cpu.Backend{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Witness(record, 1, profile.MinLogHeight)
		if err != nil {
			t.Fatal(err)
		}
		costs := map[string]circuits.Cost{}
		for _, x := range s.Costs(record, func(i int) int { return int(key.Circuits[i].Columns) }) {
			costs[x.Name] = x
		}
		if x := costs[c.circuit]; x.Rows == 0 || x.Calls == 0 || x.Cells() != x.Rows*x.Columns {
			t.Errorf("%s: the cost of %s is %+v", c.call, c.circuit, x)
		}
		result, err := prover.Prove(ctx, key, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			t.Fatalf("%s: %v", c.call, err)
		}
		if _, err := verifier.Verify(key.Key, result.Proof, verifier.Policy{Insecure: true}); err != nil {
			t.Errorf("%s: %v", c.call, err)
		}
		results := &w.Claims[0].Results
		(*results)[0] ^= 1 // a lie about the result
		if result, err := prover.Prove(ctx, key, w, prover.Options{Backend: cpu.Backend{}}); err == nil {
			if _, err := verifier.Verify(key.Key, result.Proof, verifier.Policy{Insecure: true}); err == nil {
				t.Errorf("%s: another result is accepted", c.call)
			}
		}
	}
}
