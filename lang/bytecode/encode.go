package bytecode

import (
	"bytes"
	"math"

	"github.com/fxamacker/cbor/v2"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/blake3"
)

// Kind and Version of an encoded program.
const (
	Kind    = "ixprove-program"
	Version = 1
)

// The wire types are a program as CBOR has it (program.cddl): arrays in the order of the fields, null for a block or match that is not there.

type wireProgram struct {
	Kind      string         `cbor:"0,keyasint"`
	Version   uint64         `cbor:"1,keyasint"`
	Name      string         `cbor:"2,keyasint"`
	Functions []wireFunction `cbor:"3,keyasint"`
	Entries   []wireEntry    `cbor:"4,keyasint"`
	Inputs    []wireInput    `cbor:"5,keyasint"`
	Debug     wireDebug      `cbor:"6,keyasint"`
}

type wireFunction struct {
	_               struct{} `cbor:",toarray"`
	Name            string
	Params, Results uint32
	Body            wireBlock
	Site            uint32
}

type wireBlock struct {
	_   struct{} `cbor:",toarray"`
	Ops []wireOp
	End wireEnd
}

type wireOp struct {
	_     struct{} `cbor:",toarray"`
	Code  uint8
	A, B  uint64
	Args  []uint32
	Match *wireMatch
	Site  uint32
}

type wireEnd struct {
	_      struct{} `cbor:",toarray"`
	Kind   uint8
	Values []uint32
	Match  *wireMatch
	Site   uint32
}

type wireMatch struct {
	_       struct{} `cbor:",toarray"`
	Value   uint32
	Cases   []wireCase
	Default *wireBlock
}

type wireCase struct {
	_      struct{} `cbor:",toarray"`
	Values []uint64
	Block  wireBlock
}

type wireEntry struct {
	_        struct{} `cbor:",toarray"`
	Name     string
	Function uint32
	Args     []wireValue
	Results  []wireValue
}

type wireValue struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Type uint8
}

type wireInput struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Bits uint8
}

type wireDebug struct {
	_     struct{} `cbor:",toarray"`
	Files []string
	Notes []string
	Sites []wireSite
}

type wireSite struct {
	_                        struct{} `cbor:",toarray"`
	File, Line, Column, Note uint32
}

// each maps a list; the result of an empty one is empty but not nil, which CBOR tells from null.
func each[T, U any](list []T, f func(*T) U) []U {
	out := make([]U, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// writer makes wire types. Sites are written as 0 without debug.
type writer struct{ debug bool }

func (w writer) site(s uint32) uint32 {
	if w.debug {
		return s
	}
	return 0
}

func (w writer) block(b *Block) wireBlock {
	return wireBlock{Ops: each(b.Ops, w.op), End: wireEnd{Kind: uint8(b.End.Kind), Values: list(b.End.Values), Match: w.match(b.End.Match), Site: w.site(b.End.Site)}}
}

func (w writer) op(o *Op) wireOp {
	return wireOp{Code: uint8(o.Code), A: o.A, B: o.B, Args: list(o.Args), Match: w.match(o.Match), Site: w.site(o.Site)}
}

func (w writer) match(m *Match) *wireMatch {
	if m == nil {
		return nil
	}
	out := &wireMatch{Value: m.Value, Cases: each(m.Cases, func(c *Case) wireCase { return wireCase{Values: list(c.Values), Block: w.block(&c.Block)} })}
	if m.Default != nil {
		b := w.block(m.Default)
		out.Default = &b
	}
	return out
}

func (w writer) program(p *Program) *wireProgram {
	value := func(v *formats.Value) wireValue { return wireValue{Name: v.Name, Type: uint8(v.Type)} }
	out := &wireProgram{
		Kind: Kind, Version: Version, Name: p.Name,
		Functions: each(p.Functions, func(f *Function) wireFunction {
			return wireFunction{Name: f.Name, Params: uint32(f.Params), Results: uint32(f.Results), Body: w.block(&f.Body), Site: w.site(f.Site)}
		}),
		Entries: each(p.Entries, func(e *Entry) wireEntry {
			return wireEntry{Name: e.Name, Function: e.Function, Args: each(e.Args, value), Results: each(e.Results, value)}
		}),
		Inputs: each(p.Inputs, func(i *Input) wireInput { return wireInput{Name: i.Name, Bits: i.Bits} }),
		Debug:  wireDebug{Files: []string{}, Notes: []string{}, Sites: []wireSite{}},
	}
	if w.debug {
		d := &p.Debug
		out.Debug = wireDebug{Files: list(d.Files), Notes: list(d.Notes),
			Sites: each(d.Sites, func(s *Site) wireSite { return wireSite{File: s.File, Line: s.Line, Column: s.Column, Note: s.Note} })}
	}
	return out
}

// The inverse direction. A wire type says the same as what it is made into, whatever it holds.

func fromBlock(b *wireBlock) Block {
	return Block{Ops: unlist(each(b.Ops, fromOp)), End: End{Kind: EndKind(b.End.Kind), Values: unlist(b.End.Values), Match: fromMatch(b.End.Match), Site: b.End.Site}}
}

func fromOp(o *wireOp) Op {
	return Op{Code: Code(o.Code), A: o.A, B: o.B, Args: unlist(o.Args), Match: fromMatch(o.Match), Site: o.Site}
}

func fromMatch(m *wireMatch) *Match {
	if m == nil {
		return nil
	}
	out := &Match{Value: m.Value, Cases: unlist(each(m.Cases, func(c *wireCase) Case { return Case{Values: c.Values, Block: fromBlock(&c.Block)} }))}
	if m.Default != nil {
		b := fromBlock(m.Default)
		out.Default = &b
	}
	return out
}

func fromProgram(p *wireProgram) *Program {
	value := func(v *wireValue) formats.Value { return formats.Value{Name: v.Name, Type: formats.ValueType(v.Type)} }
	return &Program{
		Name: p.Name,
		Functions: unlist(each(p.Functions, func(f *wireFunction) Function {
			return Function{Name: f.Name, Params: int(f.Params), Results: int(f.Results), Body: fromBlock(&f.Body), Site: f.Site}
		})),
		Entries: unlist(each(p.Entries, func(e *wireEntry) Entry {
			return Entry{Name: e.Name, Function: e.Function, Args: unlist(each(e.Args, value)), Results: unlist(each(e.Results, value))}
		})),
		Inputs: unlist(each(p.Inputs, func(i *wireInput) Input { return Input{Name: i.Name, Bits: i.Bits} })),
		Debug: Debug{Files: unlist(p.Debug.Files), Notes: unlist(p.Debug.Notes),
			Sites: unlist(each(p.Debug.Sites, func(s *wireSite) Site { return Site{File: s.File, Line: s.Line, Column: s.Column, Note: s.Note} }))},
	}
}

// unlist makes an empty list nil.
func unlist[T any](l []T) []T {
	if len(l) == 0 {
		return nil
	}
	return l
}

var encoder, decoder = newModes()

func newModes() (cbor.EncMode, cbor.DecMode) {
	enc, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // impossible: the options are constant
	}
	dec, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		UTF8: cbor.UTF8RejectInvalid, MaxNestedLevels: 8*MaxDepth + 16, MaxArrayElements: math.MaxInt32,
	}.DecMode()
	if err != nil {
		panic(err) // impossible: the options are constant
	}
	return enc, dec
}

