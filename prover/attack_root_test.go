package prover_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/logger"

	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/security"
)

// These tests hold the verifier in a circuit to the one in Go: on every proof of the attacks, as it is, the circuit of its shape has a witness if and only if the verifier accepts.

// rootSample is the toy system with even entries, under profile root-dev.
var rootSample = sync.OnceValue(func() *sample {
	t := &testing.B{}
	p, _ := security.ProfileByName("root-dev")
	pk, err := prover.Keygen(context.Background(), toyOf(true), poseidon2.Suite{}, p, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{name: "even root", pk: pk}
	s.witness = s.fit(toyWitness(1))
	s.data = proveWith(t, cpu.Backend{}, pk, s.witness)
	return s
})

// circuits are compiled once for each shape.
type circuits struct {
	options circuit.Options
	builder frontend.NewBuilder
	key     *verifier.Key
	systems map[string]constraint.ConstraintSystem
}

// newCircuits are those for Groth16, or for Plonk.
func newCircuits(key *verifier.Key, o circuit.Options, plonk bool) *circuits {
	logger.Disable()
	builder := frontend.NewBuilder(r1cs.NewBuilder[constraint.U64])
	if plonk {
		builder = scs.NewBuilder[constraint.U64]
	}
	return &circuits{o, builder, key, map[string]constraint.ConstraintSystem{}}
}

func (c *circuits) of(t testing.TB, tables []formats.Table, claims int) constraint.ConstraintSystem {
	t.Helper()
	name := fmt.Sprint(tables, claims)
	if c.systems[name] == nil {
		root, err := circuit.Build(c.key, tables, claims, c.options)
		if err != nil {
			t.Fatal(err)
		}
		if c.systems[name], err = frontend.Compile(ecc.BN254.ScalarField(), c.builder, root); err != nil {
			t.Fatal(err)
		}
	}
	return c.systems[name]
}

// accepts reports whether the circuit has a witness that is the proof. A proof that no circuit can take, for its lengths, its number of shards or its claims, is refused.
func (c *circuits) accepts(t testing.TB, p *formats.Proof) (accepted, solved bool) {
	t.Helper()
	if len(p.Shards) != 1 || p.Key != c.key.Digest() {
		return false, false
	}
	statement, err := circuit.StatementOf(c.key, p.Shards[0].Tables, p.Claims)
	if err != nil {
		return false, false
	}
	assigned, err := circuit.AssignUnverified(c.key, p, statement, c.options)
	if err != nil {
		return false, false
	}
	w, err := frontend.NewWitness(assigned, ecc.BN254.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.of(t, p.Shards[0].Tables, len(p.Claims)).Solve(w)
	return err == nil, true
}

func TestRootCircuitMutations(t *testing.T) {
	s := rootSample()
	c := newCircuits(s.pk.Key, circuit.Options{Commitments: true}, false)
	if ok, _ := c.accepts(t, s.proof(t)); !ok {
		t.Fatal("the honest proof is refused")
	}
	p := s.proof(t)
	count, solved := 0, 0
	mutations("root", reflect.ValueOf(p).Elem(), func(path string) {
		data, err := encodeProof(p)
		if err != nil {
			return
		}
		_, err = verifier.Verify(s.pk.Key, data, policy)
		ok, tried := c.accepts(t, p)
		if ok != (err == nil) {
			t.Errorf("%s: the circuit accepts: %v, the verifier says %v", path, ok, err)
		}
		count++
		if tried {
			solved++
		}
	})
	t.Logf("%d mutations, %d of them assigned, %d constraints", count, solved, c.of(t, p.Shards[0].Tables, len(p.Claims)).GetNbConstraints())
}

func TestRootCircuitForgeries(t *testing.T) {
	s := rootSample()
	c := newCircuits(s.pk.Key, circuit.Options{}, true)
	for _, f := range forgeries(s) {
		if len(f.witness.Shards) != 1 {
			continue
		}
		t.Run(f.check+" "+f.name, func(t *testing.T) {
			data := proveWith(t, cheat{f.hooks}, s.pk, s.fit(f.witness))
			_, err := verifier.Verify(s.pk.Key, data, policy)
			p, malformed := formats.DecodeProof(data, len(data))
			if malformed != nil {
				t.Fatal(malformed)
			}
			ok, _ := c.accepts(t, p)
			if ok != (err == nil) {
				t.Errorf("the circuit accepts: %v, the verifier says %v", ok, err)
			}
			t.Log(err)
		})
	}
}

// TestRootCircuitBalance makes a false claim in a proof that is honest in all else: the claim is in the transcript, and true where the sums are added up.
func TestRootCircuitBalance(t *testing.T) {
	s := rootSample()
	lie := s.fit(withClaims(func(c []formats.Claim) []formats.Claim { bump(c[0].Results, 0); return c })).Claims
	w := s.fit(toyWitness(1))
	truth := w.Claims
	w.Claims = lie
	data := proveWith(t, cheat{hooks{pin: func(_ *verifier.Table, value field.Ext) field.Ext {
		w.Claims = truth
		return value
	}}}, s.pk, w)
	p, err := formats.DecodeProof(data, len(data))
	if err != nil {
		t.Fatal(err)
	}
	p.Claims = lie
	_, err = verifier.Verify(s.pk.Key, encoded(t, p), policy)
	refused(t, err, "P-25", formats.Rejected)
	if ok, tried := newCircuits(s.pk.Key, circuit.Options{Commitments: true}, true).accepts(t, p); ok || !tried {
		t.Error("the circuit accepts")
	}
}
