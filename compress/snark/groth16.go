package snark

import (
	"slices"
	"strings"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/pedersen"
	"github.com/consensys/gnark/backend"
	groth16 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/backend/solidity"
)

type groth16System struct{ *groth16.VerifyingKey }

// groth16Key reads or writes a verifying key: number of commitments; for each the number of public inputs that it commits to and their indices from 1; [alpha]1, [beta]2, [gamma]2,
// [delta]2; K of one, of each public input and of each commitment; the two points of each commitment's key. [beta]1 and [delta]1, which no verifier uses, are left out.
func groth16Key(l *layout, vk *groth16.VerifyingKey) {
	n := uint64(len(vk.CommitmentKeys))
	l.number(&n)
	if n > maxCommitments {
		l.bad = true
		return
	}
	if !l.writing {
		vk.CommitmentKeys, vk.PublicAndCommitmentCommitted = make([]pedersen.VerifyingKey, n), make([][]int, n)
		vk.G1.K = make([]bn254.G1Affine, 1+Publics+int(n))
	}
	for i := range vk.PublicAndCommitmentCommitted {
		list := &vk.PublicAndCommitmentCommitted[i]
		count := uint64(len(*list))
		l.number(&count)
		if count > Publics+maxCommitments {
			l.bad = true
			return
		}
		if !l.writing {
			*list = make([]int, count)
		}
		for j := range *list {
			at := uint64((*list)[j])
			l.number(&at)
			// gnark numbers earlier commitments after the public inputs, and an index must be of something that is there.
			if at < 1 || at > Publics+uint64(i) {
				l.bad = true
				return
			}
			(*list)[j] = int(at)
		}
	}
	l.g1(&vk.G1.Alpha)
	l.g2(&vk.G2.Beta, &vk.G2.Gamma, &vk.G2.Delta)
	for i := range vk.G1.K {
		l.g1(&vk.G1.K[i])
	}
	for i := range vk.CommitmentKeys {
		l.g2(&vk.CommitmentKeys[i].G, &vk.CommitmentKeys[i].GSigmaNeg)
	}
}

// EncodeGroth16Key is the layout of a verifying key in formats.RootKey.
func EncodeGroth16Key(vk *groth16.VerifyingKey) []byte {
	l := &layout{writing: true}
	groth16Key(l, vk)
	return l.b
}

func decodeGroth16Key(data []byte) system {
	l, vk := &layout{b: data}, &groth16.VerifyingKey{}
	if groth16Key(l, vk); !l.whole() || vk.G1.Alpha.IsInfinity() {
		return nil
	}
	// At infinity, a public input's point would let it have any value, and a commitment's points would prove any commitment known.
	for i := range Publics {
		if vk.G1.K[1+i].IsInfinity() {
			return nil
		}
	}
	g2 := []*bn254.G2Affine{&vk.G2.Beta, &vk.G2.Gamma, &vk.G2.Delta}
	for i := range vk.CommitmentKeys {
		g2 = append(g2, &vk.CommitmentKeys[i].G, &vk.CommitmentKeys[i].GSigmaNeg)
	}
	if slices.ContainsFunc(g2, (*bn254.G2Affine).IsInfinity) || vk.Precompute() != nil {
		return nil
	}
	return groth16System{vk}
}

// groth16Proof reads or writes a proof as gnark's contract takes it: A, B, C, then the commitments and the proof that they are known.
func groth16Proof(l *layout, p *groth16.Proof) {
	l.g1(&p.Ar)
	l.g2(&p.Bs)
	l.g1(&p.Krs)
	for i := range p.Commitments {
		l.g1(&p.Commitments[i])
	}
	if len(p.Commitments) > 0 {
		l.g1(&p.CommitmentPok)
	}
}

// EncodeGroth16Proof is the layout of a proof in formats.Root: 256 bytes, and with n > 0 commitments 64(n + 1) more.
func EncodeGroth16Proof(p *groth16.Proof) []byte {
	l := &layout{writing: true}
	groth16Proof(l, p)
	return l.b
}

func (s groth16System) proofBytes() int {
	n := len(s.CommitmentKeys)
	if n > 0 {
		n++
	}
	return 2*sizeG1 + sizeG2 + n*sizeG1
}

func (s groth16System) verify(publics fr.Vector, data []byte) error {
	p := &groth16.Proof{Commitments: make([]bn254.G1Affine, len(s.CommitmentKeys))}
	l := &layout{b: data}
	if groth16Proof(l, p); !l.whole() {
		return badPoint()
	}
	// Proofs are made for the contract, which hashes commitments by Keccak.
	if err := groth16.Verify(p, s.VerifyingKey, publics, solidity.WithVerifierTargetSolidityVerifier(backend.GROTH16)); err != nil {
		return notProven(err)
	}
	return nil
}

func (s groth16System) solidity() (string, error) {
	var b strings.Builder
	own := decodeGroth16Key(EncodeGroth16Key(s.VerifyingKey)).(groth16System) // ExportSolidity changes the key while it runs
	err := own.ExportSolidity(&b)
	return b.String(), err
}
