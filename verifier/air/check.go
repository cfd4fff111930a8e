// Package air describes circuits as hash-consed constraint graphs (algebraic intermediate representation): columns, constraints, lookups, degree.
//
// A System is written with the builder of this package; a Circuit is the checked form that a prover and a verifier work with, made from a
// builder or from a decoded key by the same checks (K-5 to K-11 of docs/protocol.md).
package air

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

// Degree bounds a polynomial's degree on a table of n rows by Rows*(n-1) + Extra.
type Degree struct{ Rows, Extra int }

func (d Degree) plus(e Degree) Degree { return Degree{d.Rows + e.Rows, d.Extra + e.Extra} }

func (d Degree) max(e Degree) Degree { return Degree{max(d.Rows, e.Rows), max(d.Extra, e.Extra)} }

// within reports whether a constraint of degree d has a quotient of degree below (limit-1)*n.
func (d Degree) within(limit int) bool { return d.Rows <= limit && d.Extra <= max(1, d.Rows-1) }

// Group is a run of lookups that share an auxiliary column: Lookups[First:End].
type Group struct{ First, End int }

// Circuit is a checked circuit. It is immutable and safe for concurrent use.
type Circuit struct {
	formats.Circuit
	Groups    []Group // of lookups, one extension column each
	NextMain  []int   // main columns read in the next row, ascending
	NextFixed []int   // fixed columns read in the next row, ascending
	LogPeriod int     // log2 of the longest period
	Weights   uint64  // sum of the weights of the pushes of one row
	Work      uint64  // operations of E, about, that its constraints and periodic columns take at a point
	degrees   []Degree
}

// HasLookups reports whether the circuit has an auxiliary trace.
func (c *Circuit) HasLookups() bool { return len(c.Groups) > 0 }

// AuxColumns is the number of auxiliary columns in the base field: 3 for each group.
func (c *Circuit) AuxColumns() int { return 3 * len(c.Groups) }

// Slices is the number of quotient slices, D - 1.
func (c *Circuit) Slices() int { return int(c.Degree) - 1 }

// QuotientColumns is the number of quotient columns in the base field: 3 for each slice.
func (c *Circuit) QuotientColumns() int { return 3 * c.Slices() }

// FoldedConstraints is the number of constraints that the challenge delta folds, lookup groups included.
func (c *Circuit) FoldedConstraints() int { return len(c.Constraints) + len(c.Groups) }

// FixedColumns is the number of fixed columns.
func (c *Circuit) FixedColumns() int {
	if len(c.Fixed) == 0 {
		return 0
	}
	return int(c.Fixed[0].Columns)
}

// NodeDegree is the degree of a node of the graph.
func (c *Circuit) NodeDegree(node uint32) Degree { return c.degrees[node] }

// invalid is out of line, as are other makers of errors: inlined, they would be a tenth of the Wasm module.
//
//go:noinline
func invalid(check, place, what string) *formats.Error {
	return &formats.Error{Class: formats.Invalid, Check: check, Place: place, What: what}
}

// CheckCircuit checks one circuit of a system (K-7 to K-11) for a profile with the given blowup and least log height, and derives what provers and
// verifiers need. A failed check is a *formats.Error of class Invalid.
func CheckCircuit(raw *formats.Circuit, channels []formats.Channel, logBlowup, minLogHeight int) (*Circuit, error) {
	c := &Circuit{Circuit: *raw}
	for _, check := range []func(*Circuit, []formats.Channel, int, int) *formats.Error{
		checkColumns, checkHeights, checkNodes, checkConstraints, checkLookups,
	} {
		if err := check(c, channels, logBlowup, minLogHeight); err != nil {
			err.Place = "circuit " + formats.Quote(raw.Name) + err.Place
			return nil, err
		}
	}
	return c, nil
}

func checkColumns(c *Circuit, _ []formats.Channel, _, _ int) *formats.Error {
	if c.Columns < 1 || c.Columns > formats.MaxColumns {
		e := invalid("K-11", ", main columns", "the number of main columns is out of range").Mismatch(1, uint64(c.Columns))
		e.Expected = "1 to " + strconv.Itoa(formats.MaxColumns)
		return e
	}
	if len(c.Fixed) > 0 && (c.Fixed[0].Columns < 1 || c.Fixed[0].Columns > formats.MaxColumns) {
		e := invalid("K-11", ", fixed columns", "the number of fixed columns is out of range").Mismatch(1, uint64(c.Fixed[0].Columns))
		e.Expected = "1 to " + strconv.Itoa(formats.MaxColumns)
		return e
	}
	if len(c.Constraints) == 0 && len(c.Lookups) == 0 {
		return invalid("K-11", "", "the circuit has neither constraints nor lookups")
	}
	return nil
}

