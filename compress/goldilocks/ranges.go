package goldilocks

import (
	"errors"
	"math/big"

	"github.com/consensys/gnark/frontend"
)

// ranger checks ranges.
type ranger interface {
	// check demands 0 <= v < 2^bits.
	check(v frontend.Variable, bits int)
	// round is the largest number of bits that is no dearer to check than the given one.
	round(bits int) int
}

// hinted calls a hint of this package. The only error is a wrong number of inputs, which would be a mistake of this package.
func hinted(api frontend.API, name string, outputs int, inputs ...frontend.Variable) []frontend.Variable {
	out, err := api.Compiler().NewHint(hints[name], outputs, inputs...)
	if err != nil {
		panic(err)
	}
	return out
}

// cut writes v as n digits to the base 2^width, lowest first. The highest follows from the others and v, so that the digits add up to v by definition; the caller checks each.
func cut(api frontend.API, v frontend.Variable, width, n int) []frontend.Variable {
	if n == 1 {
		return []frontend.Variable{v}
	}
	digits := hinted(api, "digits of a power of two", n-1, width, v)
	terms := make([]frontend.Variable, 0, n-1)
	for i, d := range digits {
		terms = append(terms, api.Mul(d, new(big.Int).Neg(powerOfTwo(i*width))))
	}
	top := api.Add(v, terms[0], terms[1:]...)
	shift := new(big.Int).ModInverse(powerOfTwo((n-1)*width), api.Compiler().Field())
	return append(digits, api.Mul(top, shift))
}

// bits cuts v into bits.
func bits(api frontend.API, v frontend.Variable, n int) []frontend.Variable {
	out := cut(api, v, 1, n)
	for _, b := range out {
		api.AssertIsBoolean(b)
	}
	return out
}

// bitRanges checks ranges by bits.
type bitRanges struct{ api frontend.API }

func (r bitRanges) check(v frontend.Variable, n int) { bits(r.api, v, n) }

func (r bitRanges) round(bits int) int { return bits }

// limbRanges checks ranges by limbs, each looked up in the table 0 … 2^width - 1: Σ 1/(x - limb) = Σ count_j/(x - j) at a challenge x that depends on all limbs and counts.
type limbRanges struct {
	api   frontend.API
	width int
	limbs []frontend.Variable
}

func (r *limbRanges) check(v frontend.Variable, bits int) {
	n := (bits + r.width - 1) / r.width
	digits := cut(r.api, v, r.width, n)
	r.limbs = append(r.limbs, digits...)
	if spare := n*r.width - bits; spare > 0 {
		// With the highest limb its multiple by 2^spare is in the table too.
		r.limbs = append(r.limbs, r.api.Mul(digits[n-1], powerOfTwo(spare)))
	}
}

func (r *limbRanges) round(bits int) int { return (bits + r.width - 1) / r.width * r.width }

// close makes the lookup argument.
func (r *limbRanges) close(api frontend.API) error {
	if len(r.limbs) == 0 {
		return nil
	}
	committer, ok := api.(frontend.Committer)
	if !ok {
		return errors.New("ixprove: the builder makes no commitments, which the chip needs for its range checks")
	}
	counts := hinted(api, "multiplicities", 1<<r.width, r.limbs...)
	x, err := committer.Commit(append(append([]frontend.Variable{}, r.limbs...), counts...)...)
	if err != nil {
		return err
	}
	denominators := make([]frontend.Variable, len(r.limbs))
	for i, l := range r.limbs {
		denominators[i] = api.Sub(x, l)
	}
	if batch, ok := api.(frontend.BatchInverter); ok {
		denominators = batch.BatchInvert(denominators)
	} else {
		for i, d := range denominators {
			denominators[i] = api.Inverse(d)
		}
	}
	terms := make([]frontend.Variable, len(counts))
	for j, n := range counts {
		terms[j] = api.DivUnchecked(n, api.Sub(x, j))
	}
	api.AssertIsEqual(sum(api, denominators), sum(api, terms))
	return nil
}

// sum adds in a tree, which keeps the solver's levels few.
func sum(api frontend.API, xs []frontend.Variable) frontend.Variable {
	for len(xs) > 1 {
		half := make([]frontend.Variable, 0, (len(xs)+1)/2)
		for i := 0; i+1 < len(xs); i += 2 {
			half = append(half, api.Add(xs[i], xs[i+1]))
		}
		if len(xs)%2 == 1 {
			half = append(half, xs[len(xs)-1])
		}
		xs = half
	}
	return xs[0]
}
