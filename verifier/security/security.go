// Package security accounts for the soundness of a batch proof: one function, [Terms], returns every error term of the
// protocol with the theorem it comes from, and the level of a proof is the smallest of them.
//
// # Sources
//
// The formulas are those of the calculator ethereum/soundcalc (around commit 809896f), which takes them from
//
//   - BCHKS25: Ben-Sasson, Carmon, Haböck, Kopparty, Saraf, "On Proximity Gaps for Reed–Solomon Codes", eprint 2025/2055:
//     corollary 1.4 within the unique decoding radius, theorem 4.2 up to the Johnson bound (its statement lacks a factor 2
//     in the definition of the multiplicity; the calculator's authors had that confirmed by the paper's);
//   - Ha22: Haböck, "A summary on the FRI low degree test", eprint 2022/1216: theorem 8 for ALI and DEEP, section 4.1.3 for
//     the condition on several points in one quotient;
//   - Ha22b: Haböck, "Multivariate lookups based on logarithmic derivatives", eprint 2022/1530, for logUp.
//
// A term is a bound on the probability, over one challenge, that a false statement becomes a true one. The level is the
// minimum over terms and not their sum, as is right for round-by-round soundness under Fiat–Shamir: an attacker spends each
// hash query on one round. Grinding of g bits scales the term of its round by 2^-g.
//
// # Several heights in one FRI
//
// A single FRI serves tables of several heights k_h. Every height is accounted with its own dimension k_h and its own domain
// N_h = k_h/rho, and whatever one challenge does to several heights is added up:
//
//   - batching: one challenge batches B_h openings at each height, so the term is the sum of (B_h-1) e(k_h);
//   - folding by arity a to dimension k combines a functions with powers of one challenge: (a-1) e(k). Where a height enters
//     at that layer (roll-in) its codeword takes the next power of the same challenge: a+1 functions, a e(k);
//   - DEEP: one point serves all tables, so the term is the sum over heights;
//   - ALI: every table must become true on its own, so the table with the most constraints bounds them all.
//
// The rate, and with it the radius and the list size, is the same at every height. The list of one proof is not the product
// over heights: the queries test all heights at positions that project to one another and agreement is mutual (on one common
// set); c(x) of dimension k_h pulls back to c(x^(k/k_h)) of dimension at most k on the tallest domain, and so the tuples of
// codewords are themselves a code of distance at least 1-rho, to which the Johnson bound applies once. With one height, every
// figure is the calculator's.
//
// # Several shards
//
// Each shard has a FRI of its own; its errors count once per shard (a union bound, although a batch is only accepted if all
// of its shards are). The lookup argument is one for the batch.
//
// # What the calculator does not count
//
// Lookup challenges are drawn while the traces are only known up to a list of L codewords per shard, and each of the L^K
// choices is another chance for a false multiset equality to pass. [Terms] lists that as "lookup list"; "lookup" is the
// figure without it, as the calculator has it.
//
// # Arithmetic
//
// Figures are the same on every architecture: products are wrapped in float64 conversions, which the language defines as a
// rounding step that keeps a compiler from fusing multiply and add, and the logarithm is our own, as math.Log is assembly on
// some architectures. Square roots are exactly rounded everywhere.
package security

import (
	"math"
	"strconv"
)

// TwoAdicity is the largest log2 of an evaluation domain: p-1 = 2^32 (2^32-1) for Goldilocks.
const TwoAdicity = 32

// maxCount bounds every count in a shape or profile, so that no sum over tables overflows an int64.
const maxCount = 1 << 30

// fieldSize is |F| = p^3 for the cubic extension of Goldilocks, about 2^192.
const fieldSize float64 = (1<<64 - 1<<32 + 1) * (1<<64 - 1<<32 + 1) * (1<<64 - 1<<32 + 1)

// collisionBits is the collision resistance of a 256-bit digest: half its length.
const collisionBits = 128

// Regime says what is assumed about words far from the code. The zero value is no regime.
type Regime string

const (
	// Johnson is proven: radius gamma = 1 - sqrt(rho) - eta with eta = sqrt(rho)/2m (BCHKS25 theorem 4.2).
	Johnson Regime = "johnson"
	// Unique is proven: radius gamma = (1-rho)/2, a single codeword within it (BCHKS25 corollary 1.4).
	Unique Regime = "unique"
	// Conjectured is the "toy problem" of ethSTARK (eprint 2021/582, section 5.9.1): a query misses with probability rho.
	// The conjectures behind it, proximity gaps up to capacity, were refuted as stated in 2025 (eprint 2025/2010,
	// 2025/2046). No attack on FRI near these figures is known, and no proof either: they serve only to compare with
	// systems that still quote them.
	Conjectured Regime = "conjectured"
)

