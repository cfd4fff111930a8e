package fri_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
)

var suite = hash.Blake3{}

func randomExt(r *rand.Rand) field.Ext {
	return field.Ext{field.New(r.Uint64()), field.New(r.Uint64()), field.New(r.Uint64())}
}

func randomPolynomial(r *rand.Rand, terms int) []field.Ext {
	p := make([]field.Ext, terms)
	for i := range p {
		p[i] = randomExt(r)
	}
	return p
}

func at(p []field.Ext, x field.Element) (v field.Ext) {
	for i := len(p) - 1; i >= 0; i-- {
		v = field.AddExt(field.ScaleExt(v, x), p[i])
	}
	return v
}

func root(log int) field.Element {
	w, _ := field.RootOfUnity(log)
	return w
}

// point is y_j of a domain of 2^log points.
func point(log, j int) field.Element { return field.Pow(root(log), field.ReverseBits(uint64(j), log)) }

// word is a polynomial's values on the FRI domain of 2^log points.
func word(p []field.Ext, log int) []field.Ext {
	out := make([]field.Ext, 1<<log)
	for j := range out {
		out[j] = at(p, point(log, j))
	}
	return out
}

// foldByFormula is section 8's sum over c_j, as it stands there.
func foldByFormula(leaf []field.Ext, step int, y field.Element, beta field.Ext) (sum field.Ext) {
	inverseY, _ := field.Inverse(y)
	w, _ := field.Inverse(root(step))
	ratio := field.ScaleExt(beta, inverseY)
	for j := range leaf {
		var c field.Ext
		for t, v := range leaf {
			c = field.AddExt(c, field.ScaleExt(v, field.Pow(w, uint64(j)*field.ReverseBits(uint64(t), step))))
		}
		sum = field.AddExt(sum, field.MulExt(field.PowExt(ratio, uint64(j)), field.ScaleExt(c, field.InverseOfTwoPower(step))))
	}
	return sum
}

// foldCoefficients folds a polynomial by its coefficients: Σ β^j f_j with f(x) = Σ x^j f_j(x^A).
func foldCoefficients(p []field.Ext, step int, beta field.Ext) []field.Ext {
	out := make([]field.Ext, max(1, len(p)>>step))
	for i, c := range p {
		j := i & (1<<step - 1)
		out[i>>step] = field.AddExt(out[i>>step], field.MulExt(field.PowExt(beta, uint64(j)), c))
	}
	return out
}

// TestFold compares the folder with the formula on arbitrary words, and with polynomial arithmetic on words of polynomials.
func TestFold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for step := 1; step <= 4; step++ {
		folder := fri.NewFolder(step)
		for log := step; log <= step+4; log++ {
			p, beta := randomPolynomial(r, 1<<log), randomExt(r) // as many coefficients as points: any word
			folded, values := foldCoefficients(p, step, beta), word(p, log)
			for l := range 1 << (log - step) {
				y := field.Pow(root(log), field.ReverseBits(uint64(l), log-step))
				leaf := slices.Clone(values[l<<step : (l+1)<<step])
				want := foldByFormula(leaf, step, y, beta)
				if direct := at(folded, point(log-step, l)); direct != want {
					t.Fatalf("the formula and polynomial arithmetic disagree: step %d, 2^%d points, leaf %d", step, log, l)
				}
				inverseY, _ := field.Inverse(y)
				if got := folder.Fold(leaf, field.ScaleExt(beta, inverseY)); got != want {
					t.Errorf("step %d, 2^%d points, leaf %d: %v, want %v", step, log, l, got, want)
				}
			}
		}
	}
}

// layerTree is a layer's Merkle tree, whole.
func layerTree(word []field.Ext, log, step int) [][]hash.Digest {
	shape := suite.Shape(log-step, []int{3 << step})
	levels := make([][]hash.Digest, log-step+1)
	for l := range 1 << (log - step) {
		levels[log-step] = append(levels[log-step], suite.Leaf(&shape, encode(word[l<<step:(l+1)<<step])))
	}
	for k := log - step - 1; k >= 0; k-- {
		for i := range 1 << k {
			levels[k] = append(levels[k], suite.Node(&levels[k+1][2*i], &levels[k+1][2*i+1]))
		}
	}
	return levels
}

