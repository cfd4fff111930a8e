package cpu

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

// processors runs f on several numbers of processors.
func processors(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, n := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(n)
		f(t)
	}
}

// TestParallelCovers checks that each number is in one range, that ranges start at multiples of the grain, and that no two ranges run under one worker number at
// a time.
func TestParallelCovers(t *testing.T) {
	processors(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
			for _, grain := range []int{1, 7, 64, 5000} {
				seen := make([]atomic.Int32, n)
				busy := make([]atomic.Bool, maxWorkers)
				err := parallel(context.Background(), n, grain, func(worker, first, last int) error {
					if worker >= runtime.GOMAXPROCS(0) || busy[worker].Swap(true) {
						t.Errorf("worker %d has two ranges at a time, or is one too many", worker)
					}
					if first%grain != 0 || first >= last || last > n || last-first > grain || last < n && last-first != grain {
						t.Errorf("%d in ranges of %d: %d to %d", n, grain, first, last)
					}
					for i := first; i < last; i++ {
						seen[i].Add(1)
					}
					busy[worker].Store(false)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range seen {
					if seen[i].Load() != 1 {
						t.Fatalf("%d in ranges of %d: %d is in %d ranges", n, grain, i, seen[i].Load())
					}
				}
			}
		}
	})
}

// TestParallelStopsAtAnError checks that the error comes back, that ranges below the failed one are finished, and that no worker starts another after it failed.
func TestParallelStopsAtAnError(t *testing.T) {
	wrong := errors.New("wrong")
	processors(t, func(t *testing.T) {
		const n, at = 1 << 30, 5
		var done [at]atomic.Bool
		var after atomic.Int64
		err := parallel(context.Background(), n, 1, func(_, first, _ int) error {
			switch {
			case first == at:
				return wrong
			case first < at:
				done[first].Store(true)
			default:
				after.Add(1)
			}
			return nil
		})
		if err != wrong {
			t.Errorf("%v", err)
		}
		for i := range done {
			if !done[i].Load() {
				t.Errorf("range %d was left out", i)
			}
		}
		if after.Load() >= n/2 {
			t.Errorf("%d ranges after the error", after.Load())
		}
	})
}

// TestParallelCancels checks a context that is cancelled before, during and right after the work.
func TestParallelCancels(t *testing.T) {
	processors(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		err := parallel(ctx, 1<<30, 1, func(_, first, _ int) error {
			if first == 10 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("during the work: %v", err)
		}
		err = parallel(ctx, 10, 1, func(int, int, int) error {
			t.Error("a range of cancelled work")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("before the work: %v", err)
		}
		if err := parallel(ctx, 0, 1, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("no work: %v", err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		if err := parallel(ctx, 1, 1, func(int, int, int) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("in the last range: %v", err)
		}
	})
}
