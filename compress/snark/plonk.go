package snark

import (
	"errors"
	"math/bits"
	"strings"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"
	plonk "github.com/consensys/gnark/backend/plonk/bn254"

	"github.com/ixprove/ixprove/compress/srs"
)

// maxCommitments bounds the commitments of a circuit; ours makes one or none.
const maxCommitments = 4

type plonkSystem struct{ *plonk.VerifyingKey }

// plonkKey reads or writes a verifying key: domain size, number of commitments, the constraint of each; S1 to S3, Ql, Qr, Qm, Qo, Qk, Qcp of each commitment; [tau]2. The generators, the
// root of unity and the coset are those of gnark for BN254.
func plonkKey(l *layout, vk *plonk.VerifyingKey, tau *bn254.G2Affine) {
	n := uint64(len(vk.Qcp))
	l.number(&vk.Size)
	l.number(&n)
	if n > maxCommitments {
		l.bad = true
		return
	}
	if !l.writing {
		vk.Qcp, vk.CommitmentConstraintIndexes = make([]kzg.Digest, n), make([]uint64, n)
	}
	for i := range vk.Qcp {
		l.number(&vk.CommitmentConstraintIndexes[i])
	}
	l.g1(&vk.S[0], &vk.S[1], &vk.S[2], &vk.Ql, &vk.Qr, &vk.Qm, &vk.Qo, &vk.Qk)
	for i := range vk.Qcp {
		l.g1(&vk.Qcp[i])
	}
	l.g2(tau)
}

// EncodePlonkKey is the layout of a verifying key in formats.RootKey.
func EncodePlonkKey(vk *plonk.VerifyingKey) []byte {
	l := &layout{writing: true}
	plonkKey(l, vk, &vk.Kzg.G2[1])
	return l.b
}

// PlonkKey is the key for gnark, nil if this is a key of another system.
func (k *Key) PlonkKey() *plonk.VerifyingKey {
	if s, ok := k.system.(plonkSystem); ok {
		return s.VerifyingKey
	}
	return nil
}

func decodePlonkKey(data []byte) system {
	l, vk := &layout{b: data}, &plonk.VerifyingKey{}
	var tau bn254.G2Affine
	plonkKey(l, vk, &tau)
	if !l.whole() || vk.Size <= Publics || bits.OnesCount64(vk.Size) != 1 || vk.Size > 1<<srs.MaxLogSize || tau.IsInfinity() {
		return nil
	}
	for _, i := range vk.CommitmentConstraintIndexes {
		if i >= vk.Size-Publics {
			return nil
		}
	}
	domain := fft.NewDomain(vk.Size, fft.WithoutPrecompute())
	vk.NbPublicVariables, vk.SizeInv, vk.Generator, vk.CosetShift = Publics, domain.CardinalityInv, domain.Generator, domain.FrMultiplicativeGen
	vk.Kzg = srs.VerifyingKey(&tau)
	return plonkSystem{vk}
}

// plonkProof reads or writes a proof: as gnark's contract takes it, then the value of the linearised polynomial, which the contract computes and gnark's verifier wants to be told.
func plonkProof(l *layout, p *plonk.Proof) {
	v := p.BatchedProof.ClaimedValues
	l.g1(&p.LRO[0], &p.LRO[1], &p.LRO[2], &p.H[0], &p.H[1], &p.H[2])
	l.scalars(&v[1], &v[2], &v[3], &v[4], &v[5])
	l.g1(&p.Z)
	l.scalars(&p.ZShiftedOpening.ClaimedValue)
	l.g1(&p.BatchedProof.H, &p.ZShiftedOpening.H)
	for i := range p.Bsb22Commitments {
		l.scalars(&v[6+i])
	}
	for i := range p.Bsb22Commitments {
		l.g1(&p.Bsb22Commitments[i])
	}
	l.scalars(&v[0])
}

// EncodePlonkProof is the layout of a proof in formats.Root: 800 bytes, and 96 for each commitment. All but the last 32 are what the contract takes. A proof whose lengths contradict
// each other is an error.
func EncodePlonkProof(p *plonk.Proof) ([]byte, error) {
	if len(p.BatchedProof.ClaimedValues) != 6+len(p.Bsb22Commitments) {
		return nil, errors.New("the proof has another number of values than of commitments")
	}
	l := &layout{writing: true}
	plonkProof(l, p)
	return l.b, nil
}

func (s plonkSystem) proofBytes() int {
	n := len(s.Qcp)
	return (9+n)*sizeG1 + (7+n)*fr.Bytes
}

func (s plonkSystem) verify(publics fr.Vector, data []byte) error {
	n := len(s.Qcp)
	p := &plonk.Proof{Bsb22Commitments: make([]kzg.Digest, n)}
	p.BatchedProof.ClaimedValues = make([]fr.Element, 6+n)
	l := &layout{b: data}
	if plonkProof(l, p); !l.whole() {
		return badPoint()
	}
	if err := plonk.Verify(p, s.VerifyingKey, publics); err != nil {
		return notProven(err)
	}
	return nil
}

func (s plonkSystem) solidity() (string, error) {
	var b strings.Builder
	err := s.ExportSolidity(&b)
	return b.String(), err
}