func checkHeights(c *Circuit, _ []formats.Channel, _, minLogHeight int) *formats.Error {
	for i, values := range c.Periodic {
		n := values.Len()
		if n < 1 || n > 1<<formats.MaxPeriodLog || n&(n-1) != 0 {
			e := invalid("K-10", ", periodic column "+strconv.Itoa(i), "a period is not a power of two within the limit").Mismatch(0, uint64(n))
			e.Expected = "a power of two up to " + strconv.Itoa(1<<formats.MaxPeriodLog)
			return e
		}
		for 1<<c.LogPeriod < n {
			c.LogPeriod++
		}
		c.Work += 16 * uint64(n) // interpolation for this row and the next
	}
	if need := max(minLogHeight, c.LogPeriod); int(c.MinLogHeight) < need || c.MinLogHeight > formats.MaxLogHeight {
		e := invalid("K-10", ", minimum log height", "the minimum height is out of range").Mismatch(uint64(need), uint64(c.MinLogHeight))
		e.Expected = strconv.Itoa(need) + " to " + strconv.Itoa(formats.MaxLogHeight)
		return e
	}
	if len(c.Fixed) > 0 && (c.Fixed[0].LogHeight < c.MinLogHeight || c.Fixed[0].LogHeight > formats.MaxLogHeight) {
		e := invalid("K-10", ", fixed log height", "the fixed height is out of range").Mismatch(0, uint64(c.Fixed[0].LogHeight))
		e.Expected = strconv.Itoa(int(c.MinLogHeight)) + " to " + strconv.Itoa(formats.MaxLogHeight)
		e.Next = "pad the fixed columns"
		return e
	}
	return nil
}

func checkNodes(c *Circuit, _ []formats.Channel, _, _ int) *formats.Error {
	next := [2][]bool{make([]bool, c.Columns), make([]bool, c.FixedColumns())}
	c.degrees = make([]Degree, len(c.Nodes))
	c.Work += uint64(len(c.Nodes) + len(c.Constraints))
	for i, n := range c.Nodes {
		bad := func(what string, limit, got uint64) *formats.Error {
			e := invalid("K-7", ", node "+strconv.Itoa(i), what).Mismatch(limit, got)
			e.Expected = "less than " + e.Expected
			return e
		}
		columns := 0
		switch n.Op {
		case formats.OpConst:
			if n.A >= field.Modulus {
				return bad("a constant is not canonical", field.Modulus, n.A)
			}
		case formats.OpMain:
			columns = int(c.Columns)
		case formats.OpFixed:
			columns = c.FixedColumns()
		case formats.OpPeriodic:
			columns = len(c.Periodic)
		case formats.OpFirst, formats.OpLast, formats.OpTransition:
		case formats.OpAdd, formats.OpSub, formats.OpMul:
			if n.A >= uint64(i) {
				return bad("an operand is not an earlier node", uint64(i), n.A)
			}
			if uint64(n.B) >= uint64(i) {
				return bad("an operand is not an earlier node", uint64(i), uint64(n.B))
			}
		default:
			return bad("an unknown operation", uint64(formats.NumOps), uint64(n.Op))
		}
		switch n.Op {
		case formats.OpMain, formats.OpFixed, formats.OpPeriodic:
			if n.A >= uint64(columns) {
				return bad("a column does not exist", uint64(columns), n.A)
			}
			if n.B > 1 {
				return bad("a row offset is neither this row nor the next", 2, uint64(n.B))
			}
			if n.B == 1 && n.Op != formats.OpPeriodic {
				next[n.Op-formats.OpMain][n.A] = true
			}
		case formats.OpFirst, formats.OpLast, formats.OpTransition:
			if n.A != 0 || n.B != 0 {
				return bad("a selector has operands", 1, n.A|uint64(n.B))
			}
		case formats.OpConst:
			if n.B != 0 {
				return bad("a constant has an operand", 1, uint64(n.B))
			}
		}
		d := degreeOf(n, c.degrees)
		if d.Rows > 1<<16 || d.Extra > 1<<16 { // keeps the sums far from overflow; no admissible node is near
			return bad("a node's degree is out of range", 1<<16, uint64(max(d.Rows, d.Extra)))
		}
		c.degrees[i] = d
	}
	c.NextMain, c.NextFixed = indices(next[0]), indices(next[1])
	return nil
}

// degreeOf is the degree of a node whose operands have these degrees.
func degreeOf(n formats.Node, degrees []Degree) Degree {
	switch n.Op {
	case formats.OpConst:
		return Degree{}
	case formats.OpTransition:
		return Degree{0, 1}
	case formats.OpAdd, formats.OpSub:
		return degrees[n.A].max(degrees[n.B])
	case formats.OpMul:
		return degrees[n.A].plus(degrees[n.B])
	}
	return Degree{1, 0}
}

