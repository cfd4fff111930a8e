package fri

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// Folder folds cosets of 2^step values.
type Folder struct {
	step  int
	roots [][]field.Element // per halving, ω^-rev(i)/2 for each pair i
}

// NewFolder prepares folds by 2^step.
func NewFolder(step int) *Folder {
	f := &Folder{step: step}
	for k := step; k > 0; k-- {
		w, _ := field.RootOfUnity(k)
		inverse, _ := field.Inverse(w)
		roots := make([]field.Element, 1<<(k-1))
		for i := range roots {
			roots[i] = field.Mul(half, field.Pow(inverse, field.ReverseBits(uint64(i), k-1)))
		}
		f.roots = append(f.roots, roots)
	}
	return f
}

// half is 1/2.
const half = (field.Modulus + 1) / 2

// Fold returns the value at y^A of the folded polynomial, Σ β^j f_j(y^A) for f(x) = Σ x^j f_j(x^A), from the A = 2^step values of f on the coset of y in
// bit-reversed order, which it overwrites. s is β/y. It folds by two, step times: a pair lies at ±y·ω^rev(i).
func (f *Folder) Fold(values []field.Ext, s field.Ext) field.Ext {
	for _, roots := range f.roots {
		for i, root := range roots {
			a, b := values[2*i], values[2*i+1]
			odd := field.MulExt(field.SubExt(a, b), field.ScaleExt(s, root))
			values[i] = field.AddExt(field.ScaleExt(field.AddExt(a, b), half), odd)
		}
		s = field.SquareExt(s)
	}
	return values[0]
}

// Proof is the parts of a shard's proof that the low-degree test reads, and the challenges drawn for them.
type Proof struct {
	Roots  []hash.Digest
	Betas  []field.Ext
	Final  []field.Ext
	Layers []formats.Opening
}

// Layer is what the queries reach of a layer: its leaves, ascending, and their values one after another, those that the verifier computes among them.
type Layer struct {
	Leaves []uint32
	Values formats.Elements
}

// Expand computes all layers from the codewords and the values that the proof has, and the last codeword at the queried points. Arguments are those of Verify. The only failure is P-32.
func Expand(s *Schedule, indices []uint32, codewords [][]field.Ext, p *Proof) (layers []Layer, last []field.Ext, at []uint32, err *formats.Error) {
	current := append([]field.Ext(nil), codewords[0]...)
	at = indices
	for i, step := range s.Steps {
		leaves := merkle.Distinct(at, step)
		arity := 1 << step
		missing := len(leaves)*arity - len(at)
		layer := &p.Layers[i]
		if len(layer.Rows) != missing*formats.ExtElementBytes {
			return nil, nil, nil, reject("P-32", place(i), "the layer has another number of values than the queries need").
				Mismatch(uint64(missing*formats.ExtElementBytes), uint64(len(layer.Rows)))
		}
		// Fill the leaves with what is known and read the rest.
		full := make(formats.Elements, 0, len(leaves)*arity*formats.ExtElementBytes)
		values := make([]field.Ext, len(leaves)*arity)
		known, read := 0, 0
		for l, leaf := range leaves {
			for t := range arity {
				v := &values[l*arity+t]
				if known < len(at) && at[known] == leaf<<step+uint32(t) {
					*v = current[known]
					known++
				} else {
					for k := range v {
						v[k] = field.Element(layer.Rows.At(3*read + k))
					}
					read++
				}
				for _, c := range v {
					full = full.Append(uint64(c))
				}
			}
		}
		layers = append(layers, Layer{leaves, full})
		// Fold, and let the codeword of this height enter.
		log := s.LogSize(i)
		w, _ := field.RootOfUnity(log)
		inverse, _ := field.Inverse(w)
		next := make([]field.Ext, len(leaves))
		folder := NewFolder(step)
		for l, leaf := range leaves {
			y := field.Pow(inverse, field.ReverseBits(uint64(leaf), log-step))
			next[l] = folder.Fold(values[l*arity:(l+1)*arity], field.ScaleExt(p.Betas[i], y))
		}
		if k := s.Entering(i + 1); k > 0 {
			power := field.SquareExtTimes(p.Betas[i], step)
			for l := range next {
				next[l] = field.AddExt(next[l], field.MulExt(power, codewords[k][l]))
			}
		}
		current, at = next, leaves
	}
	return layers, current, at, nil
}

// LayerTree is the tree of a layer of 2^logSize values in E, in leaves of 2^step.
func LayerTree(suite hash.Suite, logSize, step int) *merkle.Tree {
	return merkle.NewTree(suite, []merkle.Matrix{{LogRows: logSize - step, Width: 3 << step}})
}

// Tree is the tree of layer i.
func (s *Schedule) Tree(suite hash.Suite, i int) *merkle.Tree {
	return LayerTree(suite, s.LogSize(i), s.Steps[i])
}

// Verify checks that the codewords, given at the queried points, are close to polynomials of their degrees. indices are the sorted, distinct query indices of the
// tallest domain; codeword k, of height Heights[k], has at codewords[k][i] its value at the i-th of the distinct indices >> (Heights[0] - Heights[k]).
// Lengths of roots, betas, final polynomial and layers are those of the schedule. A failure is one of P-32 to P-35.
func Verify(suite hash.Suite, s *Schedule, indices []uint32, codewords [][]field.Ext, p *Proof) *formats.Error {
	layers, last, at, err := Expand(s, indices, codewords, p)
	if err != nil {
		return err
	}
	for i, l := range layers {
		if _, f := s.Tree(suite, i).Verify(&p.Roots[i], l.Leaves, &formats.Opening{Rows: l.Values, Siblings: p.Layers[i].Siblings}); f.Fault == merkle.Siblings {
			return reject("P-33", place(i), "the layer has another number of siblings than the queries need").Mismatch(f.Expected, f.Got)
		} else if f.Fault != merkle.None {
			return reject("P-34", place(i), "the layer's multiproof leads to another root")
		}
	}
	log := s.Final + s.LogBlowup
	w, _ := field.RootOfUnity(log)
	for i, index := range at {
		y := field.Pow(w, field.ReverseBits(uint64(index), log))
		var v field.Ext
		for k := len(p.Final) - 1; k >= 0; k-- {
			v = field.AddExt(field.ScaleExt(v, y), p.Final[k])
		}
		if v != last[i] {
			return reject("P-35", "point "+strconv.FormatUint(uint64(index), 10), "the last codeword is not the final polynomial")
		}
	}
	return nil
}

func place(layer int) string { return "layer " + strconv.Itoa(layer) }

func reject(check, place, what string) *formats.Error {
	return &formats.Error{Class: formats.Rejected, Check: check, Place: place, What: what}
}
