package compress

import (
	"context"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	groth16 "github.com/consensys/gnark/backend/groth16/bn254"
	plonk "github.com/consensys/gnark/backend/plonk/bn254"
	"github.com/consensys/gnark/backend/solidity"
	"github.com/consensys/gnark/backend/witness"
	cs "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/compress/srs"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
)

// Prover is a compiled circuit with its keys.
type Prover struct {
	System *System
	Key    *snark.Key

	prove   func(w witness.Witness) ([]byte, error)
	groth16 *groth16.ProvingKey // nil for Plonk, whose proving key is the powers of tau
}

// SetupPlonk makes the keys of a circuit from powers of tau and the Lagrange points of its domain. It tosses no coins: the same powers give the same key everywhere. Errors are
// *formats.Error of class Invalid for too few powers, or that of ctx.
func (s *System) SetupPlonk(ctx context.Context, powers *srs.SRS) (*Prover, error) {
	gates, ok := s.cs.(*cs.SparseR1CS)
	if !ok {
		return nil, &formats.Error{Class: formats.Internal, Place: "setup", What: "this is no circuit for Plonk", Got: s.Backend}
	}
	lagrange, err := powers.Lagrange(ctx, s.LogDomain)
	if err != nil {
		return nil, err
	}
	strings := powers.KZG(1<<s.LogDomain + srs.Extra)
	byValues := strings
	byValues.Pk.G1 = lagrange
	pk, err := await(ctx, func() (*plonk.ProvingKey, error) {
		pk, _, err := plonk.Setup(gates, strings, byValues)
		return pk, err
	})
	if err != nil {
		return nil, internalUnlessStopped(ctx, "setup", err)
	}
	key, err := s.newKey(powers.Setup, snark.EncodePlonkKey(pk.Vk))
	if err != nil {
		return nil, err
	}
	return s.plonkProver(key, pk), nil
}

// LoadPlonk is SetupPlonk with the verifying key that it made before. Errors are those of SetupPlonk, and of class Incompatible for the key of another circuit or setup.
func (s *System) LoadPlonk(ctx context.Context, powers *srs.SRS, key *snark.Key) (*Prover, error) {
	if err := s.matches(key, powers.Setup); err != nil {
		return nil, err
	}
	lagrange, err := powers.Lagrange(ctx, s.LogDomain)
	if err != nil {
		return nil, err
	}
	pk := &plonk.ProvingKey{Vk: key.PlonkKey()}
	pk.Kzg.G1, pk.KzgLagrange.G1 = powers.G1[:1<<s.LogDomain+srs.Extra], lagrange
	if pk.Vk == nil || pk.Vk.Size != 1<<s.LogDomain {
		return nil, s.foreign("key", key.Circuit)
	}
	return s.plonkProver(key, pk), nil
}

func (s *System) plonkProver(key *snark.Key, pk *plonk.ProvingKey) *Prover {
	return &Prover{System: s, Key: key, prove: func(w witness.Witness) ([]byte, error) {
		proof, err := plonk.Prove(s.cs.(*cs.SparseR1CS), pk, w, solidity.WithProverTargetSolidityVerifier(backend.PLONK))
		if err != nil {
			return nil, err
		}
		return snark.EncodePlonkProof(proof)
	}}
}

// SetupGroth16Dev makes keys with secrets that this process draws and forgets: for development alone, and other keys each time. Errors are that of ctx.
func (s *System) SetupGroth16Dev(ctx context.Context) (*Prover, error) {
	constraints, ok := s.cs.(*cs.R1CS)
	if !ok {
		return nil, &formats.Error{Class: formats.Internal, Place: "setup", What: "this is no circuit for Groth16", Got: s.Backend}
	}
	keys, err := await(ctx, func() (groth16Keys, error) {
		var k groth16Keys
		return k, groth16.Setup(constraints, &k.pk, &k.vk)
	})
	if err != nil {
		return nil, internalUnlessStopped(ctx, "setup", err)
	}
	return s.newGroth16(keys, formats.Setup{Mode: formats.SetupInsecureDev, Name: "secrets of one process"})
}

type groth16Keys struct {
	pk groth16.ProvingKey
	vk groth16.VerifyingKey
}

