//go:build !purego

package vector

// everyLevel runs a test or benchmark with the kernels of each instruction set that this processor has.
func everyLevel[T interface{ Run(string, func(T)) bool }](t T, f func(T)) {
	best := use
	defer func() { use = best }()
	for use = portable; use <= best; use++ {
		t.Run(Kernels(), f)
	}
}
