package values

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/lower"
	"github.com/ixprove/ixprove/lang/types"
	"github.com/ixprove/ixprove/verifier/field"
)

// maxWitness bounds the values of a witness, so that a small file cannot ask for much memory.
const maxWitness = 1 << 26

// Witness reads the private inputs of an entry from a witness file: a JSON object with a member for each private argument. It gives the elements of each, in the order of the entry's private arguments.
//
// Numbers are JSON numbers, or strings of decimal digits or of 0x and hexadecimal ones; other types are as JSON writes them. A list of the standard library is an array. An array, a list or a byte string of
// u8 may also be {"file": NAME}, {"text": TEXT} or {"hex": DIGITS}; read reads such a file. The error is of class Malformed, with the place in the file.
func Witness(e *lower.Entry, data []byte, read func(name string) ([]byte, error)) ([][]field.Element, error) {
	p := &parser{read: read}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, fail("", "this is no JSON", "", err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fail("", "something follows the object", "nothing", "more")
	}
	members, ok := root.(map[string]any)
	if !ok {
		return nil, fail("", "a witness is an object with a member for each private argument", "an object", kind(root))
	}
	var out [][]field.Element
	for _, a := range e.Private {
		x, ok := members[a.Name]
		if !ok {
			return nil, fail(a.Name, "the private argument is missing", a.Type.String(), "nothing")
		}
		v, err := p.value(a.Name, types.Resolve(a.Type), x, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, Stream(a.Type, v, nil))
	}
	for name := range members {
		if !slices.ContainsFunc(e.Private, func(a lower.EntryArg) bool { return a.Name == name }) {
			return nil, fail(name, "the entry has no such private argument", "one of "+privateNames(e), name)
		}
	}
	return out, nil
}

func privateNames(e *lower.Entry) string {
	var out []string
	for _, a := range e.Private {
		out = append(out, a.Name)
	}
	return strings.Join(out, ", ")
}

func fail(place, what, expected, got string) error {
	at := "witness"
	if place != "" {
		at += ", " + place
	}
	if len(got) > 60 {
		got = got[:60] + "…"
	}
	return &formats.Error{Class: formats.Malformed, Place: at, What: what, Expected: expected, Got: got}
}

func kind(x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case bool:
		return "a bool"
	case json.Number:
		return "the number " + x.String()
	case string:
		return strconv.Quote(x)
	case []any:
		return fmt.Sprintf("an array of %d", len(x))
	}
	return "an object"
}

type parser struct {
	read  func(string) ([]byte, error)
	count int
}

// maxNesting bounds the depth of values in the file; lists do not count.
const maxNesting = 200

func (p *parser) value(place string, t types.Type, x any, depth int) (Value, error) {
	if p.count++; p.count > maxWitness || depth > maxNesting {
		return Value{}, fail(place, "the witness is too large or nested too deeply", "", "")
	}
	bad := func() (Value, error) {
		return Value{}, fail(place, "the value is of another type", t.String(), kind(x))
	}
	if types.IsDigest(t) {
		return p.digest(place, x)
	}
	if isStandard(t, "std/bytes", "Bytes") {
		if b, ok, err := p.bytes(place, types.U8, x); ok || err != nil {
			return blocks(b), err
		}
	}
	if elems, ok := listOf(t); ok {
		if b, ok, err := p.bytes(place, elems, x); ok || err != nil {
			if err == nil && !isList(t) && len(b) != len(parts(t, 0)) {
				err = fail(place, "a wrong number of bytes", strconv.Itoa(len(parts(t, 0))), strconv.Itoa(len(b)))
			}
			return fromBytes(t, b), err
		}
		if list, ok := x.([]any); ok && isList(t) {
			var all []Value
			for i, e := range list {
				v, err := p.value(fmt.Sprintf("%s[%d]", place, i), elems, e, depth+1)
				if err != nil {
					return v, err
				}
				all = append(all, v)
			}
			return chain(all), nil
		}
	}
	switch t := t.(type) {
	case types.Prim:
		return p.number(place, t, x)
	case *types.Pointer:
		v, err := p.value(place, types.Resolve(t.To), x, depth+1)
		return Value{Parts: []Value{v}}, err
	case *types.Named:
		return p.named(place, t, x, depth)
	}
	list := parts(t, 0)
	elems, ok := x.([]any)
	if !ok {
		return bad()
	}
	if len(elems) != len(list) {
		return Value{}, fail(place, "a wrong number of elements", strconv.Itoa(len(list)), strconv.Itoa(len(elems)))
	}
	v := Value{}
	for i, e := range elems {
		part, err := p.value(fmt.Sprintf("%s[%d]", place, i), types.Resolve(list[i]), e, depth+1)
		if err != nil {
			return v, err
		}
		v.Parts = append(v.Parts, part)
	}
	return v, nil
}

func (p *parser) number(place string, t types.Prim, x any) (Value, error) {
	bad := func() (Value, error) {
		expected := t.String()
		if t != types.Bool {
			expected += fmt.Sprintf(", at most %d", t.Max())
		}
		return Value{}, fail(place, "the value is of another type", expected, kind(x))
	}
	var digits string
	switch x := x.(type) {
	case bool:
		if t != types.Bool {
			return bad()
		}
		if x {
			return Value{Number: 1}, nil
		}
		return Value{}, nil
	case json.Number:
		digits = x.String()
	case string:
		digits = x
	}
	base := 10
	if hexDigits, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = hexDigits, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || n > t.Max() || t == types.Bool {
		return bad()
	}
	return Value{Number: n}, nil
}