func (s *System) newGroth16(k groth16Keys, setup formats.Setup) (*Prover, error) {
	if !s.groth16Shape().fits(&k.pk) {
		return nil, badProvingKey()
	}
	key, err := s.newKey(setup, snark.EncodeGroth16Key(&k.vk))
	if err != nil {
		return nil, err
	}
	return s.groth16Prover(key, &k.pk), nil
}

func (s *System) groth16Prover(key *snark.Key, pk *groth16.ProvingKey) *Prover {
	return &Prover{System: s, Key: key, groth16: pk, prove: func(w witness.Witness) ([]byte, error) {
		proof, err := groth16.Prove(s.cs.(*cs.R1CS), pk, w, solidity.WithProverTargetSolidityVerifier(backend.GROTH16))
		if err != nil {
			return nil, err
		}
		return snark.EncodeGroth16Proof(proof), nil
	}}
}

func (s *System) newKey(setup formats.Setup, vk []byte) (*snark.Key, error) {
	raw := s.key
	raw.Setup, raw.Key = setup, vk
	return snark.NewKey(&raw)
}

// matches makes sure that a key is of this circuit and setup.
func (s *System) matches(key *snark.Key, setup formats.Setup) error {
	if key.Circuit != s.ID || key.Backend != s.Backend || key.Protocol != s.key.Protocol {
		return s.foreign("key", key.Circuit)
	}
	if key.Setup != setup {
		return &formats.Error{Class: formats.Incompatible, Place: "key", What: "the key is of another setup", Expected: setup.Mode + ", " + setup.Name, Got: key.Setup.Mode + ", " + key.Setup.Name}
	}
	return nil
}

func (s *System) foreign(place string, got formats.Digest) error {
	return &formats.Error{Class: formats.Incompatible, Place: place, What: "this is of another circuit", Expected: verifier.Hex(s.ID), Got: verifier.Hex(got), Next: "set up again"}
}

// Compress verifies a root proof and compresses it into the encoded formats.Root. The proof must be of the program that the prover was made for. It has been checked against the prover's
// key when it is returned. Errors are those of circuit.Assign, or that of ctx.
func (p *Prover) Compress(ctx context.Context, key *verifier.Key, proof []byte) ([]byte, error) {
	assignment, statement, err := circuit.Assign(key, proof, circuit.Options{Commitments: p.System.Commitments})
	if err != nil {
		return nil, err
	}
	decoded, err := formats.DecodeProof(proof, formats.MaxProofBytes)
	if err != nil {
		return nil, err
	}
	return p.Prove(ctx, assignment, statement, decoded.Claims)
}

// Prove is Compress for a full witness that is there already, of a statement about the claims. Errors are *formats.Error of class Incompatible for a statement of another program, and
// Internal if the witness does not satisfy the circuit, or that of ctx.
func (p *Prover) Prove(ctx context.Context, assignment frontend.Circuit, statement circuit.Statement, claims []formats.Claim) ([]byte, error) {
	snark.Quiet()
	if statement.Protocol != p.Key.Protocol || statement.Program != p.Key.Program {
		return nil, &formats.Error{Class: formats.Incompatible, Place: "proof", What: "the proof is of another program or shape than the keys", Expected: verifier.Hex(p.Key.Protocol), Got: verifier.Hex(statement.Protocol),
			Next: "set up for this proof"}
	}
	proof, err := await(ctx, func() ([]byte, error) {
		w, err := frontend.NewWitness(assignment, ecc.BN254.ScalarField())
		if err != nil {
			return nil, err
		}
		return p.prove(w)
	})
	if err != nil {
		return nil, internalUnlessStopped(ctx, "prove", err)
	}
	root := &formats.Root{Backend: p.Key.Backend, Curve: p.Key.Curve, Protocol: statement.Protocol, Program: statement.Program, Statement: statement.Claims, Claims: claims, Setup: p.Key.Setup,
		Key: p.Key.Digest(), Proof: proof}
	data, err := encode.Root(root)
	if err != nil {
		return nil, err
	}
	if _, err := snark.Verify(p.Key, data, snark.Policy{Insecure: true, AllowInsecureSetup: true}); err != nil {
		return nil, internal("check", err)
	}
	return data, nil
}

func internalUnlessStopped(ctx context.Context, place string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return internal(place, err)
}
