// Package circuit is the verifier of root proofs (docs/protocol.md) as a gnark circuit over BN254, generated from a verifying key and a shape. docs/circuit.md says which check
// is made where.
//
// What depends on the key and the shape alone is checked when the circuit is generated, and refused there. Everything else that docs/protocol.md asks for is a constraint. Values of F
// are any 64-bit representatives of their class where the protocol has the canonical one, but for claims, challenges and indices. Not audited by an outside party.
package circuit

import (
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// Options chooses between the two forms of the circuit, which prove the same statement.
type Options struct {
	// Commitments checks ranges by logarithmic derivatives, with a challenge that a gnark commitment yields: fewer constraints, and the only sensible form for Plonk. Without it
	// ranges are checked by bits: a Groth16 proof of 256 bytes that any Groth16 verifier accepts.
	Commitments bool
}

// chip is the chip's form of the options. Limbs of 13 bits cost least at the 45 queries of profile root, and small tables where there is little to look up.
func (o Options) chip(queries int) goldilocks.Options {
	switch {
	case !o.Commitments:
		return goldilocks.Options{}
	case queries < 16:
		return goldilocks.Options{LimbBits: 8}
	}
	return goldilocks.Options{LimbBits: 13}
}

// Build generates the circuit of root proofs with one shard of the tables and the given number of claims, to be given to frontend.Compile with the builder r1cs or scs over BN254.
// It is a function of its arguments. Errors are *formats.Error: a key of another suite, or a shape that the protocol, its security accounting or the circuit refuses.
func Build(key *verifier.Key, tables []formats.Table, claims int, o Options) (frontend.Circuit, error) {
	s, err := checkedShape(key, tables, claims)
	if err != nil {
		return nil, err
	}
	return s.circuit(o), nil
}

// rootCircuit is the circuit, and its assignment.
type rootCircuit struct {
	Program  [2]frontend.Variable `gnark:",public"`
	Claims   [2]frontend.Variable `gnark:",public"`
	Protocol frontend.Variable    `gnark:",public"`

	Witness witness

	shape   *shape
	options Options
	meter   meter
}

// ext is an element of E as a witness has it.
type ext [3]frontend.Variable

// witness is a proof as the circuit reads it: the fields of formats.Proof, with a path for each query in place of multiproofs.
type witness struct {
	Choices  [][]frontend.Variable // per claim and entry that state something, 1 for the claim's entry and else 0; none if there is one such entry
	Elements [][]frontend.Variable // per claim that states something
	Main     frontend.Variable
	Pins     []ext
	Aux      []frontend.Variable
	Sums     []ext
	Quotient frontend.Variable
	Openings []ext
	Roots    []frontend.Variable // of the FRI layers
	Final    []ext
	Nonce    frontend.Variable
	Crowns   [][]frontend.Variable // per tree of trees(): the nodes below the root
	Queries  [][]path              // per query and tree of trees()
}

// path is a leaf of a tree with its rows, by level, and the siblings from the leaf up to level cap.
type path struct {
	Rows     [][]frontend.Variable
	Siblings []frontend.Variable
}

// trees are the trees that queries open: those of the shape, then the FRI layers.
func (s *shape) trees() []*merkle.Tree {
	var out []*merkle.Tree
	for i := range s.Trees {
		out = append(out, s.Trees[i].Tree)
	}
	for i := range s.Schedule.Steps {
		out = append(out, s.Schedule.Tree(s.key.Suite, i))
	}
	return out
}

// circuit is the circuit with all slices made.
func (s *shape) circuit(o Options) *rootCircuit {
	variables := func(n int) []frontend.Variable { return make([]frontend.Variable, n) }
	c := &rootCircuit{shape: s, options: o}
	w := &c.Witness
	w.Choices, w.Elements = make([][]frontend.Variable, s.chosen()), make([][]frontend.Variable, s.chosen())
	for i := range w.Elements {
		if n := len(s.stating); n > 1 {
			w.Choices[i] = variables(n)
		}
		w.Elements[i] = variables(s.claimElements())
	}
	lookups := s.Lookups()
	w.Pins, w.Aux, w.Sums, w.Openings = make([]ext, len(s.Tables)), variables(min(lookups, 1)), make([]ext, lookups), make([]ext, s.Openings())
	w.Roots, w.Final = variables(len(s.Schedule.Steps)), make([]ext, 1<<s.Schedule.Final)
	trees := s.trees()
	w.Queries = make([][]path, s.key.Profile.Queries)
	for q := range w.Queries {
		w.Queries[q] = make([]path, len(trees))
	}
	for i, t := range trees {
		limit := capLevel(t, len(w.Queries))
		w.Crowns = append(w.Crowns, variables(2<<limit-2))
		for q := range w.Queries {
			p := &w.Queries[q][i]
			p.Siblings = variables(t.LogRows() - limit)
			for l := range t.Levels {
				p.Rows = append(p.Rows, variables(t.Levels[l].RowBytes()/formats.ElementBytes))
			}
		}
	}
	return c
}

// meter is told which part of the circuit the constraints to come belong to. It is nil but in tests.
type meter func(part string)

// Define implements frontend.Circuit.
func (c *rootCircuit) Define(api frontend.API) error {
	v := &checker{api: api, hasher: hasher{api}, chip: goldilocks.New(api, c.options.chip(c.shape.key.Profile.Queries)), shape: c.shape, witness: &c.Witness, enter: c.meter}
	if v.enter == nil {
		v.enter = func(string) {}
	}
	v.check(c)
	return nil
}

// tables are those that the circuit is for.
func (s *shape) tables() []formats.Table {
	var out []formats.Table
	for i := range s.Tables {
		out = append(out, formats.Table{Circuit: uint32(s.Tables[i].Index), LogHeight: uint8(s.Tables[i].LogHeight)})
	}
	return out
}
