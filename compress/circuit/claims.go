package circuit

import (
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// claimElements is the number of elements of a claim that states something, which is the same for all such entries of the key (sortEntries); 0 if there are none.
func (s *shape) claimElements() int {
	if len(s.stating) == 0 {
		return 0
	}
	args, results := verifier.EntryElements(&s.key.Entries[s.stating[0]])
	return args + results
}

// claim is a claim of the witness. Its elements are canonical.
type claim struct {
	entry    frontend.Variable
	channel  goldilocks.Element // number of the entry's channel, counted from 1
	elements []goldilocks.Element
}

// claims reads the claims: each is of one of the key's entries (P-6), has its number of elements (P-7, by the circuit's shape), each in its type's range (P-8). Entries without elements
// have the last claims, one each, and no others (P-38).
func (v *checker) claims() []claim {
	out := make([]claim, v.chosen())
	for i := range out {
		c, elements := &out[i], v.witness.Elements[i]
		choice := v.witness.Choices[i]
		if len(choice) == 0 {
			choice = []frontend.Variable{1}
		}
		c.entry, c.channel = v.chooseEntry(choice)
		for k, x := range elements {
			c.elements = append(c.elements, v.claimElement(choice, k, x))
		}
	}
	for _, e := range v.silent {
		out = append(out, claim{entry: e, channel: v.entryChannel(e)})
	}
	return out
}

// entryChannel is the number of an entry's channel, a constant.
func (v *checker) entryChannel(entry int) goldilocks.Element {
	return v.chip.Trusted(v.key.Entries[entry].Channel+1, 11)
}

// chooseEntry is the number of the chosen entry, and that of its channel. Exactly one of the entries that state something is chosen.
func (v *checker) chooseEntry(choice []frontend.Variable) (entry frontend.Variable, channel goldilocks.Element) {
	if len(choice) == 1 {
		return v.stating[0], v.entryChannel(v.stating[0])
	}
	var count, number frontend.Variable = 0, 0
	entry = 0
	for i, chosen := range choice {
		e := v.stating[i]
		v.api.AssertIsBoolean(chosen)
		count = v.api.Add(count, chosen)
		entry = v.api.Add(entry, v.api.Mul(chosen, e))
		number = v.api.Add(number, v.api.Mul(chosen, v.key.Entries[e].Channel+1))
	}
	v.api.AssertIsEqual(count, 1)
	return entry, v.chip.Trusted(number, 11) // at most 1,024 channels
}

// claimElement is element k of a claim of the chosen entry.
func (v *checker) claimElement(choice []frontend.Variable, k int, x frontend.Variable) goldilocks.Element {
	least, most := 64, 0
	sizes := make([]int, len(choice))
	for e := range choice {
		sizes[e] = elementBits(&v.key.Entries[v.stating[e]], k)
		least, most = min(least, sizes[e]), max(most, sizes[e])
	}
	for size := least; size < most; size++ {
		// For the entries of this size, the element or zero is in range.
		var of frontend.Variable = 0
		any := false
		for e, chosen := range choice {
			if sizes[e] == size {
				of, any = v.api.Add(of, chosen), true
			}
		}
		if any {
			v.chip.Number(v.api.Mul(of, x), size)
		}
	}
	element := v.chip.Number(x, most)
	if most == 64 {
		v.chip.AssertCanonical(element)
	}
	return element
}

// elementBits is the number of bits of element k of an entry's claims.
func elementBits(e *formats.Entry, k int) int {
	for _, values := range [][]formats.Value{e.Args, e.Results} {
		for _, value := range values {
			n := value.Type.Elements()
			if k < n {
				bits := 64
				for bits > 1 && !value.Type.Holds(1<<(bits-1)) {
					bits--
				}
				return bits
			}
			k -= n
		}
	}
	return 0
}

// balance demands that no message of a claim has fingerprint zero (P-24), and that their inverses and the tables' sums add up to zero (P-25).
func (v *checker) balance(claims []claim, sums []goldilocks.Ext) {
	total := append([]goldilocks.Ext(nil), sums...)
	for i := range claims {
		m := v.fingerprint(claims[i].channel, len(claims[i].elements), func(k int) goldilocks.Ext { return v.chip.FromBase(claims[i].elements[k]) })
		total = append(total, v.chip.InverseExt(m))
	}
	v.chip.AssertZeroExt(v.chip.SumExt(total...))
}

// fingerprint is alpha + channel + Σ gamma^i v_i of a message; channels are numbered from 1.
func (v *checker) fingerprint(channel goldilocks.Element, n int, at func(int) goldilocks.Ext) goldilocks.Ext {
	for len(v.gammas) < n {
		last := v.gammas[len(v.gammas)-1]
		v.gammas = append(v.gammas, v.chip.ReduceExt(v.chip.MulExt(last, v.gammas[0])))
	}
	m := v.chip.AddExt(v.alpha, v.chip.FromBase(channel))
	if n == 0 {
		return m
	}
	values := make([]goldilocks.Ext, n)
	for i := range values {
		values[i] = at(i)
	}
	return v.chip.AddExt(m, v.chip.DotExt(v.gammas[:n], values))
}
