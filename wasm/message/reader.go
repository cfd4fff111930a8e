package message

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// reader reads the JSON (RFC 8259) of a policy: objects, arrays, booleans, strings of printable ASCII, and integers from 0. Nothing else occurs in one. The first failure is
// kept in err; after it nothing moves.
type reader struct {
	data []byte
	off  int
	err  *formats.Error
}

//go:noinline
func (r *reader) failAs(class formats.Class, place, what, expected, got string) {
	if r.err != nil {
		return
	}
	if place == "" {
		place = "policy"
	}
	r.err = &formats.Error{Class: class, Place: place, What: what, Expected: expected, Got: got, Next: "see docs/wasm.md for what a policy looks like"}
}

func (r *reader) fail(place, what, expected, got string) {
	r.failAs(formats.Malformed, place+" at byte "+strconv.Itoa(r.off), what, expected, got)
}

func (r *reader) invalid(place, what, expected, got string) {
	r.failAs(formats.Invalid, place, what, expected, got)
}

func (r *reader) unknown(place, expected, field string) {
	r.fail(place, "the field is unknown", expected, formats.Quote(field))
}

// peek is the next byte that is no white space, or 0 at the end.
//
//go:noinline
func (r *reader) peek() byte {
	for ; r.off < len(r.data); r.off++ {
		switch c := r.data[r.off]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take moves past c, or fails.
func (r *reader) take(place string, c byte) bool {
	if r.err != nil {
		return false
	}
	if r.peek() != c {
		r.fail(place, "a character is missing", formats.Quote(string([]byte{c})), r.describe())
		return false
	}
	r.off++
	return true
}

// describe names the next character.
func (r *reader) describe() string {
	if r.peek() == 0 && r.off == len(r.data) {
		return "the end"
	}
	return formats.Quote(string(r.data[r.off : r.off+1]))
}

func (r *reader) end() {
	if r.err == nil && (r.peek() != 0 || r.off < len(r.data)) {
		r.fail("policy", "something follows the policy", "the end", r.describe())
	}
}

// maxFields is more than any object of a policy has.
const maxFields = formats.MaxValues

// object reads an object: value reads the value of each field.
func (r *reader) object(place string, value func(field, place string)) {
	if !r.take(place, '{') {
		return
	}
	if r.peek() == '}' {
		r.off++
		return
	}
	if place != "" {
		place += "."
	}
	var seen []string
	for r.err == nil {
		field := r.text(place)
		for _, s := range seen {
			if s == field {
				r.fail(place+field, "a field appears twice", "each field once", formats.Quote(field)+" again")
			}
		}
		if seen = append(seen, field); len(seen) > maxFields {
			r.fail(place+field, "an object has too many fields", "at most "+strconv.Itoa(maxFields), "more")
		}
		if !r.take(place+field, ':') {
			return
		}
		value(field, place+field)
		if r.err == nil && r.peek() == ',' {
			r.off++
			continue
		}
		r.take(place, '}')
		return
	}
}

// array reads an array of at most most items.
func (r *reader) array(place string, most int, item func(place string)) {
	if !r.take(place, '[') {
		return
	}
	if r.peek() == ']' {
		r.off++
		return
	}
	for i := 0; r.err == nil; i++ {
		if i == most {
			r.fail(place, "an array is too long", "at most "+strconv.Itoa(most)+" items", "more")
			return
		}
		item(place + "[" + strconv.Itoa(i) + "]")
		if r.err == nil && r.peek() == ',' {
			r.off++
			continue
		}
		r.take(place, ']')
		return
	}
}

// text reads a string. Of the escapes it knows those of the characters '"', '\' and '/': names have no others.
func (r *reader) text(place string) string {
	if !r.take(place, '"') {
		return ""
	}
	var out []byte
	for ; r.off < len(r.data); r.off++ {
		c := r.data[r.off]
		if c == '"' {
			r.off++
			return string(out)
		}
		if c == '\\' && r.off+1 < len(r.data) {
			r.off++
			if c = r.data[r.off]; c != '"' && c != '\\' && c != '/' {
				break
			}
		}
		if c < ' ' || c > '~' {
			break
		}
		out = append(out, c)
	}
	r.fail(place, "a string is not closed, or has a character that no name has", "printable ASCII in quotes", r.describe())
	return ""
}

// number reads an integer from 0 and returns its digits.
func (r *reader) number(place string) string {
	if r.err != nil {
		return ""
	}
	first := r.peek()
	start := r.off
	for r.off < len(r.data) && '0' <= r.data[r.off] && r.data[r.off] <= '9' {
		r.off++
	}
	if n := r.off - start; n == 0 || n > 1 && first == '0' {
		r.fail(place, "this is no number", "a decimal number from 0, without a fraction", r.describe())
		return ""
	}
	return string(r.data[start:r.off])
}

func (r *reader) integer(place string, most int) int {
	text := r.number(place)
	if r.err != nil {
		return 0
	}
	v, ok := verifier.ParseNumber(text)
	if !ok || v > uint64(most) {
		r.fail(place, "the number is too large", "at most "+strconv.Itoa(most), text)
		return 0
	}
	return int(v)
}

// scalar reads a number or a string that is not empty.
func (r *reader) scalar(place string) string {
	if r.err == nil && r.peek() != '"' {
		return r.number(place)
	}
	text := r.text(place)
	if text == "" {
		r.fail(place, "a value is empty", "a number or a string", `""`)
	}
	return text
}

func (r *reader) boolean(place string) bool {
	if r.err != nil {
		return false
	}
	r.peek()
	for _, word := range [...]string{"true", "false"} {
		if rest := r.data[r.off:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			r.off += len(word)
			return word == "true"
		}
	}
	r.fail(place, "this is no boolean", "true or false", r.describe())
	return false
}

// skipValues moves past an object or array of scalars and returns where it started.
func (r *reader) skipValues(place string) int {
	c := r.peek()
	start := r.off
	if c == '[' {
		r.array(place, formats.MaxClaimElements, func(place string) { r.scalar(place) })
	} else {
		r.object(place, func(_, place string) { r.scalar(place) })
	}
	return start
}
