package cpu

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for consecutive ranges of at most grain that cover 0 to n, on all processors, and returns the first error, or the context's. Work is
// handed out in order; what each range computes must not depend on who computes it.
func parallel(ctx context.Context, n, grain int, f func(worker, first, last int) error) error {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers, (n+grain-1)/grain)
	var (
		next  atomic.Int64
		wait  sync.WaitGroup
		once  sync.Once
		first error
	)
	fail := func(err error) { once.Do(func() { first = err }); next.Store(int64(n)) }
	for worker := range workers {
		wait.Go(func() {
			for {
				start := int(next.Add(int64(grain))) - grain
				if start >= n {
					return
				}
				if err := ctx.Err(); err != nil {
					fail(err)
					return
				}
				if err := f(worker, start, min(start+grain, n)); err != nil {
					fail(err)
					return
				}
			}
		})
	}
	wait.Wait()
	if first == nil {
		first = ctx.Err()
	}
	return first
}

// maxWorkers bounds the worker numbers that parallel hands out. It is a constant because GOMAXPROCS is none: since Go 1.25 the runtime itself follows the
// limits of a container, also between a caller's sizing of its scratch and the call of parallel.
const maxWorkers = 1 << 10
