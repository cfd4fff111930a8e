package security

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the exports in testdata and the tables in docs/security.md")

// reference is the shape the profiles are chosen for: 2^24 rows, 2,048 main columns, 8,192 openings, 2^40 lookups of 16
// coordinates.
func reference() Shape {
	return Shape{Shards: [][]Table{{{
		LogHeight: 24, Columns: 8192, MainColumns: 2048, Constraints: 20000, MaxDegree: 3, Points: 2,
		Lookups: 1 << 16, LookupWidth: 16,
	}}}}
}

func profile(t *testing.T, name string) Profile {
	t.Helper()
	p, ok := ProfileByName(name)
	if !ok {
		t.Fatalf("no profile %q", name)
	}
	return p
}

func byName(terms []Term) map[string]float64 {
	bits := map[string]float64{}
	for _, t := range terms {
		bits[t.Name] = t.Bits
	}
	return bits
}

func TestProfilesProve128Bits(t *testing.T) {
	for _, p := range Profiles() {
		level := Level(Terms(p, reference(), Johnson))
		if strings.HasSuffix(p.Name, "dev") {
			if level >= 40 {
				t.Errorf("%s has %d bits and would be taken for secure", p.Name, level)
			}
			continue
		}
		if level != 128 {
			t.Errorf("%s: %d bits: %v", p.Name, level, Terms(p, reference(), Johnson))
		}
		p.Queries--
		if fewer := Level(Terms(p, reference(), Johnson)); fewer >= 128 {
			t.Errorf("%s: %d queries are enough", p.Name, p.Queries)
		}
	}
}

func TestMinLogHeightIsSmallest(t *testing.T) {
	for _, p := range Profiles() {
		want := 1
		for _, r := range []Regime{Johnson, Unique} {
			x, _ := proximityOf(p, r)
			for !x.slack(want, 2) {
				want++
			}
		}
		if p.MinLogHeight != want {
			t.Errorf("%s: MinLogHeight %d, the DEEP condition asks for %d", p.Name, p.MinLogHeight, want)
		}
		low := reference()
		low.Shards[0][0].LogHeight = want
		if byName(Terms(p, low, Johnson))["DEEP"] == 0 {
			t.Errorf("%s: no DEEP bits at log height %d", p.Name, want)
		}
	}
}

func TestDeepWithoutSlackIsWorthNothing(t *testing.T) {
	low := reference()
	low.Shards[0][0].LogHeight = 2
	terms := Terms(profile(t, "fast"), low, Johnson)
	if bits := byName(terms)["DEEP"]; bits != 0 || Level(terms) != 0 {
		t.Errorf("4 rows at rate 1/2: DEEP %v bits, level %d", bits, Level(terms))
	}
}

func TestProfileByName(t *testing.T) {
	for _, p := range Profiles() {
		if got, ok := ProfileByName(p.Name); !ok || got != p {
			t.Errorf("%s: got %v, %v", p.Name, got, ok)
		}
	}
	if _, ok := ProfileByName("Standard"); ok {
		t.Error("names are case-sensitive")
	}
	Profiles()[0].Queries = 1
	if Profiles()[0].Queries == 1 {
		t.Error("a caller changed a profile")
	}
}

