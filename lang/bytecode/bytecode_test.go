package bytecode_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/internal/assembly"
)

func samples() []*assembly.Program {
	return []*assembly.Program{assembly.Fib(), assembly.Squares(), assembly.Loop(), assembly.Kitchen()}
}

func TestRoundTrip(t *testing.T) {
	for _, p := range samples() {
		data, err := bytecode.Encode(&p.Program)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		back, err := bytecode.Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if !reflect.DeepEqual(back, &p.Program) {
			t.Errorf("%s is another program after a round trip", p.Name)
		}
	}
}

func TestDigestIgnoresDebug(t *testing.T) {
	digest := func(p *assembly.Program) formats.Digest {
		d, err := bytecode.Digest(&p.Program)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	p := assembly.Loop()
	with := digest(p)
	p.Debug.Sites[0].Line++
	if digest(p) != with {
		t.Error("a line number is part of the digest")
	}
	p.Functions[0].Body.End.Match.Cases[0].Values[0]++
	if digest(p) == with {
		t.Error("the digest does not depend on a case's value")
	}
}

// TestDecodeIsStrict checks that a second encoding of a program, or half of one, is refused.
func TestDecodeIsStrict(t *testing.T) {
	data, err := bytecode.Encode(&assembly.Fib().Program)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if _, err := bytecode.Decode(data[:n]); err == nil {
			t.Fatalf("the first %d bytes decode", n)
		}
	}
	if _, err := bytecode.Decode(append(bytes.Clone(data), 0)); err == nil {
		t.Error("a byte after the program is accepted")
	}
	long := bytes.Replace(data, []byte{0x63, 'f', 'i', 'b'}, []byte{0x78, 3, 'f', 'i', 'b'}, 1) // a length in two bytes
	if _, err := bytecode.Decode(long); !errors.Is(err, formats.Malformed) {
		t.Errorf("a head that is longer than it need be: %v", err)
	}
	other := bytes.Replace(data, []byte("ixprove-program"), []byte("ixprove-progrbm"), 1)
	if _, err := bytecode.Decode(other); !errors.Is(err, formats.Incompatible) {
		t.Errorf("another kind: %v", err)
	}
}

