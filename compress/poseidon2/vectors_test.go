package poseidon2

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
)

var update = flag.Bool("update", false, "write the test vectors anew from the reference of this package's tests")

// vector is one value of a function: digests in hexadecimal, words as decimal strings.
type vector struct {
	Use     string   `json:"use"`
	Digests []string `json:"digests"`
	Words   []string `json:"words"`
	Result  []string `json:"result"` // a digest, or words
}

const vectorsFile = "testdata/vectors.json"

// TestVectors holds the suite to the committed file, which fixes the suite for other implementations.
func TestVectors(t *testing.T) {
	var want []vector
	if *update {
		data, err := json.MarshalIndent(makeVectors(), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorsFile, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	got := makeVectors()
	if len(got) != len(want) {
		t.Fatalf("%d vectors, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Use != want[i].Use || !slices.Equal(got[i].Digests, want[i].Digests) || !slices.Equal(got[i].Words, want[i].Words) || !slices.Equal(got[i].Result, want[i].Result) {
			t.Errorf("vector %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func makeVectors() (out []vector) {
	r, suite := source{rand.New(rand.NewPCG(2026, 11))}, Suite{}
	texts := func(words ...uint64) (t []string) {
		for _, w := range words {
			t = append(t, strconv.FormatUint(w, 10))
		}
		return t
	}
	add := func(use string, digests []hash.Digest, words []uint64, result ...string) {
		v := vector{Use: use, Words: texts(words...), Result: result}
		for _, d := range digests {
			v.Digests = append(v.Digests, verifier.Hex(d))
		}
		out = append(out, v)
	}
	for _, n := range []int{1, 3, 4, 12, 13, 24, 25, 33, 34, 50} {
		x, y, z := r.digest(), r.digest(), r.digest()
		words, number := r.words(n), r.Uint64()
		widths := make([]int, min(n, 12))
		counts := []uint64{uint64(n)}
		for i := range widths {
			widths[i] = r.IntN(1 << 16)
			counts = append(counts, uint64(widths[i]))
		}
		squeezed, count := suite.Squeeze(&x, number)
		add("shape: log rows, widths", nil, counts, verifier.Hex(suite.Shape(n, widths)))
		add("leaf: shape, row", []hash.Digest{x}, words, verifier.Hex(suite.Leaf(&x, row(words))))
		add("node: left, right", []hash.Digest{x, y}, nil, verifier.Hex(suite.Node(&x, &y)))
		add("inject: left, right, row", []hash.Digest{x, y, z}, nil, verifier.Hex(suite.Inject(&x, &y, &z)))
		add("absorb: state, words", []hash.Digest{x}, words, verifier.Hex(suite.Absorb(&x, words)))
		add("squeeze: state, block", []hash.Digest{x}, []uint64{number}, texts(squeezed[:count]...)...)
		add("fork: state, branch", []hash.Digest{x}, []uint64{number}, verifier.Hex(suite.Fork(&x, number)))
		add("grind: state, nonce", []hash.Digest{x}, []uint64{number}, texts(suite.Grind(&x, number))...)
	}
	return out
}