// TestSoundcalc compares every term with what the calculator's formulas give for the exports in testdata.
func TestSoundcalc(t *testing.T) {
	regimes := map[string]Regime{"JBR": Johnson, "UDR": Unique}
	names := map[string]string{"query-phase": "query"}
	recorded, err := os.ReadFile("testdata/soundcalc.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for line := range strings.Lines(string(recorded)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 6 {
			t.Fatalf("malformed line %q", line)
		}
		terms := Terms(profile(t, f[0]), reference(), regimes[f[2]])
		whole, err := strconv.Atoi(f[4])
		if err != nil {
			t.Fatal(err)
		}
		if f[3] == "total" {
			if Level(terms) != min(whole, Target) { // the calculator leaves the hash out
				t.Errorf("%s: total %d, the calculator says %d", f[0], Level(terms), whole)
			}
			continue
		}
		name := strings.Replace(f[3], "commit-round-", "fold ", 1)
		if short, ok := names[name]; ok {
			name = short
		}
		bits, ok := byName(terms)[name]
		exact, err := strconv.ParseFloat(f[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		if !ok || int(math.Floor(bits)) != whole || math.Abs(bits-exact) > 1e-6 {
			t.Errorf("%s %s %s: %.6f bits, the calculator says %d (%.6f)", f[0], f[2], name, bits, whole, exact)
		}
		compared[f[0]+f[2]]++
	}
	for _, p := range Profiles()[:4] {
		for label, r := range regimes {
			// all but the hash, and the pin, which the calculator does not know
			ours := len(Terms(p, reference(), r)) - 1
			if r == Johnson {
				ours--
			}
			if compared[p.Name+label] != ours {
				t.Errorf("%s %s: %d terms compared of %d", p.Name, label, compared[p.Name+label], ours)
			}
		}
	}
}

func TestSoundcalcExports(t *testing.T) {
	for _, p := range Profiles()[:4] {
		got, err := SoundcalcTOML(p, reference())
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", p.Name+".toml"), got)
	}
	several, err := SoundcalcTOML(profile(t, "standard"), mixed())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "mixed.toml"), several)
}

// mixed has two shards, one with several tables, two of them of one height, one below the final length. The other is worst in
// its constraints alone, and has lookups at a height of its own.
func mixed() Shape {
	return Shape{Claims: 3, Shards: [][]Table{{
		{LogHeight: 16, Columns: 300, MainColumns: 80, Constraints: 90, MaxDegree: 3, Points: 2, Lookups: 7, LookupWidth: 5},
		{LogHeight: 20, Columns: 100, MainColumns: 30, Constraints: 50, MaxDegree: 5, Points: 2, Lookups: 4, LookupWidth: 9},
		{LogHeight: 16, Columns: 200, MainColumns: 150, Constraints: 70, MaxDegree: 4, Points: 1},
		{LogHeight: 4, Columns: 40, MainColumns: 1, Constraints: 10, MaxDegree: 2, Points: 2},
	}, {
		{LogHeight: 21, Columns: 30, MainColumns: 10, Constraints: 200, MaxDegree: 2, Points: 1, Lookups: 5, LookupWidth: 3},
	}}}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run go test -update and read the change:\n%s", path, got)
	}
}

func TestGapIsRoundedUp(t *testing.T) {
	for logBlowup := 1; logBlowup < 32; logBlowup++ {
		for m := 3; m < 200; m++ {
			p := Profile{LogBlowup: logBlowup, Multiplicity: m}
			gap, err := strconv.ParseFloat(gapRoundedUp(p), 64)
			if err != nil {
				t.Fatal(err)
			}
			exact := johnsonGap(p)
			if gap <= exact || gap-exact > 1.01e-12 {
				t.Fatalf("rate 2^-%d, m = %d: gap %v exported as %v", logBlowup, m, exact, gap)
			}
			if logBlowup > 8 {
				continue // below, the gap is no longer large against its last digit
			}
			root := math.Sqrt(math.Ldexp(1, -logBlowup))
			if derived := math.Ceil(root / (2 * (1 - root - (1 - root - gap)))); derived != float64(m) {
				t.Fatalf("rate 2^-%d, m = %d: the calculator derives %v", logBlowup, m, derived)
			}
		}
	}
}

