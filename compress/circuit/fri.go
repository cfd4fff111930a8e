package circuit

import (
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/verifier/field"
)

// folds is what the low-degree tests of all queries share (docs/protocol.md section 8).
type folds struct {
	weights  [][]goldilocks.Ext // per layer: beta^j / A for j < A
	entering []goldilocks.Ext   // per layer: beta^A, where a codeword enters below it
	final    []goldilocks.Ext   // coefficients of the final polynomial
}

func (v *checker) newFolds(betas, final []goldilocks.Ext) *folds {
	f := &folds{final: final}
	for i, step := range v.Schedule.Steps {
		powers := v.powers(betas[i], 1<<step+1)
		var weights []goldilocks.Ext
		for _, p := range powers[:1<<step] {
			weights = append(weights, v.chip.ReduceExt(v.chip.ScaleConstantExt(p, field.InverseOfTwoPower(step))))
		}
		f.weights, f.entering = append(f.weights, weights), append(f.entering, powers[1<<step])
	}
	return f
}

// query tests the codewords at a query. Its index has bits b_0, b_1, …; the point of layer 0 is y = Π ω_(i+1)^(b_i), and that of layer i+1 is the point of layer i to the power of its arity,
// which drops the lowest bits.
func (v *checker) query(b *batch, f *folds, bits []frontend.Variable, rows opened) {
	chip := v.chip
	v.enter("points")
	step := 0
	if len(v.Schedule.Steps) > 0 {
		step = v.Schedule.Steps[0]
	}
	// u is 1/y of the first point of the coset, with the lowest bits zero, and reciprocal is 1/y of the point itself.
	u := chip.Constant(1)
	for i := step; i < len(bits); i += 3 {
		n := min(3, len(bits)-i)
		u = chip.Mul(u, chip.Table(bits[i:i+n], rootTable(i, n, true)))
	}
	u = chip.Reduce(u)
	reciprocal := chip.Mul(u, chip.Table(bits[:step], rootTable(0, step, true)))
	point := func() goldilocks.Element { return chip.Inverse(chip.Reduce(reciprocal)) }
	x := func() goldilocks.Element { return chip.ScaleConstant(point(), field.Shift) }

	top := x()
	v.enter("openings")
	current := v.codeword(b, 0, top, rows)
	for i, step := range v.Schedule.Steps {
		v.enter("fri")
		arity := 1 << step
		leaf := make([]goldilocks.Ext, arity)
		for k, row := 0, rows[len(v.Trees)+i][0]; k < arity; k++ {
			leaf[k] = goldilocks.Ext(row[3*k : 3*k+3])
		}
		chip.AssertEqualExt(current, v.choose(bits[:step], leaf)) // P-34
		// Σ_j beta^j (c_j u^j)
		powers := []goldilocks.Element{chip.Constant(1), u}
		for j := 2; j < arity; j++ {
			powers = append(powers, chip.Reduce(chip.Mul(powers[j/2], powers[j-j/2])))
		}
		coefficients := v.interpolateLeaf(leaf)
		for j := range coefficients {
			coefficients[j] = chip.MulBase(coefficients[j], powers[j])
		}
		current = chip.DotExt(f.weights[i], coefficients)

		v.enter("points")
		bits = bits[step:]
		reciprocal = chip.Mul(powers[arity/2], powers[arity/2])
		if i+1 < len(v.Schedule.Steps) {
			n := v.Schedule.Steps[i+1]
			u = chip.Reduce(chip.Mul(reciprocal, chip.Table(bits[:n], rootTable(0, n, false))))
		}
		if k := v.Schedule.Entering(i + 1); k > 0 {
			at := x()
			v.enter("openings")
			current = chip.AddExt(current, chip.MulExt(f.entering[i], v.codeword(b, k, at, rows)))
		}
	}
	v.enter("fri")
	chip.AssertEqualExt(current, v.evaluateFinal(f.final, point())) // P-35
	v.enter("hashes")
}

// choose is the value that the bits choose.
func (v *checker) choose(bits []frontend.Variable, values []goldilocks.Ext) goldilocks.Ext {
	for _, bit := range bits {
		half := make([]goldilocks.Ext, len(values)/2)
		for i := range half {
			half[i] = v.chip.SelectExt(bit, values[2*i+1], values[2*i])
		}
		values = half
	}
	return values[0]
}

// interpolateLeaf is A c_j for j < A: Σ_t F[t] ω_a^(-j rev(t)) of a leaf's A values. The roots of unity are signed powers of two, or a difference of two, below 2^49, so these are sums of
// small multiples.
func (v *checker) interpolateLeaf(leaf []goldilocks.Ext) []goldilocks.Ext {
	log := 0
	for 1<<log < len(leaf) {
		log++
	}
	natural := make([]goldilocks.Ext, len(leaf))
	for t := range leaf {
		natural[field.ReverseBits(uint64(t), log)] = leaf[t]
	}
	return v.transform(natural, log)
}

// transform is Σ_s f_s ω^(-js) for all j. Even j are the transform of the sums of opposite values, half as many.
func (v *checker) transform(f []goldilocks.Ext, log int) []goldilocks.Ext {
	if log == 0 {
		return f
	}
	chip, half := v.chip, len(f)/2
	sums, differences := make([]goldilocks.Ext, half), make([]goldilocks.Ext, half)
	for s := range half {
		sums[s], differences[s] = chip.AddExt(f[s], f[s+half]), chip.SubExt(f[s], f[s+half])
	}
	out := make([]goldilocks.Ext, len(f))
	for m, c := range v.transform(sums, log-1) {
		out[2*m] = c
		terms := make([]goldilocks.Ext, half)
		for s := range half {
			terms[s] = chip.ScaleConstantExt(differences[s], inverse(field.Pow(root(log), uint64((2*m+1)*s))))
		}
		out[2*m+1] = chip.SumExt(terms...)
	}
	return out
}

// evaluateFinal is the final polynomial at y: Σ_b y^(8b) Σ_k p_(8b+k) y^k.
func (v *checker) evaluateFinal(p []goldilocks.Ext, y goldilocks.Element) goldilocks.Ext {
	chip := v.chip
	low := min(8, len(p))
	steps := func(x goldilocks.Element, n int) []goldilocks.Element {
		out := []goldilocks.Element{chip.Constant(1), x}
		for k := 2; k < n; k++ {
			out = append(out, chip.Reduce(chip.Mul(out[k/2], out[k-k/2])))
		}
		return out
	}
	powers := steps(y, low+1)
	var terms []goldilocks.Ext
	large := steps(powers[low], len(p)/low)
	for b := range len(p) / low {
		terms = append(terms, chip.MulBase(chip.DotBase(p[low*b:low*b+low], powers[:low]), large[b]))
	}
	return chip.SumExt(terms...)
}
