// Package toy is a small circuit with the public inputs of the real one, for tests of what surrounds it: setups, proofs, keys, contracts.
package toy

import (
	"context"
	"crypto/sha256"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/formats"
)

// Circuit proves that somebody knows the cube roots, modulo r, of sums of its public inputs. Its number of constraints is about twice Rounds.
type Circuit struct {
	Publics     [5]frontend.Variable `gnark:",public"`
	Secrets     []frontend.Variable
	commitments bool
}

// Rounds is the size of the circuit that tests use.
const Rounds = 5

// New is the circuit, with or without a gnark commitment to the secrets.
func New(commitments bool) *Circuit {
	return &Circuit{Secrets: make([]frontend.Variable, Rounds), commitments: commitments}
}

// Define implements frontend.Circuit: secret i is a running sum of products of the public inputs.
func (c *Circuit) Define(api frontend.API) error {
	sum := frontend.Variable(0)
	for i, s := range c.Secrets {
		sum = api.Add(api.Mul(sum, c.Publics[i%5]), c.Publics[(i+1)%5], i)
		api.AssertIsEqual(s, sum)
	}
	if c.commitments {
		z, err := api.(frontend.Committer).Commit(c.Secrets...)
		if err != nil {
			return err
		}
		api.AssertIsDifferent(z, c.Secrets[0])
	}
	return nil
}

// Assign is the full witness for a statement.
func Assign(s circuit.Statement, commitments bool) *Circuit {
	c, r := New(commitments), ecc.BN254.ScalarField()
	publics, sum := s.Publics(), new(big.Int)
	for i := range c.Secrets {
		sum.Mul(sum, publics[i%5]).Add(sum, publics[(i+1)%5]).Add(sum, big.NewInt(int64(i))).Mod(sum, r)
		c.Secrets[i] = new(big.Int).Set(sum)
	}
	for i, p := range publics {
		c.Publics[i] = p
	}
	return c
}

// Claims are what the toy claims.
func Claims() []formats.Claim {
	return []formats.Claim{{Entry: 0, Args: formats.Elements{}.Append(90), Results: formats.Elements{}.Append(2880067194370816120).Append(7)}}
}

// Key is what is known of the toy's keys before a setup.
func Key(backend string) formats.RootKey {
	return formats.RootKey{Backend: backend, Curve: formats.CurveBN254, Protocol: formats.Digest{0x1f, 1, 2, 3, 31: 4}, Program: formats.Digest{0xff, 5, 6, 7, 31: 8},
		Tables: []formats.Table{{Circuit: 0, LogHeight: 8}}, Claims: 1, Bits: 128, Entries: []formats.Entry{{Name: "toy", Args: []formats.Value{{Name: "n", Type: formats.TypeU8}},
			Results: []formats.Value{{Name: "value", Type: formats.TypeField}, {Name: "small", Type: formats.TypeU32}}}}}
}

// Statement is about Claims.
func Statement() circuit.Statement {
	k := Key(formats.BackendPlonk)
	return circuit.Statement{Program: k.Program, Protocol: k.Protocol, Claims: sha256.Sum256(circuit.ClaimBytes(Claims()))}
}

// Compile compiles the circuit.
func Compile(ctx context.Context, backend string, commitments bool) (*compress.System, error) {
	return compress.CompileCircuit(ctx, New(commitments), Key(backend), commitments)
}

// Prove makes a compressed proof of Claims.
func Prove(ctx context.Context, p *compress.Prover) ([]byte, error) {
	return p.Prove(ctx, Assign(Statement(), p.System.Commitments), Statement(), Claims())
}
