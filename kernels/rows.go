package kernels

import (
	"math"

	"github.com/ixprove/ixprove/verifier/field"
)

// RowParams is the parameter of a row writer, a kernel that writes the main columns of a table (prover.RowKernel): the columns, the seeds, the height of a column, the number of items,
// and those of a launch.
type RowParams struct {
	Columns, Seeds       Address
	Height, Items        uint64
	FirstItem, ItemCount uint64
}

// rowThreads is the threads in a block of a row writer.
const rowThreads = 256

// Rows runs a row writer for the items from first to end-1, on columns of `height` values: a kernel of that name whose parameter is RowParams, with so many threads for each item. seeds
// holds those of all items, of equal size; those of these items and of the one before, where the last comes before the first, must be there.
func (d *Device) Rows(kernel string, columns Array[field.Element], height int, seeds Array[uint64], items, first, end, threads int) error {
	place := "rows by " + kernel
	if first < 0 || end <= first || items < end || threads < 1 || items > math.MaxInt/threads || height < 1 {
		return outOfRange(place, "items %d to %d of %d, of %d threads, columns of %d", first, end, items, threads, height)
	}
	if seeds.n == 0 || seeds.n%items != 0 || columns.n == 0 || columns.n%height != 0 {
		return outOfRange(place, "%d words of seeds for %d items, %d values in columns of %d", seeds.n, items, columns.n, height)
	}
	grid, block := linear(uint64(end-first)*uint64(threads), rowThreads)
	return Start(d, kernel, grid, block, 0, &RowParams{columns.at, seeds.at, uint64(height), uint64(items), uint64(first), uint64(end - first)})
}
