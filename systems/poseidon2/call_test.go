package poseidon2

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// TestPermute checks the known answer that the designers' implementation tests: the permutation of 0, 1, …, 11.
func TestPermute(t *testing.T) {
	s := counting()
	Permute(&s)
	if s != known {
		t.Errorf("got %x, want %x", s, known)
	}
}

var known = [Width]field.Element{
	0x01eaef96bdf1c0c1, 0x1f0d2cc525b2540c, 0x6282c1dfe1e0358d, 0xe780d721f698e1e6, 0x280c0b6f753d833b, 0x1b942dd5023156ab,
	0x43f0df3fcccb8398, 0xe8e8190585489025, 0x56bdbf72f77ada22, 0x7911c32bf9dcd705, 0xec467926508fbe67, 0x6a50450ddf85a6ed,
}

func counting() (s [Width]field.Element) {
	for i := range s {
		s[i] = field.Element(i)
	}
	return s
}

// callSystem claims calls directly.
func callSystem() *air.System {
	s := air.NewSystem("calls")
	calls := s.Channel("calls", CallElements)
	var args, results []formats.Value
	for i := range Width {
		args = append(args, formats.Value{Name: "a" + strconv.Itoa(i), Type: formats.TypeField})
		results = append(results, formats.Value{Name: "r" + strconv.Itoa(i), Type: formats.TypeField})
	}
	s.Entry("permute", calls, args, results)
	BuildCalls(s.Circuit("permute"), calls)
	return s
}

func claim(in, out [Width]field.Element) (c formats.Claim) {
	for i := range in {
		c.Args, c.Results = c.Args.Append(uint64(in[i])), c.Results.Append(uint64(out[i]))
	}
	return c
}

