package fri_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/verifier/fri"
)

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		in            []int
		arity, final  int
		heights       []int
		steps         []int
		wantFinal     int
		entering      []int // position of the codeword that enters at each layer, from layer 0
		blowup        int
		logSizeOfLast int
	}{
		{in: []int{1}, arity: 3, final: 6, blowup: 2, heights: []int{1}, wantFinal: 1, entering: []int{-1}, logSizeOfLast: 3},
		{in: []int{6, 6}, arity: 3, final: 6, blowup: 1, heights: []int{6}, wantFinal: 6, entering: []int{-1}, logSizeOfLast: 7},
		{in: []int{7}, arity: 3, final: 6, blowup: 1, heights: []int{7}, steps: []int{1}, wantFinal: 6, entering: []int{-1, -1}, logSizeOfLast: 7},
		{in: []int{10}, arity: 3, final: 6, blowup: 1, heights: []int{10}, steps: []int{2, 2}, wantFinal: 6, entering: []int{-1, -1, -1}, logSizeOfLast: 7},
		{in: []int{13}, arity: 3, final: 6, blowup: 2, heights: []int{13}, steps: []int{3, 2, 2}, wantFinal: 6, entering: []int{-1, -1, -1, -1}, logSizeOfLast: 8},
		{in: []int{20}, arity: 3, final: 6, blowup: 2, heights: []int{20}, steps: []int{3, 3, 3, 3, 2}, wantFinal: 6, entering: []int{-1, -1, -1, -1, -1, -1}, logSizeOfLast: 8},
		{in: []int{3, 10, 3, 5}, arity: 3, final: 6, blowup: 1, heights: []int{10, 5, 3}, steps: []int{3, 2, 2}, wantFinal: 3, entering: []int{-1, -1, 1, 2}, logSizeOfLast: 4},
		{in: []int{8, 7, 6}, arity: 3, final: 6, blowup: 3, heights: []int{8, 7, 6}, steps: []int{1, 1}, wantFinal: 6, entering: []int{-1, 1, 2}, logSizeOfLast: 9},
		{in: []int{14, 10}, arity: 3, final: 6, blowup: 1, heights: []int{14, 10}, steps: []int{2, 2, 2, 2}, wantFinal: 6, entering: []int{-1, -1, 1, -1, -1}, logSizeOfLast: 7},
		{in: []int{9, 1}, arity: 3, final: 6, blowup: 1, heights: []int{9, 1}, steps: []int{3, 3, 2}, wantFinal: 1, entering: []int{-1, -1, -1, 1}, logSizeOfLast: 2},
		{in: []int{5, 1}, arity: 1, final: 0, blowup: 1, heights: []int{5, 1}, steps: []int{1, 1, 1, 1, 1}, wantFinal: 0, entering: []int{-1, -1, -1, -1, 1, -1}, logSizeOfLast: 1},
		{in: []int{27}, arity: 3, final: 6, blowup: 5, heights: []int{27}, steps: []int{3, 3, 3, 3, 3, 3, 3}, wantFinal: 6, entering: slices.Repeat([]int{-1}, 8), logSizeOfLast: 11},
	} {
		s := fri.NewSchedule(c.in, c.blowup, c.arity, c.final)
		if !slices.Equal(s.Heights, c.heights) || !slices.Equal(s.Steps, c.steps) || s.Final != c.wantFinal || s.LogBlowup != c.blowup {
			t.Errorf("%v: %+v", c.in, s)
		}
		for i, want := range c.entering {
			if i > 0 && s.Entering(i) != want {
				t.Errorf("%v: codeword %d enters at layer %d, want %d", c.in, s.Entering(i), i, want)
			}
		}
		if got := s.LogSize(len(s.Steps)); got != c.logSizeOfLast {
			t.Errorf("%v: the last domain has 2^%d points, want 2^%d", c.in, got, c.logSizeOfLast)
		}
	}
}

// TestScheduleProperties checks section 8's words on random sets of heights: a stop at each height, steps within the arity, as few and as even as possible,
// larger ones first.
func TestScheduleProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for range 2000 {
		heights := make([]int, 1+r.IntN(6))
		for i := range heights {
			heights[i] = 1 + r.IntN(27)
		}
		blowup, arity, final := 1+r.IntN(5), 1+r.IntN(3), r.IntN(7)
		s := fri.NewSchedule(heights, blowup, arity, final)
		if !slices.IsSortedFunc(s.Heights, func(a, b int) int { return b - a }) || len(slices.Compact(slices.Clone(s.Heights))) != len(s.Heights) {
			t.Fatalf("%v: heights %v", heights, s.Heights)
		}
		if want := min(final, slices.Min(heights)); s.Final != want {
			t.Fatalf("%v: final %d, want %d", heights, s.Final, want)
		}
		stops := s.Heights[1:]
		if s.Final < s.Heights[len(s.Heights)-1] {
			stops = append(slices.Clone(stops), s.Final)
		}
		log, at := s.Heights[0], 0
		for _, stop := range stops {
			var run []int
			for log > stop {
				if at == len(s.Steps) {
					t.Fatalf("%v: the steps %v end before 2^%d", heights, s.Steps, stop)
				}
				run = append(run, s.Steps[at])
				log -= s.Steps[at]
				at++
			}
			if log != stop {
				t.Fatalf("%v: the steps %v pass by 2^%d", heights, s.Steps, stop)
			}
			total := 0
			for _, step := range run {
				total += step
			}
			if len(run) != (total+arity-1)/arity || slices.Max(run) > arity || slices.Max(run)-slices.Min(run) > 1 ||
				!slices.IsSortedFunc(run, func(a, b int) int { return b - a }) {
				t.Fatalf("%v: a fall by %d in steps %v", heights, total, run)
			}
			if s.LogSize(at) != log+blowup {
				t.Fatalf("%v: layer %d has size 2^%d, want 2^%d", heights, at, s.LogSize(at), log+blowup)
			}
		}
		if at != len(s.Steps) {
			t.Fatalf("%v: steps %v after the last stop", heights, s.Steps)
		}
		// Each shorter codeword enters exactly once.
		entered := map[int]int{}
		for i := 1; i <= len(s.Steps); i++ {
			if k := s.Entering(i); k >= 0 {
				entered[k]++
				if s.Heights[k]+blowup != s.LogSize(i) {
					t.Fatalf("%v: codeword %d enters at the wrong size", heights, k)
				}
			}
		}
		for k := 1; k < len(s.Heights); k++ {
			if entered[k] != 1 {
				t.Fatalf("%v: codeword %d enters %d times", heights, k, entered[k])
			}
		}
		if entered[0] != 0 {
			t.Fatalf("%v: the tallest codeword enters a layer", heights)
		}
	}
}
