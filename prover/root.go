package prover

import "github.com/ixprove/ixprove/formats"

// rootHeights are the log heights that tables of roots have. They are few, because a circuit that verifies roots is made for one shape, and its SNARK keys with it.
var rootHeights = []int{8, 12, 16, 20, 24, formats.MaxLogHeight}

// RootLogHeight is the log height of a root's tables without fixed columns, the tallest of which needs 2^least rows: the first of 8, 12, 16, 20, 24, 27 that is enough, or 27.
func RootLogHeight(least int) int {
	for _, h := range rootHeights {
		if h >= least {
			return h
		}
	}
	return formats.MaxLogHeight
}