// TestSeveralHeightsAddUp recomputes the terms of a mixed shape from those of its heights alone.
func TestSeveralHeightsAddUp(t *testing.T) {
	p, s := profile(t, "standard"), mixed()
	for _, r := range []Regime{Johnson, Unique} {
		all := byName(Terms(p, s, r))
		x, _ := proximityOf(p, r)
		sums := map[string]float64{}
		for _, h := range []int{20, 16, 4} {
			var alone []Table
			for _, table := range s.Shards[0] {
				if table.LogHeight == h {
					alone = append(alone, table)
				}
			}
			for name, bits := range byName(Terms(p, Shape{Shards: [][]Table{alone}}, r)) {
				sums[name] += math.Exp2(-bits)
			}
		}
		for name, want := range map[string]float64{
			"batching": sums["batching"],                                        // the first shard's
			"DEEP":     sums["DEEP"],                                            // the first shard's
			"fold 1":   7 * x.err(18),                                           // the second shard's, by 8; the first folds by 4
			"fold 2":   4 * x.err(16),                                           // by 4, and 2^16 rolls in
			"fold 3":   7 * x.err(13),                                           // by 8
			"fold 4":   7 * x.err(10),                                           // by 8
			"fold 5":   7 * x.err(7),                                            // by 8
			"fold 6":   8 * x.err(4),                                            // by 8, and 2^4 rolls in and is final
			"ALI":      x.list * 200 / fieldSize,                                // the largest table
			"lookup":   (7<<16 + 4<<20 + 5<<21 + 3) * 9.0 / fieldSize,           // rows, shards and claims
			"pin":      sums["pin"] + x.list*(x.list-1)/2*(9+1<<21+1)/fieldSize, // every height of every shard
			"query":    math.Pow(x.miss, 112) / math.Exp2(20),                   //
			"hash":     math.Exp2(-128),                                         //
			"fold 7":   1,                                                       // there is none
			"commit":   1,                                                       // conjectured only
		} {
			if want == 0 {
				want = 1 // a term that is not there
			}
			if got := all[name]; math.Abs(got+math.Log2(want)) > 1e-9 {
				t.Errorf("%s %s: %v bits, want %v", r, name, got, -math.Log2(want))
			}
		}
	}
}

// TestPin has two tables at one height: the widest and the one opened at most points count.
func TestPin(t *testing.T) {
	p := profile(t, "standard") // a list of m / rho = 80
	s := Shape{Shards: [][]Table{{
		{LogHeight: 10, Columns: 40, MainColumns: 9, MaxDegree: 1, Points: 1},
		{LogHeight: 10, Columns: 40, MainColumns: 6, MaxDegree: 1, Points: 3},
	}}}
	want := -math.Log2(80*79/2*(9-1+1024+3)) + math.Log2(fieldSize)
	if got := byName(Terms(p, s, Johnson))["pin"]; math.Abs(got-want) > 1e-9 {
		t.Errorf("pin: %v bits, want %v", got, want)
	}
	for _, r := range []Regime{Unique, Conjectured} {
		if bits, ok := byName(Terms(p, s, r))["pin"]; ok {
			t.Errorf("%s: a pin of %v bits", r, bits)
		}
	}
}

// TestShardsShareTwoChallenges: four equal shards cost two bits where a challenge is the batch's and none where it is a shard's.
func TestShardsShareTwoChallenges(t *testing.T) {
	p, s := profile(t, "standard"), reference()
	for _, r := range []Regime{Johnson, Unique, Conjectured} {
		one, four := byName(Terms(p, s, r)), byName(Terms(p, repeated(4), r))
		if len(one) != len(four) {
			t.Errorf("%s: %d terms for one shard, %d for four", r, len(one), len(four))
		}
		for name, bits := range four {
			want := one[name]
			if name == "lookup" || name == "pin" {
				want -= 2
			}
			if math.Abs(bits-want) > 1e-9 {
				t.Errorf("%s %s: %v bits with four shards, want %v", r, name, bits, want)
			}
		}
	}
}

