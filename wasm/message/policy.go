package message

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// Policy is what a host demands of a proof and its key.
type Policy struct {
	verifier.Policy
	Key *formats.Digest // the digest that the key must have; nil accepts the key as it is
}

// ParsePolicy reads a policy for a key. Empty data is the zero Policy. Field names are exact and none repeats; an error is a *formats.Error of class Malformed for what is
// no policy, and Invalid for claims that the key's entries cannot make.
func ParsePolicy(key *verifier.Key, data []byte) (Policy, error) {
	var p Policy
	if len(data) == 0 {
		return p, nil
	}
	r := &reader{data: data}
	r.object("", func(field, place string) {
		switch field {
		case "key":
			if text := r.text(place); r.err == nil {
				if d, ok := verifier.ParseDigest(text); ok {
					p.Key = &d
				} else {
					r.fail(place, "this is no digest", "64 hexadecimal digits", formats.Quote(text))
				}
			}
		case "max_proof_bytes":
			p.MaxProofBytes = r.integer(place, MaxProofBytes)
		case "min_bits":
			p.MinBits = r.integer(place, maxBits)
		case "min_digest_bits":
			p.MinDigestBits = r.integer(place, maxBits)
		case "insecure":
			p.Insecure = r.boolean(place)
		case "claims":
			p.Claims = []formats.Claim{}
			r.array(place, formats.MaxClaims, func(place string) { p.Claims = append(p.Claims, r.claim(key, place)) })
		default:
			r.unknown(place, "key, max_proof_bytes, min_bits, min_digest_bits, insecure or claims", field)
		}
	})
	r.end()
	if r.err != nil {
		return Policy{}, r.err
	}
	return p, nil
}

// maxBits is more than any parameters can prove.
const maxBits = 256

// claim reads one claim. Its entry is a name or a number. Values are an object by name, as in claims files, or an array of field elements.
func (r *reader) claim(key *verifier.Key, place string) (c formats.Claim) {
	var entry *formats.Entry
	at := [2]int{-1, -1} // where args and results start: their types depend on the entry, which may come after them
	r.object(place, func(field, place string) {
		switch field {
		case "entry":
			entry = r.entry(key, place, &c)
		case "args":
			at[0] = r.skipValues(place)
		case "results":
			at[1] = r.skipValues(place)
		default:
			r.unknown(place, "entry, args or results", field)
		}
	})
	if r.err == nil && entry == nil {
		r.fail(place, "a field is missing", `"entry"`, "no such field")
	}
	if r.err != nil {
		return c
	}
	after := r.off
	c.Args = r.values(place+".args", at[0], entry.Args)
	c.Results = r.values(place+".results", at[1], entry.Results)
	r.off = after
	return c
}

func (r *reader) entry(key *verifier.Key, place string, c *formats.Claim) *formats.Entry {
	if r.peek() != '"' {
		i := r.integer(place, formats.MaxEntries)
		if r.err == nil && i >= len(key.Entries) {
			r.invalid(place, "the entry does not exist", "less than "+strconv.Itoa(len(key.Entries)), strconv.Itoa(i))
		}
		if r.err != nil {
			return nil
		}
		c.Entry = uint32(i)
		return &key.Entries[i]
	}
	name := r.text(place)
	if r.err != nil {
		return nil
	}
	i, ok := key.Entry(name)
	if !ok {
		r.invalid(place, "the key has no entry of this name", "one of the key's entries", formats.Quote(name))
		return nil
	}
	c.Entry = uint32(i)
	return &key.Entries[i]
}

// values reads the values that start at an offset, negative if there are none, and lays them out.
func (r *reader) values(place string, at int, types []formats.Value) (out formats.Elements) {
	r.off = max(at, 0)
	if at >= 0 && r.peek() == '[' {
		r.array(place, formats.MaxClaimElements, func(place string) {
			text := r.scalar(place)
			if v, ok := verifier.AppendValue(out, formats.TypeField, text); ok {
				out = v
			} else {
				r.invalid(place, "this is no field element", "a number below 2^64 - 2^32 + 1", formats.Quote(text))
			}
		})
		return out // the verifier compares the lengths
	}
	given := make([]string, len(types)) // no value is an empty text
	if at >= 0 {
		r.object(place, func(name, place string) {
			text := r.scalar(place)
			for i := range types {
				if types[i].Name == name {
					given[i] = text
					return
				}
			}
			r.invalid(place, "the entry has no value of this name", "one of the entry's values", formats.Quote(name))
		})
	}
	for i, t := range types {
		v, ok := verifier.AppendValue(out, t.Type, given[i])
		switch at := place + "." + t.Name; {
		case ok:
			out = v
		case given[i] == "":
			r.invalid(at, "a value is missing", "a "+t.Type.String(), "nothing")
		default:
			r.invalid(at, "the value is not of its type", "a "+t.Type.String(), formats.Quote(given[i]))
		}
	}
	return out
}
