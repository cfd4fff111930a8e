package cuda

import (
	"testing"

	"github.com/ixprove/ixprove/kernels"
)

// block is a driver of which nothing is asked.
type block struct{ kernels.Driver }

// A table that is taken while a call's buffers are out lasts longer than they do. What the next call takes must fit all the same into tables and the largest call, as the
// model counts them. (16 MiB of BLAKE3 on a card did not.)
func TestTablesLeaveNoGaps(t *testing.T) {
	const table, call = 512, 4096
	a := newArena(block{}, 1<<20, 3*table+call, 3*table+call)
	take := func(n int64) kernels.Address {
		t.Helper()
		at, err := a.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for range 3 {
		passing := take(call - 256)
		a.Keep(true)
		take(table)
		a.Keep(false)
		if err := a.Free(passing); err != nil {
			t.Fatal(err)
		}
	}
	whole := take(call)
	if err := a.Free(whole); err != nil {
		t.Fatal(err)
	}
	if got, want := a.peak(), a.size; got != want {
		t.Errorf("%d bytes at the peak, %d in the model", got, want)
	}
}
