package accel

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/ixprove/ixprove/systems/poseidon2"
	"github.com/ixprove/ixprove/verifier/field"
)

// TestPoseidon2 checks the known answer that the designers' implementation tests: the permutation of 0, 1, …, 11.
func TestPoseidon2(t *testing.T) {
	var in, out [poseidon2.Width]field.Element
	for i := range in {
		in[i] = field.Element(i)
	}
	Poseidon2.Of().Compute(in[:], out[:])
	want := [poseidon2.Width]field.Element{
		0x01eaef96bdf1c0c1, 0x1f0d2cc525b2540c, 0x6282c1dfe1e0358d, 0xe780d721f698e1e6, 0x280c0b6f753d833b, 0x1b942dd5023156ab,
		0x43f0df3fcccb8398, 0xe8e8190585489025, 0x56bdbf72f77ada22, 0x7911c32bf9dcd705, 0xec467926508fbe67, 0x6a50450ddf85a6ed,
	}
	if out != want {
		t.Errorf("got %x, want %x", out, want)
	}
}

// TestSha256 checks the FIPS 180-4 example "abc" and blocks against the standard library.
func TestSha256(t *testing.T) {
	iv := [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}
	for _, message := range []string{"abc", "", "a message of fifty-five bytes, the most in one block, yes"[:55]} {
		var block [64]byte
		block[copy(block[:], message)] = 0x80
		binary.BigEndian.PutUint64(block[56:], uint64(8*len(message)))
		args, out := make([]field.Element, 24), make([]field.Element, 8)
		for i, w := range iv {
			args[i] = field.Element(w)
		}
		for i := range 16 {
			args[8+i] = field.Element(binary.BigEndian.Uint32(block[4*i:]))
		}
		Sha256.Of().Compute(args, out)
		want := sha256.Sum256([]byte(message))
		for i := range out {
			if w := binary.BigEndian.Uint32(want[4*i:]); out[i] != field.Element(w) {
				t.Errorf("%q: word %d is %x, want %x", message, i, out[i], w)
			}
		}
	}
}
