package circuits

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/accel"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/verifier/field"
)

// writer follows plans: it computes the values of a row once more, with the results of calls and hints from the record, and writes columns or counts facts.
type writer struct {
	record  *exec.Record
	columns [][]field.Element // nil to count only
	at      int               // row in columns
	counts  *counts           // nil to write only
	values  []field.Element   // registers
	scratch [bc.MaxWidth]field.Element
	product field.Element
	rank    uint32
	pending []inverse
	err     error
}

// inverse is a cell that will hold factor/value.
type inverse struct {
	column, at    int
	value, factor field.Element
}

// mostPending are as many inverses as are computed together.
const mostPending = 1 << 10

// invert puts factor/value into a column, or 0 for value 0: later, with others.
func (w *writer) invert(column int, value, factor field.Element) {
	if w.columns == nil || value == 0 {
		return
	}
	if w.pending = append(w.pending, inverse{column, w.at, value, factor}); len(w.pending) == mostPending {
		w.flush()
	}
}

// flush computes the pending inverses from that of their product.
func (w *writer) flush() {
	product := field.Element(1)
	for i := range w.pending {
		p := &w.pending[i]
		p.factor = field.Mul(p.factor, product) // times the values before
		product = field.Mul(product, p.value)
	}
	rest, _ := field.Inverse(product)
	for i := len(w.pending) - 1; i >= 0; i-- {
		p := &w.pending[i]
		w.columns[p.column][p.at] = field.Mul(p.factor, rest)
		rest = field.Mul(rest, p.value)
	}
	w.pending = w.pending[:0]
}

func (w *writer) set(column int, v field.Element) {
	if column != none && w.columns != nil {
		w.columns[column][w.at] = v
	}
}

func (w *writer) count(f fact, at field.Element) {
	if w.counts != nil {
		w.counts[f][at]++
	}
}

// row writes the row of an entry.
func (w *writer) row(p *Plan, e exec.Entry, claims uint64) error {
	if len(w.values) < p.Registers {
		w.values = make([]field.Element, p.Registers)
	}
	copy(w.values, e.Args)
	for i, c := range p.Params {
		w.set(c, e.Args[i])
	}
	w.rank = e.Rank
	w.set(p.Uses, field.Element(e.Uses))
	w.set(p.Claims, field.Element(claims))
	w.set(p.Rank, field.Element(e.Rank))
	w.block(&p.Body)
	return w.err
}

func (w *writer) fail(what string) {
	if w.err == nil {
		w.err = &formats.Error{Class: formats.Internal, Place: "trace", What: "a row needs " + what + ", which the execution did not record"}
	}
}

// block follows a block to its end. It returns the values yielded, if the block yields.
func (w *writer) block(p *blockPlan) []bc.Value {
	for {
		at := p.First
		for i := range p.Ops {
			at += w.op(&p.Block.Ops[i], &p.Ops[i], at)
			w.writes(p.Ops[i].Writes)
		}
		w.writes(p.End)
		if p.Match == nil {
			return p.Block.End.Values
		}
		if p = w.choose(p.Match); p == nil {
			return nil
		}
	}
}

// choose enters the block that a match chooses.
func (w *writer) choose(p *matchPlan) *blockPlan {
	v := uint64(w.values[p.Match.Value])
	chosen := len(p.Match.Cases)
search:
	for i := range p.Match.Cases {
		for _, x := range p.Match.Cases[i].Values {
			if x == v {
				chosen = i
				break search
			}
		}
	}
	if chosen == len(p.Blocks) || p.Blocks[chosen].Dead {
		w.fail("a case for " + strconv.FormatUint(v, 10))
		return nil
	}
	w.writes(p.Before[chosen])
	return &p.Blocks[chosen]
}

