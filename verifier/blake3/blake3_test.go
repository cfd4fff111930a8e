package blake3_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"

	zeebo "github.com/zeebo/blake3"

	"github.com/ixprove/ixprove/verifier/blake3"
)

// TestOfficialVectors checks both modes on the published cases; TestAgainstZeebo adds the short lengths.
func TestOfficialVectors(t *testing.T) {
	file, err := os.ReadFile("testdata/test_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Key   string
		Cases []struct {
			InputLen  int `json:"input_len"`
			Hash      string
			KeyedHash string `json:"keyed_hash"`
		}
	}
	if err := json.Unmarshal(file, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Cases) != 22 || len(vectors.Key) != blake3.Size {
		t.Fatalf("test_vectors.json: %d cases and a key of %d bytes, want 22 and %d",
			len(vectors.Cases), len(vectors.Key), blake3.Size)
	}
	key := [32]byte([]byte(vectors.Key))
	for _, c := range vectors.Cases {
		data := make([]byte, c.InputLen)
		for i := range data {
			data[i] = byte(i % 251)
		}
		got, keyed := blake3.Sum256(data), blake3.KeyedSum256(&key, data)
		if want := c.Hash[:2*blake3.Size]; hex.EncodeToString(got[:]) != want {
			t.Errorf("Sum256 of %d bytes: got %x, want %s", c.InputLen, got, want)
		}
		if want := c.KeyedHash[:2*blake3.Size]; hex.EncodeToString(keyed[:]) != want {
			t.Errorf("KeyedSum256 of %d bytes: got %x, want %s", c.InputLen, keyed, want)
		}
	}
}

// TestAgainstZeebo compares both modes with github.com/zeebo/blake3 on every length around a block, chunk
// or subtree boundary and on random lengths. Each input starts at an odd offset of its buffer, so that
// word loads are unaligned.
func TestAgainstZeebo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var lengths []int
	for n := range 200 {
		lengths = append(lengths, n)
	}
	for chunks := 1; chunks <= 17; chunks++ {
		n := chunks * blake3.ChunkSize
		lengths = append(lengths, n-65, n-64, n-63, n-1, n, n+1, n+63, n+64, n+65)
	}
	for range 1000 {
		lengths = append(lengths, rng.IntN(5001))
	}
	var key [32]byte
	for _, n := range lengths {
		data := randomBytes(rng, n+1)[1:]
		copy(key[:], randomBytes(rng, len(key)))
		compare(t, &key, data)
	}
}

// FuzzSum lets the fuzzer look for a key and input on which the two implementations differ.
func FuzzSum(f *testing.F) {
	f.Add([]byte{}, []byte{})
	for _, n := range []int{1, 63, 64, 65, 1023, 1024, 1025, 2048, 2049, 3073, 4096, 4097} {
		f.Add(bytes.Repeat([]byte{byte(n)}, blake3.Size), bytes.Repeat([]byte{0xa5, 1, 0xff}, n)[:n])
	}
	f.Fuzz(func(t *testing.T, keyBytes, data []byte) {
		var key [32]byte
		copy(key[:], keyBytes)
		compare(t, &key, data)
	})
}

// compare reports any difference from github.com/zeebo/blake3, and any write to the inputs.
func compare(t *testing.T, key *[32]byte, data []byte) {
	t.Helper()
	keyBefore, dataBefore := *key, bytes.Clone(data)
	if got, want := blake3.Sum256(data), zeebo.Sum256(data); got != want {
		t.Errorf("Sum256 of %d bytes: got %x, want %x", len(data), got, want)
	}
	h, err := zeebo.NewKeyed(key[:])
	if err != nil {
		t.Fatal(err)
	}
	h.Write(data)
	if got, want := blake3.KeyedSum256(key, data), h.Sum(nil); !bytes.Equal(got[:], want) {
		t.Errorf("KeyedSum256 of %d bytes: got %x, want %x", len(data), got, want)
	}
	if *key != keyBefore || !bytes.Equal(data, dataBefore) {
		t.Errorf("hashing %d bytes changed its inputs", len(data))
	}
}

