// Package values holds values of the program language outside of programs: what a command line or a witness file gives, and what a claim or a result means.
package values

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/lang/lower"
	"github.com/ixprove/ixprove/lang/types"
	"github.com/ixprove/ixprove/verifier/field"
)

// Value is a value of some type: a number or a bool (0 or 1), the parts of a product, a variant and its fields, or what a pointer points to as the only part.
type Value struct {
	Number  uint64
	Variant int
	Parts   []Value
}

// parts are the types of a value's parts.
func parts(t types.Type, variant int) []types.Type {
	switch t := types.Resolve(t).(type) {
	case *types.Tuple:
		return t.Elems
	case *types.Array:
		n, _ := types.Resolve(t.Len).(types.Length)
		out := make([]types.Type, n)
		for i := range out {
			out[i] = t.Elem
		}
		return out
	case *types.Pointer:
		return []types.Type{t.To}
	case *types.Named:
		return t.Fields(variant)
	}
	return nil
}

// FromExpr is the value of a constant: see types.Program.Evaluate.
func FromExpr(x types.Expr) Value {
	switch x := x.(type) {
	case *types.Lit:
		return Value{Number: x.Value}
	case *types.Product:
		return Value{Parts: fromExprs(x.Elems)}
	case *types.Make:
		return Value{Variant: x.Variant, Parts: fromExprs(x.Args)}
	}
	return Value{}
}

func fromExprs(list []types.Expr) []Value {
	out := make([]Value, len(list))
	for i, x := range list {
		out[i] = FromExpr(x)
	}
	return out
}

// Words appends the words of a value without pointers, as functions take them.
func Words(t types.Type, v Value, out []field.Element) []field.Element {
	t = types.Resolve(t)
	end := len(out) + lower.Words(t)
	switch t := t.(type) {
	case types.Prim:
		return number(t, v.Number, out)
	case *types.Named:
		if len(t.Data.Variants) > 1 {
			out = append(out, field.Element(v.Variant))
		}
	}
	for i, p := range parts(t, v.Variant) {
		out = Words(p, v.Parts[i], out)
	}
	for len(out) < end {
		out = append(out, 0)
	}
	return out
}

func number(t types.Prim, n uint64, out []field.Element) []field.Element {
	if t == types.U64 {
		return append(out, field.Element(n&0xffffffff), field.Element(n>>32))
	}
	return append(out, field.New(n))
}

// FromWords takes a value without pointers from the front of words, which must be of its type.
func FromWords(t types.Type, words []field.Element) (v Value, rest []field.Element) {
	t = types.Resolve(t)
	rest = words[lower.Words(t):]
	switch t := t.(type) {
	case types.Prim:
		v.Number = uint64(words[0])
		if t == types.U64 {
			v.Number |= uint64(words[1]) << 32
		}
		return v, rest
	case *types.Named:
		if len(t.Data.Variants) > 1 {
			v.Variant = int(words[0])
			words = words[1:]
		}
	}
	for _, p := range parts(t, v.Variant) {
		var part Value
		part, words = FromWords(p, words)
		v.Parts = append(v.Parts, part)
	}
	return v, rest
}

// Stream appends the elements of a value as an input of a program holds them: its parts in order, an enum as the number of its variant, unless there is only one, and that variant's fields, and in the
// place of a pointer what it points to.
func Stream(t types.Type, v Value, out []field.Element) []field.Element {
	for { // lists are long: what comes last needs no recursion
		t = types.Resolve(t)
		switch t := t.(type) {
		case types.Prim:
			return number(t, v.Number, out)
		case *types.Named:
			if len(t.Data.Variants) > 1 {
				out = append(out, field.Element(v.Variant))
			}
		}
		list := parts(t, v.Variant)
		if len(list) == 0 {
			return out
		}
		last := len(list) - 1
		for i, p := range list[:last] {
			out = Stream(p, v.Parts[i], out)
		}
		t, v = list[last], v.Parts[last]
	}
}

// Text is a value as a program writes it; long arrays of bytes are hexadecimal.
func Text(t types.Type, v Value) string {
	var b strings.Builder
	text(&b, types.Resolve(t), v)
	return b.String()
}

func text(b *strings.Builder, t types.Type, v Value) {
	list := parts(t, v.Variant)
	all := func(open, close string) {
		b.WriteString(open)
		for i, p := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			if n, ok := t.(*types.Named); ok && !n.Data.Enum {
				b.WriteString(n.Data.Variants[0].Fields[i].Name + ": ")
			}
			text(b, types.Resolve(p), v.Parts[i])
		}
		b.WriteString(close)
	}
	if types.IsDigest(t) {
		b.WriteString(digestText(v))
		return
	}
	switch t := t.(type) {
	case types.Prim:
		if t == types.Bool {
			b.WriteString(strconv.FormatBool(v.Number != 0))
			return
		}
		b.WriteString(strconv.FormatUint(v.Number, 10))
	case *types.Tuple:
		if len(list) == 1 {
			all("(", ",)")
			return
		}
		all("(", ")")
	case *types.Array:
		if types.Resolve(t.Elem) == types.Type(types.U8) && len(list) > 4 {
			b.WriteString("0x")
			for _, p := range v.Parts {
				fmt.Fprintf(b, "%02x", p.Number)
			}
			return
		}
		all("[", "]")
	case *types.Pointer:
		all("&", "")
	case *types.Named:
		if !t.Data.Enum {
			all(t.Data.Name+" { ", " }")
			return
		}
		b.WriteString(t.Data.Name + "::" + t.Data.Variants[v.Variant].Name)
		if len(list) > 0 {
			all("(", ")")
		}
	}
}

// digestText is the hexadecimal form of the 32 bytes of a digest, whose words are little-endian.
func digestText(v Value) string {
	var b strings.Builder
	for _, w := range v.Parts[0].Parts {
		for i := range 4 {
			fmt.Fprintf(&b, "%02x", byte(w.Number>>(8*i)))
		}
	}
	return b.String()
}

// JSON is a value as encoding/json writes it: numbers, those of more than 32 bits as strings, bools, arrays for tuples and arrays, objects for structs, a string for a variant without fields and
// otherwise an object with the variant's name, and hexadecimal strings for digests.
func JSON(t types.Type, v Value) any {
	t = types.Resolve(t)
	if types.IsDigest(t) {
		return digestText(v)
	}
	list := parts(t, v.Variant)
	all := func() []any {
		out := make([]any, len(list))
		for i, p := range list {
			out[i] = JSON(p, v.Parts[i])
		}
		return out
	}
	switch t := t.(type) {
	case types.Prim:
		switch t {
		case types.Bool:
			return v.Number != 0
		case types.Field, types.U64:
			return strconv.FormatUint(v.Number, 10)
		}
		return json.Number(strconv.FormatUint(v.Number, 10))
	case *types.Named:
		variant := &t.Data.Variants[v.Variant]
		switch {
		case t.Data.Enum && len(list) == 0:
			return variant.Name
		case t.Data.Enum:
			return map[string]any{variant.Name: all()}
		}
		out := map[string]any{}
		for i, f := range variant.Fields {
			out[f.Name] = JSON(list[i], v.Parts[i])
		}
		return out
	case *types.Pointer:
		return JSON(t.To, v.Parts[0])
	}
	return all()
}
