package sha256

import (
	"slices"
	"strconv"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/verifier/field"
)

// forgery is a table of one period whose call 0 is by a prover that deviates; what follows from a deviation is computed from it, the claim included.
type forgery struct {
	constant func(t int) int             // which constant round t takes
	word     func(t int, w *uint32)      // the words of the schedule
	round    func(t int, x *line, j int) // the words of a round
	finished func(l *lines)              // what is constant in a call
	derived  func(l *lines)              // what follows from the words
	table    func(x tracecheck.Trace)    // what is written
	claim    func(x *formats.Claim)      // what is claimed
	more     func(x formats.Claim) []formats.Claim
}

func (f *forgery) run(t *testing.T) []string {
	t.Helper()
	c := testCall()
	w := [rounds]uint32{}
	copy(w[:], c.Block[:])
	for i := range w {
		if i >= 16 {
			w[i] = smallSigma1.of(w[i-2]) + w[i-7] + smallSigma0.of(w[i-15]) + w[i-16]
		}
		if f.word != nil {
			f.word(i, &w[i])
		}
	}
	var l, next lines
	for r := range l {
		x := &l[r]
		if r < rowLast {
			copy(x.w[:], w[4*r:])
		}
		for j := range 4 {
			if r == 0 {
				*x.slot(j), *x.slot(4 + j) = c.State[j], c.State[4+j]
				continue
			}
			i := 4*(r-1) + j
			x.round(&l[r-1], r, j)
			if f.constant != nil {
				d := constants[f.constant(i)] - constants[i]
				x.e[j], x.a[j] = x.e[j]+d, x.a[j]+d
			}
			if f.round != nil {
				f.round(i, x, j)
			}
		}
	}
	l.finish(1)
	if f.finished != nil {
		f.finished(&l)
	}
	l.derive(new(line))
	if f.derived != nil {
		f.derived(&l)
	}
	next.fill(new(Call))
	next.derive(&l[rowLast])

	var claimed formats.Claim
	for _, v := range l[rowCall].state {
		claimed.Args = claimed.Args.Append(v)
	}
	for _, v := range l[2].carryW[1] {
		claimed.Args = claimed.Args.Append(uint64(v))
	}
	for _, v := range l[2].s[2] {
		claimed.Args = claimed.Args.Append(v)
	}
	for _, v := range slices.Concat(l[2].w[:], l[3].w[:]) {
		claimed.Args = claimed.Args.Append(uint64(v))
	}
	for _, v := range l[rowCall].output {
		claimed.Results = claimed.Results.Append(v)
	}
	if f.claim != nil {
		f.claim(&claimed)
	}
	claims := []formats.Claim{claimed}
	if f.more != nil {
		claims = f.more(claimed)
	}
	return run(t, 2, 8, []Call{c}, func(x tracecheck.Trace) {
		for r := range l {
			l[r].store(x, position(0, r))
			next[r].store(x, position(1, r))
		}
		if f.table != nil {
			f.table(x)
		}
	}, claims...)
}

// settle makes the sums of a row true by what is free in it, for rows whose words need not be bits.
func settle(x tracecheck.Trace, at int) {
	n := len(x[0])
	bitsOf := func(col, j int) (out [32]field.Element) { // word j of eight, four of the row before and four of this one
		row := at
		if j < 4 {
			row = (at + 1) % n
		}
		for i := range out {
			out[i] = x[col+32*(j&3)+i][row]
		}
		return out
	}
	number := func(w [32]field.Element) (out field.Element) {
		for i, b := range w {
			out = field.Add(out, field.Mul(b, 1<<i))
		}
		return out
	}
	add := func(a, b field.Element) field.Element {
		return field.Sub(field.Add(a, b), field.Mul(2, field.Mul(a, b)))
	}
	rotated := func(w [32]field.Element, r *rotation) field.Element {
		var out [32]field.Element
		for i := range out {
			out[i] = add(w[(i+r.by[0])&31], w[(i+r.by[1])&31])
			if i+r.by[2] < 32 || !r.shift {
				out[i] = add(out[i], w[(i+r.by[2])&31])
			}
		}
		return number(out)
	}
	both := func(p, q, r [32]field.Element, of func(p, q, r field.Element) field.Element) field.Element {
		var out [32]field.Element
		for i := range out {
			out[i] = of(p[i], q[i], r[i])
		}
		return number(out)
	}
	sum := func(values ...field.Element) (out field.Element) {
		for _, v := range values {
			out = field.Add(out, v)
		}
		return out
	}
	choice := func(p, q, r field.Element) field.Element { return field.Add(r, field.Mul(p, field.Sub(q, r))) }
	most := func(p, q, r field.Element) field.Element { return field.Add(field.Mul(p, q), field.Mul(r, add(p, q))) }
	for j := range 4 {
		a, e := func(k int) [32]field.Element { return bitsOf(colA, j+k) }, func(k int) [32]field.Element { return bitsOf(colE, j+k) }
		w := func(k int) [32]field.Element { return bitsOf(colW, k) }
		total := field.Sub(sum(number(a(0)), number(e(0)), rotated(e(3), &bigSigma1), both(e(3), e(2), e(1), choice), number(w(j))), number(e(4)))
		x[colCarryE+j][at], x[colCarryE+4+j][at] = 0, field.Mul(total, field.Mul(inverse32, inverse3))
		total = field.Sub(sum(number(e(4)), rotated(a(3), &bigSigma0), both(a(3), a(2), a(1), most), 1<<32), sum(number(a(0)), number(a(4))))
		x[colCarryA+j][at], x[colCarryA+4+j][at] = field.Mul(total, inverse32), 0
		x[colS+j][at] = field.Add(number(w(j)), rotated(w(j+1), &smallSigma0))
		total = sum(x[colS+8+j][(at+1)%n], rotated(w(j+2), &smallSigma1))
		if j == 3 {
			total = field.Add(total, number(w(0)))
		}
		x[colCarryW+j][at], x[colCarryW+4+j][at] = field.Mul(field.Sub(total, number(w(j+4))), inverse32), 0
	}
}

