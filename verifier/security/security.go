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
// The calculator knows no pins. Their idea is that of Ben-Sasson, Goldberg, Kopparty, Saraf, "DEEP-FRI: Sampling outside the
// box improves soundness", eprint 2019/336; the bound is argued below.
//
// A term is a bound on the probability, over one challenge, that a false statement becomes a true one. The level is the
// minimum over terms and not their sum, as is right for round-by-round soundness under Fiat–Shamir: an attacker spends each
// hash query on one round. Grinding of g bits scales the term of its round by 2^-g.
//
// # Several heights in one FRI
//
// A single FRI serves tables of several heights k_h. Every height is accounted with its own dimension k_h and its own domain
// N_h = k_h/rho; the rate, and with it the radius and the list size L, is the same at every height. With one height, every
// figure is the calculator's.
//
//   - batching: one challenge batches B_h openings at each height, so the term is the sum of (B_h-1) e(k_h);
//   - folding by arity a to dimension k combines a functions with powers of one challenge: (a-1) e(k). Where a height enters
//     at that layer (roll-in) its codeword takes the next power of the same challenge: a+1 functions, a e(k);
//   - ALI: one challenge folds the constraints of every table, and the table with the most bounds them all. The columns of
//     one height are close to at most L tuples of codewords, and a constraint speaks of one table (what tables owe each other
//     stands in the transcript, as the sums of their lookups). A shard is therefore false exactly if there is a height at
//     which each of the L tuples has a false table: were there a true tuple at every height, together they would be a true
//     shard. That height has to become true, so one of its L tuples has to, and with it the false table of that tuple, which
//     happens with probability C/F. Nothing is gained from the other heights, nor from the other tables of this one;
//   - DEEP: the same argument holds, but the term is the sum over heights, which bounds their maximum.
//
// None of this multiplies the lists of several heights, nor asks that heights agree on one common set of positions.
//
// # Pins
//
// The lookup argument does speak of all tables at once, and would be a union over L candidates at each height of each shard.
// The pins leave one: before the lookup challenges, each table's columns f_c are sampled as sum eta^c f_c(zeta_0). Two
// different tuples of a height differ in a table; its W columns combine to zero for at most W-1 values of eta, and otherwise
// to a difference of degree below k+c (what quotients by c points allow at most), which vanishes at zeta_0 with probability
// below (k+c)/F. The term is the union over the L(L-1)/2 pairs of each height of each shard. Were agreement known to be mutual
// over heights, the tuples of a shard would be one code of distance 1-rho with one list, and the pairs of one height enough;
// the sum over heights does without. Fixed columns need no pin: they are codewords, and no other one agrees with them on more
// than k positions. Within the unique decoding radius there are no pairs and no term.
//
// # Several shards
//
// The pins and the lookups have one challenge for the batch, and their terms are sums over shards. Every other challenge
// belongs to one shard: it comes from that shard's own fork of the transcript. A false batch contains a false shard (once the
// lookup challenges leave the true sums unbalanced, whatever balanced sums are stated are false in some shard), and is
// accepted only if that shard is; each hash query of an attacker buys one round of one shard. So those terms are not summed
// but taken from the worst shard, for the reason that the level is a minimum over terms and not their sum. Fold i is the worst
// of the i-th folds.
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

// Target is the level that the protocol aims at. No proof is said to be worth more, whatever its terms.
const Target = 128

// suiteDigest is what the accounting knows of a suite's digests: log2 of their number, twice the bits of work that a collision takes.
type suiteDigest struct {
	sizeBits float64
	source   string
}

// digestOf returns false for a suite that no profile has.
func digestOf(suite string) (suiteDigest, bool) {
	switch suite {
	case SuiteBlake3:
		return suiteDigest{256, "collisions of a 256-bit digest"}, true
	case SuitePoseidon2:
		const scalars float64 = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001 // r, the order of BN254
		return suiteDigest{log2(scalars), "collisions of a digest in the scalar field of BN254"}, true
	}
	return suiteDigest{}, false
}

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
	Columns     int // terms batched for the low-degree test: one per column and opened point, one for the pin; at least 1
	MainColumns int // columns that the pin combines, at least 1
	Constraints int // constraints folded with powers of one challenge
	MaxDegree   int // largest degree of a constraint in the trace columns, at least 1
	Points      int // points at which one column is opened, at least 1; 2 for the current and next row
	Lookups     int // lookups of one row
	LookupWidth int // coordinates of the widest lookup, its channel tag and its zero among them; at least 1 if there are lookups
}

