package ptx

import (
	"encoding/binary"

	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// Table is where a periodic column's values are: that of a row is at (row >> Shift) & Mask.
type Table struct {
	At          uint64
	Shift, Mask uint32
}

// Arguments is a chunk's block of parameters.
func (k *Chunk) Arguments(p *Parameters, periodic func(column int) Table, delta field.Ext, ch *logup.Challenges) []byte {
	out, err := binary.Append(make([]byte, 0, k.ArgBytes), binary.LittleEndian, p)
	if err != nil {
		panic("ixprove: " + err.Error()) // of a structure of fixed size there is none
	}
	for _, column := range k.Periodic {
		t := periodic(column)
		out = binary.LittleEndian.AppendUint64(out, t.At)
		out = binary.LittleEndian.AppendUint32(out, t.Shift)
		out = binary.LittleEndian.AppendUint32(out, t.Mask)
	}
	for _, c := range k.Constants {
		var v field.Ext
		switch c.What {
		case Delta:
			v = field.PowExt(delta, uint64(c.Index))
		case NegDelta:
			v = field.SubExt(field.Ext{}, field.PowExt(delta, uint64(c.Index)))
		case Gamma:
			v = ch.Powers[c.Index-1]
		case Base:
			v = ch.Base(uint32(c.Index))
		}
		words := v[:]
		if c.Twice {
			words = append(words, field.Add(v[1], v[1]), field.Add(v[2], v[2]))
		}
		for _, w := range words {
			out = binary.LittleEndian.AppendUint64(out, uint64(w))
		}
	}
	return out
}
