// Rows that are their own seeds.
#include "rows.cuh"

// An item is a cell: its seed is the value.
KERNEL(rows_words, RowParams, 256, 1) {
	u64 i = thread_index();
	if (i < p.count) p.columns[p.first + i] = p.seeds[p.first + i];
}
