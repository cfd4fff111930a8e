// Package encode writes the objects of package formats as deterministic CBOR (RFC 8949 section 4.2.1). It is for those who make objects; a
// verifier only decodes. Each result has been decoded again, strictly, and is the object that was given.
package encode

import (
	"math"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/ixprove/ixprove/formats"
)

// Proof encodes a batch proof. Its length is not limited here: the verifier's policy does that. An object that no decoder would accept is an
// *formats.Error of class Invalid.
func Proof(p *formats.Proof) ([]byte, error) {
	return encode(p, proofFrom, func(data []byte) (*formats.Proof, error) { return formats.DecodeProof(data, math.MaxInt) })
}

// Key encodes a verifying key. Errors are those of Proof.
func Key(k *formats.Key) ([]byte, error) { return encode(k, keyFrom, formats.DecodeKey) }

// BoundClaim encodes a claim that travels alone. Errors are those of Proof.
func BoundClaim(b *formats.BoundClaim) ([]byte, error) {
	return encode(b, boundClaimFrom, formats.DecodeBoundClaim)
}

// encode marshals the mirror of v, decodes the bytes, and compares the mirrors: they, unlike v, do not tell an empty list from none.
func encode[T, M any](v *T, mirror func(*T) M, decode func([]byte) (*T, error)) ([]byte, error) {
	if v == nil {
		return nil, invalid("an object", "nothing")
	}
	m := mirror(v)
	data, err := mode.Marshal(m)
	if err != nil {
		return nil, invalid("an object that can be encoded", err.Error())
	}
	back, err := decode(data)
	if err != nil {
		return nil, invalid("an object that can be decoded", err.Error())
	}
	if !reflect.DeepEqual(mirror(back), m) {
		return nil, &formats.Error{Class: formats.Internal, What: "an object changes when it is encoded and decoded"}
	}
	return data, nil
}

func invalid(expected, got string) error {
	return &formats.Error{Class: formats.Invalid, What: "the object cannot travel", Expected: expected, Got: got}
}

var mode = newMode()

func newMode() cbor.EncMode {
	m, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // impossible: the options are constant
	}
	return m
}
