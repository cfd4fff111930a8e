package poseidon2

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	library "github.com/consensys/gnark-crypto/ecc/bn254/fr/poseidon2"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// The reference is docs/protocol.md section 3 in big integers over the library's permutation, and shares nothing with the suite but that.

func permuted(t testing.TB, lanes ...*big.Int) []*big.Int {
	t.Helper()
	rounds := map[int]int{2: 56, 4: 56, 8: 57}
	e := make([]fr.Element, len(lanes))
	for i, v := range lanes {
		e[i].SetBigInt(v)
	}
	if err := library.NewPermutation(len(lanes), 8, rounds[len(lanes)]).Permutation(e); err != nil {
		t.Fatal(err)
	}
	out := make([]*big.Int, len(lanes))
	for i := range e {
		out[i] = e[i].BigInt(new(big.Int))
	}
	return out
}

func addModR(a, b *big.Int) *big.Int { return new(big.Int).Mod(new(big.Int).Add(a, b), fr.Modulus()) }

func f(t testing.TB, lanes ...*big.Int) *big.Int {
	return addModR(permuted(t, lanes...)[0], lanes[0])
}

// shifted is a·2^n.
func shifted(a uint64, n uint) *big.Int {
	return new(big.Int).Lsh(new(big.Int).SetUint64(a), n)
}

func packed(words []uint64, least int) (lanes []*big.Int) {
	for len(words) > 0 || len(lanes) < least {
		lane := new(big.Int)
		for i := range min(3, len(words)) {
			lane.Add(lane, shifted(words[i], uint(64*i)))
		}
		lanes, words = append(lanes, lane), words[min(3, len(words)):]
	}
	return lanes
}

func block(lanes []*big.Int, width int) []*big.Int {
	lanes = append([]*big.Int(nil), lanes...)
	for len(lanes) < width {
		lanes = append(lanes, new(big.Int))
	}
	return lanes
}

func continued(t testing.TB, h *big.Int, lanes []*big.Int) *big.Int {
	for len(lanes) > 0 {
		width := 8
		if len(lanes) <= 3 {
			width = 4
		}
		n := min(width-1, len(lanes))
		h = f(t, block(append([]*big.Int{h}, lanes[:n]...), width)...)
		lanes = lanes[n:]
	}
	return h
}

func chained(t testing.TB, domain uint64, state *big.Int, words ...uint64) *big.Int {
	lanes := packed(words, 1)
	lanes[0].Add(lanes[0], shifted(domain<<32+uint64(len(words)), 192))
	return continued(t, state, lanes)
}

func leafOf(t testing.TB, shape *big.Int, words []uint64) *big.Int {
	lanes := packed(words, 0)
	width := 8
	if len(lanes) <= 4 {
		width = 4
	}
	lanes = block(lanes, width)
	for i := range 4 {
		limb := new(big.Int).Rsh(shape, uint(60*i))
		limb.And(limb, big.NewInt(1<<60-1)).Add(limb, big.NewInt(1<<60))
		lanes[i].Add(lanes[i], limb.Lsh(limb, 192))
	}
	return continued(t, f(t, lanes[:width]...), lanes[width:])
}

func digitsOf(x *big.Int) (d [3]uint64) {
	p := new(big.Int).SetUint64(field.Modulus)
	rest := new(big.Int).Set(x)
	for i := range d {
		m := new(big.Int)
		rest.DivMod(rest, p, m)
		d[i] = m.Uint64()
	}
	return d
}

func toDigest(x *big.Int) (d hash.Digest) {
	b := x.FillBytes(make([]byte, 32))
	for i := range d {
		d[i] = b[31-i]
	}
	return d
}

func toInt(d hash.Digest) *big.Int {
	b := make([]byte, 32)
	for i := range d {
		b[31-i] = d[i]
	}
	return new(big.Int).SetBytes(b)
}

type source struct{ *rand.Rand }

func (r source) digest() hash.Digest {
	x := new(big.Int)
	for i := range uint(4) {
		x.Add(x, shifted(r.Uint64(), 64*i))
	}
	switch r.IntN(8) {
	case 0:
		x.SetInt64(0)
	case 1:
		x.Sub(fr.Modulus(), big.NewInt(1))
	}
	return toDigest(x.Mod(x, fr.Modulus()))
}