// TestWorstShardDecides in whatever order the shards come.
func TestWorstShardDecides(t *testing.T) {
	p, s := profile(t, "fast"), mixed()
	s.Shards = append(s.Shards, []Table{{LogHeight: 2, Columns: 2, MainColumns: 1, MaxDegree: 1, Points: 2}})
	forth := Terms(p, s, Johnson)
	if bits := byName(forth)["DEEP"]; bits != 0 {
		t.Errorf("a shard without slack: DEEP %v bits", bits)
	}
	slices.Reverse(s.Shards)
	if back := Terms(p, s, Johnson); !slices.Equal(forth, back) {
		t.Errorf("the order of shards matters: %v, then %v", forth, back)
	}
	if got := worstShard(p, s); len(got) != 1 || got[0].LogHeight != 2 {
		t.Errorf("exported %v", got)
	}
}

func repeated(shards int) Shape {
	s := reference()
	for len(s.Shards) < shards {
		s.Shards = append(s.Shards, s.Shards[0])
	}
	return s
}

func TestSchedule(t *testing.T) {
	for _, c := range []struct {
		heights    []int
		arity, end int
		want       string
	}{
		{[]int{24}, 3, 6, "[{3 21 8} {3 18 8} {3 15 8} {3 12 8} {3 9 8} {3 6 8}]"},
		{[]int{10}, 3, 6, "[{2 8 4} {2 6 4}]"},
		{[]int{13}, 3, 6, "[{3 10 8} {2 8 4} {2 6 4}]"},
		{[]int{6}, 3, 6, "[]"},
		{[]int{3}, 3, 6, "[]"},
		{[]int{0}, 3, 6, "[]"},
		{[]int{9, 8, 3}, 3, 6, "[{1 8 3} {3 5 8} {2 3 5}]"},
		{[]int{9, 7}, 1, 6, "[{1 8 2} {1 7 3} {1 6 2}]"},
	} {
		var tables []Table
		for _, h := range c.heights {
			tables = append([]Table{{LogHeight: h, Columns: 1}}, tables...)
		}
		if got := fmt.Sprint(schedule(groupByHeight(tables), c.arity, c.end)); got != c.want {
			t.Errorf("heights %v, arity 2^%d, final 2^%d: %s, want %s", c.heights, c.arity, c.end, got, c.want)
		}
	}
}

func TestConjectured(t *testing.T) {
	for _, p := range Profiles() {
		bits := byName(Terms(p, reference(), Conjectured))
		if want := float64(p.Queries*p.LogBlowup + p.GrindingBits); bits["query"] != want {
			t.Errorf("%s: %v bits, want %v", p.Name, bits["query"], want)
		}
		if math.Abs(bits["commit"]-192) > 1e-6 {
			t.Errorf("%s: commit %v bits", p.Name, bits["commit"])
		}
	}
}

// TestDigests keeps the collision resistance of digests apart from the level of the argument.
func TestDigests(t *testing.T) {
	r, _ := new(big.Float).SetString("21888242871839275222246405745257275088548364400416034343698204186575808495617")
	mantissa := new(big.Float)
	exponent := r.MantExp(mantissa)
	m, _ := mantissa.Float64()
	for name, want := range map[string]float64{"standard": 128, "root": (float64(exponent) + math.Log2(m)) / 2} {
		for _, regime := range []Regime{Johnson, Unique, Conjectured} {
			terms := Terms(profile(t, name), reference(), regime)
			if got := byName(terms)["hash"]; math.Abs(got-want) > 1e-9 || DigestLevel(terms) != int(want) {
				t.Errorf("%s: digests of %v bits, level %d, want %v", name, got, DigestLevel(terms), want)
			}
		}
	}
	if terms := []Term{{"query", "", 130.5}, {"hash", "", 100}, {"pin", "", 129.9}}; Bits(terms) != 129.9 || Level(terms) != Target || DigestLevel(terms) != 100 {
		t.Errorf("bits %v, level %d, digests %d", Bits(terms), Level(terms), DigestLevel(terms))
	}
	if DigestLevel(nil) != 0 || Bits([]Term{{"hash", "", 128}}) != 0 {
		t.Error("no terms are worth something")
	}
}

