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

// DeviceTrace is a TraceWriter whose rows a device can write too, from seeds that are much smaller than the rows. A table whose writer is none has its rows written on the
// host and sent up, which the proof's report shows.
type DeviceTrace interface {
	TraceWriter
	// RowKernels lists the kernels that together write every row, one after the other, where the columns may hold anything before. The values must be those of WriteRows.
	// The list is the same each time: it is run again when a shard is regenerated. An empty one leaves the rows to the host.
	RowKernels() []RowKernel
}

// RowKernel is a kernel that writes rows, or adds to them, from seeds. Kernels are named as in kernels/cu and take kernels.RowParams. What is done for an item follows from its seeds and
// those of the item before, where the last comes before the first, so that a device begins before all seeds have arrived.
type RowKernel struct {
	Name    string
	Items   int // what there are seeds of, such as compressions, or steps of a program
	Words   int // of 8 bytes, in the seeds of an item
	Threads int // that work on an item
	// Seeds writes the words of some items, from the one with index first on. It is called concurrently for disjoint ranges, in any order.
	Seeds func(words []uint64, first int)
}

// seedBytes is the device memory of the seeds.
func (k *RowKernel) seedBytes() Bytes { return 8 * Bytes(k.Items) * Bytes(k.Words) }

// RowKernels is how a device writes a table's rows; none where it cannot.
func RowKernels(w TraceWriter) []RowKernel {
	if d, ok := w.(DeviceTrace); ok {
		return d.RowKernels()
	}
	return nil
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
