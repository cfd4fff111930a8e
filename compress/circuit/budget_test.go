package circuit

import (
	"context"
	"flag"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

var long = flag.Bool("long", false, "compile the circuits of full size too")

// wide is a system of one circuit with the given number of columns: products, sums with the next row, a lookup of each claim and two of the circuit's own.
func wide(columns int) *air.System {
	s := air.NewSystem("wide")
	answers, pairs := s.Channel("answers", 2), s.Channel("pairs", 2)
	s.Entry("row", answers, []formats.Value{{Name: "n", Type: formats.TypeU32}}, []formats.Value{{Name: "value", Type: formats.TypeField}})
	c := s.Circuit("wide")
	x := c.ColumnVector("x", columns)
	c.AssertBoolean("asks", x[columns-1])
	for i := range columns - 4 {
		c.Assert(fmt.Sprint("step ", i), c.Transition().Mul(x[i].Next().Sub(x[i+1].Mul(x[i+2])).Sub(x[i].Times(3))))
	}
	c.Assert("start", c.First().Mul(x[0]))
	c.Pull(answers, x[columns-2], x[0], x[1])
	c.Push(pairs, x[columns-1], 1, x[0], x[1])
	c.Pull(pairs, x[columns-3], x[2], x[3])
	return s
}

// counter adds up a circuit's constraints by part.
type counter struct {
	builder frontend.Builder[constraint.U64]
	counts  map[string]int
	part    string
	last    int
}

func (c *counter) enter(part string) {
	system, err := c.builder.Compile()
	if err != nil {
		panic(err)
	}
	if c.part != "" {
		c.counts[c.part] += system.GetNbConstraints() - c.last
	}
	c.part, c.last = part, system.GetNbConstraints()
}

// count compiles the circuit and returns its constraints by part; what comes after the circuit itself are the range checks.
func count(t testing.TB, builder frontend.NewBuilder, c frontend.Circuit) (map[string]int, int) {
	t.Helper()
	meter := &counter{counts: map[string]int{}}
	c.(*rootCircuit).meter = meter.enter
	ccs := compile(t, func(field *big.Int, config frontend.CompileConfig) (frontend.Builder[constraint.U64], error) {
		b, err := builder(field, config)
		meter.builder = b
		return b, err
	}, c, frontend.IgnoreUnconstrainedInputs())
	meter.counts["ranges"] += ccs.GetNbConstraints() - meter.last
	return meter.counts, ccs.GetNbConstraints()
}

func keygen(t testing.TB, system *air.System, profile string) *prover.ProvingKey {
	t.Helper()
	p, ok := security.ProfileByName(profile)
	if !ok {
		t.Fatal("no profile", profile)
	}
	pk, err := prover.Keygen(context.Background(), system, poseidon2.Suite{}, p, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return pk
}

// blake3Key is a key of the default suite.
func blake3Key(t testing.TB) *verifier.Key {
	t.Helper()
	p, _ := security.ProfileByName("dev")
	pk, err := prover.Keygen(context.Background(), fibonacci.System(), hash.Blake3{}, p, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return pk.Key
}

var builders = []struct {
	name string
	new  frontend.NewBuilder
}{{"r1cs", r1cs.NewBuilder[constraint.U64]}, {"scs", scs.NewBuilder[constraint.U64]}}

// TestBudgets bounds the constraints of both backends.
func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		profile   string
		logHeight uint8
		columns   int
		options   Options
		most      map[string]int
		long      bool
	}{
		{"root-dev", 8, 8, Options{Commitments: true}, map[string]int{"r1cs": 75_000, "scs": 180_000}, false},
		{"root", 16, 50, Options{Commitments: true}, map[string]int{"r1cs": 1_300_000, "scs": 3_200_000}, true},
		{"root", 16, 50, Options{}, map[string]int{"r1cs": 2_600_000}, true},
	} {
		if c.long && !*long {
			continue
		}
		pk := keygen(t, wide(c.columns), c.profile)
		for _, b := range builders {
			most, ok := c.most[b.name]
			if !ok {
				continue
			}
			circuit, err := Build(pk.Key, []formats.Table{{LogHeight: c.logHeight}}, 1, c.options)
			if err != nil {
				t.Fatal(err)
			}
			parts, total := count(t, b.new, circuit)
			var lines []string
			for part, n := range parts {
				lines = append(lines, fmt.Sprintf("%s %d", part, n))
			}
			slices.Sort(lines)
			t.Logf("%s, 2^%d rows, %d columns, %+v, %s: %d (%s)", c.profile, c.logHeight, c.columns, c.options, b.name, total, strings.Join(lines, ", "))
			if total > most {
				t.Errorf("%d constraints, at most %d", total, most)
			}
		}
	}
}
