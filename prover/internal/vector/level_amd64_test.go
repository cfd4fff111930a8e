//go:build !purego

package vector

import "testing"

// everyLevel runs a test with the kernels of each instruction set that this processor has.
func everyLevel(t *testing.T, f func(t *testing.T)) {
	best := use
	defer func() { use = best }()
	for use = portable; use <= best; use++ {
		t.Run(Kernels(), f)
	}
}