func (r source) words(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = r.Uint64() >> r.IntN(64)
	}
	return out
}

func row(words []uint64) (b formats.Elements) {
	for _, w := range words {
		b = b.Append(w)
	}
	return b
}

// lengths are numbers of words around every change of blocks: lanes of 3, first blocks of 4 and 8 lanes, continued by 3 and 7.
var lengths = []int{0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25, 29, 30, 31, 32, 33, 34, 42, 45, 46, 50, 54, 66, 67, 100, 400}

// TestTable is the table of docs/protocol.md section 3, row by row.
func TestTable(t *testing.T) {
	r, suite := source{rand.New(rand.NewPCG(4, 1))}, Suite{}
	if suite.Name() != "poseidon2-bn254" {
		t.Errorf("the suite is called %q", suite.Name())
	}
	for _, n := range lengths {
		x, y, z := r.digest(), r.digest(), r.digest()
		words, number := r.words(n), r.Uint64()>>r.IntN(64)
		widths, counts := make([]int, n), []uint64{27, uint64(n)}
		for i := range widths {
			widths[i] = r.IntN(1 << 16)
			counts = append(counts, uint64(widths[i]))
		}
		for _, c := range []struct {
			use  string
			got  hash.Digest
			want *big.Int
		}{
			{"shape", suite.Shape(27, widths), chained(t, 5, new(big.Int), counts...)},
			{"leaf", suite.Leaf(&x, row(words)), leafOf(t, toInt(x), words)},
			{"node", suite.Node(&x, &y), addModR(permuted(t, toInt(x), toInt(y))[1], toInt(y))},
			{"inject", suite.Inject(&x, &y, &z), f(t, toInt(x), toInt(y), toInt(z), new(big.Int).Sub(fr.Modulus(), big.NewInt(1)))},
			{"absorb", suite.Absorb(&x, words), chained(t, 1, toInt(x), words...)},
			{"fork", suite.Fork(&x, number), chained(t, 3, toInt(x), number)},
		} {
			if c.got != toDigest(c.want) {
				t.Errorf("%s, length %d: %x, want %x", c.use, n, c.got, toDigest(c.want))
			}
		}
		want := digitsOf(chained(t, 2, toInt(x), number))
		if got, count := suite.Squeeze(&x, number); count != 3 || [3]uint64(got[:3]) != want {
			t.Errorf("squeeze: %d of %x, want %x", count, got, want)
		}
		if got, want := suite.Grind(&x, number), digitsOf(chained(t, 4, toInt(x), number))[0]; got != want {
			t.Errorf("grind: %x, want %x", got, want)
		}
	}
}

// TestNodeIsTheLibrarysCompression compares with gnark-crypto's two-to-one function, whose bytes are big-endian.
func TestNodeIsTheLibrarysCompression(t *testing.T) {
	r, p := source{rand.New(rand.NewPCG(4, 2))}, library.NewPermutation(2, 8, 56)
	for range 20 {
		x, y := r.digest(), r.digest()
		want, err := p.Compress(toInt(x).FillBytes(make([]byte, 32)), toInt(y).FillBytes(make([]byte, 32)))
		if err != nil {
			t.Fatal(err)
		}
		if got := (Suite{}).Node(&x, &y); got != toDigest(new(big.Int).SetBytes(want)) {
			t.Fatalf("node %x, the library's is %x", got, want)
		}
	}
}

