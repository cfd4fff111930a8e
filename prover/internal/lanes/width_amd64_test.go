//go:build !purego

package lanes

import "fmt"

// everyWidth runs a test or benchmark with the kernels of each width that this processor has.
func everyWidth[T interface{ Run(string, func(T)) bool }](t T, f func(T)) {
	best := width
	defer func() { width = best }()
	for _, width = range []int{1, 8, 16} {
		if width <= best {
			t.Run(fmt.Sprintf("%d lanes", width), f)
		}
	}
}
