package hash_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	zeebo "github.com/zeebo/blake3"

	"github.com/ixprove/ixprove/verifier/hash"
)

// keyed is BLAKE3's keyed mode, by the other implementation, on the concatenated parts.
func keyed(t *testing.T, key []byte, parts ...[]byte) (d hash.Digest) {
	t.Helper()
	h, err := zeebo.NewKeyed(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if _, err := h.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	copy(d[:], h.Sum(nil))
	return d
}

// labelled is keyed under the ASCII label, padded with zero bytes.
func labelled(t *testing.T, label string, parts ...[]byte) hash.Digest {
	t.Helper()
	return keyed(t, append([]byte(label), make([]byte, 32-len(label))...), parts...)
}

func le64(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// block is a full block of words as a digest.
func block(words [4]uint64, n int) hash.Digest { return hash.Digest(le64(words[:n]...)) }

// TestTable is the table of docs/protocol.md section 3, row by row.
func TestTable(t *testing.T) {
	suite := hash.Blake3{}
	if suite.Name() != "blake3" {
		t.Errorf("the suite is called %q", suite.Name())
	}
	r := rand.New(rand.NewPCG(3, 1))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	// Lengths of rows, in elements: empty, and around BLAKE3's blocks of 64 bytes and chunks of 1,024.
	for _, n := range []int{0, 1, 3, 4, 7, 8, 9, 127, 128, 129, 400} {
		x, y, z := hash.Digest(random(32)), hash.Digest(random(32)), hash.Digest(random(32))
		row, number := random(8*n), r.Uint64()>>r.IntN(64)
		words := make([]uint64, n)
		widths, counts := make([]int, n), []uint64{27, uint64(n)}
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(row[8*i:])
			widths[i] = r.IntN(1 << 16)
			counts = append(counts, uint64(widths[i]))
		}
		grind := suite.Grind(&x, number)
		for _, c := range []struct {
			use       string
			got, want hash.Digest
		}{
			{"shape", suite.Shape(27, widths), labelled(t, "ixprove/1 leaf shape", le64(counts...))},
			{"leaf", suite.Leaf(&x, row), keyed(t, x[:], row)},
			{"node", suite.Node(&x, &y), labelled(t, "ixprove/1 merkle node", x[:], y[:])},
			{"inject", suite.Inject(&x, &y, &z), labelled(t, "ixprove/1 merkle inject", x[:], y[:], z[:])},
			{"absorb", suite.Absorb(&x, words), labelled(t, "ixprove/1 absorb", x[:], row)},
			{"squeeze", block(suite.Squeeze(&x, number)), labelled(t, "ixprove/1 squeeze", x[:], le64(number))},
			{"fork", suite.Fork(&x, number), labelled(t, "ixprove/1 fork", x[:], le64(number))},
			{"key digest", hash.KeyDigest(row), labelled(t, "ixprove/1 verifying key", row)},
		} {
			if c.got != c.want {
				t.Errorf("%s, length %d: %x, want %x", c.use, n, c.got, c.want)
			}
		}
		first := labelled(t, "ixprove/1 grind", x[:], le64(number))
		if want := binary.LittleEndian.Uint64(first[:8]); grind != want {
			t.Errorf("grind: %x, want %x", grind, want)
		}
	}
}

// TestNamed finds a suite by its name among those given, and no other.
func TestNamed(t *testing.T) {
	suites := []hash.Suite{hash.Blake3{}}
	if s, ok := hash.Named("blake3", suites); !ok || s != suites[0] {
		t.Error("blake3 is not found")
	}
	for _, name := range []string{"", "Blake3", "poseidon2-bn254"} {
		if s, ok := hash.Named(name, suites); ok || s != nil {
			t.Errorf("%q is found", name)
		}
	}
	if !suites[0].Canonical(make([]byte, 64)) || !suites[0].Canonical([]byte{255}) {
		t.Error("there are bytes that are no digest of blake3")
	}
}

// TestDomainSeparation gives every function the same bytes: no two may agree.
func TestDomainSeparation(t *testing.T) {
	suite, zero := hash.Blake3{}, hash.Digest{}
	outputs := []hash.Digest{
		suite.Node(&zero, &zero),
		suite.Inject(&zero, &zero, &zero),
		suite.Leaf(&zero, make([]byte, 64)),
		suite.Absorb(&zero, make([]uint64, 4)),
		suite.Absorb(&zero, make([]uint64, 1)),
		block(suite.Squeeze(&zero, 0)),
		suite.Fork(&zero, 0),
		suite.Shape(0, nil),
		suite.Shape(0, []int{0}),
		suite.Shape(0, []int{0, 0, 0, 0, 0, 0}),
		hash.KeyDigest(make([]byte, 64)),
		hash.KeyDigest(make([]byte, 40)),
	}
	for i, d := range outputs {
		if slices.Contains(outputs[:i], d) {
			t.Errorf("output %d equals another", i)
		}
	}
}

// TestShapeIsInjective holds lists apart that have the same numbers in another order or division.
func TestShapeIsInjective(t *testing.T) {
	seen := map[hash.Digest]int{}
	for i, c := range []struct {
		log    int
		widths []int
	}{{1, []int{2, 3}}, {1, []int{3, 2}}, {1, []int{5}}, {2, []int{2, 3}}, {1, []int{2, 3, 0}}, {0, []int{1, 2, 3}}, {3, []int{2}}} {
		d := hash.Blake3{}.Shape(c.log, c.widths)
		if k, ok := seen[d]; ok {
			t.Errorf("shapes %d and %d agree", k, i)
		}
		seen[d] = i
	}
}

// TestInputsAreKept checks that no function writes to its arguments.
func TestInputsAreKept(t *testing.T) {
	suite := hash.Blake3{}
	x, y, z := hash.Digest{1}, hash.Digest{2}, hash.Digest{3}
	row, words := []byte{4, 5}, []uint64{6}
	suite.Node(&x, &y)
	suite.Inject(&x, &y, &z)
	suite.Leaf(&x, row)
	suite.Absorb(&x, words)
	suite.Squeeze(&x, 1)
	suite.Fork(&x, 1)
	suite.Grind(&x, 1)
	if x != (hash.Digest{1}) || y != (hash.Digest{2}) || z != (hash.Digest{3}) || row[0] != 4 || row[1] != 5 || words[0] != 6 {
		t.Error("a function changed its argument")
	}
}
