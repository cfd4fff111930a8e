package cuda

import (
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
)

// combine writes Σ coefficient·column to three columns of 2^logHeight values.
func (s *session) combine(out *matrix, columns kernels.Columns, coefficients []field.Ext) error {
	on, factors, err := s.terms(columns, coefficients)
	if err != nil {
		return err
	}
	defer give(s, &on)
	defer give(s, &factors)
	return s.device.Combine(out.values, on, factors, 1<<out.logHeight)
}

// terms uploads columns and their coefficients.
func (s *session) terms(columns kernels.Columns, coefficients []field.Ext) (on kernels.Array[uint64], factors kernels.Array[field.Ext], err error) {
	if on, err = upload(s, []uint64(columns)); err != nil {
		return on, factors, err
	}
	if factors, err = upload(s, coefficients); err != nil {
		give(s, &on)
	}
	return on, factors, err
}

// sums returns the values at z of columns of 2^logSize values, on the trace domain or, shifted, on the first slab of an extension.
func (s *session) sums(columns kernels.Columns, logSize int, z field.Ext, shifted bool) ([]field.Ext, error) {
	weights, err := take[field.Ext](s, passing, 1<<logSize)
	if err != nil {
		return nil, err
	}
	defer give(s, &weights)
	if err := s.device.Weights(weights, logSize, z, shifted); err != nil {
		return nil, err
	}
	on, err := upload(s, []uint64(columns))
	if err != nil {
		return nil, err
	}
	defer give(s, &on)
	return s.device.Sums(on, weights, 1<<logSize)
}

// Pin implements prover.Session.
func (s *session) Pin(t *verifier.Table, main prover.Matrix, z, fold field.Ext) (_ prover.Matrix, value field.Ext, err error) {
	defer s.explain(&err, "pin of %s, 2^%d rows of %d columns", t.Name, t.LogHeight, t.Columns(verifier.Main))
	m := main.(*matrix)
	out, err := s.newMatrix(lasting, 3, t.LogHeight)
	if err != nil {
		return nil, value, err
	}
	factors := make([]field.Ext, m.columns)
	for i, p := 0, (field.Ext{1}); i < len(factors); i, p = i+1, field.MulExt(p, fold) {
		factors[i] = p
	}
	columns, err := kernels.Columns(nil).Add(m.values, m.columns, 1<<m.logHeight)
	if err == nil {
		err = s.combine(out, columns, factors)
	}
	if err == nil {
		columns, err = kernels.Columns(nil).Add(out.values, 3, 1<<out.logHeight)
	}
	var parts []field.Ext
	if err == nil {
		parts, err = s.sums(columns, t.LogHeight, z, false)
	}
	if err != nil {
		out.Free()
		return nil, value, err
	}
	for c := 2; c >= 0; c-- {
		value = field.AddExt(field.MulX(value), parts[c])
	}
	return out, value, nil
}

// extended lists some columns of a committed matrix.
func extended(c *prover.Selection) (kernels.Columns, error) {
	m := &c.In.(*commitment).matrices[c.Index]
	all, err := kernels.Columns(nil).Add(m.values, m.columns, 1<<m.logHeight)
	if c.Which == nil || err != nil {
		return all, err
	}
	var some kernels.Columns
	for _, i := range c.Which {
		some = append(some, all[i])
	}
	return some, nil
}

// Evaluate implements prover.Session.
func (s *session) Evaluate(selections []prover.Selection, logHeight int, z field.Ext) (_ []field.Ext, err error) {
	defer s.explain(&err, "values of columns of 2^%d rows", logHeight)
	var columns kernels.Columns
	for i := range selections {
		more, err := extended(&selections[i])
		if err != nil {
			return nil, err
		}
		columns = append(columns, more...)
	}
	return s.sums(columns, logHeight, z, true)
}

// codeword is a word over E on a FRI domain, in bit-reversed order.
type codeword struct {
	s    *session
	word kernels.Array[field.Ext]
}

// Free implements prover.Codeword.
func (c *codeword) Free() { give(c.s, &c.word) }

// Deep implements prover.Session.
func (s *session) Deep(logHeight int, points []prover.DeepPoint) (_ prover.Codeword, err error) {
	logSize := logHeight + s.logBlowup
	defer s.explain(&err, "DEEP quotients on 2^%d points", logSize)
	word, err := take[field.Ext](s, lasting, 1<<logSize)
	if err != nil {
		return nil, err
	}
	out := &codeword{s, word}
	begun := false
	for i := range points {
		if len(points[i].Terms)+len(points[i].Pins) == 0 {
			continue
		}
		if err := s.deepPoint(out, logHeight, &points[i], begun); err != nil {
			out.Free()
			return nil, err
		}
		begun = true
	}
	return out, nil
}

// deepPoint adds the quotients at one point to a word, or begins it with them.
func (s *session) deepPoint(to *codeword, logHeight int, p *prover.DeepPoint, begun bool) error {
	var columns kernels.Columns
	var coefficients []field.Ext
	for i := range p.Terms {
		t := &p.Terms[i]
		more, err := extended(&t.Selection)
		if err != nil {
			return err
		}
		columns, coefficients = append(columns, more...), append(coefficients, t.Coefficients...)
	}
	if len(p.Pins) > 0 {
		pins, err := s.extendPins(logHeight, p.Pins)
		if err != nil {
			return err
		}
		defer pins.Free()
		if columns, err = columns.Add(pins.values, 3, 1<<pins.logHeight); err != nil {
			return err
		}
		coefficients = append(coefficients, field.Ext{1}, field.Ext{0, 1}, field.Ext{0, 0, 1})
	}
	on, factors, err := s.terms(columns, coefficients)
	if err != nil {
		return err
	}
	defer give(s, &on)
	defer give(s, &factors)
	return s.device.Deep(to.word, logHeight+s.logBlowup, on, factors, p.Z, p.Claimed, begun)
}

// extendPins returns the extension of Σ coefficient·pin, as three columns.
func (s *session) extendPins(logHeight int, pins []prover.DeepPin) (*matrix, error) {
	var columns kernels.Columns
	var coefficients []field.Ext
	for i := range pins {
		m := pins[i].Trace.(*matrix)
		var err error
		if columns, err = columns.Add(m.values, 3, 1<<logHeight); err != nil {
			return nil, err
		}
		for c, k := 0, pins[i].Coefficient; c < 3; c, k = c+1, field.MulX(k) {
			coefficients = append(coefficients, k)
		}
	}
	sum, err := s.newMatrix(passing, 3, logHeight)
	if err != nil {
		return nil, err
	}
	defer sum.Free()
	if err := s.combine(sum, columns, coefficients); err != nil {
		return nil, err
	}
	out, err := s.newMatrix(passing, 3, logHeight+s.logBlowup)
	if err != nil {
		return nil, err
	}
	if err := s.device.Extend(out.values, sum.values, 3, logHeight, s.logBlowup); err != nil {
		out.Free()
		return nil, err
	}
	return out, nil
}
