// Row writers: kernels that write a table's main columns, or add to them, from seeds of items such as compressions (prover.RowKernel).
#pragma once
#include "target.cuh"

struct RowParams {
	u64 *columns; // column-major
	const u64 *seeds;
	u64 height; // of a column
	u64 items;
};
