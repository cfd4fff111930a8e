package verifier

import (
	"math"
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/security"
)

// Report describes an accepted proof.
type Report struct {
	System      string
	Key         formats.Digest
	Profile     string
	Claims      []formats.Claim
	Shards      []ShardReport
	ProvenBits  int // up to the Johnson bound
	UniqueBits  int // proven within the unique decoding radius
	Conjectured int // as docs/security.md says
	DigestBits  int // work for a collision of digests
	Sizes       Sizes
}

// ShardReport lists a shard's tables and the work it took.
type ShardReport struct {
	Tables []Table
	Layers int // FRI layers
}

// Sizes are the bytes of a proof by part. Their sum is Total, CBOR heads being counted in Rest.
type Sizes struct {
	Total    int
	Rows     [NumKinds]int // opened rows of each kind of matrix
	Siblings [NumKinds]int
	Openings int // out-of-domain values and pins
	Layers   int // FRI layers: values and siblings
	Final    int
	Rest     int
}

func newReport(key *Key, p *formats.Proof, shapes []*Shape, bytes int) *Report {
	r := &Report{System: key.Name, Key: key.digest, Profile: key.Profile.Name, Claims: p.Claims}
	shape := Security(shapes, len(p.Claims))
	terms := func(regime security.Regime) []security.Term { return security.Terms(key.Profile, shape, regime) }
	johnson := terms(security.Johnson)
	r.ProvenBits, r.UniqueBits, r.Conjectured = security.Level(johnson), security.Level(terms(security.Unique)), security.Level(terms(security.Conjectured))
	r.DigestBits = security.DigestLevel(johnson)
	r.Sizes.Total = bytes
	rest := bytes
	for i, s := range shapes {
		shard := &p.Shards[i]
		sr := ShardReport{Tables: s.Tables, Layers: len(s.Schedule.Steps)}
		for k := range s.Trees {
			t := &s.Trees[k]
			r.Sizes.Rows[t.Kind] += len(shard.Trees[k].Rows)
			r.Sizes.Siblings[t.Kind] += len(shard.Trees[k].Siblings)
			rest -= len(shard.Trees[k].Rows) + len(shard.Trees[k].Siblings)
		}
		for _, l := range shard.Layers {
			r.Sizes.Layers += len(l.Rows) + len(l.Siblings)
			rest -= len(l.Rows) + len(l.Siblings)
		}
		r.Sizes.Openings += len(shard.Openings) + len(shard.Pins)
		r.Sizes.Final += len(shard.Final)
		rest -= len(shard.Openings) + len(shard.Pins) + len(shard.Final)
		r.Shards = append(r.Shards, sr)
	}
	r.Sizes.Rest = rest
	return r
}

// Hex is the digest in hexadecimal.
func Hex(d formats.Digest) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 2*len(d))
	for _, c := range d {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return string(b)
}

// ClaimText renders a claim as "entry(arguments) = results", with the names and types of the entry.
func (k *Key) ClaimText(c *formats.Claim) string {
	if uint64(c.Entry) >= uint64(len(k.Entries)) {
		return "an unknown entry"
	}
	e := &k.Entries[c.Entry]
	return e.Name + "(" + valuesText(e.Args, c.Args) + ") = " + valuesText(e.Results, c.Results)
}

func valuesText(values []formats.Value, elements formats.Elements) string {
	s, at := "", 0
	for i, v := range values {
		if i > 0 {
			s += ", "
		}
		n := v.Type.Elements()
		if at+n > elements.Len() {
			return s + "incomplete"
		}
		s += v.Name + " " + ValueText(v.Type, elements[at*formats.ElementBytes:(at+n)*formats.ElementBytes])
		at += n
	}
	return s
}

// ValueText renders one value: numbers in decimal, bytes32 in hexadecimal. e holds exactly the type's elements.
func ValueText(t formats.ValueType, e formats.Elements) string {
	switch t {
	case formats.TypeU64:
		return strconv.FormatUint(e.At(0)|e.At(1)<<32, 10)
	case formats.TypeBytes32:
		var d formats.Digest
		for i := range d {
			d[i] = byte(e.At(i/4) >> (8 * (i % 4)))
		}
		return Hex(d)
	}
	return strconv.FormatUint(e.At(0), 10)
}

// AppendValue appends the elements of a value written as ValueText writes it, and reports whether it is one of the type.
func AppendValue(e formats.Elements, t formats.ValueType, text string) (formats.Elements, bool) {
	if t == formats.TypeBytes32 {
		d, ok := ParseDigest(text)
		if !ok {
			return e, false
		}
		for i := 0; i < len(d); i += 4 {
			e = e.Append(uint64(d[i]) | uint64(d[i+1])<<8 | uint64(d[i+2])<<16 | uint64(d[i+3])<<24)
		}
		return e, true
	}
	v, ok := ParseNumber(text)
	switch {
	case !ok:
		return e, false
	case t == formats.TypeU64:
		return e.Append(v & (1<<32 - 1)).Append(v >> 32), true
	case !t.Holds(v):
		return e, false
	}
	return e.Append(v), true
}

// ParseDigest reads 64 hexadecimal digits of either case.
func ParseDigest(text string) (d formats.Digest, ok bool) {
	if len(text) != 2*len(d) {
		return d, false
	}
	for i := range len(text) {
		var v byte
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			v = c - '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = c | 0x20 - 'a' + 10
		default:
			return d, false
		}
		d[i/2] = d[i/2]<<4 | v
	}
	return d, true
}

// ParseNumber reads a decimal number below 2^64. strconv.ParseUint would bring its error types into the Wasm module.
func ParseNumber(text string) (v uint64, ok bool) {
	for i := range len(text) {
		c := uint64(text[i]) - '0'
		if c > 9 || v > (math.MaxUint64-c)/10 {
			return 0, false
		}
		v = 10*v + c
	}
	return v, text != ""
}
