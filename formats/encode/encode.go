// Package encode writes the objects of package formats as deterministic CBOR (RFC 8949 section 4.2.1). It is for those who make objects; a
// verifier only decodes. Each result has been decoded again, strictly, and is the object that was given.
package encode

import (
	"bytes"
	"errors"
	"math"

	"github.com/fxamacker/cbor/v2"

	"github.com/ixprove/ixprove/formats"
)

// Proof encodes a batch proof. Its length is not limited here: the verifier's policy does that. A value that no decoder would
// accept is an *formats.Error of class Invalid, a key or claim that is too long one of class Limit. The result shares no memory with p.
func Proof(p *formats.Proof) ([]byte, error) {
	return encode(p, proofFrom, func(data []byte) (*formats.Proof, error) { return formats.DecodeProof(data, math.MaxInt) })
}

// Key encodes a verifying key. Errors are those of Proof.
func Key(k *formats.Key) ([]byte, error) { return encode(k, keyFrom, formats.DecodeKey) }

// BoundClaim encodes a claim that travels alone. Errors are those of Proof.
func BoundClaim(b *formats.BoundClaim) ([]byte, error) {
	return encode(b, boundClaimFrom, formats.DecodeBoundClaim)
}

// Root encodes a compressed proof. Errors are those of Proof.
func Root(r *formats.Root) ([]byte, error) { return encode(r, rootFrom, formats.DecodeRoot) }

// RootKey encodes the key of compressed proofs. Errors are those of Proof.
func RootKey(k *formats.RootKey) ([]byte, error) {
	return encode(k, rootKeyFrom, formats.DecodeRootKey)
}

// encode marshals the mirror of v, decodes the bytes and marshals what it got: the same bytes are the same object.
func encode[T, M any](v *T, mirror func(*T) M, decode func([]byte) (*T, error)) ([]byte, error) {
	if v == nil {
		return nil, &formats.Error{Class: formats.Invalid, What: "there is no object to encode", Expected: "an object", Got: "nil"}
	}
	data, err := mode.Marshal(mirror(v))
	if err != nil {
		return nil, &formats.Error{Class: formats.Internal, What: "the encoder failed", Got: err.Error()}
	}
	back, err := decode(data)
	if err != nil {
		return nil, blame(err)
	}
	if again, err := mode.Marshal(mirror(back)); err != nil || !bytes.Equal(again, data) {
		return nil, &formats.Error{Class: formats.Internal, What: "an object changes when it is encoded and decoded"}
	}
	return data, nil
}

// blame turns a decoder's error, which is about bytes, into one about the object that was given.
func blame(err error) error {
	var e *formats.Error
	if !errors.As(err, &e) {
		return err
	}
	about := *e
	if about.Class == formats.Malformed {
		about.Class = formats.Invalid
	}
	about.Check, about.Next = "", ""
	return &about
}

var mode = newMode()

func newMode() cbor.EncMode {
	m, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // impossible: the options are constant
	}
	return m
}