// TestDigits takes the edges of the division by p.
func TestDigits(t *testing.T) {
	p := new(big.Int).SetUint64(field.Modulus)
	cube := new(big.Int).Exp(p, big.NewInt(3), nil)
	one := big.NewInt(1)
	for _, x := range []*big.Int{new(big.Int), one, new(big.Int).Sub(p, one), p, shifted(1, 64), new(big.Int).Sub(cube, one), cube, new(big.Int).Add(cube, p), new(big.Int).Sub(fr.Modulus(), one)} {
		w := limbs(ptr(toDigest(x)))
		if got := digits(w); got != digitsOf(x) {
			t.Errorf("digits of %v: %x, want %x", x, got, digitsOf(x))
		}
		if got := lowDigit(w); got != digitsOf(x)[0] {
			t.Errorf("low digit of %v: %x, want %x", x, got, digitsOf(x)[0])
		}
	}
	r := source{rand.New(rand.NewPCG(4, 3))}
	for range 2000 {
		x := r.digest()
		if got := lowDigit(limbs(&x)); got != digitsOf(toInt(x))[0] {
			t.Fatalf("low digit of %x: %x", x, got)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestCanonical checks the border, among others.
func TestCanonical(t *testing.T) {
	one := big.NewInt(1)
	good := toDigest(new(big.Int).Sub(fr.Modulus(), one))
	for _, c := range []struct {
		x    *big.Int
		want bool
	}{
		{new(big.Int), true}, {one, true}, {toInt(good), true}, {fr.Modulus(), false}, {new(big.Int).Add(fr.Modulus(), one), false},
		{new(big.Int).Sub(shifted(1, 255).Lsh(shifted(1, 255), 1), one), false}, {shifted(1, 255), false}, {shifted(1, 252), true},
	} {
		d := toDigest(c.x)
		for _, b := range [][]byte{d[:], append(good[:], d[:]...), append(d[:], good[:]...)} {
			if got := (Suite{}).Canonical(b); got != c.want {
				t.Errorf("%x: %v", b, got)
			}
		}
	}
	if !(Suite{}).Canonical(nil) {
		t.Error("no digest is not canonical")
	}
}

// TestKindsOfBlocksDoNotMeet gives every function the same inputs, and checks the tags that hold the kinds of blocks apart.
func TestKindsOfBlocksDoNotMeet(t *testing.T) {
	suite, zero := Suite{}, hash.Digest{}
	squeezed, _ := suite.Squeeze(&zero, 0)
	seen := map[string]string{}
	for name, d := range map[string]any{
		"node": suite.Node(&zero, &zero), "inject": suite.Inject(&zero, &zero, &zero), "fork": suite.Fork(&zero, 0), "absorb one word": suite.Absorb(&zero, []uint64{0}),
		"absorb nothing": suite.Absorb(&zero, nil), "absorb two": suite.Absorb(&zero, []uint64{0, 0}), "empty leaf": suite.Leaf(&zero, nil), "shape": suite.Shape(0, nil),
		"a shape with a width": suite.Shape(0, []int{0}), "squeeze": squeezed, "grind": suite.Grind(&zero, 0),
	} {
		text := fmt.Sprintf("%x", d)
		if other, ok := seen[text]; ok {
			t.Errorf("%s and %s agree", name, other)
		}
		seen[text] = name
	}
	for _, d := range []Domain{DomainAbsorb, DomainSqueeze, DomainFork, DomainGrind, DomainShape} {
		if tag := d.Tag(math.MaxInt32); tag == 0 || tag >= LeafTag {
			t.Errorf("the tag %x of domain %d is that of a leaf or of no block", tag, d)
		}
	}
	r := source{rand.New(rand.NewPCG(4, 4))}
	for range 100 {
		x := r.digest()
		for i, tag := range ShapeTags(&x) {
			want := new(big.Int).Rsh(toInt(x), uint(60*i))
			want.And(want, big.NewInt(1<<60-1))
			if tag != 1<<60|want.Uint64() {
				t.Fatalf("tag %d of %x is %x", i, x, tag)
			}
		}
	}
}

// TestLanes holds the functions for many inputs to those for one, over ragged sizes.
func TestLanes(t *testing.T) {
	r, suite := source{rand.New(rand.NewPCG(4, 5))}, Suite{}
	for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 63, many - 1, many, many + 1, 2*many + 5} {
		below, rows := make([]hash.Digest, 2*n), make([]hash.Digest, n)
		for i := range below {
			below[i], rows[i/2] = r.digest(), r.digest()
		}
		got := make([]hash.Digest, n)
		suite.Nodes(got, below)
		for i := range got {
			if want := suite.Node(&below[2*i], &below[2*i+1]); got[i] != want {
				t.Fatalf("node %d of %d: %x, want %x", i, n, got[i], want)
			}
		}
		suite.Injections(got, below, rows)
		for i := range got {
			if want := suite.Inject(&below[2*i], &below[2*i+1], &rows[i]); got[i] != want {
				t.Fatalf("injection %d of %d: %x, want %x", i, n, got[i], want)
			}
		}
	}
	for _, width := range lengths {
		for _, n := range []int{1, 9, many + 3} {
			shape := r.digest()
			columns := make([][]field.Element, width)
			var data formats.Elements
			for c := range columns {
				columns[c] = make([]field.Element, n+2)
				for i := range columns[c] {
					columns[c][i] = field.New(r.Uint64())
				}
			}
			for i := range n {
				for c := range columns {
					data = data.Append(uint64(columns[c][2+i]))
				}
			}
			byColumns, byRows := make([]hash.Digest, n), make([]hash.Digest, n)
			suite.Leaves(byColumns, &shape, columns, 2)
			suite.Rows(byRows, &shape, data, 8*width)
			for i := range byRows {
				want := suite.Leaf(&shape, data[i*8*width:(i+1)*8*width])
				if byColumns[i] != want || byRows[i] != want {
					t.Fatalf("leaf %d of %d, width %d: %x by columns, %x by rows, want %x", i, n, width, byColumns[i], byRows[i], want)
				}
			}
		}
	}
}

// TestFindNonce compares with trying one nonce after another, with none to find as well.
func TestFindNonce(t *testing.T) {
	r, suite := source{rand.New(rand.NewPCG(4, 6))}, Suite{}
	for _, bits := range []int{1, 3, 6, 40} {
		for _, n := range []int{0, 1, 5, many, many + 1, 300} {
			state, first := r.digest(), r.Uint64()
			want := 0
			for want < n && suite.Grind(&state, first+uint64(want))<<(64-bits) != 0 {
				want++
			}
			if got := suite.FindNonce(&state, first, n, bits); got != want {
				t.Fatalf("%d bits among %d: %d, want %d", bits, n, got, want)
			}
		}
	}
}

// TestInputsAreKept checks that no function writes to its arguments.
func TestInputsAreKept(t *testing.T) {
	suite := Suite{}
	below := []hash.Digest{{1}, {2}}
	rows, words, data := []hash.Digest{{3}}, []uint64{6}, []byte{4, 5, 0, 0, 0, 0, 0, 0}
	out := make([]hash.Digest, 1)
	suite.Node(&below[0], &below[1])
	suite.Inject(&below[0], &below[1], &rows[0])
	suite.Leaf(&rows[0], data)
	suite.Absorb(&rows[0], words)
	suite.Squeeze(&rows[0], 1)
	suite.Nodes(out, below)
	suite.Injections(out, below, rows)
	suite.Rows(out, &rows[0], data, 8)
	suite.FindNonce(&rows[0], 0, 1, 1)
	if below[0] != (hash.Digest{1}) || below[1] != (hash.Digest{2}) || rows[0] != (hash.Digest{3}) || words[0] != 6 || data[0] != 4 || data[1] != 5 {
		t.Error("a function changed its argument")
	}
}

func benchmarkPermutation(b *testing.B, width int) {
	x := new(scratch)
	for i := range x.s {
		for k := range x.s[i] {
			x.s[i][k].SetUint64(uint64(i*many + k))
		}
	}
	for b.Loop() {
		x.permute(width, many)
	}
	b.ReportMetric(float64(b.N)*many/b.Elapsed().Seconds(), "permutations/s")
}

func BenchmarkPermutation2(b *testing.B) { benchmarkPermutation(b, 2) }
func BenchmarkPermutation4(b *testing.B) { benchmarkPermutation(b, 4) }
func BenchmarkPermutation8(b *testing.B) { benchmarkPermutation(b, 8) }

func BenchmarkNodes(b *testing.B) {
	out, below := make([]hash.Digest, 1<<12), make([]hash.Digest, 1<<13)
	for b.Loop() {
		Suite{}.Nodes(out, below)
	}
	b.ReportMetric(float64(b.N)*float64(len(out))/b.Elapsed().Seconds(), "compressions/s")
}

func BenchmarkLeaves50(b *testing.B) {
	out, columns := make([]hash.Digest, 1<<10), make([][]field.Element, 50)
	for i := range columns {
		columns[i] = make([]field.Element, len(out))
	}
	for b.Loop() {
		Suite{}.Leaves(out, &hash.Digest{}, columns, 0)
	}
	b.ReportMetric(float64(b.N)*float64(len(out))/b.Elapsed().Seconds(), "leaves/s")
}

func BenchmarkScalarNode(b *testing.B) {
	var x hash.Digest
	for b.Loop() {
		x = Suite{}.Node(&x, &x)
	}
}
