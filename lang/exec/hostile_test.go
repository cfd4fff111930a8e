package exec

import (
	"math/bits"
	"testing"

	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/verifier/field"
)

// TestKeysDoNotCollide makes keys of which all would have one hash if hashes started at a number that is known: the second word takes back what the first one did.
func TestKeysDoNotCollide(t *testing.T) {
	const start = 0x9e3779b97f4a7c15
	hashes := map[uint64]bool{}
	n := 0
	for w := range uint64(1000) {
		high, low := bits.Mul64(start^w, 0xa0761d6478bd642f)
		second := high ^ low + 0x8ebc6af09c88c6e3
		if second < 1<<63 {
			hashes[hash([]field.Element{field.Element(w), field.Element(second)})] = true
			n++
		}
	}
	if len(hashes) < n-2 {
		t.Errorf("%d keys have %d hashes", n, len(hashes))
	}
}

// TestSparseMatches loads a match with one large value: its table has no place for each smaller one.
func TestSparseMatches(t *testing.T) {
	p := assembly.New("sparse")
	f := p.Function("f", 1, 1, func(b *assembly.Block, x []uint32) {
		b.Match(x[0], assembly.Case(func(b *assembly.Block) { b.Return(b.Const(7)) }, denseJump-1), assembly.Default(func(b *assembly.Block) { b.Return(x[0]) }))
	})
	p.Entry(f, assembly.Fields(1), assembly.Fields(1))
	m := load(t, p)
	if n := len(m.functions[f].tables[0].dense); n != 0 {
		t.Errorf("a table of %d places for one value", n)
	}
	for arg, want := range map[field.Element]field.Element{denseJump - 1: 7, denseJump: denseJump, 0: 0} {
		if got := call(t, m, nil, arg).Claims[0].Results[0]; got != want {
			t.Errorf("f(%d) = %d, want %d", arg, got, want)
		}
	}
}

// TestStackIsCounted lets the stack grow: while it moves, the old one and the new one count.
func TestStackIsCounted(t *testing.T) {
	x := &machine{Record: &Record{Module: load(t, assembly.Fib())}}
	x.memory.limit = 1 << 30
	x.functions = []*table{newTable(1, 1+functionMarks, &x.memory)}
	entry, _, _ := x.functions[0].find([]field.Element{1})
	for range 3000 {
		if !x.push(0, entry, true) {
			t.Fatal("no memory")
		}
	}
	before := len(x.stack)
	x.memory.limit = x.memory.used + int64(before)*wordBytes*15/8 // more than the stack grows by, less than the new one
	for len(x.stack) == before {
		if !x.push(0, entry, true) {
			return
		}
	}
	t.Errorf("the stack grew from %d to %d words, and %d of %d bytes are counted", before, len(x.stack), x.memory.used, x.memory.limit)
}
