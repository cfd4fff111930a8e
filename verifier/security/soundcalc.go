package security

import (
	"math"
	"strconv"
)

// gapDigits is the number of decimals of an exported gap_to_radius. The gap is rounded up: the calculator derives the
// multiplicity as the ceiling of sqrt(rho)/(2 gap), and a hair below the exact gap would make that m+1.
const gapDigits = 12

// SoundcalcTOML returns the parameters as an input file of ethereum/soundcalc (protocol family FRI_STARK), so that an
// independent tool can confirm [Terms]. It describes the worst shard: the one with the largest error up to the Johnson bound,
// queries aside, which are the same for all. Each height is a circuit of its own with a FRI of its own, as the calculator knows
// no roll-ins: with one height its figures are ours, with several ours are the sums (ALI: the largest). Lookups are those of
// all shards; claims, and lookups at heights that the worst shard lacks, appear with its tallest. The calculator knows no pins;
// their openings are in its batch size. It returns an [Error] as [Check] does.
func SoundcalcTOML(p Profile, s Shape) (string, error) {
	if err := Check(p, s); err != nil {
		return "", err
	}
	digest, _ := digestOf(p.Suite)
	var lookups [TwoAdicity + 1]int64 // of all shards, by log height
	width := 1
	for _, tables := range s.Shards {
		for _, t := range tables {
			lookups[t.LogHeight] += int64(t.Lookups)
			width = max(width, t.LookupWidth)
		}
	}
	groups := groupByHeight(worstShard(p, s))
	elsewhere := lookups
	for _, g := range groups {
		elsewhere[g.logHeight] = 0
	}
	var f tomlFile
	f.table("[zkevm]")
	f.text("name", "ixprove "+p.Name)
	f.text("protocol_family", "FRI_STARK") // read here up to 809896f, and per circuit by its successors
	f.text("field", "Goldilocks^3")
	f.integer("hash_size_bits", int64(digest.sizeBits))

	for i, g := range groups {
		var arities []byte
		logDomain := g.logHeight + p.LogBlowup
		for _, step := range schedule([]group{g}, p.LogArity, p.LogFinal) {
			if arities != nil {
				arities = append(arities, ", "...)
			}
			arities = strconv.AppendInt(arities, 1<<step.logArity, 10)
			logDomain -= step.logArity
		}
		f.table("[[circuits]]")
		f.text("name", "height "+strconv.Itoa(g.logHeight))
		f.text("protocol_family", "FRI_STARK")
		f.integer("trace_length", 1<<g.logHeight)
		f.value("rho", strconv.FormatFloat(math.Ldexp(1, -p.LogBlowup), 'f', -1, 64))
		f.value("gap_to_radius", gapRoundedUp(p))
		f.integer("air_max_degree", int64(g.degree))
		f.integer("num_columns", g.columns)
		f.integer("num_constraints", int64(g.constraints))
		f.integer("opening_points", int64(g.points))
		f.integer("batch_size", g.columns)
		f.value("power_batching", "true")
		f.integer("num_queries", int64(p.Queries))
		f.value("fri_folding_factors", "["+string(arities)+"]")
		f.integer("fri_early_stop_degree", 1<<logDomain) // the calculator means the last domain
		f.integer("grinding_query_phase", int64(p.GrindingBits))

		if n := lookups[g.logHeight]; n > 0 {
			f.lookup("lookup", 1<<g.logHeight, int64(width), n)
		}
		if i > 0 {
			continue
		}
		for h, n := range elsewhere {
			if n > 0 {
				f.lookup("lookup at height "+strconv.Itoa(h), 1<<h, int64(width), n)
			}
		}
		if s.Claims > 0 {
			f.lookup("claims", int64(s.Claims), int64(width), 1)
		}
	}
	return string(f), nil
}

// worstShard returns the tables of the first shard with the largest error.
func worstShard(p Profile, s Shape) []Table {
	x, _ := proximityOf(p, Johnson)
	worst, largest := 0, -1.0
	for i, tables := range s.Shards {
		if err := x.shardError(p, tables).largest(); err > largest {
			worst, largest = i, err
		}
	}
	return s.Shards[worst]
}

// gapRoundedUp writes the gap to the Johnson bound with its last digit strictly above the exact value.
func gapRoundedUp(p Profile) string {
	const one = 1e12 // 10^gapDigits
	digits := strconv.FormatInt(one+int64(math.Floor(float64(johnsonGap(p)*one)))+1, 10)
	return "0." + digits[len(digits)-gapDigits:]
}

type tomlFile []byte

func (f *tomlFile) table(header string) {
	if len(*f) > 0 {
		*f = append(*f, '\n')
	}
	*f = append(*f, header+"\n"...)
}

func (f *tomlFile) value(key, value string) { *f = append(*f, key+" = "+value+"\n"...) }

func (f *tomlFile) text(key, value string) { f.value(key, strconv.Quote(value)) }

func (f *tomlFile) integer(key string, value int64) { f.value(key, strconv.FormatInt(value, 10)) }

// lookup adds a lookup to the circuit before it. The table side is among the rows: it is a lookup like the others.
func (f *tomlFile) lookup(name string, rows, width, lookups int64) {
	f.table("[[circuits.lookups]]")
	f.text("name", name)
	f.text("logup_type", "univariate")
	f.integer("rows_L", rows)
	f.integer("rows_T", 0)
	f.integer("num_columns_S", width)
	f.integer("num_lookups_M", lookups)
}