// run returns what is wrong with claims and a table of eight calls, of which tamper may change what is written.
func run(t *testing.T, calls []Call, tamper func(x tracecheck.Trace), claims ...formats.Claim) []string {
	t.Helper()
	set := map[string]bool{}
	for _, logBlowup := range []int{1, 2} {
		checker, err := tracecheck.New(callSystem(), logBlowup, 3)
		if err != nil {
			t.Fatal(err)
		}
		table := &Calls{At: func(i int) Call { return calls[i] }, Count: len(calls)}
		w := &prover.Witness{Claims: claims, Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: 3, Trace: table}}}}}
		traces, err := checker.Write(w)
		if err != nil {
			t.Fatal(err)
		}
		if tamper != nil {
			tamper(traces[0][0])
		}
		failures, err := checker.Check(w, traces)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range failures {
			set[f.Name()] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func TestCalls(t *testing.T) {
	other := [Width]field.Element{0: field.Modulus - 1, 5: 1 << 63, 11: field.Modulus - 1}
	out := other
	Permute(&out)
	if got := run(t, []Call{{counting(), 1}, {other, 2}}, nil, claim(counting(), known), claim(other, out), claim(other, out)); len(got) > 0 {
		t.Error(got)
	}
}

// deviate writes row 0 by a prover whose S-box i holds what change makes of it; what follows is computed from it. It returns the output.
func deviate(in [Width]field.Element, order func(r int) int, change func(at int, b *box)) (s [Width]field.Element, b [boxes]box) {
	s = in
	c, at := constants(), 0
	multiplyExternal(&s)
	for r := range c {
		n := Width
		if partial(r) {
			n = 1
		}
		for i := range n {
			b[at] = power(field.Add(s[i], c[order(r)][i]))
			change(at, &b[at])
			s[i] = b[at].power
			at++
		}
		if partial(r) {
			multiplyInternal(&s)
		} else {
			multiplyExternal(&s)
		}
	}
	return s, b
}

// TestForgeries checks that each kind of constraint finds what it is there for, alone: a claim of a wrong result whose row follows from one deviation.
func TestForgeries(t *testing.T) {
	same, none := func(r int) int { return r }, func(int, *box) {}
	at := func(i int, change func(*box)) func(int, *box) {
		return func(k int, b *box) {
			if k == i {
				change(b)
			}
		}
	}
	for i := range boxes { // a prover that has its way with the power, or with the cube, of any S-box
		r, e := i/Width, i%Width
		if first, last := fullRounds/2*Width, fullRounds/2*Width+partialRounds; i >= last {
			r, e = fullRounds/2+partialRounds+(i-last)/Width, (i-last)%Width
		} else if i >= first {
			r, e = fullRounds/2+i-first, 0
		}
		name := "round " + strconv.Itoa(r) + ", element " + strconv.Itoa(e)
		for want, change := range map[string]func(*box){
			name + ": power": func(b *box) { b.power = field.Add(b.power, 1) },
			name + ": cube": func(b *box) { // the power is that of the cube: cube²·x with x unchanged
				x := field.Mul(b.power, inverse(field.Mul(b.cube, b.cube)))
				b.cube = field.Add(b.cube, 1)
				b.power = field.Mul(field.Mul(b.cube, b.cube), x)
			},
		} {
			if i > 0 && i%17 != 0 && i < boxes-1 { // a sample, in every kind of round
				continue
			}
			out, b := deviate(counting(), same, at(i, change))
			if out == known {
				t.Errorf("%s: nothing changes", want)
			}
			got := run(t, []Call{{counting(), 1}}, func(x tracecheck.Trace) { writeRow(x, 0, &Call{counting(), 1}, &b) }, claim(counting(), out))
			if !slices.Equal(got, []string{want}) {
				t.Errorf("these fail: %q, want %s", got, want)
			}
		}
	}

	swapped, b := deviate(counting(), func(r int) int { // the constants of two partial rounds change places
		if r == 10 || r == 11 {
			return 21 - r
		}
		return r
	}, none)
	if got := run(t, []Call{{counting(), 1}}, func(x tracecheck.Trace) { writeRow(x, 0, &Call{counting(), 1}, &b) }, claim(counting(), swapped)); !slices.Equal(got, []string{
		"round 10, element 0: cube", "round 10, element 0: power", "round 11, element 0: cube", "round 11, element 0: power"}) {
		t.Errorf("swapped rounds: these fail: %q", got)
	}

	wrong := known
	wrong[7]++
	for name, got := range map[string][]string{
		"a wrong output":        run(t, []Call{{counting(), 1}}, nil, claim(counting(), wrong)),
		"a claim without a row": run(t, nil, nil, claim(counting(), known)),
		"two claims of one use": run(t, []Call{{counting(), 1}}, nil, claim(counting(), known), claim(counting(), known)),
		"a use that nobody has": run(t, []Call{{counting(), 1}}, nil),
		"padding with a result": run(t, nil, func(x tracecheck.Trace) { x[colUses][3] = 1 }, claim([Width]field.Element{}, wrong)),
	} {
		if !slices.Equal(got, []string{"calls"}) {
			t.Errorf("%s: these fail: %q", name, got)
		}
	}
	empty := run(t, nil, func(x tracecheck.Trace) { // a row of zeros is no call
		for i := range x {
			x[i][3] = 0
		}
		x[colUses][3] = 1
	}, claim([Width]field.Element{}, [Width]field.Element{}))
	if len(empty) == 0 || slices.Contains(empty, "calls") {
		t.Errorf("padding of zeros: these fail: %q", empty)
	}
}

func inverse(x field.Element) field.Element {
	y, _ := field.Inverse(x)
	return y
}

// TestColumns compares the table of the documentation with the compiled circuit.
func TestColumns(t *testing.T) {
	text, err := os.ReadFile("../../docs/systems/poseidon2.md")
	if err != nil {
		t.Fatal(err)
	}
	for logBlowup := 1; logBlowup <= 3; logBlowup++ {
		checker, err := tracecheck.New(callSystem(), logBlowup, 3)
		if err != nil {
			t.Fatal(err)
		}
		c := checker.Circuits[0]
		row := "|"
		for _, n := range []int{1 << logBlowup, int(c.Columns), c.AuxColumns(), c.QuotientColumns(), int(c.Columns) + c.AuxColumns(), int(c.Columns) + c.AuxColumns() + c.QuotientColumns()} {
			row += " " + strconv.Itoa(n) + " |"
		}
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/systems/poseidon2.md lacks %s", row)
		}
	}
}
