package verifier

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/security"
)

// Kind is the kind of a matrix, in the order in which openings and trees list them.
type Kind int

// The kinds of matrices.
const (
	Fixed Kind = iota
	Main
	Aux
	Quotient
	NumKinds
)

// String names the kind in errors and reports.
func (k Kind) String() string {
	return [...]string{"fixed", "main", "auxiliary", "quotient"}[k]
}

// Table is a circuit at a height.
type Table struct {
	*air.Circuit
	Index     int // of the circuit in the key
	LogHeight int
}

// Columns is the number of base-field columns of a kind of matrix; 0 when the table has none.
func (t *Table) Columns(k Kind) int {
	return [...]int{t.FixedColumns(), int(t.Circuit.Columns), t.AuxColumns(), t.QuotientColumns()}[k]
}

// accumulatorColumns are the base columns of acc_0.
var accumulatorColumns = []int{0, 1, 2}

// NextColumns lists the columns that are opened in the next row.
func (t *Table) NextColumns(k Kind) []int {
	switch {
	case k == Fixed:
		return t.NextFixed
	case k == Main:
		return t.NextMain
	case k == Aux && t.HasLookups():
		return accumulatorColumns
	}
	return nil
}

// Openings is the number of values that the table opens, pin not included.
func (t *Table) Openings() int {
	n := 0
	for k := range NumKinds {
		n += t.Columns(k) + len(t.NextColumns(k))
	}
	return n
}

// Tree is a commitment of a shard: one kind of matrix of some tables.
type Tree struct {
	Kind   Kind
	Tables []int // indices into the shard's tables
	*merkle.Tree
	places []place
}

// place is where a table's row lies in an opened row.
type place struct{ level, offset int }

// Shape is everything about a shard that its tables determine.
type Shape struct {
	Tables   []Table
	Trees    []Tree // fixed ones in table order, main, auxiliary, quotient
	Schedule fri.Schedule
	message  int // coordinates of the key's longest message for the lookup term, which a claim may send where no table does
}

// NewShape derives the shape of a shard from checked tables, at least one.
func NewShape(key *Key, tables []Table) *Shape {
	// A table takes 3 bytes of a proof, so what is kept of it is counted before it is made.
	s := &Shape{Tables: tables, message: 2 + key.messageSize} // with its channel, and what a zero costs (docs/security.md, Lookups)
	heights := make([]int, len(tables))
	for i := range tables {
		heights[i] = tables[i].LogHeight
		if tables[i].FixedColumns() > 0 {
			s.addTree(key, Fixed, []int{i})
		}
	}
	for _, k := range []Kind{Main, Aux, Quotient} {
		in := make([]int, 0, len(tables))
		for i := range tables {
			if tables[i].Columns(k) > 0 {
				in = append(in, i)
			}
		}
		if len(in) > 0 {
			s.addTree(key, k, in)
		}
	}
	p := key.Profile
	s.Schedule = fri.NewSchedule(heights, p.LogBlowup, p.LogArity, p.LogFinal)
	return s
}

func (s *Shape) addTree(key *Key, kind Kind, tables []int) {
	t := Tree{Kind: kind, Tables: tables, places: make([]place, 0, len(tables))}
	matrices := make([]merkle.Matrix, len(tables))
	for k, i := range tables {
		matrices[k] = merkle.Matrix{LogRows: s.Tables[i].LogHeight + key.Profile.LogBlowup, Width: s.Tables[i].Columns(kind)}
	}
	t.Tree = merkle.NewTree(key.Suite, matrices)
	offsets := make([]int, len(t.Levels)) // bytes of each level's row so far
	for _, m := range matrices {
		for l := range t.Levels {
			if t.Levels[l].LogRows == m.LogRows {
				t.places = append(t.places, place{l, offsets[l]})
				offsets[l] += m.Width * formats.ElementBytes
			}
		}
	}
	s.Trees = append(s.Trees, t)
}

// Tree returns the tree of a kind, or nil if the shard has none. For Fixed it is the tree of the given table.
func (s *Shape) Tree(kind Kind, table int) *Tree {
	for i := range s.Trees {
		if t := &s.Trees[i]; t.Kind == kind && (kind != Fixed || t.Tables[0] == table) {
			return t
		}
	}
	return nil
}

// Place is the tree of a table's matrix of a kind that it has, the tree's level, and the offset in bytes in that level's rows.
func (s *Shape) Place(kind Kind, table int) (tree, level, offset int) {
	for i := range s.Trees {
		t := &s.Trees[i]
		if t.Kind != kind {
			continue
		}
		for k, in := range t.Tables {
			if in == table {
				return i, t.places[k].level, t.places[k].offset
			}
		}
	}
	return 0, 0, 0
}

// Lookups is the number of tables with lookups.
func (s *Shape) Lookups() int {
	n := 0
	for i := range s.Tables {
		if s.Tables[i].HasLookups() {
			n++
		}
	}
	return n
}

