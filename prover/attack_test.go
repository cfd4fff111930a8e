package prover_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/wasm/wasmtest"
)

// sample is an honest proof that the attacks start from.
type sample struct {
	name    string
	pk      *prover.ProvingKey
	witness *prover.Witness
	data    []byte
}

var samples = sync.OnceValue(func() map[string]*sample {
	t := &testing.B{}
	out := map[string]*sample{}
	toyKey := keygen(t, toy(), hash.Blake3{})
	for _, s := range []*sample{
		{name: "toy", pk: toyKey, witness: toyWitness(1)},
		{name: "shards", pk: toyKey, witness: toyWitness(3)},
		{name: "root", pk: keygen(t, toy(), poseidon2.Suite{}), witness: toyWitness(1)},
		{name: "fibonacci", pk: keygen(t, fibonacci.System(), hash.Blake3{}), witness: fibonacciWitness(t)},
	} {
		s.data = proveWith(t, cpu.Backend{}, s.pk, s.witness)
		out[s.name] = s
	}
	return out
})

// suites are those that keys of the samples may have.
var suites = []hash.Suite{hash.Blake3{}, poseidon2.Suite{}}

var policy = verifier.Policy{Insecure: true}

var engines = flag.Bool("engines", false, "verify everything on the engines of package wasmtest, too")

// verify is verifier.Verify, which under the flag has to say the same in WebAssembly.
func verify(t testing.TB, key *verifier.Key, proof []byte, p verifier.Policy) (*verifier.Report, error) {
	t.Helper()
	if *engines && key.Suite.Name() == (hash.Blake3{}).Name() { // the module has no other suite
		wasmtest.CompareKey(t, key, proof, p)
	}
	return verifier.Verify(key, proof, p)
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *engines {
		fmt.Println(wasmtest.Summary())
	}
	wasmtest.Close()
	os.Exit(code)
}

// fit gives a witness's claims of ladders the results that the sample's entry has.
func (s *sample) fit(w *prover.Witness) *prover.Witness {
	out := *w
	out.Claims = nil
	for _, c := range w.Claims {
		if _, results := verifier.EntryElements(&s.pk.Entries[c.Entry]); c.Results.Len() == 1 && results == 2 {
			c.Results = append(bytes.Clone(c.Results), make([]byte, formats.ElementBytes)...)
		}
		out.Claims = append(out.Claims, c)
	}
	return &out
}

// proof returns a fresh copy of the sample's proof, to be changed.
func (s *sample) proof(t testing.TB) *formats.Proof {
	t.Helper()
	p, err := formats.DecodeProof(bytes.Clone(s.data), len(s.data))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encoded(t testing.TB, p *formats.Proof) []byte {
	t.Helper()
	data, err := encode.Proof(p)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// refused asks for a refusal by one check.
func refused(t testing.TB, err error, check string, class formats.Class) {
	t.Helper()
	var e *formats.Error
	switch {
	case err == nil:
		t.Errorf("accepted; want %s", check)
	case !errors.As(err, &e):
		t.Errorf("an error of type %T: %v", err, err)
	case e.Check != check || e.Class != class || e.Place == "" || e.What == "":
		t.Errorf("%v\nwant check %s of class %v", err, check, class)
	}
}

// typed asks for any refusal, with its check.
func typed(t testing.TB, err error, what string) {
	t.Helper()
	var e *formats.Error
	switch {
	case err == nil:
		t.Errorf("%s: accepted", what)
	case !errors.As(err, &e):
		t.Errorf("%s: an error of type %T: %v", what, err, err)
	case e.Check == "" || e.Place == "" || e.What == "" || e.Class == formats.Internal:
		t.Errorf("%s: a poor error: %v", what, err)
	}
}

func TestHonestProofs(t *testing.T) {
	for name, s := range samples() {
		r, err := verify(t, s.pk.Key, s.data, verifier.Policy{Insecure: true, Claims: s.witness.Claims})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, shard := range r.Shards {
			t.Logf("%s: %d bytes, shard %d: %d tables, %d layers", name, len(s.data), i, len(shard.Tables), shard.Layers)
		}
	}
}
