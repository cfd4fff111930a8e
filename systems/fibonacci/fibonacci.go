// Package fibonacci is the tutorial system: one circuit that walks through the Fibonacci numbers modulo the Goldilocks prime and answers for any of them.
//
// Row r holds i = r, a = F(r) and b = F(r+1): the first row says so for r = 0 and each further row follows from the one before. So every row states a truth,
// rows beyond the last claim too, and how often a row answers may be left to the prover.
package fibonacci

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// Name is the system's name, and that of its one entry.
const Name = "fibonacci"

// MaxIndex is the largest n whose F(n) fits the tallest table.
const MaxIndex = 1<<formats.MaxLogHeight - 1

// Main columns.
const (
	colI = iota
	colA
	colB
	colAnswers
)

// System is the entry fibonacci(n u32) -> value field: value = F(n) mod p with F(0) = 0, F(1) = 1.
func System() *air.System {
	s := air.NewSystem(Name)
	answers := s.Channel(Name, 2)
	s.Entry(Name, answers, []formats.Value{{Name: "n", Type: formats.TypeU32}}, []formats.Value{{Name: "value", Type: formats.TypeField}})

	c := s.Circuit(Name)
	i, a, b, mult := c.Column("i"), c.Column("a"), c.Column("b"), c.Column("answers")
	c.Assert("i starts at 0", c.First().Mul(i))
	c.Assert("a starts at F(0)", c.First().Mul(a))
	c.Assert("b starts at F(1)", c.First().Mul(b.Minus(1)))
	c.Assert("i counts rows", c.Transition().Mul(i.Next().Sub(i).Minus(1)))
	c.Assert("a moves on", c.Transition().Mul(a.Next().Sub(b)))
	c.Assert("b adds", c.Transition().Mul(b.Next().Sub(a).Sub(b)))
	c.Pull(answers, mult, i, a)
	return s
}

// Witness claims F(n) for each of the indices, in order, shared out evenly among the shards (at least one). Each shard has one table that
// reaches its largest index and is at least 2^minLogHeight rows high. An index above MaxIndex, no index, or no shard is a *formats.Error of class Invalid.
func Witness(indices []uint32, shards, minLogHeight int) (*prover.Witness, error) {
	if len(indices) == 0 || shards < 1 || shards > len(indices) {
		return nil, (&formats.Error{Class: formats.Invalid, Place: Name, What: "each shard needs a claim"}).Mismatch(uint64(max(shards, 1)), uint64(len(indices)))
	}
	w := &prover.Witness{Shards: make([]prover.Shard, shards)}
	for k := range w.Shards {
		share := slices.Clone(indices[k*len(indices)/shards : (k+1)*len(indices)/shards])
		for _, n := range share {
			if n > MaxIndex {
				e := (&formats.Error{Class: formats.Invalid, Place: Name, What: "the index is too large"}).Mismatch(MaxIndex, uint64(n))
				e.Expected = "at most " + strconv.Itoa(MaxIndex)
				return nil, e
			}
			value, _ := pair(uint64(n))
			w.Claims = append(w.Claims, formats.Claim{
				Args:    formats.Elements(nil).Append(uint64(n)),
				Results: formats.Elements(nil).Append(uint64(value)),
			})
		}
		slices.Sort(share)
		height := max(minLogHeight, bits.Len32(share[len(share)-1]))
		w.Shards[k].Tables = []prover.Table{{Circuit: 0, LogHeight: height, Trace: trace{share}}}
	}
	return w, nil
}

// trace writes a table that answers for the indices, ascending.
type trace struct{ indices []uint32 }

// WriteRows implements prover.TraceWriter.
func (t trace) WriteRows(columns [][]field.Element, first int) error {
	a, b := pair(uint64(first))
	for r := range columns[colI] {
		columns[colI][r], columns[colA][r], columns[colB][r] = field.Element(first+r), a, b
		a, b = b, field.Add(a, b)
	}
	k, _ := slices.BinarySearchFunc(t.indices, first, func(n uint32, r int) int { return cmp.Compare(int(n), r) })
	last := first + len(columns[colI])
	for ; k < len(t.indices) && int(t.indices[k]) < last; k++ {
		columns[colAnswers][int(t.indices[k])-first]++
	}
	return nil
}

// pair returns F(n) and F(n+1) modulo p by doubling: F(2k) = F(k)(2F(k+1) - F(k)), F(2k+1) = F(k)^2 + F(k+1)^2.
func pair(n uint64) (a, b field.Element) {
	a, b = 0, 1
	for bit := bits.Len64(n) - 1; bit >= 0; bit-- {
		even := field.Mul(a, field.Sub(field.Add(b, b), a))
		odd := field.Add(field.Mul(a, a), field.Mul(b, b))
		a, b = even, odd
		if n>>bit&1 == 1 {
			a, b = odd, field.Add(even, odd)
		}
	}
	return a, b
}
