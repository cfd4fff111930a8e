package cpu

import (
	"context"
	"fmt"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover/internal/lanes"
	"github.com/ixprove/ixprove/prover/internal/vector"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// Instructions names the instruction sets of the kernels in use: of the field arithmetic, and of the hash.
func Instructions() string {
	return fmt.Sprintf("%s field arithmetic, BLAKE3 in %d lanes", vector.Kernels(), lanes.Width())
}

// Kernel is a part of the backend to measure: Run does Work units.
type Kernel struct {
	Name, Shape string
	Work        float64
	Unit        string
	Run         func() error
}

// Kernels lists what proofs spend their time in. Those of one thread say so; the others use all. The functions share buffers of at most 64 MiB: they run one after the other.
func Kernels(ctx context.Context) ([]Kernel, error) {
	const (
		one     = ", 1 thread"
		repeats = 1 << 10
	)
	var out []Kernel
	add := func(name, shape string, work float64, unit string, run func()) {
		out = append(out, Kernel{name, shape, work, unit, func() error { run(); return nil }})
	}
	repeat := func(f func()) func() {
		return func() {
			for range repeats {
				f()
			}
		}
	}
	fill := func(x []field.Element) []field.Element {
		powers(x, 1, 7)
		return x
	}

	const n = 1 << 10
	a, b := fill(make([]field.Element, n)), fill(make([]field.Element, n))
	elementwise := fmt.Sprintf("%d times %d elements", repeats, n) + one
	add("vector multiplication", elementwise, repeats*n, "mul", repeat(func() { vector.Mul(a, a, b) }))
	add("vector addition", elementwise, repeats*n, "add", repeat(func() { vector.Add(a, a, b) }))

	blocks := make([]vector.Ext, 32)
	scratch := make([]vector.Ext, len(blocks))
	for k := range blocks {
		blocks[k].Fill(field.Ext{field.Element(k) + 1, 2, 3}, vector.Block)
	}
	exts := fmt.Sprintf("%d times %d elements", repeats, vector.Block) + one
	add("extension multiplication", exts, repeats*vector.Block, "mul", repeat(func() { vector.MulExt(&scratch[0], &blocks[0], &blocks[1], vector.Block) }))
	add("extension inversion", fmt.Sprintf("batch of %d", vector.Block*len(blocks))+one, float64(vector.Block*len(blocks)), "inverse", func() { vector.InverseExt(blocks, scratch, vector.Block) })

	const width = 64
	columns := make([][]field.Element, width)
	values := make([]field.Ext, width)
	for i := range columns {
		columns[i], values[i] = a, field.Ext{field.Element(i), 1 << 40, 3}
	}
	factors := vector.NewCoefficients(values)
	sums := [3][]field.Element{make([]field.Element, n), make([]field.Element, n), make([]field.Element, n)}
	add("extension combination", fmt.Sprintf("%d columns of %d", width, n)+one, width*n, "mul-add", func() { vector.Combine(sums, factors, columns, 0) })
	weights := new(vector.Weights)
	weights.Set(blocks, vector.WeightRows)
	add("barycentric sum", fmt.Sprintf("%d columns of %d", repeats, vector.WeightRows)+one, repeats*vector.WeightRows, "mul-add", repeat(func() { weights.Dot(a[:vector.WeightRows]) }))

	big := fill(make([]field.Element, 1<<22))
	for _, log := range []int{12, 20} {
		part, w := big[:1<<log], twiddles(log)
		add("transform", fmt.Sprintf("2^%d", log)+one, float64(log<<(log-1)), "butterfly", func() { vector.Forward(part, w) })
	}
	for _, log := range []int{14, 18} {
		const blowup, width = 2, 16
		c, err := newCosets(&arena{}, log, blowup)
		if err != nil {
			return nil, err
		}
		size := 1 << log
		scratch := make([][2][]field.Element, maxWorkers)
		out = append(out, Kernel{"coset extension", fmt.Sprintf("2^%d x %d, blowup 4", log, width), width * float64(size), "element", func() error {
			return parallel(ctx, width, 1, func(worker, _, _ int) error {
				s := &scratch[worker]
				if s[0] == nil {
					s[0], s[1] = make([]field.Element, size<<blowup), make([]field.Element, size)
				}
				c.extendTrace(s[0], big[:size], s[1])
				return nil
			})
		}})
	}

	var key hash.Digest
	digests := make([]hash.Digest, 3*n)
	many := make([][]field.Element, 512)
	for i := range many {
		many[i] = big[i*n:]
	}
	for _, w := range []int{8, 64, 346, 512} {
		add("tree leaf", fmt.Sprintf("%d rows of %d elements", n, w)+one, float64(n*w*formats.ElementBytes), "byte", func() { lanes.Columns(digests[:n], (*[32]byte)(&key), many[:w], 0) })
	}
	suite := batchOf(hash.Blake3{})
	add("tree node", fmt.Sprintf("%d", n)+one, n, "node", func() { suite.Nodes(digests[:n], digests[n:3*n]) })
	add("proof of work", fmt.Sprintf("%d nonces", 16*n)+one, 16*n, "nonce", func() { suite.FindNonce(&key, 0, 16*n, 64) })
	return out, nil
}