func TestRefusedShapes(t *testing.T) {
	good := profile(t, "standard")
	for name, change := range map[string]func(*Profile, *Shape){
		"no shards":         func(_ *Profile, s *Shape) { s.Shards = nil },
		"no tables":         func(_ *Profile, s *Shape) { s.Shards[0] = nil },
		"second shard":      func(_ *Profile, s *Shape) { s.Shards = append(s.Shards, nil) },
		"log height 31":     func(_ *Profile, s *Shape) { s.Shards[0][0].LogHeight = 31 },
		"log height 64":     func(_ *Profile, s *Shape) { s.Shards[0][0].LogHeight = 64 },
		"log height -1":     func(_ *Profile, s *Shape) { s.Shards[0][0].LogHeight = -1 },
		"no columns":        func(_ *Profile, s *Shape) { s.Shards[0][0].Columns = 0 },
		"no main columns":   func(_ *Profile, s *Shape) { s.Shards[0][0].MainColumns = 0 },
		"constraints":       func(_ *Profile, s *Shape) { s.Shards[0][0].Constraints = -1 },
		"degree":            func(_ *Profile, s *Shape) { s.Shards[0][0].MaxDegree = 0 },
		"points":            func(_ *Profile, s *Shape) { s.Shards[0][0].Points = 0 },
		"lookups":           func(_ *Profile, s *Shape) { s.Shards[0][0].Lookups = -1 },
		"width":             func(_ *Profile, s *Shape) { s.Shards[0][0].LookupWidth = 0 },
		"huge":              func(_ *Profile, s *Shape) { s.Shards[0][0].Columns = math.MaxInt },
		"claims":            func(_ *Profile, s *Shape) { s.Claims = -1 },
		"queries 0":         func(p *Profile, _ *Shape) { p.Queries = 0 },
		"queries":           func(p *Profile, _ *Shape) { p.Queries = math.MinInt },
		"grinding":          func(p *Profile, _ *Shape) { p.GrindingBits = 65 },
		"blowup 1":          func(p *Profile, _ *Shape) { p.LogBlowup = 0 },
		"blowup 2^64":       func(p *Profile, _ *Shape) { p.LogBlowup = 64 },
		"arity 1":           func(p *Profile, _ *Shape) { p.LogArity = 0 },
		"arity 16":          func(p *Profile, _ *Shape) { p.LogArity = 4 },
		"final":             func(p *Profile, _ *Shape) { p.LogFinal = -1 },
		"another suite":     func(p *Profile, _ *Shape) { p.Suite = "sha256" },
		"multiplicity":      func(p *Profile, _ *Shape) { p.Multiplicity = 2 },
		"the zero profile":  func(p *Profile, _ *Shape) { *p = Profile{} },
		"blowup and height": func(p *Profile, s *Shape) { p.LogBlowup, s.Shards[0][0].LogHeight = 31, 2 },
	} {
		p, s := good, reference()
		change(&p, &s)
		if err := Check(p, s); !errors.As(err, new(Error)) {
			t.Errorf("%s: Check returned %v", name, err)
		}
		for _, r := range []Regime{Johnson, Unique, Conjectured, ""} {
			terms := Terms(p, s, r)
			if len(terms) != 1 || terms[0].Name != "shape" || Bits(terms) != 0 || Level(terms) != 0 {
				t.Errorf("%s, %s: %v", name, r, terms)
			}
		}
		if text, err := SoundcalcTOML(p, s); err == nil || text != "" {
			t.Errorf("%s: exported %q", name, text)
		}
	}
	if terms := Terms(good, reference(), "capacity"); Level(terms) != 0 {
		t.Errorf("unknown regime: %v", terms)
	}
	if Bits(nil) != 0 || Level(nil) != 0 {
		t.Error("no terms prove nothing")
	}
}

