package formats

import "strconv"

// Class says what kind of failure an Error is. It decides the exit code of the command line and is stable across versions.
type Class uint8

// The classes. Each is also an error, so errors.Is(err, formats.Rejected) asks for the class of any error of this module.
const (
	Internal     Class = iota + 1 // a bug of ours: an impossible state was met
	Malformed                     // the bytes are not an encoding of what they should be
	Incompatible                  // another kind of object, another version, or not the key that the verifier chose
	Rejected                      // a well-formed proof that does not prove its claims
	Limit                         // more than a caller's or the format's limit
	Invalid                       // a system, claim or witness that cannot be proven as given
)

var classNames = [...]string{"unknown", "internal", "malformed", "incompatible", "rejected", "limit", "invalid"}

// String is the class's stable lower-case name, as it appears in JSON reports.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[0]
}

// Error makes a Class usable as a target of errors.Is.
func (c Class) Error() string { return "ixprove: " + c.String() }

// Error is the one error type of formats and verifier: what was checked where, what was expected, what was there, and what to do.
// Fields that do not apply are empty.
type Error struct {
	Class    Class
	Check    string // the check of docs/protocol.md that failed, such as "P-27" or "K-8"
	Place    string // where in the object, such as "shard 0, table 2" or "shards[0].openings at byte 711"
	What     string // the failure in a few words
	Expected string
	Got      string
	Next     string // what the reader can do about it
}

// Error renders "ixprove: class: what (check, place): expected …, got …; next".
func (e *Error) Error() string {
	s := "ixprove: " + e.Class.String() + ": " + e.What
	switch {
	case e.Check != "" && e.Place != "":
		s += " (" + e.Check + ", " + e.Place + ")"
	case e.Check != "" || e.Place != "":
		s += " (" + e.Check + e.Place + ")"
	}
	if e.Expected != "" {
		s += ": expected " + e.Expected
	}
	if e.Got != "" {
		if e.Expected != "" {
			s += ","
		} else {
			s += ":"
		}
		s += " got " + e.Got
	}
	if e.Next != "" {
		s += "; " + e.Next
	}
	return s
}

// Is reports whether target is this error's Class.
func (e *Error) Is(target error) bool {
	c, ok := target.(Class)
	return ok && c == e.Class
}

// Mismatch fills Expected and Got from two numbers and returns e.
func (e *Error) Mismatch(expected, got uint64) *Error {
	e.Expected, e.Got = strconv.FormatUint(expected, 10), strconv.FormatUint(got, 10)
	return e
}

// Quote is s in double quotes for a message: '"' and '\\' stand behind a backslash, and a byte that is no printable ASCII is \x and two digits. strconv.Quote would bring
// Unicode's tables into the Wasm module.
func Quote(s string) string {
	const hex = "0123456789abcdef"
	out := []byte{'"'}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ' || c > '~':
			out = append(out, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}