// Table is what the accounting needs to know of one table of a shard.
type Table struct {
	LogHeight   int // log2 of the rows
	Columns     int // terms batched for the low-degree test: one per column and opened point, at least 1
	Constraints int // constraints folded with powers of one challenge
	MaxDegree   int // largest degree of a constraint in the trace columns, at least 1
	Points      int // points at which one column is opened, at least 1; 2 for the current and next row
	Lookups     int // lookups of one row
	LookupWidth int // coordinates of the widest lookup with its channel tag; at least 1 if there are lookups
}

// Shape is the shape of a batch of shards that share one lookup challenge.
type Shape struct {
	Tables []Table // of one shard; of the largest where they differ
	Claims int     // fractions that claims and boundary messages add to the lookup sum
	Shards int     // 0 counts as 1
}

// Term is one soundness error.
type Term struct {
	Name   string
	Source string  // the theorem, or why the term is worth nothing
	Bits   float64 // -log2 of the error, at least 0 and finite
}

// Error is the reason why a profile or a shape cannot be accounted.
type Error string

func (e Error) Error() string { return "ixprove: security: " + string(e) }

// Check returns an [Error] if p or s has a number out of range: no tables, a domain above 2^[TwoAdicity], no queries, a
// multiplicity below the 3 of BCHKS25, an arity above 8, a count that is negative or above 2^30. It does not ask whether the
// result is secure.
func Check(p Profile, s Shape) error {
	type bound struct {
		name         string
		value, least int
		most         int
	}
	bounds := []bound{
		{"log blowup", p.LogBlowup, 1, TwoAdicity - 1},
		{"queries", p.Queries, 1, maxCount},
		{"grinding bits", p.GrindingBits, 0, 64},
		{"log arity", p.LogArity, 1, 3},
		{"log final length", p.LogFinal, 0, TwoAdicity},
		{"multiplicity", p.Multiplicity, 3, maxCount},
		{"tables", len(s.Tables), 1, maxCount},
		{"claims", s.Claims, 0, maxCount},
		{"shards", s.Shards, 0, maxCount},
	}
	for _, t := range s.Tables {
		bounds = append(bounds,
			bound{"log height", t.LogHeight, 0, TwoAdicity - p.LogBlowup},
			bound{"columns", t.Columns, 1, maxCount},
			bound{"constraints", t.Constraints, 0, maxCount},
			bound{"degree", t.MaxDegree, 1, maxCount},
			bound{"points", t.Points, 1, maxCount},
			bound{"lookups", t.Lookups, 0, maxCount},
			bound{"lookup width", t.LookupWidth, min(t.Lookups, 1), maxCount})
	}
	for _, b := range bounds {
		if b.value < b.least || b.value > b.most {
			return Error(b.name + ": expected " + strconv.Itoa(b.least) + " to " + strconv.Itoa(b.most) +
				", got " + strconv.Itoa(b.value))
		}
	}
	return nil
}

// Terms returns the soundness terms of a proof of shape s under profile p in regime r: lookups, batching, each fold, the
// queries, ALI, DEEP and the hash. A term whose error is zero (no lookups, a single opening) is left out. If [Check] refuses
// p or s, or r is unknown, the one term returned is "shape" with 0 bits and the reason as its source.
func Terms(p Profile, s Shape, r Regime) []Term {
	if err := Check(p, s); err != nil {
		return []Term{{"shape", err.Error(), 0}}
	}
	shards := float64(max(s.Shards, 1))
	var l ledger
	lookups := lookupError(s, shards)
	l.add("lookup", "Ha22b: (rows x lookups + claims) x width / F", lookups)

	if r == Conjectured {
		const source = "ethSTARK section 5.9.1, refuted as stated (eprint 2025/2010, 2025/2046)"
		l.add("commit", source+": 1 / F", shards/fieldSize)
		l.addBits("query", source+": rho^Q, ground", float64(float64(p.Queries)*float64(p.LogBlowup))+float64(p.GrindingBits)-log2(shards))
		return l.close()
	}
	x, ok := proximityOf(p, r)
	if !ok {
		return []Term{{"shape", Error("unknown regime " + strconv.Quote(string(r))).Error(), 0}}
	}
	if x.list > 1 && lookups > 0 {
		l.addBits("lookup list", "union bound: the lookup term for each of L^shards candidate traces",
			-log2(lookups)-float64(shards*log2(x.list)))
	}

	groups := groupByHeight(s.Tables)
	var batching, deep float64
	constraints, slack := 0, true
	for _, g := range groups {
		k, points := math.Ldexp(1, g.logHeight), float64(g.points)
		n := k / x.rho
		batching += float64(float64(g.columns-1) * x.err(g.logHeight))
		degree := float64(float64(g.degree)*(k+points-1)) + (k - 1)
		deep += float64(x.list*degree) / (fieldSize - k - n)
		constraints = max(constraints, g.constraints)
		slack = slack && x.slack(g.logHeight, g.points)
	}
	l.add("batching", x.source+", powers: sum over heights of (B-1) e", float64(shards*batching))
	for i, f := range schedule(groups, p.LogArity, p.LogFinal) {
		l.add("fold "+strconv.Itoa(i+1), x.source+", powers: (a-1) e, or a e with a roll-in",
			float64(shards*float64(f.functions-1)*x.err(f.logDimension)))
	}
	l.addBits("query", x.source+": (1-gamma)^Q, ground",
		float64(p.GrindingBits)-float64(float64(p.Queries)*log2(x.miss))-log2(shards))
	l.add("ALI", "Ha22 theorem 8: L C / F", float64(shards*x.list*float64(constraints))/fieldSize)
	if slack {
		l.add("DEEP", "Ha22 theorem 8: sum over heights of L (d (k+c-1) + k-1) / (F-k-N)", float64(shards*deep))
	} else {
		l.addBits("DEEP", "Ha22 section 4.1.3 does not hold: k + c < (1-gamma) N", 0)
	}
	return l.close()
}

