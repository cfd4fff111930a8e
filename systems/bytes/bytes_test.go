package bytes

import (
	"testing"

	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// Used once each, the messages are the three facts about every pair, and nothing else.
func TestFacts(t *testing.T) {
	s := air.NewSystem("bytes")
	Add(s)
	checker, err := tracecheck.New(s, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := new(Counts)
	for i := range counts {
		for r := range counts[i] {
			counts[i][r] = 1
		}
	}
	w := &prover.Witness{Shards: []prover.Shard{{Tables: []prover.Table{counts.Table(0)}}}}
	traces, err := checker.Write(w)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := checker.Check(w, traces)
	if err != nil || len(messages) != 3<<16 {
		t.Fatal(err, len(messages))
	}
	for _, f := range messages {
		m := f.Message
		z, holds := m[0]^m[1], m[0] < 256 && m[1] < 256 && f.Excess == field.Neg(1)
		switch f.Channel {
		case "xor":
			holds = holds && m[2] == z
		case "nibbles":
			holds = holds && m[2] == z&15 && m[3] == z>>4
		case "split7":
			holds = holds && m[2] == z&127 && m[3] == z>>7
		}
		if !holds {
			t.Fatalf("%v", f)
		}
	}
}

// Counting a word counts the row of each of its bytes.
func TestCounts(t *testing.T) {
	c, other := new(Counts), new(Counts)
	const x, y = 0x04030201, 0xf0e0d0c0
	c.Xor(x, y)
	other.Nibbles(x, y)
	other.Split7(x, y)
	c.Merge(other)
	for i := range c {
		sum := uint64(0)
		for _, n := range c[i] {
			sum += n
		}
		if sum != 4 || c[i][0xc001] != 1 || c[i][0xd002] != 1 || c[i][0xe003] != 1 || c[i][0xf004] != 1 {
			t.Errorf("channel %d: %d uses", i, sum)
		}
	}
	if c.Range(7, 3); c[colXor][0x0707] != 3 {
		t.Error("a range is not counted")
	}
}
