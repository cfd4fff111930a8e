package cpu

import (
	"context"
	"fmt"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
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

// BenchmarkCommit extends a matrix by four and hashes it, into new memory, on all threads.
func BenchmarkCommit(b *testing.B) {
	for _, shape := range [][2]int{{14, 8}, {14, 64}, {14, 256}, {14, 1024}, {16, 64}, {18, 64}, {18, 128}, {20, 8}, {22, 8}} {
		log, width := shape[0], shape[1]
		b.Run(fmt.Sprintf("2^%dx%d", log, width), func(b *testing.B) {
			opened, err := Backend{}.Open(context.Background(), prover.Job{Suite: hash.Blake3{}, LogBlowup: 2})
			if err != nil {
				b.Fatal(err)
			}
			s := opened.(*session)
			defer s.Close()
			m, err := s.newMatrix(width, 1<<log)
			if err != nil {
				b.Fatal(err)
			}
			for i, column := range m.columns {
				powers(column, field.Element(i), 7)
			}
			tree := merkle.NewTree(s.suite, []merkle.Matrix{{LogRows: log + 2, Width: width}})
			for b.Loop() {
				c, err := s.Commit(tree, []prover.Matrix{m})
				if err != nil {
					b.Fatal(err)
				}
				c.Free()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(width<<log), "ns/element")
		})
	}
}
