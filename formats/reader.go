package formats

import "strconv"

// CBOR major types (RFC 8949 section 3.1), the high three bits of an item's first byte.
const (
	majorUint byte = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

var majorNames = [8]string{
	"an unsigned integer", "a negative integer", "a byte string", "a text string", "an array", "a map", "a tag", "a simple value",
}

var simpleNames = [32]string{
	20: "false", 21: "true", 22: "null", 23: "undefined", 25: "a float", 26: "a float", 27: "a float", 31: "a break",
}

// leastArgument[i] is the smallest argument for which a head needs 2^i bytes after the first (RFC 8949 section 4.2.1).
var leastArgument = [4]uint64{24, 1 << 8, 1 << 16, 1 << 32}

// Hints that several failures share.
const (
	hintFile    = "check that the right file was given"
	hintCut     = "the data is cut short: fetch or write it again"
	hintEncoder = "encode it deterministically (RFC 8949 section 4.2.1) by the schema in formats/*.cddl"
)

// maxDepth is the deepest path in any schema: circuits, lookups, args, and the blank step of an element.
const maxDepth = 4

// step is one step of the path to the item being read: a field's name and, inside a list, the element. Steps are kept as they are passed and
// made into text only by a failure.
type step struct {
	name  string
	index int // -1 outside a list
}

// reader reads one object from data. The first failure is kept in err; after it every method returns zero and moves nothing, so that
// a schema can be read as a list of assignments.
type reader struct {
	data []byte
	off  int    // where the next item starts
	item int    // where the item read last started: the byte that a failure names
	obj  object // what is being read
	err  *Error

	tables, trees int // of the proof so far
	path          [maxDepth]step
	depth         int // path[:depth+1] leads to the item being read
}

// fail records the first failure, at the item read last.
//
//go:noinline
func (r *reader) fail(what, expected, got, next string) {
	r.failAs(Malformed, r.obj.formCheck, &Error{What: what, Expected: expected, Got: got, Next: next})
}

func (r *reader) failAs(class Class, check string, e *Error) {
	if r.err != nil {
		return
	}
	e.Class, e.Check = class, check
	for _, s := range r.path[:r.depth+1] {
		if s.name != "" && e.Place != "" {
			e.Place += "."
		}
		e.Place += s.name
		if s.index >= 0 {
			e.Place += "[" + strconv.Itoa(s.index) + "]"
		}
	}
	if e.Place != "" {
		e.Place += " "
	}
	e.Place += "at byte " + strconv.Itoa(r.item)
	r.err = e
}

// enter moves to the name within the current map or array.
//
//go:noinline
func (r *reader) enter(name string) { r.path[r.depth] = step{name, -1} }

// descend and ascend move into and out of the current item.
//
//go:noinline
func (r *reader) descend() {
	r.depth++
	r.enter("")
}

func (r *reader) ascend() { r.depth-- }

// head reads the head of an item of the given major type and returns its argument: the value of an integer, the length of anything else.
func (r *reader) head(major byte) uint64 {
	if r.err != nil {
		return 0
	}
	r.item = r.off
	rest := r.data[r.off:]
	if len(rest) == 0 {
		r.fail("an item is missing", majorNames[major], "the end of the data", hintCut)
		return 0
	}
	first, info := rest[0]>>5, rest[0]&31
	if first != major || info > 27 {
		r.fail("an item of the wrong type", majorNames[major], describe(rest[0]), "")
		return 0
	}
	if info < 24 {
		r.off++
		return uint64(info)
	}
	n := 1 << (info - 24)
	if len(rest) <= n {
		r.fail("an item's head is cut", strconv.Itoa(n)+" bytes of argument", strconv.Itoa(len(rest)-1), hintCut)
		return 0
	}
	var arg uint64
	for _, b := range rest[1 : 1+n] {
		arg = arg<<8 | uint64(b)
	}
	if arg < leastArgument[info-24] {
		r.fail("an item's head is longer than it need be", "the shortest head for "+strconv.FormatUint(arg, 10),
			strconv.Itoa(1+n)+" bytes", hintEncoder)
		return 0
	}
	r.off += 1 + n
	return arg
}

// describe names the item that starts with byte b.
func describe(b byte) string {
	major, info := b>>5, b&31
	switch {
	case major == majorSimple && simpleNames[info] != "":
		return simpleNames[info]
	case info == 31 && major >= majorBytes && major <= majorMap:
		return majorNames[major] + " of indefinite length"
	case info > 27:
		return "the reserved byte 0x" + strconv.FormatUint(uint64(b), 16)
	}
	return majorNames[major]
}

// uint reads an integer of at most max.
func (r *reader) uint(max uint64) uint64 {
	v := r.head(majorUint)
	if v > max {
		r.fail("an integer is too large", "at most "+strconv.FormatUint(max, 10), strconv.FormatUint(v, 10), "")
		return 0
	}
	return v
}

// exactly reads the head of an array or map that must have n items or entries.
func (r *reader) exactly(major byte, n int) {
	r.sized(major, n, r.head(major))
}

func (r *reader) sized(major byte, n int, got uint64) {
	if r.err == nil && got != uint64(n) {
		r.fail("a wrong number of items", majorNames[major]+" of "+strconv.Itoa(n)+" items", strconv.FormatUint(got, 10), hintEncoder)
	}
}

// key reads the map key k, which belongs to the named field, and returns r for reading the field's value.
func (r *reader) key(k int, name string) *reader {
	if r.err != nil {
		return r
	}
	r.enter("")
	if got := r.head(majorUint); r.err == nil && got != uint64(k) {
		r.fail("a map key is missing, unknown, repeated or out of order", "key "+strconv.Itoa(k)+" ("+name+")",
			"key "+strconv.FormatUint(got, 10), hintEncoder)
	}
	r.enter(name)
	return r
}

// at moves to the named item of an array and returns r for reading it.
//
//go:noinline
func (r *reader) at(name string) *reader {
	r.enter(name)
	return r
}

// list reads an array of at most max items, each of which takes at least least bytes. Nothing is allocated unless the data that is left
// can hold that many. An empty list is nil.
func list[T any](r *reader, max, least int, item func(*reader) T) []T {
	n := r.count(max, least)
	if n == 0 {
		return nil
	}
	out := make([]T, n)
	at := &r.path[r.depth]
	r.descend()
	for i := range out {
		at.index = i
		r.enter("")
		if out[i] = item(r); r.err != nil {
			break
		}
	}
	at.index = -1
	r.ascend()
	return out
}

// count reads the head of a list. It is not generic, which would be a copy of it for each type of item.
func (r *reader) count(max, least int) int {
	n := r.head(majorArray)
	left := uint64(len(r.data) - r.off)
	switch {
	case n > uint64(max):
		r.fail("a list is too long", "at most "+strconv.Itoa(max)+" items", strconv.FormatUint(n, 10), "")
	case n > left/uint64(least):
		r.fail("a list is longer than the data", strconv.FormatUint(n, 10)+" items of at least "+strconv.Itoa(least)+" bytes",
			strconv.FormatUint(left, 10)+" bytes left", hintCut)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

// one reads a single structure in place of an item, one level down the path.
func one[T any](r *reader, item func(*reader) T) T {
	r.descend()
	v := item(r)
	r.ascend()
	return v
}

// bytes reads a byte string of least to most units of the given size. The result shares memory with data; an empty one is nil.
func (r *reader) bytes(unit, least, most int) []byte {
	return r.content(majorBytes, unit, least, most)
}

func (r *reader) content(major byte, unit, least, most int) []byte {
	n := r.head(major)
	if r.err != nil {
		return nil
	}
	size, left := uint64(unit), uint64(len(r.data)-r.off)
	var expected string
	switch {
	case n/size > uint64(most):
		expected = "at most " + strconv.FormatUint(uint64(most)*size, 10)
	case n/size < uint64(least):
		expected = "at least " + strconv.FormatUint(uint64(least)*size, 10)
	case n%size != 0:
		expected = "a multiple of " + strconv.Itoa(unit)
	case n > left:
		r.fail("a string is longer than the data", strconv.FormatUint(n, 10)+" bytes", strconv.FormatUint(left, 10)+" bytes left", hintCut)
		return nil
	case n == 0:
		return nil
	}
	if expected != "" {
		r.fail("a string has a wrong length", expected+" bytes", strconv.FormatUint(n, 10), "")
		return nil
	}
	start := r.off
	r.off += int(n)
	return r.data[start:r.off:r.off]
}

// digest reads one digest.
func (r *reader) digest() (d Digest) {
	copy(d[:], r.bytes(DigestBytes, 1, 1))
	return d
}

// digests reads a byte string of at most max digests. They are copied.
func (r *reader) digests(max int) []Digest {
	b := r.bytes(DigestBytes, 0, max)
	if len(b) == 0 {
		return nil
	}
	out := make([]Digest, len(b)/DigestBytes)
	for i := range out {
		copy(out[i][:], b[i*DigestBytes:])
	}
	return out
}

// elements reads a byte string of least to most elements and checks that each is canonical.
func (r *reader) elements(least, most int) Elements {
	e := Elements(r.bytes(ElementBytes, least, most))
	for i := range e.Len() {
		if v := e.At(i); v >= Modulus {
			r.item = r.off - len(e) + i*ElementBytes
			r.path[r.depth].index = i
			r.fail("an element is not canonical", "less than "+strconv.FormatUint(Modulus, 10), strconv.FormatUint(v, 10), "")
			return nil
		}
	}
	return e
}

// name reads a text string of 1 to MaxNameBytes printable ASCII characters: no name can hide or reorder text in a report.
func (r *reader) name() string {
	b := r.content(majorText, 1, 1, MaxNameBytes)
	for i, c := range b {
		if c < ' ' || c > '~' {
			r.item = r.off - len(b) + i
			r.fail("a name has an unprintable byte", "printable ASCII", "0x"+strconv.FormatUint(uint64(c), 16), "")
			return ""
		}
	}
	return string(b)
}
