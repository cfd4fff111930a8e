package cuda

import (
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// Lookups implements prover.Session.
func (s *session) Lookups(t *verifier.Table, fixed, main prover.Matrix, ch *logup.Challenges) (_ prover.Matrix, sum field.Ext, err error) {
	defer s.explain(&err, "lookups of %s, 2^%d rows of %d auxiliary columns", t.Name, t.LogHeight, t.Columns(verifier.Aux))
	out, err := s.newMatrix(lasting, t.Columns(verifier.Aux), t.LogHeight)
	if err != nil {
		return nil, sum, err
	}
	var columns kernels.Array[field.Element]
	if fixed != nil {
		columns = fixed.(*matrix).values
	}
	if sum, err = s.device.Lookups(out.values, t.Circuit, t.LogHeight, main.(*matrix).values, columns, ch); err != nil {
		out.Free()
		return nil, sum, err
	}
	return out, sum, nil
}

// Quotient implements prover.Session.
func (s *session) Quotient(t *verifier.Table, fixed, main, aux prover.Columns, ch *logup.Challenges, sum, delta field.Ext) (_ prover.Matrix, err error) {
	defer s.explain(&err, "quotient of %s, %d slices of 2^%d rows", t.Name, t.Slices(), t.LogHeight)
	out, err := s.newMatrix(passing, t.Columns(verifier.Quotient), t.LogHeight)
	if err != nil {
		return nil, err
	}
	values := func(c prover.Columns) kernels.Array[field.Element] {
		if c.In == nil {
			return kernels.Array[field.Element]{}
		}
		return c.In.(*commitment).matrices[c.Index].values
	}
	if err := s.device.Quotient(out.values, t.Circuit, t.LogHeight, s.logBlowup, values(main), values(fixed), values(aux), ch, sum, delta); err != nil {
		out.Free()
		return nil, err
	}
	return out, nil
}
