package poseidon2

import (
	"testing"
	"time"

	"github.com/ixprove/ixprove/verifier/merkle"
)

// TestWorkOfATree counts what the prover's calls for a small tree of three heights add up to, by hand.
func TestWorkOfATree(t *testing.T) {
	var w Work
	w.Tree(merkle.NewTree(Suite{}, []merkle.Matrix{{LogRows: 4, Width: 50}, {LogRows: 2, Width: 5}, {LogRows: 4, Width: 4}, {LogRows: 0, Width: 24}}))
	// 54 words are 18 lanes: blocks of 8, 7 and 3. The entering rows have 2 and 8 lanes.
	want := Work{Rows: 16 + 4 + 1, Words: 16*54 + 4*5 + 24, Nodes: 15, Two: 8 + 2, Four: 16 + 4 + 4 + 1, Eight: 2*16 + 1}
	if w != want {
		t.Errorf("%+v, want %+v", w, want)
	}
}

// TestBlocks compares the count of a leaf's blocks with the blocks that the leaf has, for every length in question.
func TestBlocks(t *testing.T) {
	for words := range 400 {
		var wantFour, wantEight uint64
		lanes := (words + 2) / 3
		if lanes <= 4 {
			wantFour, lanes = 1, 0
		} else {
			wantEight, lanes = 1, lanes-8
		}
		for lanes > 0 {
			if lanes <= 3 {
				wantFour, lanes = wantFour+1, 0
			} else {
				wantEight, lanes = wantEight+1, lanes-7
			}
		}
		if four, eight := blocks(words); four != wantFour || eight != wantEight {
			t.Errorf("%d words: %d and %d blocks, want %d and %d", words, four, eight, wantFour, wantEight)
		}
	}
}

func TestTime(t *testing.T) {
	w := Work{Two: 300, Four: 200, Eight: 100}
	if got := w.Time(Rates{100, 100, 50}, 2); got != 3500*time.Millisecond {
		t.Errorf("%v", got)
	}
	if got := (Work{Eight: 1 << 63}).Time(Rates{1, 1, 1}, 1); got <= 0 {
		t.Errorf("%v", got)
	}
	if r := MeasureRates(); r.Two <= 0 || r.Four <= 0 || r.Eight <= 0 {
		t.Errorf("%v", r)
	}
}