func indices(set []bool) []int {
	var out []int
	for i, in := range set {
		if in {
			out = append(out, i)
		}
	}
	return out
}

func checkConstraints(c *Circuit, _ []formats.Channel, logBlowup, _ int) *formats.Error {
	if limit := 1<<logBlowup + 1; c.Degree < 2 || int(c.Degree) > limit {
		e := invalid("K-8", ", degree", "the degree bound does not fit the blowup").Mismatch(0, uint64(c.Degree))
		e.Expected = "2 to " + strconv.Itoa(limit)
		e.Next = "split products into columns of their own, or take a profile with a larger blowup"
		return e
	}
	for i, id := range c.Constraints {
		place := ", constraint " + strconv.Itoa(i)
		if uint64(id) >= uint64(len(c.Nodes)) {
			e := invalid("K-8", place, "the constraint is no node").Mismatch(uint64(len(c.Nodes)), uint64(id))
			e.Expected = "less than " + e.Expected
			return e
		}
		if d := c.degrees[id]; !d.within(int(c.Degree)) {
			return tooHigh(place, d, int(c.Degree))
		}
	}
	return nil
}

func tooHigh(place string, d Degree, limit int) *formats.Error {
	e := invalid("K-8", place, "the degree is too high")
	e.Expected = "degree at most " + strconv.Itoa(limit) + " in columns, and transition at most once in a product"
	e.Got = "degree " + strconv.Itoa(d.Rows) + " in columns and " + strconv.Itoa(d.Extra) + " in transition"
	e.Next = "split a product into a column of its own, or take a profile with a larger blowup"
	return e
}

func checkLookups(c *Circuit, channels []formats.Channel, _, _ int) *formats.Error {
	for i := range c.Lookups {
		l := &c.Lookups[i]
		place := ", lookup " + strconv.Itoa(i)
		if uint64(l.Channel) >= uint64(len(channels)) {
			e := invalid("K-9", place, "the channel does not exist").Mismatch(uint64(len(channels)), uint64(l.Channel))
			e.Expected = "less than " + e.Expected
			return e
		}
		if want := int(channels[l.Channel].Arity); len(l.Args) != want {
			return invalid("K-9", place, "the number of arguments is not the arity of channel "+formats.Quote(channels[l.Channel].Name)).
				Mismatch(uint64(want), uint64(len(l.Args)))
		}
		for _, id := range append([]uint32{l.Multiplicity}, l.Args...) {
			if uint64(id) >= uint64(len(c.Nodes)) {
				e := invalid("K-9", place, "an argument is no node").Mismatch(uint64(len(c.Nodes)), uint64(id))
				e.Expected = "less than " + e.Expected
				return e
			}
		}
		if l.Push && (l.Weight < 1 || l.Weight > formats.MaxLookupWeight) || !l.Push && l.Weight != 0 {
			e := invalid("K-9", place, "the weight is out of range").Mismatch(0, l.Weight)
			if l.Push {
				e.Expected = "1 to 2^32"
			}
			return e
		}
		c.Weights += l.Weight // at most 2^12 lookups of weight 2^32
		c.Work += 4 + uint64(len(l.Args))
		if d := (fraction{}).with(c, l).constraint(); !d.within(int(c.Degree)) {
			e := tooHigh(place, d, int(c.Degree))
			e.Check = "K-9"
			return e
		}
	}
	c.Groups = c.groups()
	return nil
}

// fraction is the degrees of the common fraction of some lookups: the product of their fingerprints, and the sum over i of mult_i times the others.
type fraction struct{ product, numerator Degree }

// with is the fraction of one lookup more.
func (f fraction) with(c *Circuit, l *formats.Lookup) fraction {
	var m Degree
	for _, a := range l.Args {
		m = m.max(c.degrees[a])
	}
	return fraction{f.product.plus(m), f.numerator.plus(m).max(f.product.plus(c.degrees[l.Multiplicity]))}
}

// constraint is the degree of the constraint of a group with this fraction (docs/protocol.md section 2).
func (f fraction) constraint() Degree { return f.product.plus(Degree{1, 0}).max(f.numerator) }

// groups packs the lookups greedily in order.
func (c *Circuit) groups() []Group {
	var out []Group
	var f fraction // of the last group
	for i := range c.Lookups {
		l := &c.Lookups[i]
		if more := f.with(c, l); len(out) > 0 && more.constraint().within(int(c.Degree)) {
			out[len(out)-1].End, f = i+1, more
		} else {
			out, f = append(out, Group{i, i + 1}), fraction{}.with(c, l)
		}
	}
	return out
}