// TestTermsAreFinite goes to the ends of what Check accepts.
func TestTermsAreFinite(t *testing.T) {
	for _, p := range []Profile{
		{Suite: SuiteBlake3, LogBlowup: 1, Queries: 1, LogArity: 1, Multiplicity: 3},
		{Suite: SuitePoseidon2, LogBlowup: 31, Queries: maxCount, GrindingBits: 64, LogArity: 3, LogFinal: 32, Multiplicity: maxCount},
		{Suite: SuiteBlake3, LogBlowup: 1, Queries: maxCount, GrindingBits: 64, LogArity: 2, LogFinal: 0, Multiplicity: maxCount},
	} {
		for _, h := range []int{0, 1, TwoAdicity - p.LogBlowup} {
			for _, table := range []Table{
				{Columns: 1, MainColumns: 1, MaxDegree: 1, Points: 1},
				{Columns: maxCount, MainColumns: maxCount, Constraints: maxCount, MaxDegree: maxCount, Points: maxCount,
					Lookups: maxCount, LookupWidth: maxCount},
			} {
				table.LogHeight = h
				s := Shape{Shards: [][]Table{{table, table, table}, {table}}, Claims: maxCount}
				for _, r := range []Regime{Johnson, Unique, Conjectured} {
					for _, term := range Terms(p, s, r) {
						if math.IsNaN(term.Bits) || math.IsInf(term.Bits, 0) || term.Bits < 0 || term.Source == "" {
							t.Errorf("%v, height %d, %s: %v", p, h, r, term)
						}
					}
				}
				if _, err := SoundcalcTOML(p, s); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestLog2(t *testing.T) {
	for e := -1074; e < 1024; e++ {
		if got := log2(math.Ldexp(1, e)); got != float64(e) {
			t.Fatalf("log2(2^%d) = %v", e, got)
		}
	}
	for x := 1.0001; x < 4; x += 0.0137 {
		if got, want := log2(x), math.Log2(x); math.Abs(got-want) > 1e-15*4 {
			t.Errorf("log2(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestFieldSize(t *testing.T) {
	p := new(big.Int).SetUint64(0xffffffff00000001)
	exact, _ := new(big.Float).SetInt(new(big.Int).Exp(p, big.NewInt(3), nil)).Float64()
	if fieldSize != exact {
		t.Errorf("fieldSize %v, want %v", fieldSize, exact)
	}
}

// TestProductsAreRounded finds products of floats that a compiler may fuse with a sum: those outside of a conversion.
// A division by a constant power of two counts, as it may be compiled to a product.
func TestProductsAreRounded(t *testing.T) {
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		for _, imported := range f.Imports {
			if path := imported.Path.Value; path != `"math"` && path != `"strconv"` {
				t.Errorf("%s imports %s; the package is a leaf", name, path)
			}
		}
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := conf.Check("security", fset, files, &info); err != nil {
		t.Fatal(err)
	}
	fusible := func(e *ast.BinaryExpr) bool {
		tv := info.Types[e]
		basic, ok := tv.Type.Underlying().(*types.Basic)
		if !ok || basic.Info()&types.IsFloat == 0 || tv.Value != nil {
			return false
		}
		if e.Op == token.QUO && info.Types[e.Y].Value != nil {
			divisor, _ := constant.Float64Val(info.Types[e.Y].Value)
			fraction, _ := math.Frexp(divisor)
			return fraction == 0.5
		}
		return e.Op == token.MUL
	}
	products := 0
	for _, f := range files {
		var path []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			if e, ok := n.(*ast.BinaryExpr); ok && fusible(e) {
				products++
				rounded := false
				for i := len(path) - 1; i >= 0 && !rounded; i-- {
					if outer, ok := path[i].(*ast.BinaryExpr); ok && (outer.Op == token.MUL || outer.Op == token.QUO) {
						continue
					}
					call, ok := path[i].(*ast.CallExpr)
					if rounded = ok && types.ExprString(call.Fun) == "float64"; !rounded {
						break
					}
				}
				if !rounded {
					t.Errorf("%s: %s may be fused", fset.Position(e.Pos()), types.ExprString(e))
				}
			}
			path = append(path, n)
			return true
		})
	}
	if products == 0 {
		t.Error("no products found")
	}
}
