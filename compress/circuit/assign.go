package circuit

import (
	"math/big"
	"slices"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// Assign verifies a root proof and makes the full witness of its circuit: the one of Build for the proof's tables and number of claims and the same options. The statement is what the
// witness's public part says. Errors are those of verifier.Verify and of Build, and *formats.Error of class Invalid for a proof of several shards.
func Assign(key *verifier.Key, proof []byte, o Options) (frontend.Circuit, Statement, error) {
	// checkedShape makes P-17, with its exception for development profiles.
	if _, err := verifier.Verify(key, proof, verifier.Policy{MaxProofBytes: len(proof), Insecure: true}); err != nil {
		return nil, Statement{}, err
	}
	p, err := formats.DecodeProof(proof, len(proof))
	if err != nil {
		return nil, Statement{}, err
	}
	c, err := assignment(key, p, o)
	if err != nil {
		return nil, Statement{}, err
	}
	statement, err := StatementOf(key, p.Shards[0].Tables, p.Claims)
	if err != nil {
		return nil, Statement{}, err
	}
	c.state(statement)
	return c, statement, nil
}

// state sets the public inputs.
func (c *rootCircuit) state(s Statement) {
	x := s.Publics()
	c.Program, c.Claims, c.Protocol = [2]frontend.Variable{x[0], x[1]}, [2]frontend.Variable{x[2], x[3]}, x[4]
}

// assignment is the witness of a proof with one shard, as it is, whether the proof is valid or not. Only its lengths must be those of its shape.
func assignment(key *verifier.Key, p *formats.Proof, o Options) (*rootCircuit, error) {
	if len(p.Shards) != 1 {
		e := (&formats.Error{Class: formats.Invalid, Place: "shards", What: "a root has one shard"}).Mismatch(1, uint64(len(p.Shards)))
		e.Next = "prove in one shard"
		return nil, e
	}
	shard := &p.Shards[0]
	s, err := checkedShape(key, shard.Tables, len(p.Claims))
	if err != nil {
		return nil, err
	}
	if err := s.checkOrder(p.Claims); err != nil {
		return nil, err
	}
	if err := verifier.CheckLengths(s.Shape, shard, 0); err != nil {
		return nil, err
	}
	expansion, err := verifier.Expand(key, p, []*verifier.Shape{s.Shape}, 0)
	if err != nil {
		return nil, err
	}
	c := s.circuit(o)
	w := &c.Witness
	for i := range w.Elements {
		for k := range w.Choices[i] {
			w.Choices[i][k] = 0
			if uint32(s.stating[k]) == p.Claims[i].Entry {
				w.Choices[i][k] = 1
			}
		}
		fill(w.Elements[i], slices.Concat(p.Claims[i].Args, p.Claims[i].Results))
	}
	w.Main, w.Quotient, w.Nonce = digest(shard.Main), digest(shard.Quotient), shard.Nonce
	for i := range w.Aux {
		w.Aux[i] = digest(shard.Aux[i])
	}
	for i := range w.Roots {
		w.Roots[i] = digest(shard.LayerRoot[i])
	}
	fillExt(w.Pins, shard.Pins)
	fillExt(w.Sums, shard.Sums)
	fillExt(w.Openings, shard.Openings)
	fillExt(w.Final, shard.Final)
	for i := range expansion.Trees {
		t := &expansion.Trees[i]
		node := func(log int, index uint32) frontend.Variable {
			if d, ok := t.Nodes[log][index]; ok {
				return digest(d)
			}
			return 0
		}
		for k := range w.Crowns[i] {
			number := uint32(k) + 2 // nodes are numbered from the root, 1
			log := big.NewInt(int64(number)).BitLen() - 1
			w.Crowns[i][k] = node(log, number-1<<log)
		}
		for q, index := range expansion.Queries {
			at := index >> (s.Schedule.LogSize(0) - t.LogRows())
			path := &w.Queries[q][i]
			for l := range path.Rows {
				fill(path.Rows[l], t.Row(l, at>>(t.LogRows()-t.Levels[l].LogRows)))
			}
			for k := range path.Siblings {
				path.Siblings[k] = node(t.LogRows()-k, at>>k^1)
			}
		}
	}
	return c, nil
}

// fill sets variables to elements.
func fill(out []frontend.Variable, e formats.Elements) {
	for i := range out {
		out[i] = e.At(i)
	}
}

func fillExt(out []ext, e formats.Elements) {
	for i := range out {
		fill(out[i][:], e[i*formats.ExtElementBytes:])
	}
}

// digest is the element of Fr that a digest is.
func digest(d formats.Digest) *big.Int {
	b := slices.Clone(d[:])
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// AssignUnverified is Assign for a decoded proof and a statement that need not be valid: for tests that hold the circuit to verifier.Verify. The error is that of a shape that Build
// refuses, or of a proof with other lengths than its shape needs.
func AssignUnverified(key *verifier.Key, p *formats.Proof, s Statement, o Options) (frontend.Circuit, error) {
	c, err := assignment(key, p, o)
	if err != nil {
		return nil, err
	}
	c.state(s)
	return c, nil
}
