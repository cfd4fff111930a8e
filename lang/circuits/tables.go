package circuits

import (
	"strconv"
	"sync"

	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// fact is a kind of message about a pair of bytes (x, y), or the word x + 2^8·y of 16 bits. Facts are true whatever the witness holds: the circuit words has a row for each pair, fixed in the key.
type fact int

const (
	factRange   fact = iota // (x + 2^8·y): a number below 2^16
	factPair                // (x, y): two bytes
	factXor                 // (x, y, x ⊕ y)
	factNibbles             // (x, y, low, high): x ⊕ y = low + 16·high, both below 16
	factSplit7              // (x, y, low, high): x ⊕ y = low + 128·high, low below 128, high a bit
	numFacts
)

var factNames = [numFacts]string{"range", "pair", "xor", "nibbles", "split7"}

var factArity = [numFacts]int{1, 2, 3, 4, 4}

// wordsLog is the height of the circuit words.
const wordsLog = 16

// fact is the channel of a kind of facts.
func (a *assembler) fact(f fact) channel {
	if a.facts[f] == nil {
		ch := a.channel(factNames[f], factArity[f])
		a.facts[f] = &ch
		a.factOrder = append(a.factOrder, f)
	}
	return *a.facts[f]
}

// buildWords adds the circuit words: a column of uses for each kind of facts in the order of their first use.
func (a *assembler) buildWords() {
	if len(a.factOrder) == 0 {
		return
	}
	b := a.air.Circuit("words")
	fixed := map[string]air.Expr{}
	column := func(name string, f func(x, y int) int) air.Expr {
		if c, ok := fixed[name]; ok {
			return c
		}
		values := make([]field.Element, 1<<wordsLog)
		for i := range values {
			values[i] = field.Element(f(i&0xff, i>>8))
		}
		fixed[name] = b.FixedColumn(values)
		return fixed[name]
	}
	x, y := column("x", func(x, _ int) int { return x }), column("y", func(_, y int) int { return y })
	for _, f := range a.factOrder {
		var args []air.Expr
		switch f {
		case factRange:
			args = []air.Expr{x.Add(y.Times(1 << 8))}
		case factPair:
			args = []air.Expr{x, y}
		case factXor:
			args = []air.Expr{x, y, column("xor", func(x, y int) int { return x ^ y })}
		case factNibbles:
			high := column("nibble", func(x, y int) int { return (x ^ y) >> 4 })
			args = []air.Expr{x, y, column("xor", func(x, y int) int { return x ^ y }).Sub(high.Times(16)), high}
		case factSplit7:
			high := column("top", func(x, y int) int { return (x ^ y) >> 7 })
			args = []air.Expr{x, y, column("xor", func(x, y int) int { return x ^ y }).Sub(high.Times(128)), high}
		}
		b.Pull(a.facts[f].Channel, b.Column(factNames[f]+" uses"), args...)
	}
}

// counts is how often each fact is used. It is not safe for concurrent use: workers keep their own, and they are merged.
type counts [numFacts][]uint64

func newCounts(facts []fact) *counts {
	c := new(counts)
	for _, f := range facts {
		c[f] = make([]uint64, 1<<wordsLog)
	}
	return c
}

func (c *counts) merge(other *counts) {
	for f := range c {
		for i, n := range other[f] {
			c[f][i] += n
		}
	}
}

// wordsTable is the trace of the circuit words. Uses are counted when rows are first asked for.
type wordsTable struct {
	facts []fact
	count func() (*counts, error)
}

func newWordsTable(facts []fact, users []func(*counts) error) wordsTable {
	return wordsTable{facts, sync.OnceValues(func() (*counts, error) {
		total := newCounts(facts)
		for _, count := range users {
			if err := count(total); err != nil {
				return nil, err
			}
		}
		return total, nil
	})}
}

// WriteRows implements prover.TraceWriter.
func (t wordsTable) WriteRows(columns [][]field.Element, first int) error {
	total, err := t.count()
	if err != nil {
		return err
	}
	for k, f := range t.facts {
		for i := range columns[k] {
			columns[k][i] = field.Element(total[f][first+i])
		}
	}
	return nil
}

// buildMemory adds a circuit for each width of cells, and the anchor.
//
// A row of memory is a cell: it answers for (pointer, values) as often as it is used. A pointer must have one cell. So every row also pushes its pointer and pulls the next one, on a channel that nobody else uses but the
// anchor, which pulls 0 and pushes the number of cells: what is pushed is pulled exactly if the cells have the pointers 0, 1, 2, … once each. That there is one anchor follows from the
// entry (memory), which the verifier pushes once. Padding rows are cells like others.
func (a *assembler) buildMemory() {
	if len(a.widths) == 0 {
		return
	}
	chains := make([]channel, len(a.widths))
	for i, w := range a.widths {
		chains[i] = a.channel("cells "+strconv.Itoa(w), 1)
		b := a.air.Circuit("memory " + strconv.Itoa(w))
		uses, pointer := b.Column("uses"), b.Column("pointer")
		one := b.Const(1)
		b.Pull(a.cells[w].Channel, uses, append([]air.Expr{pointer}, b.ColumnVector("value", w)...)...)
		b.Push(chains[i].Channel, one, 1, pointer)
		b.Pull(chains[i].Channel, one, pointer.Plus(1))
	}
	once := a.channel("anchor", 0)
	a.air.Entry(MemoryEntry, once.Channel, nil, nil)
	b := a.air.Circuit("anchor")
	real := b.Column("real")
	b.AssertBoolean("an anchor is or is not", real)
	b.Pull(once.Channel, real)
	for i, w := range a.widths {
		b.Pull(chains[i].Channel, real, b.Const(0))
		b.Push(chains[i].Channel, real, 1, b.Column("cells of width "+strconv.Itoa(w)))
	}
}
