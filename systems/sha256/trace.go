package sha256

import "github.com/ixprove/ixprove/verifier/field"

// Call is one call and how often it is used.
type Call struct {
	State [8]uint32
	Block [16]uint32
	Uses  uint64
}

// line is a row: its words, and what follows from them and the line before.
type line struct {
	a, e, w                [4]uint32
	carryE, carryA, carryW [2][4]field.Element // units; threes of e, twos of a and w
	s                      [3][4]uint64
	state, output          [8]uint64
	uses                   uint64
}

// lines are the rows of a call.
type lines [callRows]line

// idle is the number of the row that belongs to no call.
const idle = -1

// slot is where word i of a state lies after four rounds.
func (x *line) slot(i int) *uint32 {
	p := stateSlots[i]
	if p.e {
		return &x.e[p.slot]
	}
	return &x.a[p.slot]
}

// fill computes the words of a call.
func (l *lines) fill(c *Call) {
	*l = lines{}
	words := schedule(&c.Block)
	for r := range l {
		x := &l[r]
		if r < rowLast {
			copy(x.w[:], words[4*r:])
		}
		if r == 0 {
			for i, v := range c.State {
				*x.slot(i) = v
			}
			continue
		}
		for j := range 4 {
			x.round(&l[r-1], r, j)
		}
	}
	l.finish(c.Uses)
}

// round computes round j of row r from those before.
func (x *line) round(before *line, r, j int) {
	a, e := x.history(before, j)
	x.e[j] = a[0] + e[0] + bigSigma1.of(e[3]) + choose(e[3], e[2], e[1]) + roundConstant(r, j) + before.w[j]
	x.a[j] = x.e[j] - a[0] + bigSigma0.of(a[3]) + majority(a[3], a[2], a[1])
}

// finish computes the columns that are constant in a call.
func (l *lines) finish(uses uint64) {
	for i := range stateSlots {
		first, last := *l[0].slot(i), *l[rowLast].slot(i)
		for r := range l {
			l[r].state[i], l[r].output[i] = uint64(first), uint64(first+last)
		}
	}
	l[rowCall].uses = uses
}

// history is what the words a and e were in the four rounds before round j of a row, the first first.
func (x *line) history(before *line, j int) (a, e [4]uint32) {
	copy(a[:], before.a[j:])
	copy(a[4-j:], x.a[:j])
	copy(e[:], before.e[j:])
	copy(e[4-j:], x.e[:j])
	return a, e
}

// roundConstant is the constant of round j of row r; rows that are no rounds have none.
func roundConstant(r, j int) uint32 {
	if r <= 0 {
		return 0
	}
	return constants[4*(r-1)+j]
}

// derive computes what follows from the words; before is the line before row 0.
func (l *lines) derive(before *line) {
	for r := range l {
		l[r].derive(before, r)
		before = &l[r]
	}
}

var (
	inverse32, _ = field.Inverse(1 << 32)
	inverse3, _  = field.Inverse(3)
)

// derive computes sums and carries of row r. Where a carry is free it is whatever makes its sum true.
func (x *line) derive(before *line, r int) {
	for j := range 4 {
		next := x.w[0]
		if j < 3 {
			next = before.w[j+1]
		}
		x.s[0][j] = uint64(before.w[j]) + uint64(smallSigma0.of(next))
		if r >= 2 && r <= 13 {
			x.s[1][j] = before.s[0][j]
		}
		if r >= 3 && r <= 14 {
			x.s[2][j] = before.s[1][j]
			if j < 3 {
				x.s[2][j] += uint64(next)
			}
		}
		switch r {
		case 1:
			x.carryW[1][j] = field.Element(before.w[j])
		case 2:
			x.carryW[1][j], x.s[2][j] = before.carryW[1][j], uint64(before.w[j])
		}

		a, e := x.history(before, j)
		sum := uint64(a[0]) + uint64(e[0]) + uint64(bigSigma1.of(e[3])) + uint64(choose(e[3], e[2], e[1])) + uint64(roundConstant(r, j)) + uint64(before.w[j])
		if carry, ok := carryOf(sum-uint64(x.e[j]), 6); ok {
			x.carryE[0][j], x.carryE[1][j] = carry%3, carry/3
		} else {
			x.carryE[1][j] = field.Mul(over32(sum, x.e[j]), inverse3)
		}
		sum = 1<<32 + uint64(x.e[j]) - uint64(a[0]) + uint64(bigSigma0.of(a[3])) + uint64(majority(a[3], a[2], a[1]))
		if carry, ok := carryOf(sum-uint64(x.a[j]), 4); ok {
			x.carryA[0][j], x.carryA[1][j] = carry&1, carry>>1
		} else {
			x.carryA[0][j] = over32(sum, x.a[j])
		}
		past := x.w[(j+2)&3] // W[t-2]
		if j < 2 {
			past = before.w[j+2]
		}
		sum = before.s[2][j] + uint64(smallSigma1.of(past))
		if j == 3 {
			sum += uint64(before.w[0])
		}
		if carry, ok := carryOf(sum-uint64(x.w[j]), 4); ok && x.carryW[1][j] == 0 && r > 3 {
			x.carryW[0][j], x.carryW[1][j] = carry&1, carry>>1
		} else {
			x.carryW[0][j] = field.Sub(over32(sum, x.w[j]), field.Add(x.carryW[1][j], x.carryW[1][j]))
		}
	}
	for i, at := range rangeRows {
		for k, v := range x.output[2*i : 2*i+2] {
			if r == at {
				x.s[1][2*k], x.s[1][2*k+1] = v&0xffff, v>>16
			}
		}
	}
}