func (p *parser) named(place string, t *types.Named, x any, depth int) (Value, error) {
	if !t.Data.Enum {
		members, ok := x.(map[string]any)
		if !ok {
			return Value{}, fail(place, "the value is of another type", t.String(), kind(x))
		}
		v := Value{}
		fields := t.Data.Variants[0].Fields
		list := t.Fields(0)
		for i, f := range fields {
			m, ok := members[f.Name]
			if !ok {
				return v, fail(place+"."+f.Name, "the field is missing", list[i].String(), "nothing")
			}
			part, err := p.value(place+"."+f.Name, types.Resolve(list[i]), m, depth+1)
			if err != nil {
				return v, err
			}
			v.Parts = append(v.Parts, part)
		}
		if len(members) != len(fields) {
			return v, fail(place, "the struct has other fields", strconv.Itoa(len(fields)), strconv.Itoa(len(members)))
		}
		return v, nil
	}
	name, payload := "", []any(nil)
	switch x := x.(type) {
	case string:
		name = x
	case map[string]any:
		for key, value := range x {
			name = key
			list, ok := value.([]any)
			if !ok {
				list = []any{value}
			}
			payload = list
		}
		if len(x) != 1 {
			name = ""
		}
	}
	for i, variant := range t.Data.Variants {
		if variant.Name != name {
			continue
		}
		list := t.Fields(i)
		if len(list) != len(payload) {
			return Value{}, fail(place, "the variant's payload is not as declared", strconv.Itoa(len(list))+" values", strconv.Itoa(len(payload)))
		}
		v := Value{Variant: i}
		for k, e := range payload {
			part, err := p.value(fmt.Sprintf("%s.%s[%d]", place, name, k), types.Resolve(list[k]), e, depth+1)
			if err != nil {
				return v, err
			}
			v.Parts = append(v.Parts, part)
		}
		return v, nil
	}
	return Value{}, fail(place, "there is no such variant of "+t.Data.Name, "a variant's name, or an object with one member", kind(x))
}

func (p *parser) digest(place string, x any) (Value, error) {
	s, _ := x.(string)
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(b) != 32 {
		return Value{}, fail(place, "a digest is 64 hexadecimal digits", "64 digits", kind(x))
	}
	words := Value{}
	for i := 0; i < 32; i += 4 {
		words.Parts = append(words.Parts, Value{Number: uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24})
	}
	return Value{Parts: []Value{words}}, nil
}

// listOf is the type of the elements of an array or a list.
func listOf(t types.Type) (types.Type, bool) {
	switch t := t.(type) {
	case *types.Array:
		return types.Resolve(t.Elem), true
	case *types.Named:
		if isList(t) {
			return types.Resolve(t.Args[0]), true
		}
	}
	return nil, false
}

// isList reports whether a type is the standard library's list.
func isList(t types.Type) bool {
	return isStandard(t, "std/list", "List")
}

// isStandard reports whether a type is one of the standard library.
func isStandard(t types.Type, module, name string) bool {
	n, ok := t.(*types.Named)
	return ok && n.Data.Name == name && n.Data.Module.Path == module
}

// blocks makes a byte string: its length, and blocks of 16 little-endian words, the last one padded with zeros.
func blocks(b []byte) Value {
	var list []Value
	for i := 0; i < len(b); i += 64 {
		var block [64]byte
		copy(block[:], b[i:])
		words := Value{Parts: make([]Value, 16)}
		for k := range words.Parts {
			words.Parts[k].Number = uint64(binary.LittleEndian.Uint32(block[4*k:]))
		}
		list = append(list, words)
	}
	return Value{Parts: []Value{{Number: uint64(len(b))}, chain(list)}}
}

// bytes reads {"file": …}, {"text": …} or {"hex": …} where bytes are expected.
func (p *parser) bytes(place string, elem types.Type, x any) ([]byte, bool, error) {
	m, ok := x.(map[string]any)
	if !ok || elem != types.Type(types.U8) || len(m) != 1 {
		return nil, false, nil
	}
	for key, value := range m {
		s, isString := value.(string)
		if !isString {
			break
		}
		switch key {
		case "text":
			return []byte(s), true, nil
		case "hex":
			b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
			if err != nil {
				return nil, false, fail(place, "these are no hexadecimal digits", "pairs of digits", s)
			}
			return b, true, nil
		case "file":
			b, err := p.read(s)
			if err != nil {
				return nil, false, fail(place, "the file cannot be read", "", err.Error())
			}
			return b, true, nil
		}
	}
	return nil, false, fail(place, "bytes are given as a file, a text or hexadecimal digits", `{"file": NAME}, {"text": TEXT} or {"hex": DIGITS}`, kind(x))
}

// fromBytes makes an array or a list of bytes.
func fromBytes(t types.Type, b []byte) Value {
	all := make([]Value, len(b))
	for i, c := range b {
		all[i].Number = uint64(c)
	}
	if isList(t) {
		return chain(all)
	}
	return Value{Parts: all}
}

// chain makes a list: Nil, or Cons of an element and a pointer to the rest.
func chain(all []Value) Value {
	v := Value{Variant: 0}
	for _, e := range slices.Backward(all) {
		v = Value{Variant: 1, Parts: []Value{e, {Parts: []Value{v}}}}
	}
	return v
}
