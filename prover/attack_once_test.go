package prover_test

import (
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// onceTrace is one row that answers for the entry that states nothing and for as many squares as there are claims.
type onceTrace struct{}

func (onceTrace) WriteRows(columns [][]field.Element, first int) error {
	if first == 0 {
		columns[0][0], columns[1][0], columns[2][0] = 1, 1, 3
	}
	return nil
}

// TestP38Once leaves the claim of an entry that states nothing out, and makes it twice.
func TestP38Once(t *testing.T) {
	s := air.NewSystem("once")
	once, square := s.Channel("once", 0), s.Channel("square", 2)
	s.Entry("square", square, []formats.Value{{Name: "x", Type: formats.TypeField}}, []formats.Value{{Name: "y", Type: formats.TypeField}})
	s.Entry("once", once, nil, nil)
	c := s.Circuit("square")
	real, uses, x := c.Column("real"), c.Column("uses"), c.Column("x")
	c.AssertBoolean("real", real)
	c.Pull(once, real)
	c.Pull(square, uses, x, x.Mul(x))
	pk := keygen(t, s, hash.Blake3{})
	square3 := formats.Claim{Args: formats.Elements(nil).Append(3), Results: formats.Elements(nil).Append(9)}
	w := &prover.Witness{Claims: []formats.Claim{square3, {Entry: 1}}, Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: 3, Trace: onceTrace{}}}}}}
	data := proveWith(t, cpu.Backend{}, pk, w)
	policy := verifier.Policy{MaxProofBytes: len(data) + 1000, Insecure: true}
	if _, err := verify(t, pk.Key, data, policy); err != nil {
		t.Fatal(err)
	}
	for _, claims := range [][]formats.Claim{{square3}, {square3, {Entry: 1}, {Entry: 1}}, {square3, square3}} {
		p, err := formats.DecodeProof(data, len(data))
		if err != nil {
			t.Fatal(err)
		}
		p.Claims = claims
		_, err = verify(t, pk.Key, encoded(t, p), policy)
		refused(t, err, "P-38", formats.Rejected)
		w.Claims = claims
		if _, err := prover.Prove(t.Context(), pk, w, prover.Options{Backend: cpu.Backend{}}); err == nil {
			t.Error("a witness with these claims is proven")
		}
	}
}
