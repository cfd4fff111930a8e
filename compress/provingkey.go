package compress

import (
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/pedersen"
	groth16 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"

	"github.com/ixprove/ixprove/compress/srs"
	"github.com/ixprove/ixprove/formats"
)

// A Groth16 proving key is kept as its points alone, in the order below, 64 or 128 bytes each (srs.WritePoints, srs.WriteG2): how many there are of each kind, and which are at infinity,
// follows from the constraint system. The layout is: alpha, beta, delta; beta, delta of G2; the number of wires without a point in A and in B; a byte a wire for A and for B; A, B, Z, K; B of G2;
// the bases of each commitment, and those times its secret.

// groth16Shape is how many points a proving key has.
type groth16Shape struct {
	wires, domain, private int
	committed              []int
}

func (s *System) groth16Shape() groth16Shape {
	r := s.cs.(*cs.R1CS)
	internals, secret, public := r.GetNbVariables()
	g := groth16Shape{wires: internals + secret + public, domain: 1 << s.LogDomain}
	info := r.CommitmentInfo.(constraint.Groth16Commitments)
	g.private = internals + secret - len(info)
	for _, c := range info.GetPrivateCommitted() {
		g.committed = append(g.committed, len(c))
		g.private -= len(c)
	}
	return g
}

func writeGroth16(w io.Writer, pk *groth16.ProvingKey) error {
	if err := srs.WritePoints(w, []bn254.G1Affine{pk.G1.Alpha, pk.G1.Beta, pk.G1.Delta}); err != nil {
		return err
	}
	if err := srs.WriteG2(w, []bn254.G2Affine{pk.G2.Beta, pk.G2.Delta}); err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, pk.NbInfinityA), pk.NbInfinityB)
	for _, list := range [][]bool{pk.InfinityA, pk.InfinityB} {
		for _, at := range list {
			head = append(head, map[bool]byte{true: 1}[at])
		}
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	lists := [][]bn254.G1Affine{pk.G1.A, pk.G1.B, pk.G1.Z, pk.G1.K}
	for _, c := range pk.CommitmentKeys {
		lists = append(lists, c.Basis, c.BasisExpSigma)
	}
	for _, list := range lists {
		if err := srs.WritePoints(w, list); err != nil {
			return err
		}
	}
	return srs.WriteG2(w, pk.G2.B)
}

// readGroth16 reads a proving key for a circuit. Whatever the file holds, a key that is returned has the lengths that gnark's prover relies on.
func readGroth16(ctx context.Context, f srs.Source, g groth16Shape) (*groth16.ProvingKey, error) {
	pk, off := &groth16.ProvingKey{}, int64(0)
	g1 := func(n int) (points []bn254.G1Affine, err error) {
		points, err = srs.ReadPoints(ctx, f, off, int64(n))
		off += int64(n) * bn254.SizeOfG1AffineUncompressed
		return points, err
	}
	g2 := func(n int) (points []bn254.G2Affine, err error) {
		points, err = srs.ReadG2(ctx, f, off, int64(n))
		off += int64(n) * bn254.SizeOfG2AffineUncompressed
		return points, err
	}
	first, err := g1(3)
	if err != nil {
		return nil, err
	}
	pk.G1.Alpha, pk.G1.Beta, pk.G1.Delta = first[0], first[1], first[2]
	second, err := g2(2)
	if err != nil {
		return nil, err
	}
	pk.G2.Beta, pk.G2.Delta = second[0], second[1]
	head := make([]byte, 16+2*g.wires)
	if n, _ := f.ReadAt(head, off); n < len(head) {
		return nil, badProvingKey()
	}
	off += int64(len(head))
	pk.NbInfinityA, pk.NbInfinityB = binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:])
	flags := func(b []byte, want uint64) ([]bool, bool) {
		out, n := make([]bool, len(b)), uint64(0)
		for i, v := range b {
			if out[i] = v == 1; out[i] {
				n++
			} else if v != 0 {
				return nil, false
			}
		}
		return out, n == want
	}
	var okA, okB bool
	pk.InfinityA, okA = flags(head[16:16+g.wires], pk.NbInfinityA)
	pk.InfinityB, okB = flags(head[16+g.wires:], pk.NbInfinityB)
	if !okA || !okB {
		return nil, badProvingKey()
	}
	pk.CommitmentKeys = make([]pedersen.ProvingKey, len(g.committed))
	type list struct {
		to *[]bn254.G1Affine
		n  int
	}
	lists := []list{{&pk.G1.A, g.wires - int(pk.NbInfinityA)}, {&pk.G1.B, g.wires - int(pk.NbInfinityB)}, {&pk.G1.Z, g.domain - 1}, {&pk.G1.K, g.private}}
	for i, n := range g.committed {
		lists = append(lists, list{&pk.CommitmentKeys[i].Basis, n}, list{&pk.CommitmentKeys[i].BasisExpSigma, n})
	}
	for _, l := range lists {
		if *l.to, err = g1(l.n); err != nil {
			return nil, err
		}
	}
	if pk.G2.B, err = g2(g.wires - int(pk.NbInfinityB)); err != nil {
		return nil, err
	}
	if off != f.Size() {
		return nil, badProvingKey()
	}
	pk.Domain = *fft.NewDomain(uint64(g.domain))
	return pk, nil
}

func badProvingKey() error {
	return &formats.Error{Class: formats.Malformed, Place: "proving key", What: "this is no proving key of the circuit", Expected: "the points that its constraint system needs", Got: "others",
		Next: "set up again"}
}

// fits reports whether a proving key made by gnark has the shape that readGroth16 demands.
func (g groth16Shape) fits(pk *groth16.ProvingKey) bool {
	var committed []int
	for _, c := range pk.CommitmentKeys {
		if len(c.Basis) != len(c.BasisExpSigma) {
			return false
		}
		committed = append(committed, len(c.Basis))
	}
	return len(pk.InfinityA) == g.wires && len(pk.InfinityB) == g.wires && len(pk.G1.A) == g.wires-int(pk.NbInfinityA) && len(pk.G1.B) == g.wires-int(pk.NbInfinityB) &&
		len(pk.G2.B) == len(pk.G1.B) && len(pk.G1.Z) == g.domain-1 && len(pk.G1.K) == g.private && int(pk.Domain.Cardinality) == g.domain && slices.Equal(committed, g.committed)
}
