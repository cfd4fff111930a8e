//go:build emulated || cuda

package kernels_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// columnsOf are the main columns of the circuits of blake3 whose rows kernels write, by circuit.
var columnsOf = map[int]int{0: 346, 3: 3}

// noise is a file in which no two blocks are equal.
func noise(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// writeRows runs a table's row kernels on columns that hold something else before.
func writeRows(t testing.TB, d *kernels.Device, table prover.Table, columns kernels.Array[field.Element]) {
	t.Helper()
	for _, k := range table.Trace.(prover.DeviceTrace).RowKernels() {
		seeds := make([]uint64, k.Items*k.Words)
		for first := 0; first < k.Items; first += 1000 { // in pieces, as the backend asks for them
			last := min(first+1000, k.Items)
			k.Seeds(seeds[first*k.Words:last*k.Words], first)
		}
		at := from(t, d, seeds)
		for _, part := range [][2]int{{(k.Items + 1) / 2, k.Items}, {0, (k.Items + 1) / 2}} { // in any order
			if part[0] < part[1] {
				check(t, d.Rows(k.Name, columns, 1<<table.LogHeight, at, k.Items, part[0], part[1], k.Threads))
			}
		}
		check(t, at.Free())
	}
}

// Kernels write the rows that the host writes: of files that end in every part of a block, a chunk and a tree, in one table, several, and several shards.
func TestRows(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(71, 72))
	for _, c := range []struct {
		lengths []int
		shards  int
	}{
		{[]int{0}, 1}, {[]int{1}, 1}, {[]int{63}, 1}, {[]int{64}, 1}, {[]int{65}, 1}, {[]int{1023}, 1}, {[]int{1024}, 1}, {[]int{1025}, 1}, {[]int{2049}, 1}, {[]int{16<<10 + 1}, 1},
		{[]int{0, 1, 1025, 64, 5000, 0}, 1}, {[]int{2049, 2049}, 2}, {[]int{7000, 100}, 3},
	} {
		t.Run(fmt.Sprint(c.lengths, c.shards), func(t *testing.T) {
			var files [][]byte
			for _, n := range c.lengths {
				files = append(files, noise(r, n))
			}
			w, err := blake3.WitnessOver(files, c.shards, 3)
			check(t, err)
			seen := map[int]bool{}
			for _, s := range w.Shards {
				for _, table := range s.Tables {
					if _, ok := table.Trace.(prover.DeviceTrace); !ok {
						continue
					}
					seen[table.Circuit] = true
					height := 1 << table.LogHeight
					want := make([][]field.Element, columnsOf[table.Circuit])
					for i := range want {
						want[i] = make([]field.Element, height)
					}
					check(t, table.Trace.WriteRows(want, 0))
					columns := from(t, d, slices.Repeat([]field.Element{12345}, len(want)*height))
					writeRows(t, d, table, columns)
					got := download(t, columns)
					for i := range want {
						for row, v := range want[i] {
							if got[i*height+row] != v {
								t.Fatalf("circuit %d, 2^%d rows, column %d, row %d: %d, want %d", table.Circuit, table.LogHeight, i, row, got[i*height+row], v)
							}
						}
					}
					check(t, columns.Free())
				}
			}
			if len(seen) != len(columnsOf) {
				t.Fatalf("kernels write the rows of circuits %v", seen)
			}
		})
	}
}

func TestRowsOutOfRange(t *testing.T) {
	d := open(t)
	columns, seeds := from(t, d, make([]field.Element, 64)), from(t, d, make([]uint64, 12))
	for _, c := range []struct{ height, items, first, end, threads int }{
		{0, 12, 0, 12, 1}, {63, 12, 0, 12, 1}, {64, 0, 0, 0, 1}, {64, 5, 0, 5, 1}, {64, 12, 0, 12, 0}, {64, 12, 12, 12, 1}, {64, 12, -1, 3, 1}, {64, 12, 0, 13, 1},
		{64, 1, 0, 1, 1<<40 + 1}, // 2^32 + 1 blocks
	} {
		var e *kernels.Error
		if err := d.Rows("rows_words", columns, c.height, seeds, c.items, c.first, c.end, c.threads); !errors.As(err, &e) || e.Kind != kernels.BadRange {
			t.Errorf("%v: %v", c, err)
		}
	}
	if err := d.Rows("no_such_kernel", columns, 64, seeds, 12, 0, 12, 1); err == nil {
		t.Error("a kernel that is not there ran")
	}
}
