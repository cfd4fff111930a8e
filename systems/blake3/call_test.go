package blake3

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/bytes"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// callSystem claims calls directly.
func callSystem() *air.System {
	s := air.NewSystem("calls")
	calls := s.Channel("calls", CallElements)
	var args, results []formats.Value
	for i := range callArgs {
		args = append(args, formats.Value{Name: "a" + strconv.Itoa(i), Type: formats.TypeU32})
	}
	for i := range 8 {
		results = append(results, formats.Value{Name: "r" + strconv.Itoa(i), Type: formats.TypeU32})
	}
	s.Entry("compress", calls, args, results)
	c := s.Circuit("compress")
	BuildCalls(c, bytes.Add(s), calls)
	return s
}

// forgedCalls writes calls by a prover that deviates: what follows from a deviation is computed from it.
type forgedCalls struct {
	list   []Call
	state  func(k int, v *[16]uint32) // the initial state
	output func(k, r int, out *[8]uint32)
}

func (f *forgedCalls) initial(k int) [16]uint32 {
	v := f.list[k].state()
	if f.state != nil {
		f.state(k, &v)
	}
	return v
}

// run returns what is wrong with the calls when call 0 is claimed with this output.
func (f *forgedCalls) run(t *testing.T, claimed func(honest [8]uint32) [8]uint32) []string {
	t.Helper()
	checker, err := tracecheck.New(callSystem(), 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	n := len(f.list)
	counts := new(bytes.Counts)
	x := make(tracecheck.Trace, callColumns)
	for i := range x {
		x[i] = make([]field.Element, n*rowsPerCompression)
	}
	var first [8]uint32
	for k := range f.list {
		var b block
		last := (k + n - 1) % n
		v := new(block).mixRounds(f.initial(last), f.list[last].Block)
		b.solveInitial(f.initial(k), v, 0)
		end := b.mixRounds(f.initial(k), f.list[k].Block)
		b.tally(counts)
		var values [callColumns]column
		storeWords(values[:], &b)
		values[colCallUses] = column{rowsPerCompression - 2: field.Element(f.list[k].Uses)}
		var honest [8]uint32
		for i := range honest {
			honest[i] = end[i] ^ end[8+i]
		}
		for at := range rowsPerCompression - 1 {
			out := honest
			if f.output != nil {
				f.output(k, rowsPerCompression-1-at, &out)
			}
			for i, w := range out {
				values[colCallOutput+i][at] = field.Element(w)
			}
		}
		if k == 0 {
			first = honest
		}
		for i := range values {
			copy(x[i][(n-1-k)*rowsPerCompression:], values[i][:])
		}
	}
	c, claim := f.list[0], formats.Claim{}
	for _, w := range slices.Concat(c.Chaining[:], c.Block[:], []uint32{uint32(c.Counter), uint32(c.Counter >> 32), c.Length, c.Flags}) {
		claim.Args = claim.Args.Append(uint64(w))
	}
	for _, w := range claimed(first) {
		claim.Results = claim.Results.Append(uint64(w))
	}
	words, _ := checker.Write(&prover.Witness{Shards: []prover.Shard{{Tables: []prover.Table{counts.Table(1)}}}})
	w := &prover.Witness{Claims: []formats.Claim{claim}, Shards: []prover.Shard{{Tables: []prover.Table{{Circuit: 0, LogHeight: 4}, counts.Table(1)}}}}
	failures, err := checker.Check(w, [][]tracecheck.Trace{{x, words[0][0]}})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range failures {
		names[f.Name()] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func testCall() Call {
	c := Call{Counter: 1<<40 + 7, Length: 61, Flags: 0xffffffff, Uses: 1}
	for i := range c.Chaining {
		c.Chaining[i] = 0x9e3779b9 * uint32(i+1)
	}
	for i := range c.Block {
		c.Block[i] = 0xdeadbeef * uint32(i+3)
	}
	return c
}

func same(out [8]uint32) [8]uint32 { return out }

func TestCalls(t *testing.T) {
	f := forgedCalls{list: []Call{testCall(), {}}}
	got := f.run(t, func(out [8]uint32) [8]uint32 {
		c := testCall()
		if want := blake3.Compress(&c.Chaining, &c.Block, c.Counter, c.Length, c.Flags); out != want {
			t.Errorf("got %x, want %x", out, want)
		}
		return out
	})
	if len(got) > 0 {
		t.Error(got)
	}
}

// TestCallForgeries checks that each constraint that calls have of their own finds what it is there for, alone.
func TestCallForgeries(t *testing.T) {
	wrong := func(out [8]uint32) [8]uint32 { out[3] ^= 1; return out }
	for _, c := range []struct {
		name    string
		forge   forgedCalls
		claimed func([8]uint32) [8]uint32
		want    []string
	}{
		{"another output", forgedCalls{output: func(k, _ int, out *[8]uint32) {
			if k == 0 {
				*out = wrong(*out)
			}
		}}, wrong, []string{"output word 3 is that of the rounds"}},
		{"an output that changes on its way", forgedCalls{output: func(k, r int, out *[8]uint32) {
			if k == 0 && r < 4 {
				*out = wrong(*out)
			}
		}}, wrong, []string{"output word 3 stays"}},
		{"another IV", forgedCalls{state: func(k int, v *[16]uint32) {
			if k == 0 {
				v[9]++
			}
		}}, same, []string{"IV word 1"}},
		{"a claim that nobody answers", forgedCalls{}, wrong, []string{"calls"}},
	} {
		c.forge.list = []Call{testCall(), {}}
		if got := c.forge.run(t, c.claimed); !slices.Equal(got, c.want) {
			t.Errorf("%s: these fail: %q, want %q", c.name, got, c.want)
		}
	}
}