// TestCompress compares the unrolled compression with one that follows the specification literally, on a
// state array permuted by MsgPermutation. It is also the test of the exported IV and MsgPermutation.
func TestCompress(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		var cv [8]uint32
		var block [16]uint32
		for i := range cv {
			cv[i] = rng.Uint32()
		}
		for i := range block {
			block[i] = rng.Uint32()
		}
		cvBefore, blockBefore := cv, block
		counter, blockLen, flags := rng.Uint64(), rng.Uint32(), rng.Uint32()
		got := blake3.Compress(&cv, &block, counter, blockLen, flags)
		if cv != cvBefore || block != blockBefore {
			t.Fatal("Compress changed its inputs")
		}
		if want := referenceCompress(cv, block, counter, blockLen, flags); got != want {
			t.Fatalf("Compress(%x, %x, %#x, %#x, %#x): got %x, want %x", cv, block, counter, blockLen, flags, got, want)
		}
	}
}

func referenceCompress(cv [8]uint32, block [16]uint32, counter uint64, blockLen, flags uint32) (out [8]uint32) {
	var v [16]uint32
	copy(v[:8], cv[:])
	copy(v[8:12], blake3.IV[:4])
	v[12], v[13], v[14], v[15] = uint32(counter), uint32(counter>>32), blockLen, flags
	lanes := [8][4]int{
		{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15},
		{0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14},
	}
	for range 7 {
		for i, l := range lanes {
			for half, rotation := range [2][2]int{{16, 12}, {8, 7}} {
				v[l[0]] += v[l[1]] + block[2*i+half]
				v[l[3]] = bits.RotateLeft32(v[l[3]]^v[l[0]], -rotation[0])
				v[l[2]] += v[l[3]]
				v[l[1]] = bits.RotateLeft32(v[l[1]]^v[l[2]], -rotation[1])
			}
		}
		var next [16]uint32
		for i, from := range blake3.MsgPermutation {
			next[i] = block[from]
		}
		block = next
	}
	for i := range out {
		out[i] = v[i] ^ v[i+8]
	}
	return out
}

// TestCompressIsKeyedNode checks the way a Merkle tree uses the low-level interface: one root compression
// of a keyed 64-byte node is its keyed digest.
func TestCompressIsKeyedNode(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	key, node := [32]byte(randomBytes(rng, 32)), randomBytes(rng, blake3.BlockSize)
	var block [16]uint32
	for i := range block {
		block[i] = binary.LittleEndian.Uint32(node[4*i:])
	}
	words := blake3.KeyWords(&key)
	flags := blake3.KeyedHash | blake3.ChunkStart | blake3.ChunkEnd | blake3.Root
	out := blake3.Compress(&words, &block, 0, blake3.BlockSize, flags)
	var got [32]byte
	for i, w := range out {
		binary.LittleEndian.PutUint32(got[4*i:], w)
	}
	if want := blake3.KeyedSum256(&key, node); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestNoAllocations covers one block, one chunk and trees.
func TestNoAllocations(t *testing.T) {
	key := new([32]byte)
	var block [16]uint32
	for _, n := range []int{0, 64, 192, 1024, 1025, 2776, 40000} {
		data := make([]byte, n)
		for name, hash := range map[string]func(){
			"Sum256":      func() { sink = blake3.Sum256(data) },
			"KeyedSum256": func() { sink = blake3.KeyedSum256(key, data) },
		} {
			if allocs := testing.AllocsPerRun(20, hash); allocs != 0 {
				t.Errorf("%s of %d bytes: %v allocations", name, n, allocs)
			}
		}
	}
	compress := func() {
		words := blake3.KeyWords(key)
		wordSink = blake3.Compress(&words, &block, 0, blake3.BlockSize, blake3.KeyedHash)
	}
	if allocs := testing.AllocsPerRun(20, compress); allocs != 0 {
		t.Errorf("Compress: %v allocations", allocs)
	}
}

// BenchmarkKeyedSum256 measures a Merkle node, rows of 12, 24, 128 and 347 field elements, and bulk.
func BenchmarkKeyedSum256(b *testing.B) {
	key := new([32]byte)
	for _, n := range []int{64, 96, 192, 1024, 2776, 1 << 20} {
		data := make([]byte, n)
		b.Run(fmt.Sprintf("%dB", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				sink = blake3.KeyedSum256(key, data)
			}
		})
	}
}

// BenchmarkCompress measures a Merkle node held as words.
func BenchmarkCompress(b *testing.B) {
	var cv [8]uint32
	var block [16]uint32
	b.SetBytes(blake3.BlockSize)
	for b.Loop() {
		wordSink = blake3.Compress(&cv, &block, 0, blake3.BlockSize, blake3.KeyedHash)
	}
}

var (
	sink     [32]byte
	wordSink [8]uint32
)

func randomBytes(rng *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rng.Uint32())
	}
	return out
}
