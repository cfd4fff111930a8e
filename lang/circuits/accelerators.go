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
	"github.com/ixprove/ixprove/systems/poseidon2"
	"github.com/ixprove/ixprove/systems/sha256"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// acceleratorCircuit is how calls of an accelerator are proven: by a circuit that answers for any call on a channel of arguments and results.
type acceleratorCircuit struct {
	rows, calls int // of the least table, a power of two, and how many calls it holds; others are 2^k times as high and hold 2^k times as many
	build       func(a *assembler, b *air.Builder, calls air.Channel)
	// table writes the calls from start to end-1 of a record, and calls of nothing up to 2^log rows. It returns what counts the facts about words that all its rows use.
	table func(r *exec.Record, start, end, log int) (prover.TraceWriter, func(*counts) error)
}

var acceleratorCircuits = [accel.NumKinds]acceleratorCircuit{
	accel.Blake3:    {blake3.CallRows, 1, buildBlake3, blake3Table},
	accel.Sha256:    {sha256.TableRows, sha256.TableCalls, buildSha256, sha256Table},
	accel.Poseidon2: {1, 1, buildPoseidon2, poseidon2Table},
}

// rowsOf is how many rows n calls take.
func (c *acceleratorCircuit) rowsOf(n int) int { return (n*c.rows + c.calls - 1) / c.calls }

// heightOf is how high tables of n calls are together, at least.
func (c *acceleratorCircuit) heightOf(n int) int { return (n + c.calls - 1) / c.calls * c.rows }

// acceleratorTables adds the tables of accelerators. It returns what counts the facts that they use.
func (s *System) acceleratorTables(r *exec.Record, w *prover.Witness, c cut) (users []func(*counts) error) {
	shards := len(w.Shards)
	for i, kind := range s.accels {
		a := &acceleratorCircuits[kind]
		n := r.Accelerated(kind)
		for k := range shards {
			from, to := k*n/shards, (k+1)*n/shards
			for _, h := range c.tables(a.heightOf(to-from), bits.Len(uint(a.rows-1))) {
				start, end := from, min(to, from+1<<h/a.rows*a.calls)
				trace, count := a.table(r, start, end, h)
				users = append(users, count)
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

// tallyBlake3 counts a table's byte lookups.
func tallyBlake3(t *blake3.Calls, total *counts) {
	for _, part := range tally(1<<t.LogHeight/blake3.CallRows, func() *bytes.Counts { return new(bytes.Counts) }, t.Tally) {
		for k, f := range [3]fact{factXor, factNibbles, factSplit7} {
			for at, uses := range part[k] {
				total[f][at] += uses
			}
		}
	}
}

// tally has n calls counted, by as many workers as there are processors and work for, and returns what each of them counted.
func tally[T any](n int, empty func() T, count func(first, last int, into T)) []T {
	const least = 1 << 10 // compressions that are worth a worker's counts
	parts := make([]T, max(1, min(runtime.GOMAXPROCS(0), n/least)))
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(func() {
			parts[i] = empty()
			count(i*n/len(parts), (i+1)*n/len(parts), parts[i])
		})
	}
	wait.Wait()
	return parts
}

func buildSha256(a *assembler, b *air.Builder, calls air.Channel) {
	sha256.BuildCalls(b, a.fact(factRange).Channel, calls)
}

func sha256Table(r *exec.Record, start, end, log int) (prover.TraceWriter, func(*counts) error) {
	t := &sha256.Calls{LogHeight: log, Count: end - start, At: func(i int) (c sha256.Call) {
		args, _, uses := r.AcceleratedCall(accel.Sha256, start+i)
		for k := range c.State {
			c.State[k] = uint32(args[k])
		}
		for k := range c.Block {
			c.Block[k] = uint32(args[len(c.State)+k])
		}
		c.Uses = uses
		return c
	}}
	return t, func(total *counts) error {
		for _, part := range tally(1<<log/sha256.TableRows*sha256.TableCalls, func() []uint64 { return make([]uint64, 1<<wordsLog) }, t.Tally) {
			for at, uses := range part {
				total[factRange][at] += uses
			}
		}
		return nil
	}
}

func buildPoseidon2(_ *assembler, b *air.Builder, calls air.Channel) { poseidon2.BuildCalls(b, calls) }

// poseidon2Table has no facts about words to count.
func poseidon2Table(r *exec.Record, start, end, _ int) (prover.TraceWriter, func(*counts) error) {
	return &poseidon2.Calls{Count: end - start, At: func(i int) poseidon2.Call {
		args, _, uses := r.AcceleratedCall(accel.Poseidon2, start+i)
		return poseidon2.Call{Input: [poseidon2.Width]field.Element(args), Uses: uses}
	}}, func(*counts) error { return nil }
}