// op computes an operation whose results go to registers from at on, and returns how many there are.
func (w *writer) op(o *bc.Op, p *opPlan, at int) int {
	v := w.values
	arg := func(i int) field.Element { return v[o.Args[i]] }
	switch o.Code {
	case bc.OpConst:
		v[at] = field.Element(o.A)
	case bc.OpAdd:
		v[at] = field.Add(arg(0), arg(1))
	case bc.OpSub:
		v[at] = field.Sub(arg(0), arg(1))
	case bc.OpMul:
		v[at] = field.Mul(arg(0), arg(1))
	case bc.OpIsZero:
		v[at] = 0
		if arg(0) == 0 {
			v[at] = 1
		}
	case bc.OpAssertZero, bc.OpRange:
		return 0
	case bc.OpSplit:
		x := arg(0)
		v[at], v[at+1] = x&(1<<o.A-1), x>>o.A
		return 2
	case bc.OpBytes:
		x := arg(0)
		for k := range int(o.A) {
			v[at+k] = x >> (8 * k) & 0xff
		}
		return int(o.A)
	case bc.OpXor:
		v[at] = arg(0) ^ arg(1)
	case bc.OpMatch:
		if b := w.choose(p.Match); b != nil {
			for k, r := range w.block(b) {
				w.scratch[k] = v[r]
			}
		}
		copy(v[at:], w.scratch[:o.A])
		return int(o.A)
	case bc.OpStore:
		for k, r := range o.Args {
			w.scratch[k] = v[r]
		}
		pointer, ok := w.record.FindCell(w.scratch[:o.A])
		if !ok {
			w.fail("a cell")
		}
		v[at] = field.Element(pointer)
	case bc.OpLoad:
		if uint64(arg(0)) >= uint64(w.record.Cells(int(o.A))) {
			w.fail("a cell")
			return int(o.A)
		}
		values, _ := w.record.Cell(int(o.A), int(arg(0)))
		return copy(v[at:], values)
	default:
		return w.call(o, p, at)
	}
	return 1
}

// call computes calls, hints and accelerators.
func (w *writer) call(o *bc.Op, p *opPlan, at int) int {
	args := w.scratch[:len(o.Args)]
	for k, r := range o.Args {
		args[k] = w.values[r]
	}
	_, n := w.record.Module.Program.Arity(o)
	results := w.values[at : at+n]
	if o.IsHint() {
		if !w.record.Hint(o, args, results) {
			w.fail("a hint")
		}
		return n
	}
	if o.Code != bc.OpCall {
		kind, _ := accel.ByCode(o.Code)
		kind.Of().Compute(args, results)
		return n
	}
	e, ok := w.record.Find(int(o.A), args)
	if !ok || !e.Constrained {
		w.fail("a call")
		return n
	}
	copy(results, e.Results)
	if p.Known != none {
		w.values[p.Known] = field.Element(e.Rank)
	}
	if p.Ranked != none {
		w.values[p.Ranked] = field.Element(e.Rank)
		w.values[p.Gap] = field.Sub(field.Element(w.rank), field.Element(e.Rank)+1)
	}
	return n
}

func (w *writer) writes(list []write) {
	for i := range list {
		x := &list[i]
		switch x.Kind {
		case writeValue:
			w.set(x.Column, w.values[x.R])
		case writeLimb:
			v := w.values[x.R] >> x.Shift & (1<<limbBits - 1) << x.Scale
			w.set(x.Column, v)
			w.count(factRange, v)
		case writeBit:
			w.set(x.Column, w.values[x.R]>>x.Shift&1)
		case writePair:
			a, b := w.values[x.R]>>x.Shift&0xff, field.Element(0)
			if x.R2 != none {
				b = w.values[x.R2] >> x.Shift2 & 0xff
			}
			w.set(x.Column, a)
			w.set(x.Second, b)
			w.count(factPair, a|b<<8)
		case writeXor:
			w.count(factXor, w.values[x.R]|w.values[x.R2]<<8)
		case writeInverse:
			w.invert(x.Column, w.values[x.R], 1)
		case writeFactor:
			if x.Begin {
				w.product = 1
			}
			w.product = field.Mul(w.product, field.Sub(w.values[x.R], field.Element(x.Constant)))
			w.set(x.Column, w.product)
		case writeInverseProduct:
			w.invert(x.Column, w.product, 1)
		case writeQuotient:
			w.invert(x.Column, 1<<32-1-w.values[x.R2], w.values[x.R])
		case writeOne:
			w.set(x.Column, 1)
		}
	}
}
