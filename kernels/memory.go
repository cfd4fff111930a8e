package kernels

import (
	"math/bits"

	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// The sizes below are those of the working memory of the methods of the same names, in bytes and in the order in which it is taken, so that a memory model need not guess.
// arguments is the number of powers in the lookup challenges, processors the device's.

// LookupsMemory is the working memory of Device.Lookups.
func LookupsMemory(c *air.Circuit, logHeight, arguments, processors int) []int64 {
	if len(c.Groups) == 0 {
		return nil
	}
	n := uint64(1) << logHeight
	chunk := lookupChunk(len(c.Groups), n)
	sizes := programMemory(c, domain{periodic: func(i int) periodicTable { return periodicTable{values: natural(c.Periodic[i])} }}, arguments, nil, chunk, processors)
	return append(sizes, 24*int64(len(c.Groups))*int64(chunk), 24*int64(max(1, n/lookupTile)+2), 8)
}

// QuotientMemory is the working memory of Device.Quotient.
func QuotientMemory(c *air.Circuit, logHeight, arguments, processors int) []int64 {
	logSlabs := bits.Len(uint(c.Slices() - 1))
	count := uint64(1) << (logHeight + logSlabs)
	on := domain{periodic: func(i int) periodicTable {
		return periodicTable{values: make([]field.Element, c.Periodic[i].Len()<<logSlabs)}
	}}
	if selects(c) {
		on.first = 8 // anywhere
	}
	return append([]int64{24 * int64(count), 16 << logSlabs}, programMemory(c, on, arguments, &field.Ext{}, count, processors)...)
}

// programMemory is what load takes.
func programMemory(c *air.Circuit, on domain, arguments int, delta *field.Ext, points uint64, processors int) (sizes []int64) {
	e := encode(c, on, &logup.Challenges{Powers: make([]field.Ext, arguments)}, delta)
	if e.registers > sharedRegisters {
		sizes = append(sizes, 8*airThreads*int64(e.registers)*int64(scratchBlocks(points, processors)))
	}
	return append(sizes, 8*int64(len(e.data)+len(e.code)))
}

// SumsMemory is the working memory of Device.Sums.
func SumsMemory(columns, rows int) []int64 {
	return []int64{24 * int64(sumsParts(rows)) * int64(columns), 24 * int64(columns+1)}
}

// GrindMemory is the working memory of Device.Grind.
func GrindMemory() []int64 { return []int64{8} }

// GatherMemory is the working memory of Device.Gather.
func GatherMemory(columns, rows int) []int64 {
	return []int64{8 * int64(rows), 8 * int64(columns) * int64(rows)}
}

// GatherDigestsMemory is the working memory of Device.GatherDigests.
func GatherDigestsMemory(places int) []int64 { return []int64{8 * int64(places), 32 * int64(places)} }

// FinalMemory is the working memory of Device.Final.
func FinalMemory(logSize int) []int64 { return []int64{24 << logSize} }

// TablesMemory is what a device looks up in once it has transformed: each table's size.
func TablesMemory() []int64 {
	between := 0
	for k := minRounds; k <= maxRounds; k++ {
		size, _ := factorBytes(k)
		between += 2 * size
	}
	return []int64{8 * (1<<10 + 2<<11), 8 * 3 << 10, 8 * 3 << 10, 8 * 3 << 10, 8, int64(between)}
}
