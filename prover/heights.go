package prover

import (
	"math/bits"

	"github.com/ixprove/ixprove/formats"
)

// TableHeights are log heights, falling, of tables that together have at least so many rows, none lower than 2^least. The binary digits of the number would waste nothing, but each table has its own openings and
// shortens nothing else: three tables, the last rounded up, waste less than a seventh. A table behind the first of fewer than 2^worthwhile rows is one of so many. There are more than three only for more than
// 2^formats.MaxLogHeight rows.
func TableHeights(rows, least, worthwhile int) []int {
	const most = 3
	var heights []int
	for rows > 0 {
		h := min(bits.Len(uint(rows))-1, formats.MaxLogHeight)
		if last := len(heights) == most-1 || h < worthwhile; last && h < formats.MaxLogHeight {
			h = bits.Len(uint(rows - 1))
			if len(heights) > 0 {
				h = max(h, worthwhile)
			}
		}
		h = max(h, least)
		heights = append(heights, h)
		rows -= min(rows, 1<<h)
	}
	for n := len(heights); n > 1 && heights[n-1] >= heights[n-2] && heights[n-2] < formats.MaxLogHeight; n-- {
		heights = append(heights[:n-2], heights[n-2]+1) // two tables of one height are one of the next
	}
	return heights
}
