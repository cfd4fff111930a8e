package exec

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/ixprove/ixprove/verifier/field"
)

// table maps keys of a fixed number of words to entries, numbered in the order of their insertion. Entries lie in an arena of blocks, which never move; an index with open addressing
// finds them. An entry is its key, its value and its marks, words one after the other.
type table struct {
	key, stride int
	log         uint // log2 of the entries of a block
	blocks      [][]field.Element
	index       []uint32 // entry + 1; 0 is free; a power of two, at most three quarters full
	count       int
	memory      *memory
}

// memory accounts for what an execution holds.
type memory struct{ used, limit int64 }

// take allocates, and reports whether the limit allows it.
func (m *memory) take(bytes int64) bool {
	if m.used+bytes > m.limit {
		return false
	}
	m.used += bytes
	return true
}

const (
	blockWords = 1 << 13
	wordBytes  = 8
	leastIndex = 16
	maxEntries = math.MaxUint32 - 1
)

func newTable(key, rest int, m *memory) *table {
	t := &table{key: key, stride: key + rest, memory: m}
	if per := blockWords / max(t.stride, 1); per > 1 {
		t.log = uint(bits.Len(uint(per)) - 1)
	}
	return t
}

// entry is the words of entry i.
func (t *table) entry(i int) []field.Element {
	at := (i & (1<<t.log - 1)) * t.stride
	return t.blocks[i>>t.log][at : at+t.stride : at+t.stride]
}

// seed is where hashes start: nobody who chooses arguments, values or private inputs knows which keys collide. Nothing that is recorded depends on it.
var seed = rand.Uint64()

// hash mixes a key's words: multiply and fold, as wyhash does.
func hash(key []field.Element) uint64 {
	h := seed
	for _, w := range key {
		hi, lo := bits.Mul64(h^uint64(w), 0xa0761d6478bd642f)
		h = hi ^ lo + 0x8ebc6af09c88c6e3
	}
	return h ^ h>>29
}

// find returns the entry with that key. Without one, it adds one with the rest of its words zero, and says so. ok is false if memory or numbers run out.
func (t *table) find(key []field.Element) (i int, added, ok bool) {
	if t.count*4 >= len(t.index)*3 && !t.grow() {
		return 0, false, false
	}
	mask := len(t.index) - 1
	at := int(hash(key)) & mask
	for ; t.index[at] != 0; at = (at + 1) & mask {
		i = int(t.index[at] - 1)
		if equal(t.entry(i), key) {
			return i, false, true
		}
	}
	if uint64(t.count) == maxEntries {
		return 0, false, false
	}
	if t.count>>t.log == len(t.blocks) {
		words := t.stride << t.log
		if !t.memory.take(int64(words) * wordBytes) {
			return 0, false, false
		}
		t.blocks = append(t.blocks, make([]field.Element, words))
	}
	i = t.count
	t.count++
	t.index[at] = uint32(i + 1)
	copy(t.entry(i), key)
	return i, true, true
}

// lookup is find for readers: it adds nothing and may be called concurrently.
func (t *table) lookup(key []field.Element) (i int, ok bool) {
	if t.count == 0 {
		return 0, false
	}
	mask := len(t.index) - 1
	for at := int(hash(key)) & mask; t.index[at] != 0; at = (at + 1) & mask {
		i = int(t.index[at] - 1)
		if equal(t.entry(i), key) {
			return i, true
		}
	}
	return 0, false
}

func equal(entry, key []field.Element) bool {
	for k, w := range key {
		if entry[k] != w {
			return false
		}
	}
	return true
}

func (t *table) grow() bool {
	size := max(leastIndex, 2*len(t.index))
	if !t.memory.take(int64(size) * 4) {
		return false
	}
	old := len(t.index)
	t.index = make([]uint32, size)
	for i := range t.count {
		at := int(hash(t.entry(i)[:t.key])) & (size - 1)
		for t.index[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		t.index[at] = uint32(i + 1)
	}
	t.memory.used -= int64(old) * 4
	return true
}
