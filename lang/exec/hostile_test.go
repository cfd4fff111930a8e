package exec

import (
	"math/bits"
	"testing"

	"github.com/ixprove/ixprove/verifier/field"
)

// TestKeysDoNotCollide makes keys of which all would have one hash if hashes started at a number that is known: the second word takes back what the first one did.
func TestKeysDoNotCollide(t *testing.T) {
	const start = 0x9e3779b97f4a7c15
	hashes := map[uint64]bool{}
	n := 0
	for w := range uint64(1000) {
		high, low := bits.Mul64(start^w, 0xa0761d6478bd642f)
		second := high ^ low + 0x8ebc6af09c88c6e3
		if second < 1<<63 {
			hashes[hash([]field.Element{field.Element(w), field.Element(second)})] = true
			n++
		}
	}
	if len(hashes) < n-2 {
		t.Errorf("%d keys have %d hashes", n, len(hashes))
	}
}
