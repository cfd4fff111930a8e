// Package claims reads claims files: JSON that says what a prover shall prove, or what a verifier expects to have been proven.
//
// The schema is claims.schema.json beside this file. Decoding is stricter than encoding/json alone: field names are exact, and duplicate keys, unknown fields, null,
// invalid UTF-8 and anything after the object are refused. No verifier imports this package: a proof carries its claims in the encoding of package formats.
package claims

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
)

// Format is the value of the field "format": the kind of file and its version.
const Format = "ixprove-claims/1"

// MaxBytes is the most that a claims file may have: 256 bytes for each of formats.MaxClaims.
const MaxBytes = 256 * formats.MaxClaims

// File is a claims file. Names of systems, profiles and entries are unchecked.
type File struct {
	System  string
	Profile string  // empty if not given
	Claims  []Claim // 1 to formats.MaxClaims
}

// Claim is one claim of a file.
type Claim struct {
	Entry   string
	File    string  // path of the private input; empty if not given
	Args    []Value // in the file's order, nil if not given
	Results []Value // as Args
}

// Value is a named argument or result, as written.
type Value struct {
	Name string
	Text string // a decimal number or a string
}

// Elements lays values out as an entry's types have them, whatever the order they were given in. Numbers are decimal, bytes32 is 64 hexadecimal digits. place is where
// in the file they stand. A missing, extra or ill-typed value is a *formats.Error of class Invalid.
func Elements(place string, types []formats.Value, given []Value) (formats.Elements, error) {
	byName := make(map[string]string, len(given))
	for _, v := range given {
		byName[v.Name] = v.Text
	}
	var out formats.Elements
	for _, t := range types {
		at := place + "." + t.Name
		text, ok := byName[t.Name]
		if !ok {
			return nil, &formats.Error{Class: formats.Invalid, Place: at, What: "a value is missing", Expected: "a " + t.Type.String(), Got: "nothing", Next: "add it"}
		}
		delete(byName, t.Name)
		if out, ok = parse(out, t.Type, text); !ok {
			return nil, &formats.Error{Class: formats.Invalid, Place: at, What: "the value is not of its type", Expected: typeText[t.Type], Got: strconv.Quote(text)}
		}
	}
	for _, v := range given {
		if _, left := byName[v.Name]; left {
			return nil, &formats.Error{Class: formats.Invalid, Place: place + "." + v.Name, What: "the entry has no value of this name", Expected: names(types), Got: strconv.Quote(v.Name)}
		}
	}
	return out, nil
}

var typeText = [formats.NumValueTypes]string{
	formats.TypeField:   "a number below 2^64 - 2^32 + 1",
	formats.TypeU8:      "a number below 2^8",
	formats.TypeU32:     "a number below 2^32",
	formats.TypeU64:     "a number below 2^64",
	formats.TypeBytes32: "64 hexadecimal digits in quotes",
}

func names(types []formats.Value) string {
	s := ""
	for i, t := range types {
		if i > 0 {
			s += ", "
		}
		s += t.Name
	}
	if s == "" {
		return "no values"
	}
	return s
}

// parse appends the elements of one value.
func parse(out formats.Elements, t formats.ValueType, text string) (formats.Elements, bool) {
	if t == formats.TypeBytes32 {
		if len(text) != 2*formats.DigestBytes {
			return nil, false
		}
		for i := 0; i < len(text); i += 8 {
			var w uint64
			for k := 3; k >= 0; k-- { // little-endian
				b, err := strconv.ParseUint(text[i+2*k:i+2*k+2], 16, 8)
				if err != nil {
					return nil, false
				}
				w = w<<8 | b
			}
			out = out.Append(w)
		}
		return out, true
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, false
	}
	if t == formats.TypeU64 {
		return out.Append(v & (1<<32 - 1)).Append(v >> 32), true
	}
	return out.Append(v), t.Holds(v)
}
