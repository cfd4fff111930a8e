package circuit

import (
	"context"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier/air"
)

// sample is an honest root proof.
type sample struct {
	pk      *prover.ProvingKey
	witness *prover.Witness
	proof   []byte
}

func prove(t testing.TB, system *air.System, profile string, w *prover.Witness) *sample {
	t.Helper()
	pk := keygen(t, system, profile)
	r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	return &sample{pk, w, r.Proof}
}

func compile(t testing.TB, builder frontend.NewBuilder, c frontend.Circuit, o ...frontend.CompileOption) constraint.ConstraintSystem {
	t.Helper()
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), builder, c, o...)
	if err != nil {
		t.Fatal(err)
	}
	return ccs
}

func TestSmoke(t *testing.T) {
	w, err := fibonacci.Witness([]uint32{0, 200}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := prove(t, fibonacci.System(), "root-dev", w)
	for _, o := range []Options{{true}, {false}} {
		start := time.Now()
		assigned, statement, err := Assign(s.pk.Key, s.proof, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Log("assign", time.Since(start), statement)
		for name, b := range map[string]frontend.NewBuilder{"r1cs": r1cs.NewBuilder[constraint.U64], "scs": scs.NewBuilder[constraint.U64]} {
			c, err := Build(s.pk.Key, assigned.(*rootCircuit).shape.tables(), 2, o)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			ccs := compile(t, b, c)
			t.Log(o, name, ccs.GetNbConstraints(), time.Since(start))
			full, err := frontend.NewWitness(assigned, ecc.BN254.ScalarField())
			if err != nil {
				t.Fatal(err)
			}
			start = time.Now()
			if err := ccs.IsSolved(full); err != nil {
				t.Error(err)
			}
			t.Log("solved", time.Since(start))
		}
	}
}