// Openings is the number of values that the shard opens, pins not included.
func (s *Shape) Openings() int {
	n := 0
	for i := range s.Tables {
		n += s.Tables[i].Openings()
	}
	return n
}

// CheckTables checks the tables of one shard (P-11 to P-15).
func CheckTables(key *Key, shard int, raw []formats.Table) ([]Table, error) {
	place := "shard " + strconv.Itoa(shard)
	if len(raw) < 1 || len(raw) > formats.MaxTables {
		return nil, rejected("P-11", place, "the number of tables is out of range").Mismatch(1, uint64(len(raw)))
	}
	tables := make([]Table, len(raw))
	for i, t := range raw {
		place := place + ", table " + strconv.Itoa(i)
		if uint64(t.Circuit) >= uint64(len(key.Circuits)) {
			e := rejected("P-12", place, "the circuit does not exist").Mismatch(uint64(len(key.Circuits)), uint64(t.Circuit))
			e.Expected = "less than " + e.Expected
			return nil, e
		}
		c := key.Circuits[t.Circuit]
		if i > 0 {
			if b := raw[i-1]; b.Circuit > t.Circuit || b.Circuit == t.Circuit && (b.LogHeight < t.LogHeight || len(c.Fixed) > 0) {
				return nil, rejected("P-13", place, "tables are out of order, or a circuit with fixed columns appears twice")
			}
		}
		if t.LogHeight < c.MinLogHeight || t.LogHeight > formats.MaxLogHeight {
			e := rejected("P-14", place, "the height is out of range").Mismatch(0, uint64(t.LogHeight))
			e.Expected = strconv.Itoa(int(c.MinLogHeight)) + " to " + strconv.Itoa(formats.MaxLogHeight)
			return nil, e
		}
		if len(c.Fixed) > 0 && t.LogHeight != c.Fixed[0].LogHeight {
			return nil, rejected("P-15", place, "the height is not that of the fixed columns").Mismatch(uint64(c.Fixed[0].LogHeight), uint64(t.LogHeight))
		}
		tables[i] = Table{Circuit: c, Index: int(t.Circuit), LogHeight: int(t.LogHeight)}
	}
	return tables, nil
}

// CheckWeights checks that no lookup count of the batch can wrap around p (P-16).
func CheckWeights(shapes []*Shape, claims int) error {
	total, over := uint64(claims), false
	for _, s := range shapes {
		for i := range s.Tables {
			// Weights are below 2^45 and heights at most 2^27, so a product may pass 2^64.
			if w := s.Tables[i].Weights; w > (modulus-1)>>s.Tables[i].LogHeight {
				over = true
			} else if w <<= s.Tables[i].LogHeight; w >= modulus-total {
				over = true
			} else {
				total += w
			}
		}
	}
	if over {
		return &Error{Class: formats.Rejected, Check: "P-16", Place: "batch", What: "the lookups could wrap around the field",
			Expected: "heights times weights, and claims, below p", Next: "prove fewer rows in one batch"}
	}
	return nil
}

const modulus uint64 = formats.Modulus

// maxWork is some seconds of a verifier's time, in operations of E. The tables of real batches stay below a hundredth of it; a key that is made to keep its verifier busy does not.
const maxWork = 1 << 27

// CheckWork checks that the constraints of all tables are evaluated in bounded time, whatever the key (P-36).
func CheckWork(shapes []*Shape) error {
	work := uint64(0)
	for _, s := range shapes {
		for i := range s.Tables {
			work += s.Tables[i].Work // at most 2^20 tables of less than 2^40
		}
	}
	if work > maxWork {
		e := (&Error{Class: formats.Limit, Check: "P-36", Place: "batch", What: "the constraints of all tables take too long"}).Mismatch(maxWork, work)
		e.Expected = "at most " + e.Expected + " operations"
		e.Next = "prove fewer tables in one batch"
		return e
	}
	return nil
}

// Security is the shape of a batch for the security accounting.
func Security(shapes []*Shape, claims int) security.Shape {
	s := security.Shape{Claims: claims}
	for _, shape := range shapes {
		tables := make([]security.Table, 0, len(shape.Tables))
		for i := range shape.Tables {
			t := &shape.Tables[i]
			points := 1
			if t.HasLookups() || len(t.NextMain)+len(t.NextFixed) > 0 {
				points = 2
			}
			tables = append(tables, security.Table{
				LogHeight: t.LogHeight, Columns: t.Openings() + 1, MainColumns: t.Columns(Main), Constraints: t.FoldedConstraints(), MaxDegree: int(t.Degree), Points: points,
				Lookups: len(t.Lookups), LookupWidth: shape.message,
			})
		}
		s.Shards = append(s.Shards, tables)
	}
	return s
}

// rejected is out of line to keep the Wasm module small.
//
//go:noinline
func rejected(check, place, what string) *Error {
	return &Error{Class: formats.Rejected, Check: check, Place: place, What: what}
}
