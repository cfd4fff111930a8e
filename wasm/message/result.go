package message

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// Failure is the status and the result for an error about an input ("key", "policy", "proof", or empty).
func Failure(input string, err error) (Status, []byte) {
	e, ok := err.(*formats.Error)
	if !ok {
		e = &formats.Error{Class: formats.Internal, What: err.Error()}
	}
	o := object{}
	o.open()
	o.text("verdict", e.Class.String())
	for _, f := range [...]struct{ name, value string }{
		{"input", input}, {"check", e.Check}, {"place", e.Place}, {"what", e.What}, {"expected", e.Expected}, {"got", e.Got}, {"next", e.Next}, {"message", e.Error()},
	} {
		if f.value != "" {
			o.text(f.name, f.value)
		}
	}
	o.close()
	return StatusOf(e.Class), o.b
}

// AppendReport appends the result for an accepted proof.
func AppendReport(b []byte, key *verifier.Key, r *verifier.Report) []byte {
	o := object{b: b}
	o.open()
	o.text("verdict", "accepted")
	o.text("system", r.System)
	o.text("key", verifier.Hex(r.Key))
	o.text("profile", r.Profile)
	o.number("proven_bits", r.ProvenBits)
	o.number("unique_bits", r.UniqueBits)
	o.number("conjectured_bits", r.Conjectured)
	o.number("digest_bits", r.DigestBits)
	o.list("claims", len(r.Claims), func(i int) {
		c := &r.Claims[i]
		e := &key.Entries[c.Entry]
		o.text("entry", e.Name)
		o.number("index", int(c.Entry))
		o.values("args", e.Args, c.Args)
		o.values("results", e.Results, c.Results)
	})
	o.list("shards", len(r.Shards), func(i int) {
		s := &r.Shards[i]
		o.list("tables", len(s.Tables), func(k int) {
			o.text("circuit", s.Tables[k].Name)
			o.number("log_height", s.Tables[k].LogHeight)
		})
		o.number("layers", s.Layers)
	})
	o.key("sizes")
	o.open()
	o.number("total", r.Sizes.Total)
	for _, f := range [...]struct {
		name  string
		sizes *[verifier.NumKinds]int
	}{{"rows", &r.Sizes.Rows}, {"siblings", &r.Sizes.Siblings}} {
		o.key(f.name)
		o.open()
		for k, n := range f.sizes {
			o.number(verifier.Kind(k).String(), n)
		}
		o.close()
	}
	o.number("openings", r.Sizes.Openings)
	o.number("layers", r.Sizes.Layers)
	o.number("final", r.Sizes.Final)
	o.number("rest", r.Sizes.Rest)
	o.close()
	o.close()
	return o.b
}

// object writes JSON objects: a comma goes before every field but the first of its object.
type object struct {
	b     []byte
	comma bool
}

func (o *object) open() {
	o.b = append(o.b, '{')
	o.comma = false
}

func (o *object) close() {
	o.b = append(o.b, '}')
	o.comma = true
}

func (o *object) key(name string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.quote(name)
	o.b = append(o.b, ':')
}

func (o *object) text(name, value string) {
	o.key(name)
	o.quote(value)
}

func (o *object) number(name string, v int) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, int64(v), 10)
}

// list writes an array of n objects with the fields that item writes.
func (o *object) list(name string, n int, item func(i int)) {
	o.key(name)
	o.b = append(o.b, '[')
	for i := range n {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.open()
		item(i)
		o.close()
	}
	o.b = append(o.b, ']')
	o.comma = true
}

// values writes an entry's values, each as text: a JSON number is not exact in every reader.
func (o *object) values(name string, types []formats.Value, e formats.Elements) {
	at := 0
	o.list(name, len(types), func(i int) {
		t := types[i]
		next := at + t.Type.Elements()*formats.ElementBytes
		o.text("name", t.Name)
		o.text("type", t.Type.String())
		o.text("value", verifier.ValueText(t.Type, e[at:next]))
		at = next
	})
}

// quote writes a string. Text of the verifier is UTF-8.
//
//go:noinline
func (o *object) quote(s string) {
	const hex = "0123456789abcdef"
	o.b = append(o.b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			o.b = append(o.b, '\\', c)
		case c < ' ':
			o.b = append(o.b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			o.b = append(o.b, c)
		}
	}
	o.b = append(o.b, '"')
}
