package compress

import (
	"time"

	"github.com/ixprove/ixprove/formats"
)

// Plan is what proving with a circuit takes.
type Plan struct {
	Backend     string
	Constraints int
	LogDomain   int
	Bytes       int64         // memory of the process at its peak
	Time        time.Duration // of the SNARK's prover alone
}

// cost is linear in the domain: bytes of memory and time on one processor for each point of it, and memory whatever the size.
type cost struct {
	bytes float64
	fixed int64
	time  time.Duration
}

// costs were measured with gnark v0.16.1 and a heap that grows by a quarter (docs/compress.md, measurements).
var costs = map[string]cost{
	formats.BackendPlonk:   {1500, 150 << 20, 70 * time.Microsecond},
	formats.BackendGroth16: {1600, 100 << 20, 22 * time.Microsecond},
}

// Plan estimates what a proof with the circuit takes on so many processors.
func (s *System) Plan(processors int) Plan {
	c, n := costs[s.Backend], float64(int64(1)<<s.LogDomain)
	return Plan{s.Backend, s.Constraints, s.LogDomain, c.fixed + int64(c.bytes*n), time.Duration(float64(c.time) * n / float64(max(processors, 1)))}
}
