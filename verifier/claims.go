package verifier

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// CheckClaims checks that claims are statements of the key's entries (P-5 to P-8, P-38).
func CheckClaims(key *Key, claims []formats.Claim) error {
	if len(claims) < 1 || len(claims) > formats.MaxClaims {
		e := rejected("P-5", "claims", "the number of claims is out of range").Mismatch(1, uint64(len(claims)))
		e.Expected = "1 to " + strconv.Itoa(formats.MaxClaims)
		return e
	}
	made := make([]uint64, len(key.Entries)) // claims of each entry
	for i := range claims {
		c := &claims[i]
		place := "claim " + strconv.Itoa(i)
		if uint64(c.Entry) >= uint64(len(key.Entries)) {
			e := rejected("P-6", place, "the entry does not exist").Mismatch(uint64(len(key.Entries)), uint64(c.Entry))
			e.Expected = "less than " + e.Expected
			return e
		}
		made[c.Entry]++
		entry := &key.Entries[c.Entry]
		args, results := EntryElements(entry)
		for _, part := range []struct {
			name   string
			values []formats.Value
			want   int
			got    formats.Elements
		}{{"arguments", entry.Args, args, c.Args}, {"results", entry.Results, results, c.Results}} {
			if part.got.Len() != part.want {
				return rejected("P-7", place+", "+part.name, "the number of elements is not that of the entry's types").Mismatch(uint64(part.want), uint64(part.got.Len()))
			}
			at := 0
			for _, v := range part.values {
				for range v.Type.Elements() {
					if x := part.got.At(at); !v.Type.Holds(x) {
						e := rejected("P-8", place+", "+part.name+" "+formats.Quote(v.Name), "an element is out of its type's range").Mismatch(0, x)
						e.Expected = "a value of type " + v.Type.String()
						return e
					}
					at++
				}
			}
		}
	}
	for i, n := range made {
		if args, results := EntryElements(&key.Entries[i]); args+results == 0 && n != 1 {
			return rejected("P-38", "claims of entry "+formats.Quote(key.Entries[i].Name), "an entry that states nothing is claimed once").Mismatch(1, n)
		}
	}
	return nil
}

// checkExpected compares the claims with those that the caller expects (P-9).
func checkExpected(got, want []formats.Claim) error {
	if len(got) != len(want) {
		return rejected("P-9", "claims", "these are not the claims that were expected").Mismatch(uint64(len(want)), uint64(len(got)))
	}
	for i := range want {
		if got[i].Entry != want[i].Entry || string(got[i].Args) != string(want[i].Args) || string(got[i].Results) != string(want[i].Results) {
			return rejected("P-9", "claim "+strconv.Itoa(i), "this is not the claim that was expected")
		}
	}
	return nil
}

// AbsorbStatement performs T-1 to T-3: the key, the claims, and each shard's tables and main root.
func AbsorbStatement(tr *transcript.Transcript, key *Key, claims []formats.Claim, shapes []*Shape, roots []formats.Digest) {
	DrawStatement[uint64, field.Ext](&drawer{Transcript: tr}, statement(key, claims, shapes, roots))
}

// ClaimSum is the sum of 1/m over the claims' messages, and false when some m is zero.
func ClaimSum(key *Key, claims []formats.Claim, ch *logup.Challenges) (field.Ext, bool) {
	var sum field.Ext
	for i := range claims {
		c := &claims[i]
		args := c.Args.Len()
		m := ch.Message(key.Entries[c.Entry].Channel, args+c.Results.Len(), func(k int) field.Element {
			if k < args {
				return field.Element(c.Args.At(k))
			}
			return field.Element(c.Results.At(k - args))
		})
		inverse, ok := field.InverseExt(m)
		if !ok {
			return sum, false
		}
		sum = field.AddExt(sum, inverse)
	}
	return sum, true
}