// TestValidate makes each mistake in a valid program and checks that it is found.
func TestValidate(t *testing.T) {
	type program = bytecode.Program
	fib := func(p *program) *bytecode.Match { return p.Functions[0].Body.End.Match }
	deep := func(p *program) {
		m := &bytecode.Match{Cases: []bytecode.Case{{Values: []uint64{0}}}}
		m.Cases[0].Block.End = bytecode.End{Kind: bytecode.EndMatch, Match: m} // contains itself
		p.Functions[0].Body.End.Match = m
	}
	wide := func(p *program) { // contains itself twice
		m := &bytecode.Match{Cases: []bytecode.Case{{Values: []uint64{0}}, {Values: []uint64{1}}}}
		p.Functions[0].Body.End.Match = m
		for range 64 {
			inner := &bytecode.Match{Cases: []bytecode.Case{{Values: []uint64{0}}, {Values: []uint64{1}}}}
			for i := range m.Cases {
				m.Cases[i].Block.End = bytecode.End{Kind: bytecode.EndMatch, Match: inner}
			}
			m = inner
		}
		for i := range m.Cases {
			m.Cases[i].Block.End.Kind = bytecode.EndFail
		}
	}
	for _, c := range []struct {
		name   string
		change func(p *program)
		want   string
	}{
		{"no name", func(p *program) { p.Name = "" }, "a name is not printable"},
		{"an unprintable name", func(p *program) { p.Functions[0].Name = "\x1b" }, "a name is not printable"},
		{"no functions", func(p *program) { p.Functions = nil }, "number of functions"},
		{"no entries", func(p *program) { p.Entries = nil }, "number of entries"},
		{"an entry of no function", func(p *program) { p.Entries[0].Function = 1 }, "function does not exist"},
		{"two entries of one name", func(p *program) { p.Entries = append(p.Entries, p.Entries[0]) }, "one name or one function"},
		{"an entry of another arity", func(p *program) { p.Entries[0].Args = nil }, "another number of elements"},
		{"an entry of an unknown type", func(p *program) { p.Entries[0].Args[0].Type = 77 }, "type does not exist"},
		{"an input of odd size", func(p *program) { p.Inputs = []bytecode.Input{{Name: "x", Bits: 7}} }, "unknown size"},
		{"two inputs of one name", func(p *program) { p.Inputs = []bytecode.Input{{Name: "x", Bits: 8}, {Name: "x", Bits: 8}} }, "two inputs"},
		{"too many parameters", func(p *program) { p.Functions[0].Params = 1 << 20 }, "another number of elements"},
		{"negative results", func(p *program) { p.Functions = append(p.Functions, bytecode.Function{Name: "f", Results: -1}) }, "too many parameters"},
		{"a site that does not exist", func(p *program) { p.Functions[0].Site = 9 }, "site does not exist"},
		{"a site in no file", func(p *program) { p.Debug.Sites = []bytecode.Site{{File: 4, Line: 1, Column: 1}} }, "a site refers"},
		{"a note that is not UTF-8", func(p *program) { p.Debug.Notes = []string{"\xff"} }, "not UTF-8"},
		{"an unknown code", func(p *program) { fib(p).Default.Ops[0].Code = bytecode.NumCodes }, "code does not exist"},
		{"an operand out of scope", func(p *program) { fib(p).Default.Ops[1].Args[0] = 2 }, "not in scope"},
		{"an operand too few", func(p *program) { fib(p).Default.Ops[1].Args = nil }, "number of operands"},
		{"a constant above p", func(p *program) { fib(p).Default.Ops[0].A = formats.Modulus }, "immediate A"},
		{"an immediate where none belongs", func(p *program) { fib(p).Default.Ops[1].B = 1 }, "immediate B"},
		{"a call of no function", func(p *program) { fib(p).Default.Ops[2].A = 1 }, "function does not exist"},
		{"a call in a third mode", func(p *program) { fib(p).Default.Ops[2].B = 2 }, "immediate B"},
		{"an input that does not exist", func(p *program) { fib(p).Default.Ops[0] = bytecode.Op{Code: bytecode.OpInputLength} }, "input does not exist"},
		{"too many bits", func(p *program) {
			fib(p).Default.Ops[1] = bytecode.Op{Code: bytecode.OpHintLimbs, A: 9, B: 8, Args: []bytecode.Value{0}}
		}, "more bits"},
		{"a match without blocks", func(p *program) { fib(p).Default.Ops[1] = bytecode.Op{Code: bytecode.OpMatch, A: 1} }, "no blocks"},
		{"blocks without a match", func(p *program) { fib(p).Default.Ops[1].Match = fib(p) }, "no match has blocks"},
		{"a match of nothing", func(p *program) { *fib(p) = bytecode.Match{} }, "no blocks"},
		{"a matched value out of scope", func(p *program) { fib(p).Value = 1 }, "matched value"},
		{"a case without values", func(p *program) { fib(p).Cases[0].Values = nil }, "no values"},
		{"a value twice", func(p *program) { fib(p).Cases[0].Values[0] = 1 }, "occurs twice"},
		{"a case above p", func(p *program) { fib(p).Cases[0].Values[0] = formats.Modulus }, "no canonical"},
		{"a wrong number of results", func(p *program) { fib(p).Default.End.Values = nil }, "number of values"},
		{"a yield that ends a function", func(p *program) { fib(p).Default.End.Kind = bytecode.EndYield }, "cannot end so"},
		{"an unknown end", func(p *program) { fib(p).Default.End.Kind = 9 }, "cannot end so"},
		{"a failure with values", func(p *program) { fib(p).Default.End.Kind = bytecode.EndFail }, "number of values"},
		{"a result that is gone", func(p *program) { fib(p).Cases[0].Block.End.Values[0] = 3 }, "not in scope"},
		{"a match that contains itself", deep, "nested too deeply"},
		{"a match with very many blocks", wide, "too large"},
	} {
		p := &assembly.Fib().Program
		c.change(p)
		err := p.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// FuzzDecode checks that whatever decodes is valid and has these bytes as its encoding.
func FuzzDecode(f *testing.F) {
	for _, p := range samples() {
		data, err := bytecode.Encode(&p.Program)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := bytecode.Decode(data)
		if err != nil {
			var e *formats.Error
			if !errors.As(err, &e) {
				t.Fatalf("an error of type %T", err)
			}
			return
		}
		again, err := bytecode.Encode(p)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("decoded, but not the encoding: %v", err)
		}
	})
}
