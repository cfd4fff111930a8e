//go:build !purego

package lanes

import (
	"fmt"
	"testing"
)

// everyWidth runs a test with the kernels of each width that this processor has.
func everyWidth(t *testing.T, f func(t *testing.T)) {
	best := width
	defer func() { width = best }()
	for _, width = range []int{1, 8, 16} {
		if width <= best {
			t.Run(fmt.Sprintf("%d lanes", width), f)
		}
	}
}
