package cpu

import (
	"fmt"
	"testing"

	"github.com/ixprove/ixprove/verifier/field"
)

// BenchmarkExtend extends one column by four, on one thread.
func BenchmarkExtend(b *testing.B) {
	for _, log := range []int{10, 12, 14, 16, 17, 18, 20, 22} {
		b.Run(fmt.Sprintf("2^%d", log), func(b *testing.B) {
			c, err := newCosets(&arena{}, log, 2)
			if err != nil {
				b.Fatal(err)
			}
			n := 1 << log
			trace, out, scratch := make([]field.Element, n), make([]field.Element, 4*n), make([]field.Element, n)
			powers(trace, 1, 7)
			c.extendTrace(out, trace, scratch) // touch everything
			for b.Loop() {
				c.extendTrace(out, trace, scratch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(5*log<<(log-1)), "ns/butterfly")
		})
	}
}
