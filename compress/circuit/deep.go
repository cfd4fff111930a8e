package circuit

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// batch is what the DEEP quotients of all queries share (docs/protocol.md section 7).
type batch struct {
	*verifier.Batch
	lambdas []goldilocks.Ext // powers of lambda
	etas    []goldilocks.Ext // powers of the pins' fold
	heights []heightBatch
}

// heightBatch is what the codeword of one height has of its own.
type heightBatch struct {
	points  [2]goldilocks.Ext // zeta, zeta ω_h
	claimed [2]goldilocks.Ext // Σ lambda^k v_k over the openings at each
	pins    []int             // its tables
	weights []goldilocks.Ext  // of their pins
}

func (v *checker) newBatch(lambda goldilocks.Ext) *batch {
	chip := v.chip
	b := &batch{Batch: verifier.NewBatch(v.Shape), heights: make([]heightBatch, len(v.Schedule.Heights))}
	b.lambdas = v.powers(lambda, b.Count())
	columns := 0
	for i := range v.Tables {
		columns = max(columns, v.Tables[i].Columns(verifier.Main))
	}
	b.etas = v.powers(v.pinFold, columns)
	for level, h := range v.Schedule.Heights {
		at := &b.heights[level]
		at.points = [2]goldilocks.Ext{v.zetaPower(0), chip.ReduceExt(chip.ScaleConstantExt(v.zetaPower(0), root(h)))}
		var weights, values [2][]goldilocks.Ext
		for i := range v.Tables {
			t := &v.Tables[i]
			if t.LogHeight != h {
				continue
			}
			at.pins = append(at.pins, i)
			at.weights = append(at.weights, b.lambdas[b.PinExponent(i)])
			for kind := range verifier.NumKinds {
				here, next := b.Exponents(t, i, kind)
				for row, opened := range [][]goldilocks.Ext{v.opened[i].here[kind], v.opened[i].next[kind]} {
					start := []int{here, next}[row]
					weights[row] = append(weights[row], b.lambdas[start:start+len(opened)]...)
					values[row] = append(values[row], opened...)
				}
			}
		}
		for row := range values {
			if len(values[row]) > 0 {
				at.claimed[row] = chip.ReduceExt(chip.DotExt(weights[row], values[row]))
			}
		}
	}
	return b
}

// powers are 1, x, x^2, …, n of them.
func (v *checker) powers(x goldilocks.Ext, n int) []goldilocks.Ext {
	out := []goldilocks.Ext{v.chip.ConstantExt(field.Ext{1}), x}
	for k := 2; k < n; k++ {
		out = append(out, v.chip.ReduceExt(v.chip.MulExt(out[k/2], out[k-k/2])))
	}
	return out[:n]
}

// opened is the rows of a query, by tree and level, as elements.
type opened [][][]goldilocks.Element

// openTrees checks the rows of a query to be words and opens the trees at it: those of the shape at the query's index for their height, layer i at its leaf.
func (v *checker) openTrees(trees []*merkle.Tree, crowns []crown, bits []frontend.Variable, paths []path) opened {
	out := make(opened, len(trees))
	for i, t := range trees {
		p := &paths[i]
		for _, row := range p.Rows {
			elements := make([]goldilocks.Element, len(row))
			for k, x := range row {
				elements[k] = v.word(x)
			}
			out[i] = append(out[i], elements)
		}
		v.open(t, crowns[i], bits[len(bits)-t.LogRows():], p.Rows, p.Siblings)
	}
	return out
}

// codeword is the batched DEEP quotient of a height at the point x in F of a query.
func (v *checker) codeword(b *batch, level int, x goldilocks.Element, rows opened) goldilocks.Ext {
	chip, h := v.chip, &b.heights[level]
	var weights [2][]goldilocks.Ext
	var values [2][]goldilocks.Element
	var pinned []goldilocks.Ext // Σ_c η^c f_c(x) - v of each table
	for _, i := range h.pins {
		t := &v.Tables[i]
		for kind := range verifier.NumKinds {
			n := t.Columns(kind)
			if n == 0 {
				continue
			}
			tree, depth, offset := v.Place(kind, i)
			row := rows[tree][depth][offset/formats.ElementBytes:][:n]
			here, next := b.Exponents(t, i, kind)
			weights[0] = append(weights[0], b.lambdas[here:here+n]...)
			values[0] = append(values[0], row...)
			for k, c := range t.NextColumns(kind) {
				weights[1] = append(weights[1], b.lambdas[next+k])
				values[1] = append(values[1], row[c])
			}
			if kind == verifier.Main {
				pinned = append(pinned, chip.SubExt(chip.DotBase(b.etas[:n], row), v.pins[i]))
			}
		}
	}
	quotient := func(numerator, point goldilocks.Ext) goldilocks.Ext {
		return chip.Quotient(numerator, chip.SubExt(chip.FromBase(x), point)) // no point lies in F (P-26)
	}
	terms := []goldilocks.Ext{quotient(chip.DotExt(h.weights, pinned), v.pinPoint)}
	for row := range values {
		if len(values[row]) > 0 {
			terms = append(terms, quotient(chip.SubExt(chip.DotBase(weights[row], values[row]), h.claimed[row]), h.points[row]))
		}
	}
	return chip.SumExt(terms...)
}

// rootTable lists Π ω_(first+i+1)^(± b_i) for all bits b_0 … b_(n-1), by the representatives of least absolute value.
func rootTable(first, n int, inverted bool) []*big.Int {
	out := make([]*big.Int, 1<<n)
	for k := range out {
		e := field.Element(1)
		for i := range n {
			if k>>i&1 == 1 {
				e = field.Mul(e, root(first+i+1))
			}
		}
		if inverted {
			e = inverse(e)
		}
		out[k] = goldilocks.Centred(e)
	}
	return out
}
