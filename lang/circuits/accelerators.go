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
	"github.com/ixprove/ixprove/verifier/air"
)

// acceleratorCircuit is how calls of an accelerator are proven: by a circuit that answers for any call on a channel of arguments and results.
type acceleratorCircuit struct {
	rows  int // of a call; the least table has one call
	build func(a *assembler, b *air.Builder, calls air.Channel)
	// table writes the calls from start to end-1 of a record, and calls of nothing up to 2^log rows. It returns what counts the facts about words that all its rows use, nil if there are none.
	table func(r *exec.Record, start, end, log int) (prover.TraceWriter, func(*counts) error)
}

var acceleratorCircuits = [accel.NumKinds]acceleratorCircuit{
	accel.Blake3: {blake3.CallRows, buildBlake3, blake3Table},
}

// acceleratorTables adds the tables of accelerators. It returns what counts the facts that they use.
func (s *System) acceleratorTables(r *exec.Record, w *prover.Witness, minLogHeight int) (users []func(*counts) error) {
	shards := len(w.Shards)
	for i, kind := range s.accels {
		c := &acceleratorCircuits[kind]
		n := r.Accelerated(kind)
		for k := range shards {
			from, to := k*n/shards, (k+1)*n/shards
			for _, h := range heights((to-from)*c.rows, max(minLogHeight, bits.Len(uint(c.rows-1)))) {
				start, end := from, min(to, from+1<<h/c.rows)
				trace, count := c.table(r, start, end, h)
				if count != nil {
					users = append(users, count)
				}
				w.Shards[k].Tables = append(w.Shards[k].Tables, prover.Table{Circuit: s.first.accel + i, LogHeight: h, Trace: trace})
				from = end
			}
		}
	}
	return users
}

func buildBlake3(a *assembler, b *air.Builder, calls air.Channel) {
	blake3.BuildCalls(b, bytes.Channels{Xor: a.fact(factXor).Channel, Nibbles: a.fact(factNibbles).Channel, Split7: a.fact(factSplit7).Channel}, calls)
}

func blake3Table(r *exec.Record, start, end, log int) (prover.TraceWriter, func(*counts) error) {
	t := &blake3.Calls{LogHeight: log, Count: end - start, At: func(i int) blake3.Call { return blake3Call(r, start+i) }}
	return t, func(total *counts) error { tallyBlake3(t, total); return nil }
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