func encode(values []field.Ext) (e formats.Elements) {
	for _, v := range values {
		for _, c := range v {
			e = e.Append(uint64(c))
		}
	}
	return e
}

// instance is a low-degree test in which everything is honest, given the words.
type instance struct {
	schedule  fri.Schedule
	indices   []uint32
	codewords [][]field.Ext // at the queries
	proof     fri.Proof
}

// honest proves codewords by folding whole words with section 8's formula. The final polynomial is what interpolates the last word, cut to its terms.
func honest(r *rand.Rand, s fri.Schedule, words [][]field.Ext, indices []uint32) *instance {
	x := &instance{schedule: s, indices: indices}
	for k, h := range s.Heights {
		var values []field.Ext
		for _, i := range merkle.Distinct(indices, s.Heights[0]-h) {
			values = append(values, words[k][i])
		}
		x.codewords = append(x.codewords, values)
	}
	current, known := words[0], indices
	for i, step := range s.Steps {
		log := s.LogSize(i)
		levels := layerTree(current, log, step)
		x.proof.Roots = append(x.proof.Roots, levels[0][0])
		beta := randomExt(r)
		x.proof.Betas = append(x.proof.Betas, beta)
		leaves := merkle.Distinct(known, step)
		var o formats.Opening
		for _, leaf := range leaves {
			for j := leaf << step; j < (leaf+1)<<step; j++ {
				if !slices.Contains(known, j) {
					o.Rows = append(o.Rows, encode(current[j:j+1])...)
				}
			}
		}
		merkle.NewTree(suite, []merkle.Matrix{{LogRows: log - step, Width: 3 << step}}).VisitSiblings(leaves, func(log int, index uint32) {
			o.Siblings = append(o.Siblings, levels[log][index][:]...)
		})
		x.proof.Layers = append(x.proof.Layers, o)
		next := make([]field.Ext, 1<<(log-step))
		for l := range next {
			y := field.Pow(root(log), field.ReverseBits(uint64(l), log-step))
			next[l] = foldByFormula(current[l<<step:(l+1)<<step], step, y, beta)
			if k := s.Entering(i + 1); k > 0 {
				next[l] = field.AddExt(next[l], field.MulExt(field.PowExt(beta, 1<<step), words[k][l]))
			}
		}
		current, known = next, leaves
	}
	x.proof.Final = interpolate(current)[:1<<s.Final]
	return x
}

// interpolate returns the coefficients of a word by the inverse transform, term by term.
func interpolate(word []field.Ext) []field.Ext {
	log := 0
	for 1<<log < len(word) {
		log++
	}
	out := make([]field.Ext, len(word))
	for i := range out {
		for j, v := range word {
			back, _ := field.Inverse(field.Pow(point(log, j), uint64(i)))
			out[i] = field.AddExt(out[i], field.ScaleExt(v, back))
		}
		out[i] = field.ScaleExt(out[i], field.InverseOfTwoPower(log))
	}
	return out
}

func (x *instance) verify() string {
	if err := fri.Verify(suite, &x.schedule, x.indices, x.codewords, &x.proof); err != nil {
		return err.Check
	}
	return ""
}

// cases are height sets without a step, with one, with codewords that enter at intermediate layers and at the last one.
var cases = []struct {
	heights []int
	final   int
}{
	{[]int{1}, 6}, {[]int{3}, 6}, {[]int{4}, 1}, {[]int{7}, 2}, {[]int{6, 5, 2}, 6}, {[]int{7, 3}, 1}, {[]int{5, 4, 3, 2, 1}, 0},
}

