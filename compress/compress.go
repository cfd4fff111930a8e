// Package compress turns a root proof, a batch proof with one shard under the suite poseidon2-bn254, into one Plonk or Groth16 proof over BN254 of under a kilobyte: it compiles the
// circuit that verifies the proof (compress/circuit), makes or loads the SNARK's keys (compress/srs, compress/keys), proves, and checks what it made (compress/snark).
//
// gnark cannot be interrupted. When a context ends, functions return and gnark's work is left behind, for a process that is about to end; nothing is kept of it.
package compress

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"math/bits"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/security"
)

// Program is what a circuit is generated for: a verifying key and the shape of its root proofs.
type Program struct {
	Key    *verifier.Key
	Tables []formats.Table
	Claims int

	statement circuit.Statement
	bits      int
}

// NewProgram checks that root proofs with one shard of the given tables and such claims can be compressed. Errors are those of circuit.StatementOf.
func NewProgram(key *verifier.Key, tables []formats.Table, claims []formats.Claim) (*Program, error) {
	statement, err := circuit.StatementOf(key, tables, claims)
	if err != nil {
		return nil, err
	}
	checked, err := verifier.CheckTables(key, 0, tables)
	if err != nil {
		return nil, err
	}
	shape := verifier.Security([]*verifier.Shape{verifier.NewShape(key, checked)}, len(claims))
	return &Program{Key: key, Tables: tables, Claims: len(claims), statement: statement, bits: security.Level(security.Terms(key.Profile, shape, security.Johnson))}, nil
}

// Decode reads the shape and the claims of a root proof, which it does not verify. Errors are those of formats.DecodeProof and NewProgram, and of class Incompatible for a proof that is
// under another key or has several shards.
func Decode(key *verifier.Key, proof []byte) (*Program, []formats.Claim, error) {
	p, err := formats.DecodeProof(proof, formats.MaxProofBytes)
	if err != nil {
		return nil, nil, err
	}
	if p.Key != key.Digest() {
		return nil, nil, &formats.Error{Class: formats.Incompatible, Check: "P-4", Place: "key", What: "the proof is under another key", Expected: verifier.Hex(key.Digest()), Got: verifier.Hex(p.Key)}
	}
	if len(p.Shards) != 1 {
		return nil, nil, (&formats.Error{Class: formats.Incompatible, Place: "shards", What: "only a proof of one shard can be compressed", Next: "prove it with --shards 1"}).Mismatch(1, uint64(len(p.Shards)))
	}
	program, err := NewProgram(key, p.Shards[0].Tables, p.Claims)
	return program, p.Claims, err
}

// Protocol identifies what the circuit checks: the protocol id of its statements.
func (p *Program) Protocol() formats.Digest { return p.statement.Protocol }

// Template is the key of compressed proofs of the program without what belongs to the SNARK: Circuit, Setup and Key.
func (p *Program) Template(backend string) formats.RootKey {
	return formats.RootKey{Backend: backend, Curve: formats.CurveBN254, Protocol: p.statement.Protocol, Program: p.statement.Program, Tables: p.Tables, Claims: uint32(p.Claims),
		Bits: uint8(min(max(p.bits, 0), 255)), Entries: p.Key.Entries}
}

// System is a compiled circuit.
type System struct {
	Backend     string
	Commitments bool           // whether ranges are checked by a gnark commitment
	ID          formats.Digest // SHA-256 of the constraint system as gnark writes it
	Constraints int            // of R1CS for Groth16, gates for Plonk
	LogDomain   int            // log of the size of the domain, which time and memory follow

	cs  constraint.ConstraintSystem
	key formats.RootKey // what is known of the key
}

// Compile generates and compiles the program's circuit for a proof system: always with commitments for Plonk; for Groth16 without them if its proof is to be the plain one of 256 bytes.
// The result is the same on every machine. Errors are those of circuit.Build, or that of ctx.
func (p *Program) Compile(ctx context.Context, backend string, commitments bool) (*System, error) {
	c, err := circuit.Build(p.Key, p.Tables, p.Claims, circuit.Options{Commitments: commitments})
	if err != nil {
		return nil, err
	}
	return CompileCircuit(ctx, c, p.Template(backend), commitments)
}

// builders make the constraint systems of gnark's backends.
var builders = map[string]frontend.NewBuilder{formats.BackendPlonk: scs.NewBuilder[constraint.U64], formats.BackendGroth16: r1cs.NewBuilder[constraint.U64]}

// CompileCircuit compiles any circuit with the five public inputs of a statement. key is that of its proofs without Circuit, Setup and Key; its Backend says what to compile for. Errors are
// *formats.Error of class Internal for a circuit that cannot be compiled, or that of ctx.
func CompileCircuit(ctx context.Context, c frontend.Circuit, key formats.RootKey, commitments bool) (*System, error) {
	snark.Quiet()
	builder, ok := builders[key.Backend]
	if !ok || key.Backend == formats.BackendPlonk && !commitments {
		return nil, &formats.Error{Class: formats.Internal, Place: "circuit", What: "there is no such proof system", Got: key.Backend}
	}
	return await(ctx, func() (*System, error) {
		cs, err := frontend.Compile(ecc.BN254.ScalarField(), builder, c)
		if err != nil {
			return nil, internal("compile", err)
		}
		s := &System{Backend: key.Backend, Commitments: commitments, Constraints: cs.GetNbConstraints(), cs: cs, key: key}
		publics, size := cs.GetNbPublicVariables(), cs.GetNbConstraints()
		if key.Backend == formats.BackendPlonk {
			size += publics
		} else {
			publics-- // the constant wire
		}
		if publics != snark.Publics {
			return nil, internal("compile", errors.New("the circuit has "+strconv.Itoa(publics)+" public inputs"))
		}
		s.LogDomain = bits.Len(uint(size - 1))
		h := sha256.New()
		if _, err := cs.WriteTo(prefixed(h, key.Backend)); err != nil {
			return nil, internal("compile", err)
		}
		s.ID = formats.Digest(h.Sum(nil))
		s.key.Circuit = s.ID
		return s, nil
	})
}

// prefixed starts a hash of a constraint system with its kind.
func prefixed(h hash.Hash, backend string) hash.Hash {
	h.Write([]byte("ixprove/1 circuit " + backend + "\n"))
	return h
}

// await does work that cannot be stopped, or gives up waiting for it.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil { // gnark panics where we would return errors
				done <- outcome{none, internal("gnark", errors.New(panicText(r)))}
			}
		}()
		v, err := work()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func panicText(r any) string {
	switch r := r.(type) {
	case error:
		return "a panic: " + r.Error()
	case string:
		return "a panic: " + r
	}
	return "a panic"
}

func internal(place string, err error) error {
	return &formats.Error{Class: formats.Internal, Place: place, What: "the proof system failed", Got: err.Error(), Next: "report this with the command line"}
}