// carryOf is v/2^32 if that is a whole number below limit.
func carryOf(v, limit uint64) (field.Element, bool) {
	return field.Element(v >> 32), v<<32 == 0 && v>>32 < limit
}

// over32 is (sum - word)/2^32 in the field.
func over32(sum uint64, word uint32) field.Element {
	return field.Mul(field.Sub(field.Element(sum), field.Element(word)), inverse32)
}

// store writes a row of the table.
func (x *line) store(trace [][]field.Element, at int) {
	for k, words := range [3]*[4]uint32{&x.a, &x.e, &x.w} {
		for j, w := range words {
			for i := range 32 {
				trace[colA+128*k+32*j+i][at] = field.Element(w >> i & 1)
			}
		}
	}
	for k, carry := range [3]*[2][4]field.Element{&x.carryE, &x.carryA, &x.carryW} {
		for j := range 4 {
			trace[colCarryE+8*k+j][at], trace[colCarryE+8*k+4+j][at] = carry[0][j], carry[1][j]
		}
	}
	for k := range x.s {
		for j, v := range x.s[k] {
			trace[colS+4*k+j][at] = field.Element(v)
		}
	}
	for i := range x.state {
		trace[colState+i][at], trace[colOutput+i][at] = field.Element(x.state[i]), field.Element(x.output[i])
	}
	trace[colUses][at] = field.Element(x.uses)
}

// Calls is the trace of a circuit of calls: rows for each, and for the compression of zeros up to 2^LogHeight rows, TableRows at least. It implements prover.TraceWriter.
type Calls struct {
	LogHeight int
	At        func(i int) Call // call i of Count; it may be called concurrently
	Count     int
}

func (t *Calls) call(i int) (c Call) {
	if i < t.Count {
		c = t.At(i)
	}
	return c
}

// before is the line before row 0 of call i: the last one of the call before, or an idle one, which has no words.
func (t *Calls) before(i int) (x line) {
	if i%TableCalls > 0 {
		x = t.last(i - 1)
	}
	return x
}

func (t *Calls) last(i int) line {
	var l lines
	c := t.call(i)
	l.fill(&c)
	return l[rowLast]
}

// WriteRows implements prover.TraceWriter.
func (t *Calls) WriteRows(trace [][]field.Element, first int) error {
	end := first + len(trace[0])
	for base := first &^ (TableRows - 1); base < end; base += TableRows {
		for k := range TableCalls {
			if base+position(k, 0) < first || base+position(k, rowLast) >= end {
				continue
			}
			var l lines
			i := base/TableRows*TableCalls + k
			c, before := t.call(i), t.before(i)
			l.fill(&c)
			l.derive(&before)
			for r := range l {
				if at := base + position(k, r); at >= first && at < end {
					l[r].store(trace, at-first)
				}
			}
		}
		if at := base + TableRows - 1; at < end { // the line before the idle one is the last one of the calls that follow, the table's first if none do
			next := (base + TableRows) & (1<<t.LogHeight - 1)
			x, before := line{}, t.last(next/TableRows*TableCalls+TableCalls-1)
			x.derive(&before, idle)
			x.store(trace, at-first)
		}
	}
	return nil
}

// Tally counts the numbers below 2^16 that calls first to last-1 look up, of the 2^LogHeight/TableRows·TableCalls that the table has. counts has 2^16 elements.
func (t *Calls) Tally(first, last int, counts []uint64) {
	for k := first; k < last; k++ {
		c := t.call(k)
		for _, w := range Compress(&c.State, &c.Block) {
			counts[w&0xffff]++
			counts[w>>16]++
		}
	}
}