func build(r *rand.Rand, heights []int, blowup, final int, spoil func(k int, p []field.Ext) []field.Ext) *instance {
	s := fri.NewSchedule(heights, blowup, 3, final)
	var words [][]field.Ext
	for k, h := range s.Heights {
		words = append(words, word(spoil(k, randomPolynomial(r, 1<<h)), h+blowup))
	}
	var indices []uint32
	size := uint32(1) << s.LogSize(0)
	for range 6 {
		indices = append(indices, r.Uint32N(size))
	}
	slices.Sort(indices)
	return honest(r, s, words, slices.Compact(indices))
}

func TestVerify(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range cases {
		for blowup := 1; blowup <= 2; blowup++ {
			x := build(r, c.heights, blowup, c.final, func(_ int, p []field.Ext) []field.Ext { return p })
			if check := x.verify(); check != "" {
				t.Fatalf("%v: an honest word fails at %s", c.heights, check)
			}
			// One coefficient too many, in each codeword in turn: the folds carry it to a term that the final polynomial lacks.
			for bad := range x.schedule.Heights {
				spoilt := build(r, c.heights, blowup, c.final, func(k int, p []field.Ext) []field.Ext {
					if k == bad {
						p = append(p, randomExt(r))
					}
					return p
				})
				if check := spoilt.verify(); check != "P-35" {
					t.Errorf("%v: codeword %d has a term too many: %q", c.heights, bad, check)
				}
			}
			// A codeword other than the one that was folded.
			for k := range x.codewords {
				for i := range x.codewords[k] {
					was := x.codewords[k][i]
					x.codewords[k][i][1] = field.Add(was[1], 1)
					// It is part of the first layer's leaves, or enters a later layer's; the last word meets only the final polynomial.
					allowed := []string{"P-34", "P-35"}
					if k == 0 && len(x.schedule.Steps) > 0 {
						allowed = allowed[:1]
					}
					if check := x.verify(); !slices.Contains(allowed, check) {
						t.Errorf("%v: codeword %d changed at query %d: %q, want one of %v", c.heights, k, i, check, allowed)
					}
					x.codewords[k][i] = was
				}
			}
			refuse := func(what, want string, restore func()) {
				t.Helper()
				if check := x.verify(); check != want {
					t.Errorf("%v: %s: %q, want %s", c.heights, what, check, want)
				}
				restore()
			}
			for i := range x.proof.Final {
				x.proof.Final[i][2] = field.Add(x.proof.Final[i][2], 1)
				refuse("a final coefficient changed", "P-35", func() { x.proof.Final[i][2] = field.Sub(x.proof.Final[i][2], 1) })
			}
			for i := range x.proof.Layers {
				layer := &x.proof.Layers[i]
				was := *layer
				layer.Rows = append(slices.Clone(was.Rows), make([]byte, formats.ExtElementBytes)...)
				refuse("a value too many", "P-32", func() { layer.Rows = was.Rows })
				layer.Siblings = append(slices.Clone(was.Siblings), make([]byte, 32)...)
				refuse("a sibling too many", "P-33", func() { layer.Siblings = was.Siblings })
				if len(was.Rows) > 0 {
					layer.Rows = was.Rows[:len(was.Rows)-formats.ExtElementBytes]
					refuse("a value too few", "P-32", func() { layer.Rows = was.Rows })
					layer.Rows = slices.Clone(was.Rows)
					layer.Rows[0] ^= 1
					refuse("a value changed", "P-34", func() { layer.Rows = was.Rows })
				}
				if len(was.Siblings) > 0 {
					layer.Siblings = was.Siblings[32:]
					refuse("a sibling too few", "P-33", func() { layer.Siblings = was.Siblings })
					layer.Siblings = slices.Clone(was.Siblings)
					layer.Siblings[0] ^= 1
					refuse("a sibling changed", "P-34", func() { layer.Siblings = was.Siblings })
				}
				x.proof.Roots[i][5] ^= 1
				refuse("a root changed", "P-34", func() { x.proof.Roots[i][5] ^= 1 })
			}
			if check := x.verify(); check != "" {
				t.Fatalf("%v: not restored: %s", c.heights, check)
			}
		}
	}
}
