package poseidon2

import (
	"time"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// Work is what hashing the trees of a proof takes, computed from shapes alone, before anything is hashed.
type Work struct {
	Rows   uint64 // of all trees: their leaves, and rows that enter above
	Words  uint64 // elements in these rows
	Nodes  uint64 // above the leaves
	Nonces uint64 // that grinding tries, on average
	Two    uint64 // permutations of two lanes, as are the following of four and eight; nonces included
	Four   uint64
	Eight  uint64
}

// Hashing is the work of the trees of shards of a key of this suite.
func Hashing(key *verifier.Key, shapes []*verifier.Shape) (w Work) {
	for _, s := range shapes {
		for i := range s.Trees {
			w.Tree(s.Trees[i].Tree)
		}
		for i := range s.Schedule.Steps {
			w.Tree(s.Schedule.Tree(Suite{}, i))
		}
		if bits := key.Profile.GrindingBits; bits > 0 {
			w.Nonces += 1 << bits
			w.Four += 1 << bits
		}
	}
	return w
}

// Tree adds the work of a tree.
func (w *Work) Tree(t *merkle.Tree) {
	level := 0
	for log := t.LogRows(); log >= 0; log-- {
		n := uint64(1) << log
		enters := level < len(t.Levels) && t.Levels[level].LogRows == log
		if enters {
			words := t.Levels[level].RowBytes() / formats.ElementBytes
			four, eight := blocks(words)
			w.Rows, w.Words = w.Rows+n, w.Words+n*uint64(words)
			w.Four, w.Eight = w.Four+n*four, w.Eight+n*eight
			level++
		}
		switch {
		case log == t.LogRows():
		case enters:
			w.Nodes, w.Four = w.Nodes+n, w.Four+n
		default:
			w.Nodes, w.Two = w.Nodes+n, w.Two+n
		}
	}
}

// blocks is the number of blocks of each width in the leaf of a row.
func blocks(words int) (four, eight uint64) {
	if words <= 4*PackedWords {
		return 1, 0
	}
	eight, words = 1, words-8*PackedWords
	for words > 3*PackedWords {
		eight, words = eight+1, words-7*PackedWords
	}
	if words > 0 {
		four = 1
	}
	return four, eight
}

// Permutations is their number, whatever their width.
func (w Work) Permutations() uint64 { return w.Two + w.Four + w.Eight }

// Rates are permutations a second on one processor, by width.
type Rates struct{ Two, Four, Eight float64 }

// MeasureRates takes some milliseconds for each width. The best of several runs counts, as what else a machine does only slows a run.
func MeasureRates() Rates {
	x := new(scratch)
	rate := func(width int) float64 {
		best := time.Duration(1<<63 - 1)
		for range 12 {
			start := time.Now()
			x.permute(width, many)
			best = min(best, max(time.Since(start), time.Microsecond))
		}
		return many / best.Seconds()
	}
	return Rates{rate(2), rate(4), rate(8)}
}

// Time estimates how long the work takes on so many processors.
func (w Work) Time(r Rates, processors int) time.Duration {
	seconds := float64(w.Two)/r.Two + float64(w.Four)/r.Four + float64(w.Eight)/r.Eight
	return time.Duration(min(seconds/float64(processors), maxSeconds) * float64(time.Second))
}

// maxSeconds is close to what a time.Duration holds.
const maxSeconds = 9e9
