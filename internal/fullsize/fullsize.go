// Package fullsize is the system of the size that root proofs are measured at: one table of 2^16 rows of 50 columns.
package fullsize

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// The table's shape.
const (
	Width     = 50
	LogHeight = 16
)

// asked is the row that answers a claim.
const asked = 5

// System is a circuit each of whose columns squares the one before, from the second one on, and its entry power(x) = x^(2^(Width-2)).
func System() *air.System {
	s := air.NewSystem("squares")
	answers := s.Channel("answers", 2)
	s.Entry("power", answers, []formats.Value{{Name: "x", Type: formats.TypeField}}, []formats.Value{{Name: "power", Type: formats.TypeField}})
	c := s.Circuit("squares")
	columns := []air.Expr{c.Column("uses")}
	for i := 1; i < Width; i++ {
		columns = append(columns, c.Column(strconv.Itoa(i)))
		if i > 1 {
			c.Assert("square "+strconv.Itoa(i), columns[i].Sub(columns[i-1].Mul(columns[i-1])))
		}
	}
	c.Pull(answers, columns[0], columns[1], columns[Width-1])
	return s
}

// Witness claims power(5).
func Witness() *prover.Witness {
	power := field.Element(asked)
	for range Width - 2 {
		power = field.Mul(power, power)
	}
	return &prover.Witness{
		Claims: []formats.Claim{{Args: formats.Elements(nil).Append(asked), Results: formats.Elements(nil).Append(uint64(power))}},
		Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: LogHeight, Trace: rows{}}}}},
	}
}

// rows are those of x = 0, 1, 2, …
type rows struct{}

// WriteRows implements prover.TraceWriter.
func (rows) WriteRows(columns [][]field.Element, first int) error {
	for r := range columns[1] {
		columns[1][r] = field.Element(first + r)
		for c := 2; c < len(columns); c++ {
			columns[c][r] = field.Mul(columns[c-1][r], columns[c-1][r])
		}
		if first+r == asked {
			columns[0][r] = 1
		}
	}
	return nil
}
