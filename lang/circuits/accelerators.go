package circuits

import (
	"math/bits"
	"runtime"
	"sync"

	"github.com/ixprove/ixprove/lang/accel"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/bytes"
)

// buildAccelerator adds the circuit of an accelerator, which answers for every call.
func (a *assembler) buildAccelerator(k accel.Kind) {
	b, ch := a.air.Circuit(k.Of().Name), a.accelerators[k].Channel
	switch k {
	case accel.Blake3:
		facts := bytes.Channels{Xor: a.fact(factXor).Channel, Nibbles: a.fact(factNibbles).Channel, Split7: a.fact(factSplit7).Channel}
		blake3.BuildCalls(b, facts, ch)
	}
}

// acceleratorRows is how many rows a call takes.
var acceleratorRows = [accel.NumKinds]int{accel.Blake3: blake3.CallRows}

// acceleratorTables adds the tables of accelerators and counts the facts that they use.
func (s *System) acceleratorTables(r *exec.Record, w *prover.Witness, counts *counts, minLogHeight int) {
	shards := len(w.Shards)
	for i, kind := range s.accels {
		rows := acceleratorRows[kind]
		n := r.Accelerated(kind)
		for k := range shards {
			from, to := k*n/shards, (k+1)*n/shards
			for _, h := range heights((to-from)*rows, max(minLogHeight, bits.Len(uint(rows-1)))) {
				start, end := from, min(to, from+1<<h/rows)
				var trace prover.TraceWriter
				switch kind {
				case accel.Blake3:
					t := &blake3.Calls{LogHeight: h, Count: end - start, At: func(k int) blake3.Call { return blake3Call(r, start+k) }}
					tallyBlake3(t, counts)
					trace = t
				}
				w.Shards[k].Tables = append(w.Shards[k].Tables, prover.Table{Circuit: s.first.accel + i, LogHeight: h, Trace: trace})
				from = end
			}
		}
	}
}

func blake3Call(r *exec.Record, i int) (c blake3.Call) {
	args, _, uses := r.AcceleratedCall(accel.Blake3, i)
	word := func(k int) uint32 { return uint32(args[k]) }
	for k := range c.Chaining {
		c.Chaining[k] = word(k)
	}
	for k := range c.Block {
		c.Block[k] = word(8 + k)
	}
	c.Counter, c.Length, c.Flags, c.Uses = uint64(args[24])|uint64(args[25])<<32, word(26), word(27), uses
	return c
}

// tallyBlake3 counts a table's byte lookups, by as many workers as there are processors and work for.
func tallyBlake3(t *blake3.Calls, total *counts) {
	const least = 1 << 10 // compressions that are worth a worker's counts
	n := 1 << t.LogHeight / blake3.CallRows
	workers := max(1, min(runtime.GOMAXPROCS(0), n/least))
	parts := make([]*bytes.Counts, workers)
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(func() {
			parts[i] = new(bytes.Counts)
			t.Tally(i*n/workers, (i+1)*n/workers, parts[i])
		})
	}
	wait.Wait()
	for _, part := range parts {
		for k, f := range [3]fact{factXor, factNibbles, factSplit7} {
			for at, uses := range part[k] {
				total[f][at] += uses
			}
		}
	}
}
