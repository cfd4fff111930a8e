package systems

import (
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
)

// Shards says how a witness is cut: into a number of shards, or into shards whose tables have given log heights. The zero value is one shard.
type Shards struct {
	Count   int
	Heights [][]int
}

// RootWitness is Witness for a root: one shard, in which every table without fixed columns has the same log height, that of prover.RootLogHeight which holds them all. So
// the shape depends on the order of magnitude of the input alone, and on which circuits have rows at all. Shards and MinLogHeight of the request do not matter.
func (s *System) RootWitness(r Request) (*prover.Witness, error) {
	built := s.Build()
	r.Shards = Shards{}
	tallest := 0
	for {
		r.MinLogHeight = prover.RootLogHeight(tallest)
		w, err := s.Witness(r)
		if err != nil {
			return nil, err
		}
		for _, t := range w.Shards[0].Tables {
			if len(built.Circuits[t.Circuit].FixedValues) == 0 {
				tallest = max(tallest, t.LogHeight)
			}
		}
		if tallest <= r.MinLogHeight {
			return w, nil
		}
	}
}

func (s Shards) count() int { return max(1, s.Count) }

// ParseShards reads a number of shards, such as "5", or the log heights of each shard's tables, such as "15,12/14": commas between tables, slashes between shards, and
// a slash at the end for a single shard, "15,12/". A mistake is a *formats.Error of class Invalid.
func ParseShards(text string) (Shards, error) {
	bad := func(what string) (Shards, error) {
		return Shards{}, &formats.Error{Class: formats.Invalid, Place: "shards", What: what,
			Expected: "a number of shards up to " + strconv.Itoa(formats.MaxShards) + ", or log heights up to " + strconv.Itoa(formats.MaxLogHeight) + " such as 15,12/14", Got: strconv.Quote(text)}
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > formats.MaxShards {
			return bad("the number of shards is out of range")
		}
		return Shards{Count: n}, nil
	}
	var s Shards
	for _, shard := range strings.Split(strings.TrimSuffix(text, "/"), "/") {
		var heights []int
		for _, h := range strings.Split(shard, ",") {
			n, err := strconv.Atoi(h)
			if err != nil || n < 0 || n > formats.MaxLogHeight {
				return bad("the shards are not well written")
			}
			heights = append(heights, n)
		}
		s.Heights = append(s.Heights, heights)
	}
	if len(s.Heights) > formats.MaxShards {
		return bad("there are too many shards")
	}
	return s, nil
}