// TestForgeries checks that each kind of constraint finds what it is there for, alone.
func TestForgeries(t *testing.T) {
	check := func(name string, f forgery, want ...string) {
		t.Helper()
		slices.Sort(want)
		if got := f.run(t); !slices.Equal(got, want) {
			t.Errorf("%s: these fail: %q, want %q", name, got, want)
		}
	}
	check("nothing", forgery{})

	// What is no bit: in the idle row and the first one, whose sums have room for anything.
	for k, name := range []string{"a", "e", "w"} {
		for j := range 4 {
			bit := (7*j + 11*k + 5) % 32
			check("a word of other things than bits", forgery{table: func(x tracecheck.Trace) {
				x[128*k+32*j+bit][TableRows-1] = 2
				settle(x, TableRows-1)
				settle(x, TableRows-2)
			}}, name+strconv.Itoa(j)+", bit "+strconv.Itoa(bit))
		}
	}

	for j := range 4 {
		n := strconv.Itoa(j)
		for _, row := range []int{1, 7, rowLast} {
			at := 4*(row-1) + j
			wrongE := func(t int, x *line, j int) {
				if t == at {
					x.e[j] ^= 1 << 9
					x.a[j] += x.e[j] - (x.e[j] ^ 1<<9)
				}
			}
			wrongA := func(t int, x *line, j int) {
				if t == at {
					x.a[j] ^= 1 << 30
				}
			}
			carry := func(change func(x *line)) func(*lines) { return func(l *lines) { change(&l[row]) } }
			check("a wrong e", forgery{round: wrongE}, "the threes of the carry of e "+n+" are a bit")
			check("a wrong e", forgery{round: wrongE, derived: carry(func(x *line) {
				x.carryE[0][j], x.carryE[1][j] = field.Mul(3, x.carryE[1][j]), 0
			})}, "the carry of e "+n+" is 0, 1 or 2")
			check("a wrong e", forgery{round: wrongE, derived: carry(func(x *line) { x.carryE[1][j] = 1 })}, "e of round "+n)
			check("a wrong a", forgery{round: wrongA}, "the carry of a "+n+" is a bit")
			check("a wrong a", forgery{round: wrongA, derived: carry(func(x *line) {
				x.carryA[0][j], x.carryA[1][j] = 0, field.Mul(x.carryA[0][j], inverse(2))
			})}, "the twos of the carry of a "+n+" are a bit")
			check("a wrong a", forgery{round: wrongA, derived: carry(func(x *line) { x.carryA[0][j] = 1 })}, "a of round "+n)
		}

		for _, row := range []int{4, 10, rowLast - 1} {
			at := 4*row + j
			wrongW := func(t int, w *uint32) {
				if t == at {
					*w += 1 << 20
				}
			}
			carry := func(change func(x *line)) func(*lines) { return func(l *lines) { change(&l[row]) } }
			check("a wrong word", forgery{word: wrongW}, "the carry of w "+n+" is a bit")
			check("a wrong word", forgery{word: wrongW, derived: carry(func(x *line) {
				x.carryW[0][j], x.carryW[1][j] = 0, field.Mul(x.carryW[0][j], inverse(2))
			})}, "the twos of the carry of w "+n+" are a bit")
			check("a wrong word", forgery{word: wrongW, derived: carry(func(x *line) { x.carryW[0][j] = 1 })}, "w "+n)
			for stage := range 3 { // a sum that changes on its way to the word
				check("a wrong sum", forgery{word: wrongW, derived: func(l *lines) {
					for k := stage; k < 3; k++ {
						l[row-3+k].s[k][j] += 1 << 20
					}
					l[row].derive(&l[row-1], row)
				}}, "s"+strconv.Itoa(stage+1)+" "+n)
			}
		}

		// Another block than the one that is compressed.
		check("another block", forgery{derived: func(l *lines) {
			for r := 1; r <= 2; r++ {
				l[r].carryW[1][j]++
				l[r].carryW[0][j] = field.Sub(l[r].carryW[0][j], 2)
			}
		}}, "block word "+n+" in row 1")
		check("another block", forgery{derived: func(l *lines) {
			l[2].carryW[1][j]++
			l[2].carryW[0][j] = field.Sub(l[2].carryW[0][j], 2)
		}}, "block word "+n+" in row 2")
		check("another block", forgery{derived: func(l *lines) {
			l[2].s[2][j]++
			l[3].carryW[0][j] = field.Add(l[3].carryW[0][j], inverse32)
		}}, "block word "+strconv.Itoa(4+j)+" in row 2")
	}

	for i := range stateSlots {
		n := strconv.Itoa(i)
		from := func(first, last int, change func(x *line)) func(*lines) {
			return func(l *lines) {
				for r := first; r <= last; r++ {
					change(&l[r])
				}
			}
		}
		honest := lines{}
		c := testCall()
		honest.fill(&c)
		last, out := uint64(*honest[rowLast].slot(i)), honest[0].output[i]
		other := c.State[i] ^ 1<<7
		state := func(x *line) { x.state[i], x.output[i] = uint64(other), uint64(other+uint32(last)) }
		check("another state", forgery{finished: func(l *lines) { from(0, rowLast, state)(l) }}, "state word "+n)
		check("a state that changes on its way", forgery{finished: func(l *lines) {
			from(2, rowLast, state)(l)
			from(0, 1, func(x *line) { x.output[i] = uint64(other + uint32(last)) })(l)
		}}, "state word "+n+" stays")
		wrong := func(x *line) { x.output[i] ^= 1 << 7 }
		check("another output", forgery{finished: from(0, rowLast, wrong)}, "output word "+n)
		row := rangeRows[i/2]
		check("an output that changes on its way", forgery{finished: from(0, 5, wrong)}, "output word "+n+" stays")
		unreduced := out + 1<<32 // state + last, or 2^33 more
		if out >= uint64(c.State[i]) {
			unreduced = uint64(field.Sub(field.Element(out), 1<<32))
		}
		long := from(0, rowLast, func(x *line) { x.output[i] = unreduced })
		check("an output that is no word", forgery{finished: long, derived: func(l *lines) {
			l[row].s[1][2*(i%2)] = out & 0xffff
			l[row].s[1][2*(i%2)+1] = out >> 16
		}}, "output word "+n+" in halves")
		check("an output that is no word", forgery{finished: long, derived: func(l *lines) {
			l[row].s[1][2*(i%2)] = unreduced
			l[row].s[1][2*(i%2)+1] = 0
		}}, "range")
	}

	check("swapped rounds", forgery{constant: func(t int) int {
		if t == 20 || t == 21 {
			return 41 - t
		}
		return t
	}}, "the threes of the carry of e 0 are a bit", "the threes of the carry of e 1 are a bit")

	// Multiplicities, and rows that answer for nothing.
	otherwise := func(x *formats.Claim) {
		x.Results = append(formats.Elements(nil), x.Results...)
		x.Results[0] ^= 1
	}
	uses := func(at int, n field.Element) func(tracecheck.Trace) {
		return func(x tracecheck.Trace) { x[colUses][at] = n }
	}
	check("a wrong output", forgery{claim: otherwise}, "calls")
	check("two claims of one use", forgery{more: func(x formats.Claim) []formats.Claim { return []formats.Claim{x, x} }}, "calls")
	check("a use that nobody has", forgery{more: func(formats.Claim) []formats.Claim { return nil }}, "calls")
	check("uses in rows that do not answer", forgery{table: func(x tracecheck.Trace) {
		for r := range callRows {
			if r != rowCall {
				x[colUses][position(0, r)] = 7
			}
		}
	}})
	check("uses in the idle row", forgery{table: uses(TableRows-1, 5)})
	check("padding with a result", forgery{table: uses(position(3, rowCall), 1)}, "calls")
	zeros := claim(Call{}, outputs(Call{}))
	check("padding answers for what is true", forgery{table: uses(position(3, rowCall), 1), more: func(x formats.Claim) []formats.Claim { return []formats.Claim{x, zeros} }})
	check("padding with another result", forgery{table: uses(position(3, rowCall), 1), more: func(x formats.Claim) []formats.Claim {
		y := zeros
		otherwise(&y)
		return []formats.Claim{x, y}
	}}, "calls")
	tall := func(x *formats.Claim) { // a word of the block, and one of the state, with a bit too many
		x.Args = append(formats.Elements(nil), x.Args...)
		x.Args[4] ^= 1
	}
	check("a word of 33 bits", forgery{claim: tall}, "calls")
}

func inverse(v field.Element) field.Element {
	out, _ := field.Inverse(v)
	return out
}