// Shape is the shape of a batch: shards that share the pin's challenge and the lookup challenge.
type Shape struct {
	Shards [][]Table // the tables of each shard, in any order
	Claims int       // fractions that claims and boundary messages add to the lookup sum
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

// Check returns an [Error] if p or s has a number out of range: no shards, a shard without tables, a domain above
// 2^[TwoAdicity], no queries, an unknown suite, a multiplicity below the 3 of BCHKS25, an arity above 8, a count that is negative or above 2^30.
// It does not ask whether the result is secure.
func Check(p Profile, s Shape) error {
	type bound struct {
		name         string
		value, least int
		most         int
	}
	check := func(bounds ...bound) error {
		for _, b := range bounds {
			if b.value < b.least || b.value > b.most {
				return Error(b.name + ": expected " + strconv.Itoa(b.least) + " to " + strconv.Itoa(b.most) +
					", got " + strconv.Itoa(b.value))
			}
		}
		return nil
	}
	err := check([]bound{
		{"log blowup", p.LogBlowup, 1, TwoAdicity - 1},
		{"queries", p.Queries, 1, maxCount},
		{"grinding bits", p.GrindingBits, 0, 64},
		{"log arity", p.LogArity, 1, 3},
		{"log final length", p.LogFinal, 0, TwoAdicity},
		{"multiplicity", p.Multiplicity, 3, maxCount},
		{"claims", s.Claims, 0, maxCount},
		{"shards", len(s.Shards), 1, maxCount},
	}...)
	if _, ok := digestOf(p.Suite); !ok && err == nil {
		err = Error("suite: expected one of a profile, got " + p.Suite)
	}
	tables := 0
	for _, shard := range s.Shards {
		tables += len(shard)
		if err == nil {
			err = check(bound{"tables of a shard", len(shard), 1, maxCount}, bound{"tables", tables, 1, maxCount})
		}
		for _, t := range shard {
			if err != nil {
				return err
			}
			err = check(
				bound{"log height", t.LogHeight, 0, TwoAdicity - p.LogBlowup},
				bound{"columns", t.Columns, 1, maxCount},
				bound{"main columns", t.MainColumns, 1, maxCount},
				bound{"constraints", t.Constraints, 0, maxCount},
				bound{"degree", t.MaxDegree, 1, maxCount},
				bound{"points", t.Points, 1, maxCount},
				bound{"lookups", t.Lookups, 0, maxCount},
				bound{"lookup width", t.LookupWidth, min(t.Lookups, 1), maxCount})
		}
	}
	return err
}

// Terms returns the soundness terms of a proof of shape s under profile p in regime r, in the order of the protocol: pins,
// lookups, ALI, DEEP, batching, each fold, the queries and the hash. A term whose error is zero (no lookups, a single opening)
// is left out. If [Check] refuses p or s, or r is unknown, the one term returned is "shape" with 0 bits and the reason as its
// source.
func Terms(p Profile, s Shape, r Regime) []Term {
	if err := Check(p, s); err != nil {
		return []Term{{"shape", err.Error(), 0}}
	}
	digest, _ := digestOf(p.Suite)
	var l ledger
	const lookupSource = "Ha22b: (rows x lookups + claims) x width / F"
	if r == Conjectured {
		const source = "ethSTARK section 5.9.1, refuted as stated (eprint 2025/2010, 2025/2046)"
		l.add("lookup", lookupSource, lookupError(s))
		l.add("commit", source+": 1 / F", 1/fieldSize)
		l.addBits("query", source+": rho^Q, ground", float64(float64(p.Queries)*float64(p.LogBlowup))+float64(p.GrindingBits))
		return l.close(digest)
	}
	x, ok := proximityOf(p, r)
	if !ok {
		return []Term{{"shape", "unknown regime " + string(r), 0}}
	}
	var worst shardError
	for _, tables := range s.Shards {
		worst = worst.or(x.shardError(p, tables))
	}
	deepSource := "Ha22 theorem 8: sum over heights of L (d (k+c-1) + k-1) / (F-k-N)"
	if worst.deep == 1 {
		deepSource = "Ha22 section 4.1.3 does not hold: k + c < (1-gamma) N"
	}
	l.add("pin", "DEEP technique (eprint 2019/336): sum over shards and heights of L (L-1) / 2 (W-1 + k+c) / F", x.pinError(s))
	l.add("lookup", lookupSource, lookupError(s))
	l.add("ALI", "Ha22 theorem 8: L C / F", worst.ali)
	l.add("DEEP", deepSource, worst.deep)
	l.add("batching", x.source+", powers: sum over heights of (B-1) e", worst.batching)
	for i, err := range worst.folds {
		l.add("fold "+strconv.Itoa(i+1), x.source+", powers: (a-1) e, or a e with a roll-in", err)
	}
	l.addBits("query", x.source+": (1-gamma)^Q, ground", float64(p.GrindingBits)-float64(float64(p.Queries)*log2(x.miss)))
	return l.close(digest)
}

// shardError holds the errors of the challenges that belong to one shard.
type shardError struct {
	ali, deep, batching float64
	folds               []float64
}

func (x proximity) shardError(p Profile, tables []Table) shardError {
	var e shardError
	groups := groupByHeight(tables)
	slack := true
	for _, g := range groups {
		k, points := math.Ldexp(1, g.logHeight), float64(g.points)
		n := k / x.rho
		degree := float64(float64(g.degree)*(k+points-1)) + (k - 1)
		e.ali = max(e.ali, float64(x.list*float64(g.constraints))/fieldSize)
		e.deep += float64(x.list*degree) / (fieldSize - k - n)
		e.batching += float64(float64(g.columns-1) * x.err(g.logHeight))
		slack = slack && x.slack(g.logHeight, g.points)
	}
	if !slack {
		e.deep = 1
	}
	for _, f := range schedule(groups, p.LogArity, p.LogFinal) {
		e.folds = append(e.folds, float64(float64(f.functions-1)*x.err(f.logDimension)))
	}
	return e
}

// or returns the larger of each error.
func (e shardError) or(o shardError) shardError {
	if len(e.folds) < len(o.folds) {
		e, o = o, e
	}
	folds := append([]float64(nil), e.folds...)
	for i, err := range o.folds {
		folds[i] = max(folds[i], err)
	}
	return shardError{max(e.ali, o.ali), max(e.deep, o.deep), max(e.batching, o.batching), folds}
}

func (e shardError) largest() float64 {
	largest := max(e.ali, e.deep, e.batching)
	for _, err := range e.folds {
		largest = max(largest, err)
	}
	return largest
}

// termHash names the term that is no error of the argument: it says what a collision of digests costs.
const termHash = "hash"

// Bits returns the bits of the argument with these terms: the smallest of them, the hash apart, 0 if there are none.
func Bits(terms []Term) float64 {
	least, found := 0.0, false
	for _, t := range terms {
		if t.Name != termHash && (!found || t.Bits < least) {
			least, found = t.Bits, true
		}
	}
	return least
}

// Level returns the whole bits of security of the argument: [Bits] rounded down, at most [Target].
func Level(terms []Term) int { return min(Target, int(math.Floor(Bits(terms)))) }

// DigestLevel returns the whole bits of work that a collision of digests takes, 0 if the terms do not say.
func DigestLevel(terms []Term) int {
	for _, t := range terms {
		if t.Name == termHash {
			return int(math.Floor(t.Bits))
		}
	}
	return 0
}

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
func (l ledger) close(d suiteDigest) []Term {
	return append(l, Term{termHash, d.source, float64(d.sizeBits / 2)})
}

// lookupError is the probability that a false multiset equality passes: there is one fraction a lookup and row and one a claim,
// and with v arguments each costs v + 2: v in gamma, where its message may meet the one that is false, and two in alpha, where
// the cleared sum may vanish and where its denominator may, which leaves its row's step free if its multiplicity is zero.
func lookupError(s Shape) float64 {
	fractions, width := float64(s.Claims), 1
	for _, tables := range s.Shards {
		for _, t := range tables {
			fractions += math.Ldexp(float64(t.Lookups), t.LogHeight)
			width = max(width, t.LookupWidth)
		}
	}
	return float64(fractions*float64(width)) / fieldSize
}

// pinError is the probability that the pins leave two candidates at some height of some shard.
func (x proximity) pinError(s Shape) float64 {
	pairs := float64(x.list * (x.list - 1) / 2)
	var zeros float64 // of the difference of one pair, summed over heights
	for _, tables := range s.Shards {
		for _, g := range groupByHeight(tables) {
			zeros += float64(g.mainColumns-1) + math.Ldexp(1, g.logHeight) + float64(g.points)
		}
	}
	return float64(pairs*zeros) / fieldSize
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
