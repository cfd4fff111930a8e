// Package prover makes batch proofs: witness in, proof out. Prove is the protocol of docs/protocol.md, step after step; a Backend does the matrix work.
package prover

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

// RowAlign divides the row ranges that a TraceWriter is asked for, unless the table is lower.
const RowAlign = 64

// TraceWriter writes a table's main columns.
type TraceWriter interface {
	// WriteRows fills some rows, from row first on: columns[c][i] is column c in row first+i, zero before the call. All columns have the same length, which says how
	// many rows. It is called concurrently for disjoint ranges, in any order, and must write the same values whatever the ranges are. It keeps nothing of columns.
	WriteRows(columns [][]field.Element, first int) error
}

// Table is the witness of one table: a circuit of the key, a height, and the rows.
type Table struct {
	Circuit   int // index in the key
	LogHeight int
	Trace     TraceWriter
}

// Shard lists the tables of one shard, sorted by circuit and then by falling height.
type Shard struct{ Tables []Table }

// Witness is what there is to prove: the claims, and the shards whose lookups balance with them.
type Witness struct {
	Claims []formats.Claim
	Shards []Shard
}