// Bits returns the level of a proof with these terms: the smallest of them, 0 if there are none.
func Bits(terms []Term) float64 {
	if len(terms) == 0 {
		return 0
	}
	least := terms[0].Bits
	for _, t := range terms[1:] {
		least = min(least, t.Bits)
	}
	return least
}

// Level returns the whole bits of security: [Bits] rounded down, as the calculator prints it.
func Level(terms []Term) int { return int(math.Floor(Bits(terms))) }

// ledger collects terms; bits are kept between 0 and what a float64 can tell apart from certainty.
type ledger []Term

func (l *ledger) add(name, source string, err float64) {
	if err > 0 {
		l.addBits(name, source, -log2(err))
	}
}

func (l *ledger) addBits(name, source string, bits float64) {
	*l = append(*l, Term{name, source, max(bits, 0)})
}

// close adds the hash, which no regime changes.
func (l ledger) close() []Term {
	return append(l, Term{"hash", "collisions of a 256-bit digest", collisionBits})
}

// lookupError is the probability that a false multiset equality passes: the cleared sum has one fraction a lookup and row and
// one a claim, and each contributes the degree of its fingerprint in the two challenges.
func lookupError(s Shape, shards float64) float64 {
	var fractions float64
	width := 1
	for _, t := range s.Tables {
		fractions += math.Ldexp(float64(t.Lookups), t.LogHeight)
		width = max(width, t.LookupWidth)
	}
	return float64((float64(shards*fractions)+float64(s.Claims))*float64(width)) / fieldSize
}

// proximity holds what a regime says of Reed–Solomon codes of rate rho. The error of batching two functions of dimension k
// is linear in the domain size N = k/rho.
type proximity struct {
	source           string
	rho              float64
	miss             float64 // 1-gamma: a query on a word at distance gamma passes with this probability
	list             float64 // codewords within gamma, at most
	slope, intercept float64 // e = (slope N + intercept) / F
}

func proximityOf(p Profile, r Regime) (proximity, bool) {
	rho := math.Ldexp(1, -p.LogBlowup)
	switch r {
	case Unique:
		gamma := float64((1 - rho) / 2)
		return proximity{"BCHKS25 corollary 1.4", rho, 1 - gamma, 1, gamma, 1}, true
	case Johnson:
		root, eta := math.Sqrt(rho), johnsonGap(p)
		gamma := 1 - root - eta
		m := float64(p.Multiplicity) + 0.5
		slope := (float64(2*m*m*m*m*m) + float64(3*m*gamma*rho)) / float64(3*rho*root)
		return proximity{"BCHKS25 theorem 4.2", rho, root + eta, 1 / float64(2*eta*root), slope, m / root}, true
	}
	return proximity{}, false
}

// johnsonGap is eta, the distance of the radius from the Johnson bound for multiplicity m.
func johnsonGap(p Profile) float64 {
	return math.Sqrt(math.Ldexp(1, -p.LogBlowup)) / float64(2*p.Multiplicity)
}

// err is the error of batching two functions of dimension 2^logDimension with one challenge.
func (x proximity) err(logDimension int) float64 {
	n := math.Ldexp(1, logDimension) / x.rho
	return (float64(x.slope*n) + x.intercept) / fieldSize
}

// slack reports whether quotients by several points are sound at this height: k + c < (1-gamma) N (Ha22 section 4.1.3).
func (x proximity) slack(logHeight, points int) bool {
	k := math.Ldexp(1, logHeight)
	return k+float64(points) < float64(x.miss*k)/x.rho
}

// log2 is the binary logarithm of a positive finite x, by the series of the inverse hyperbolic tangent of (f-1)/(f+1) for
// x = f 2^e with f in [sqrt(1/2), sqrt(2)); thirteen terms reach the last bit.
func log2(x float64) float64 {
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, e = float64(2*f), e-1
	}
	s := (f - 1) / (f + 1)
	square, series := float64(s*s), 0.0
	for i := 25; i > 0; i -= 2 {
		series = 1/float64(i) + float64(square*series)
	}
	return float64(e) + float64(2*math.Log2E*s*series)
}
