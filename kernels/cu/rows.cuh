// Row writers: kernels that write a table's main columns, or add to them, from seeds of items such as compressions (prover.RowKernel). A launch takes some of the items, and may read
// their seeds and those of the item before them, where the last comes before the first; others may not be there yet.
#pragma once
#include "target.cuh"

struct RowParams {
	u64 *columns; // column-major
	const u64 *seeds;
	u64 height; // of a column
	u64 items;  // all of them
	u64 first, count; // those of this launch
};
