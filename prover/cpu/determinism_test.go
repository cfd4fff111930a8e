package cpu_test

import (
	"bytes"
	"context"
	"runtime"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// TestProofBytesDoNotDependOnProcessors proves on 1, 2 and 7 processors: tables of several heights, fixed columns and lookups between shards.
func TestProofBytesDoNotDependOnProcessors(t *testing.T) {
	profile, _ := security.ProfileByName("dev")
	for _, c := range []struct {
		name    string
		system  *air.System
		witness func() (*prover.Witness, error)
	}{
		{"fibonacci", fibonacci.System(), func() (*prover.Witness, error) {
			return fibonacci.Witness([]uint32{5000, 3, 90}, 2, profile.MinLogHeight)
		}},
		{"squares", squares(), squaresWitness},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := runtime.GOMAXPROCS(0)
			defer runtime.GOMAXPROCS(before)
			var key, proof []byte
			for _, processors := range []int{1, 2, 7} {
				runtime.GOMAXPROCS(processors)
				pk, err := prover.Keygen(context.Background(), c.system, hash.Blake3{}, profile, cpu.Backend{})
				if err != nil {
					t.Fatal(err)
				}
				w, err := c.witness()
				if err != nil {
					t.Fatal(err)
				}
				r := prove(t, pk, w, prover.Options{})
				if key == nil {
					key, proof = pk.Encoded, r.Proof
				}
				if !bytes.Equal(key, pk.Encoded) || !bytes.Equal(proof, r.Proof) {
					t.Errorf("on %d processors the key or the proof has other bytes", processors)
				}
			}
		})
	}
}

// squares is a table of squares in fixed columns, and a circuit that looks up in it what it claims: square(x) = x² for x below 8, with a column that alternates.
func squares() *air.System {
	s := air.NewSystem("squares")
	claims, table := s.Channel("claims", 2), s.Channel("table", 2)
	s.Entry("square", claims, []formats.Value{{Name: "x", Type: formats.TypeField}}, []formats.Value{{Name: "y", Type: formats.TypeField}})
	var x, y []field.Element
	for i := range field.Element(8) {
		x, y = append(x, i), append(y, field.Mul(i, i))
	}
	b := s.Circuit("table")
	fx, fy := b.FixedColumn(x), b.FixedColumn(y)
	b.Pull(claims, b.Column("claimed"), fx, fy)
	b.Pull(table, b.Column("asked"), fx, fy)
	b.Assert("squares are far apart", b.Transition().Mul(fy.Next().Sub(fy).Sub(fx.Times(2)).Minus(1)))
	u := s.Circuit("user")
	ux, on := u.Column("x"), u.PeriodicColumn(1, 0)
	u.Push(table, on, 1, ux, ux.Mul(ux))
	return s
}

// columns is a whole trace.
type columns [][]field.Element

func (c columns) WriteRows(to [][]field.Element, first, last int) error {
	for i := range to {
		copy(to[i][first:last], c[i][first:last])
	}
	return nil
}

func squaresWitness() (*prover.Witness, error) {
	claimed, asked, used := make([]field.Element, 8), make([]field.Element, 8), make([]field.Element, 256)
	w := &prover.Witness{}
	for _, x := range []uint64{3, 0, 7, 3} {
		claimed[x]++
		w.Claims = append(w.Claims, formats.Claim{Args: formats.Elements(nil).Append(x), Results: formats.Elements(nil).Append(x * x)})
	}
	for i := range used {
		used[i] = field.Element(i * 5 % 8)
		if i%2 == 0 {
			asked[used[i]]++
		}
	}
	w.Shards = []prover.Shard{
		{Tables: []prover.Table{{Circuit: 0, LogHeight: 3, Trace: columns{claimed, asked}}, {Circuit: 1, LogHeight: 7, Trace: columns{used[:128]}}}},
		{Tables: []prover.Table{{Circuit: 1, LogHeight: 6, Trace: columns{used[128:192]}}, {Circuit: 1, LogHeight: 6, Trace: columns{used[192:]}}}},
	}
	return w, nil
}
