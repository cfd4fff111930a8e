package verifier

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// Batch numbers the openings of a shard: each has a power of lambda of its own within its height.
type Batch struct {
	first []int // per table: the exponent of its first opening
	pins  []int // per table: the exponent of its pin
	count int   // powers needed
}

// NewBatch numbers the openings of the shape (docs/protocol.md section 7).
func NewBatch(s *Shape) *Batch {
	b := &Batch{first: make([]int, len(s.Tables)), pins: make([]int, len(s.Tables))}
	for _, h := range s.Schedule.Heights {
		k := 0
		for i := range s.Tables {
			if s.Tables[i].LogHeight == h {
				b.first[i] = k
				k += s.Tables[i].Openings()
			}
		}
		for i := range s.Tables {
			if s.Tables[i].LogHeight == h {
				b.pins[i] = k
				k++
			}
		}
		b.count = max(b.count, k)
	}
	return b
}

// Count is the number of powers of lambda that the numbering needs, from 0.
func (b *Batch) Count() int { return b.count }

// Powers are the powers of lambda that the numbering needs, from 0.
func (b *Batch) Powers(lambda field.Ext) []field.Ext {
	out := make([]field.Ext, b.count)
	p := field.Ext{1}
	for i := range out {
		out[i] = p
		p = field.MulExt(p, lambda)
	}
	return out
}

// Exponents are the exponents of lambda of a table's first column of a kind here, and of its first of NextColumns in the next row. The others follow.
func (b *Batch) Exponents(t *Table, table int, kind Kind) (here, next int) {
	here = b.first[table]
	for k := range kind {
		here += t.Columns(k) + len(t.NextColumns(k))
	}
	return here, here + t.Columns(kind)
}

// Coefficients returns, for a table and a kind, the powers of its columns here and of its NextColumns in the next row.
func (b *Batch) Coefficients(t *Table, table int, kind Kind, powers []field.Ext) (here, next []field.Ext) {
	at, after := b.Exponents(t, table, kind)
	return powers[at:after], powers[after : after+len(t.NextColumns(kind))]
}

// PinExponent is the exponent of lambda of a table's pin.
func (b *Batch) PinExponent(table int) int { return b.pins[table] }

// Pin is the power of a table's pin.
func (b *Batch) Pin(table int, powers []field.Ext) field.Ext { return powers[b.pins[table]] }

// codewords computes the batched DEEP quotients of each height at the queried points.
func (v *shardVerifier) codewords(indices []uint32, opened []*merkle.Opened, lambda field.Ext) [][]field.Ext {
	batch := NewBatch(v.Shape)
	powers := batch.Powers(lambda)
	pinPowers := make([]field.Ext, 0)
	for p := (field.Ext{1}); len(pinPowers) < v.maxMainColumns(); p = field.MulExt(p, v.pinFold) {
		pinPowers = append(pinPowers, p)
	}
	out := make([][]field.Ext, len(v.Schedule.Heights))
	var values, below []field.Element
	for level, h := range v.Schedule.Heights {
		at := merkle.Distinct(indices, v.Schedule.Heights[0]-h)
		w, _ := field.RootOfUnity(h)
		nextZeta := field.ScaleExt(v.zeta, w)
		points := [...]field.Ext{v.zeta, nextZeta, v.pinPoint}
		// Σ λ^k f_k(x) over the openings at each of the three points, less the same of the claimed values.
		sums := make([][len(points)]field.Ext, len(at))
		var claimed [len(points)]field.Ext
		for table := range v.Tables {
			t := &v.Tables[table]
			if t.LogHeight != h {
				continue
			}
			for kind := range NumKinds {
				n := t.Columns(kind)
				if n == 0 {
					continue
				}
				here, next := batch.Coefficients(t, table, kind, powers)
				o := &v.opened[table]
				claimed[0] = field.AddExt(claimed[0], dot(here, o.here[kind]))
				claimed[1] = field.AddExt(claimed[1], dot(next, o.next[kind]))
				pin := batch.Pin(table, powers)
				if kind == Main {
					claimed[2] = field.AddExt(claimed[2], field.MulExt(pin, extAt(v.proof.Pins, table)))
				}
				tree, level, offset := v.Place(kind, table)
				for i, index := range at {
					row := formats.Elements(opened[tree].Row(level, index)[offset : offset+n*formats.ElementBytes])
					s := &sums[i]
					values = values[:0]
					for c := range n {
						values = append(values, field.Element(row.At(c)))
					}
					s[0] = field.AddExt(s[0], field.Dot(here, values))
					if kind == Main {
						s[2] = field.AddExt(s[2], field.MulExt(pin, field.Dot(pinPowers[:n], values)))
					}
					below = below[:0]
					for _, c := range t.NextColumns(kind) {
						below = append(below, values[c])
					}
					s[1] = field.AddExt(s[1], field.Dot(next, below))
				}
			}
		}
		// Divide by x - z.
		log := h + v.key.Profile.LogBlowup
		root, _ := field.RootOfUnity(log)
		denominators := make([]field.Ext, 0, len(points)*len(at))
		for _, index := range at {
			x := field.Mul(field.Shift, field.Pow(root, field.ReverseBits(uint64(index), log)))
			for _, z := range points {
				denominators = append(denominators, field.SubExt(field.FromBase(x), z))
			}
		}
		// The points lie outside F, so no denominator is zero (P-26).
		field.BatchInverseExt(denominators, make([]field.Ext, len(denominators)))
		out[level] = make([]field.Ext, len(at))
		for i := range at {
			for k := range points {
				q := field.MulExt(field.SubExt(sums[i][k], claimed[k]), denominators[len(points)*i+k])
				out[level][i] = field.AddExt(out[level][i], q)
			}
		}
	}
	return out
}

func (v *shardVerifier) maxMainColumns() int {
	n := 0
	for i := range v.Tables {
		n = max(n, v.Tables[i].Columns(Main))
	}
	return n
}

func dot(a, b []field.Ext) (s field.Ext) {
	for i := range a {
		s = field.AddExt(s, field.MulExt(a[i], b[i]))
	}
	return s
}