// Encode validates the program and writes it as deterministic CBOR. Errors are those of Validate, and of class Limit for more than MaxBytes.
func Encode(p *Program) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return encode(p, true)
}

func encode(p *Program, debug bool) ([]byte, error) {
	data, err := encoder.Marshal(writer{debug}.program(p))
	if err != nil {
		return nil, &formats.Error{Class: formats.Internal, Place: "program", What: "the encoder failed", Got: err.Error()}
	}
	if len(data) > MaxBytes {
		return nil, (&formats.Error{Class: formats.Limit, Place: "program", What: "the program's encoding is too long"}).Mismatch(MaxBytes, uint64(len(data)))
	}
	return data, nil
}

// Digest names what the program does: BLAKE3, keyed with "ixprove/1 program", of its encoding without Debug. Errors are those of Encode.
func Digest(p *Program) (formats.Digest, error) {
	if err := p.Validate(); err != nil {
		return formats.Digest{}, err
	}
	data, err := encode(p, false)
	if err != nil {
		return formats.Digest{}, err
	}
	var key [32]byte
	copy(key[:], "ixprove/1 program")
	return blake3.KeyedSum256(&key, data), nil
}

// Decode reads the one encoding of a valid program. Memory taken is at most some thirty times len(data). Errors are *formats.Error of class Malformed, Limit, Incompatible, or those of Validate.
func Decode(data []byte) (*Program, error) {
	if len(data) > MaxBytes {
		return nil, (&formats.Error{Class: formats.Limit, Place: "program", What: "the data is too long"}).Mismatch(MaxBytes, uint64(len(data)))
	}
	malformed := func(what, got string) error {
		return &formats.Error{Class: formats.Malformed, Place: "program", What: what, Got: got, Next: "compile the program again"}
	}
	var w wireProgram
	if err := decoder.Unmarshal(data, &w); err != nil {
		return nil, malformed("this is no encoded program", err.Error())
	}
	if w.Kind != Kind || w.Version != Version {
		return nil, &formats.Error{Class: formats.Incompatible, Place: "program", What: "this is another kind of object or another version", Expected: Kind + " " + number(Version),
			Got: formats.Quote(w.Kind) + " " + number(w.Version)}
	}
	p := fromProgram(&w)
	if err := p.Validate(); err != nil {
		return nil, err
	}
	// What the library reads leniently, heads that are longer than need be or null for an empty list, has another encoding than the program.
	if again, err := encode(p, true); err != nil || !bytes.Equal(again, data) {
		return nil, malformed("the encoding is not the program's one encoding", "")
	}
	return p, nil
}
