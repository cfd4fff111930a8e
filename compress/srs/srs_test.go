package srs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/ixprove/ixprove/formats"
)

const testPower = 4

// secret is a setup whose secrets the test knows.
type secret struct {
	power            int
	tau, alpha, beta fr.Element
}

func newSecret(t testing.TB, power int) *secret {
	s := &secret{power: power}
	for _, e := range []*fr.Element{&s.tau, &s.alpha, &s.beta} {
		if _, err := e.SetRandom(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *secret) g1(factor fr.Element, n int) []bn254.G1Affine {
	_, _, g, _ := bn254.Generators()
	return bn254.BatchScalarMultiplicationG1(&g, s.sequence(factor, n))
}

func (s *secret) g2(factor fr.Element, n int) []bn254.G2Affine {
	_, _, _, g := bn254.Generators()
	return bn254.BatchScalarMultiplicationG2(&g, s.sequence(factor, n))
}

func (s *secret) sequence(factor fr.Element, n int) []fr.Element {
	list := make([]fr.Element, n)
	for i := range list {
		list[i] = factor
		factor.Mul(&factor, &s.tau)
	}
	return list
}

// montgomery is a .ptau file's encoding of points.
func montgomery[P any](points []P) []byte {
	var b []byte
	field := func(e *fp.Element) {
		for _, limb := range e {
			b = binary.LittleEndian.AppendUint64(b, limb)
		}
	}
	for _, p := range points {
		switch p := any(p).(type) {
		case bn254.G1Affine:
			field(&p.X)
			field(&p.Y)
		case bn254.G2Affine:
			field(&p.X.A0)
			field(&p.X.A1)
			field(&p.Y.A0)
			field(&p.Y.A1)
		}
	}
	return b
}

// ptauParts are the sections of a prepared file.
func (s *secret) ptauParts(t testing.TB) map[uint32][]byte {
	n := 1 << s.power
	one := fr.One()
	header := binary.LittleEndian.AppendUint32(nil, fp.Bytes)
	prime := fp.Modulus().FillBytes(make([]byte, fp.Bytes))
	slices.Reverse(prime)
	header = binary.LittleEndian.AppendUint32(append(header, prime...), uint32(s.power))
	header = binary.LittleEndian.AppendUint32(header, uint32(s.power))
	powers := s.g1(one, 2*n-1)
	lagrange := []bn254.G1Affine{powers[0]}
	for k := 1; k <= s.power; k++ {
		points, err := kzg.ToLagrangeG1(slices.Clone(powers[:1<<k]))
		if err != nil {
			t.Fatal(err)
		}
		lagrange = append(lagrange, points...)
	}
	return map[uint32][]byte{ptauHeader: header, ptauTauG1: montgomery(powers), ptauTauG2: montgomery(s.g2(one, n)), ptauAlphaTau: montgomery(s.g1(s.alpha, n)),
		ptauBetaTau: montgomery(s.g1(s.beta, n)), ptauBetaG2: montgomery(s.g2(s.beta, 1)), ptauLagrange: montgomery(lagrange)}
}

func ptauFile(parts map[uint32][]byte) []byte {
	b := append([]byte(ptauMagic), 1, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(parts)))
	for id := range uint32(16) {
		if part, ok := parts[id]; ok {
			b = binary.LittleEndian.AppendUint32(b, id)
			b = binary.LittleEndian.AppendUint64(b, uint64(len(part)))
			b = append(b, part...)
		}
	}
	return b
}

func (s *secret) flat(n int, fromGenerator bool) (g1, g2 []byte) {
	points := s.g1(fr.One(), n+1)
	if !fromGenerator {
		points = points[1:]
	}
	for i := range points[:n] {
		b := points[i].RawBytes()
		g1 = append(g1, b[:]...)
	}
	p := s.g2(s.tau, 1)[0]
	for _, e := range []*fp.Element{&p.X.A0, &p.X.A1, &p.Y.A0, &p.Y.A1} {
		b := e.Bytes()
		g2 = append(g2, b[:]...)
	}
	return g1, g2
}

func read(data []byte, logSize int, companion []byte) (*SRS, error) {
	return Read(context.Background(), bytes.NewReader(data), logSize, func() ([]byte, error) { return companion, nil })
}

// files are one setup in every format.
func files(t testing.TB, s *secret) map[string][]byte {
	n := 1<<s.power + Extra
	setup, err := kzg.NewSRS(uint64(n), s.tau.BigInt(new(big.Int)))
	if err != nil {
		t.Fatal(err)
	}
	var dump, compressed, raw bytes.Buffer
	_, compressedErr := setup.WriteTo(&compressed)
	_, rawErr := setup.WriteRawTo(&raw)
	if err := errors.Join(setup.WriteDump(&dump), compressedErr, rawErr); err != nil {
		t.Fatal(err)
	}
	first, _ := s.flat(n, true)
	second, _ := s.flat(n, false)
	return map[string][]byte{"ptau": ptauFile(s.ptauParts(t)), "dump": dump.Bytes(), "compressed": compressed.Bytes(), "raw": raw.Bytes(), "flat from the generator": first, "flat from tau": second}
}

func TestFormatsAgree(t *testing.T) {
	s := newSecret(t, testPower)
	powers := s.g1(fr.One(), 1<<testPower+Extra)
	want, err := kzg.ToLagrangeG1(slices.Clone(powers[:1<<testPower]))
	if err != nil {
		t.Fatal(err)
	}
	_, g2 := s.flat(1, true)
	for name, data := range files(t, s) {
		got, err := read(data, testPower, g2)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(got.G1, powers) || !got.Tau.Equal(&s.g2(s.tau, 1)[0]) {
			t.Errorf("%s: other powers", name)
		}
		if want := (formats.Setup{Mode: formats.SetupUniversal, Source: Digest(&powers[1], &got.Tau), Name: Unknown}); got.Setup != want {
			t.Errorf("%s: %+v, want %+v", name, got.Setup, want)
		}
		lagrange, err := got.Lagrange(context.Background(), testPower)
		if err != nil || !slices.Equal(lagrange, want) {
			t.Errorf("%s: other Lagrange points (%v)", name, err)
		}
		if _, err := got.Lagrange(context.Background(), testPower+1); !errors.Is(err, formats.Invalid) {
			t.Errorf("%s: Lagrange points beyond the powers: %v", name, err)
		}
		if fewer, err := read(data, testPower-1, g2); err != nil || len(fewer.G1) != 1<<(testPower-1)+Extra || fewer.Setup != got.Setup {
			t.Errorf("%s: fewer powers: %v", name, err)
		}
	}
}

// TestSnarkjs reads a file that snarkjs 0.7.5 made: powersoftau new bn128 5, contribute, beacon, prepare phase2. It settles the sections, the form of coordinates, the root of unity and
// the order of Lagrange points.
func TestSnarkjs(t *testing.T) {
	data, err := os.ReadFile("testdata/snarkjs-5.ptau")
	if err != nil {
		t.Fatal(err)
	}
	s, err := read(data, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= 4; k++ {
		got, err := s.Lagrange(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		want, err := toLagrange(context.Background(), s.G1[:1<<k])
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("2^%d: other Lagrange points (%v)", k, err)
		}
	}
	if s.Setup.Name != Unknown {
		t.Errorf("called %q", s.Setup.Name)
	}
	if _, setup, err := ReadPhase1(context.Background(), bytes.NewReader(data), 4); err != nil || setup.Source != s.Setup.Source {
		t.Errorf("phase 1: %v", err)
	}
}

// TestWrongStructure spoils one property of a setup after the other. Each case names what refuses it.
func TestWrongStructure(t *testing.T) {
	s := newSecret(t, testPower)
	other := newSecret(t, testPower)
	one := fr.One()
	n := 1 << testPower
	outside := pointOutsideSubgroup(t)
	unit, err := fr.Generator(4)
	if err != nil {
		t.Fatal(err)
	}
	root := &secret{power: testPower, tau: unit, alpha: s.alpha, beta: s.beta}
	zero := &secret{power: testPower, alpha: s.alpha, beta: s.beta}
	spoilt := func(points []bn254.G1Affine, i int, p bn254.G1Affine) []byte {
		points[i] = p
		return montgomery(points)
	}
	offCurve := s.g1(one, 1)[0]
	offCurve.X.SetUint64(5)
	unreduced := montgomery(s.g1(one, 2*n-1))
	copy(unreduced[64:], bytes.Repeat([]byte{0xff}, 32))
	// A coordinate with p added stands for the same element, and is another encoding of it.
	again := montgomery(s.g1(one, 2*n-1))
	sum := new(big.Int)
	for i := range 4 {
		sum.Add(sum, new(big.Int).Lsh(new(big.Int).SetUint64(binary.LittleEndian.Uint64(again[64+8*i:])), uint(64*i)))
	}
	sum.Add(sum, fp.Modulus())
	for i := range 4 {
		binary.LittleEndian.PutUint64(again[64+8*i:], new(big.Int).And(new(big.Int).Rsh(sum, uint(64*i)), new(big.Int).SetUint64(1<<64-1)).Uint64())
	}
	for _, c := range []struct {
		what  string
		class formats.Class
		parts map[uint32][]byte
	}{
		{"not one of its group", formats.Malformed, map[uint32][]byte{ptauTauG1: again}},
		{"not the powers of the tau in G2", formats.Invalid, map[uint32][]byte{ptauTauG2: montgomery(other.g2(one, n))}},
		{"not the powers of the tau in G2", formats.Invalid, map[uint32][]byte{ptauTauG1: spoilt(s.g1(one, 2*n-1), n+Extra-1, s.g1(one, 1)[0])}},
		{"not the powers of the tau in G2", formats.Invalid, map[uint32][]byte{ptauTauG1: spoilt(s.g1(one, 2*n-1), 1, other.g1(other.tau, 1)[0])}},
		{"start at the generator of G1", formats.Invalid, map[uint32][]byte{ptauTauG1: montgomery(s.g1(s.alpha, 2*n-1))}},
		{"start at the generator of G2", formats.Malformed, map[uint32][]byte{ptauTauG2: montgomery(s.g2(s.alpha, n))}},
		{"root of unity", formats.Invalid, map[uint32][]byte{ptauTauG1: montgomery(root.g1(one, 2*n-1)), ptauTauG2: montgomery(root.g2(one, n))}},
		{"no generator of its group", formats.Invalid, map[uint32][]byte{ptauTauG1: montgomery(zero.g1(one, 2*n-1)), ptauTauG2: montgomery(zero.g2(one, n))}},
		{"not one of its group", formats.Malformed, map[uint32][]byte{ptauTauG2: montgomery([]bn254.G2Affine{s.g2(one, 1)[0], outside})}},
		{"not one of its group", formats.Malformed, map[uint32][]byte{ptauTauG1: spoilt(s.g1(one, 2*n-1), 7, offCurve)}},
		{"not one of its group", formats.Malformed, map[uint32][]byte{ptauTauG1: unreduced}},
		{"missing or cut short", formats.Malformed, map[uint32][]byte{ptauTauG1: montgomery(s.g1(one, n))}},
	} {
		parts := s.ptauParts(t)
		for id, part := range c.parts {
			parts[id] = part
		}
		expect(t, c.what, c.class, func() error { _, err := read(ptauFile(parts), testPower, nil); return err })
	}
	for _, c := range []struct {
		what  string
		parts map[uint32][]byte
	}{
		{"not of one tau", map[uint32][]byte{ptauAlphaTau: montgomery(other.g1(s.alpha, n))}},
		{"not of one tau", map[uint32][]byte{ptauBetaTau: montgomery(other.g1(s.beta, n))}},
		{"not of one tau", map[uint32][]byte{ptauTauG2: montgomery(append(s.g2(one, n-1), other.g2(one, 1)...))}},
		{"alpha or beta is zero", map[uint32][]byte{ptauAlphaTau: montgomery(s.g1(fr.Element{}, n))}},
		{"alpha or beta is zero", map[uint32][]byte{ptauBetaTau: montgomery(s.g1(fr.Element{}, n)), ptauBetaG2: montgomery(s.g2(fr.Element{}, 1))}},
		{"beta in G2 is not that of G1", map[uint32][]byte{ptauBetaG2: montgomery(s.g2(s.alpha, 1))}},
		{"not the powers of the tau in G2", map[uint32][]byte{ptauTauG1: spoilt(s.g1(one, 2*n-1), 2*n-2, s.g1(one, 1)[0])}},
		{"start at the generator of G2", map[uint32][]byte{ptauTauG2: montgomery(append(s.g2(s.alpha, 1), s.g2(s.tau, n-1)...))}},
	} {
		parts := s.ptauParts(t)
		for id, part := range c.parts {
			parts[id] = part
		}
		expect(t, c.what, formats.Invalid, func() error {
			_, _, err := ReadPhase1(context.Background(), bytes.NewReader(ptauFile(parts)), testPower)
			return err
		})
	}
	// The tau that everybody knows.
	dev := &secret{power: testPower, tau: devTau(), alpha: s.alpha, beta: s.beta}
	_, devG2 := dev.flat(1, true)
	for _, data := range files(t, dev) {
		expect(t, "tau that everybody knows", formats.Invalid, func() error { _, err := read(data, testPower, devG2); return err })
	}
	expect(t, "tau that everybody knows", formats.Invalid, func() error {
		_, _, err := ReadPhase1(context.Background(), bytes.NewReader(ptauFile(dev.ptauParts(t))), testPower)
		return err
	})
	// A last section that says to be longer than the file.
	whole := ptauFile(s.ptauParts(t))
	longer := slices.Clone(whole)
	size := len(whole) - len(s.ptauParts(t)[ptauLagrange]) - 8
	binary.LittleEndian.PutUint64(longer[size:], binary.LittleEndian.Uint64(longer[size:])+64)
	expect(t, "cut short", formats.Malformed, func() error { _, err := read(longer, testPower, nil); return err })
	// Lagrange points of another order.
	parts := s.ptauParts(t)
	at := (1<<testPower - 1) * sizeG1
	swapped := slices.Clone(parts[ptauLagrange])
	copy(swapped[at:], parts[ptauLagrange][at+sizeG1:at+2*sizeG1])
	copy(swapped[at+sizeG1:], parts[ptauLagrange][at:at+sizeG1])
	parts[ptauLagrange] = swapped
	srs, err := read(ptauFile(parts), testPower, nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "not those of the powers", formats.Invalid, func() error { _, err := srs.Lagrange(context.Background(), testPower); return err })
	// A companion of another setup.
	flat, _ := s.flat(n+Extra, true)
	_, foreign := other.flat(1, true)
	expect(t, "not the powers of the tau in G2", formats.Invalid, func() error { _, err := read(flat, testPower, foreign); return err })
	expect(t, "not the powers of the tau in G2", formats.Invalid, func() error { _, err := read(flat, testPower, nil); return err })
	expect(t, "no point of G2", formats.Malformed, func() error { _, err := read(flat, testPower, foreign[:127]); return err })
}

func expect(t *testing.T, what string, class formats.Class, do func() error) {
	t.Helper()
	err := do()
	var e *formats.Error
	if !errors.As(err, &e) || e.Class != class || !bytes.Contains([]byte(e.What), []byte(what)) {
		t.Errorf("want %v, %q; got %v", class, what, err)
	}
}

// pointOutsideSubgroup is on the curve of G2 and not of order r.
func pointOutsideSubgroup(t testing.TB) bn254.G2Affine {
	for x := uint64(1); x < 100; x++ {
		var p bn254.G2Affine
		p.X.A0.SetUint64(x)
		_, _, _, g := bn254.Generators()
		// b = y^2 - x^3 of the generator
		y2, x3 := g.Y, g.X
		y2.Square(&g.Y)
		x3.Square(&g.X).Mul(&x3, &g.X)
		y2.Sub(&y2, &x3)
		x3.Square(&p.X).Mul(&x3, &p.X)
		y2.Add(&y2, &x3)
		if y2.Legendre() != 1 {
			continue
		}
		p.Y.Sqrt(&y2)
		if p.IsOnCurve() && !p.IsInSubGroup() {
			return p
		}
	}
	t.Fatal("no such point")
	return bn254.G2Affine{}
}

func TestPins(t *testing.T) {
	if len(pinnedFiles) != 21 {
		t.Errorf("%d digests", len(pinnedFiles))
	}
	for digest := range pinnedFiles {
		if b, err := hex.DecodeString(digest); err != nil || len(b) != 64 {
			t.Errorf("%s is no digest", digest)
		}
	}
	p := ignitionTau()
	if knownTau(&p) != ignition {
		t.Error("Aztec's point is not known")
	}
	_, _, _, g2 := bn254.Generators()
	if knownTau(&g2) != Unknown {
		t.Error("the generator is known")
	}
	data, err := os.ReadFile("testdata/snarkjs-5.ptau")
	if err != nil {
		t.Fatal(err)
	}
	const digest = "00b22e2f97809cbfeae4be90286898006eb3546d2388df650f0c482790e1f20d02d4713f66c1d1462e6746c6716458f6070e2da5b926dc6dc623cd52e9b74510"
	pinnedFiles[digest] = hermez
	defer delete(pinnedFiles, digest)
	if s, err := read(data, 4, nil); err != nil || s.Setup.Name != hermez {
		t.Errorf("a pinned file is called %v (%v)", s, err)
	}
	data[len(data)-1] ^= 1
	if s, err := read(data, 3, nil); err == nil && s.Setup.Name == hermez {
		t.Error("a changed file is called a pinned one")
	}
}

func TestDev(t *testing.T) {
	s, err := Dev(context.Background(), 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.check(context.Background()); err != nil {
		t.Fatal(err)
	}
	lagrange, err := s.Lagrange(context.Background(), 4)
	if err != nil {
		t.Fatal(err)
	}
	want, err := toLagrange(context.Background(), s.G1[:16])
	if err != nil || !slices.Equal(lagrange, want) {
		t.Errorf("other Lagrange points (%v)", err)
	}
	again, err := Dev(context.Background(), 3)
	if err != nil || again.Setup != s.Setup || s.Setup.Mode != formats.SetupInsecureDev {
		t.Errorf("%+v and %+v (%v)", s.Setup, again.Setup, err)
	}
	const digest = "cc9b87a2f3ebda1ba35eb14118813955555a8f7fcccd499784eda360e50ee497"
	if got := hex.EncodeToString(s.Setup.Source[:]); got != digest {
		t.Errorf("the development setup is %s", got)
	}
}

func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	data, err := os.ReadFile("testdata/snarkjs-5.ptau")
	if err != nil {
		t.Fatal(err)
	}
	_, readErr := Read(ctx, bytes.NewReader(data), 4, nil)
	_, devErr := Dev(ctx, 4)
	_, _, phaseErr := ReadPhase1(ctx, bytes.NewReader(data), 4)
	for _, err := range []error{readErr, devErr, phaseErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

func TestPointsAreKept(t *testing.T) {
	points := newSecret(t, 3).g1(fr.One(), 20)
	var b bytes.Buffer
	if err := WritePoints(&b, points); err != nil {
		t.Fatal(err)
	}
	got, err := ReadPoints(context.Background(), bytes.NewReader(b.Bytes()), 64, 19)
	if err != nil || !slices.Equal(got, points[1:]) {
		t.Errorf("other points (%v)", err)
	}
	for _, c := range [][2]int64{{64, 20}, {-1, 1}, {0, -1}, {1 << 40, 1}, {0, 1 << 60}} {
		if _, err := ReadPoints(context.Background(), bytes.NewReader(b.Bytes()), c[0], c[1]); !errors.Is(err, formats.Malformed) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestHostile cuts and changes files. Nothing panics, what is allocated is bounded by the file, and errors are typed.
func TestHostile(t *testing.T) {
	s := newSecret(t, testPower)
	_, g2 := s.flat(1, true)
	try := func(name string, data []byte) {
		t.Helper()
		_, err := read(data, MaxLogSize, g2)
		var e *formats.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
		_, _, err = ReadPhase1(context.Background(), bytes.NewReader(data), 3)
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s, phase 1: %v", name, err)
		}
	}
	for name, data := range files(t, s) {
		for _, n := range []int{0, 1, 3, 11, 12, 63, 64, 127, 128, 129, 300, len(data) / 2, len(data) - 1} {
			try(name, data[:min(n, len(data))])
		}
		heads := min(len(data), 150)
		for i := range heads {
			for _, b := range []byte{0, 0xff, data[i] ^ 1} {
				changed := slices.Clone(data)
				changed[i] = b
				try(name, changed)
			}
		}
		grown := append(slices.Clone(data), make([]byte, 64)...)
		try(name, grown)
		noise := make([]byte, len(data))
		rand.Read(noise)
		try(name, noise)
	}
}

func FuzzRead(f *testing.F) {
	s := newSecret(f, 2)
	for _, data := range files(f, s) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Read(context.Background(), bytes.NewReader(data), 4, nil)
		ReadPhase1(context.Background(), bytes.NewReader(data), 2)
	})
}

// TestKept takes only the powers that belong to the setup.
func TestKept(t *testing.T) {
	s, other := newSecret(t, testPower), newSecret(t, testPower)
	points, tau := s.g1(fr.One(), 8), s.g2(s.tau, 1)[0]
	setup := formats.Setup{Mode: formats.SetupUniversal, Source: Digest(&points[1], &tau), Name: Unknown}
	if kept, err := Kept(points, tau, setup, false, nil); err != nil || kept.LogSize() != 2 {
		t.Error(err)
	}
	for name, do := range map[string]func() (*SRS, error){
		"another tau":       func() (*SRS, error) { return Kept(points, other.g2(other.tau, 1)[0], setup, false, nil) },
		"other powers":      func() (*SRS, error) { return Kept(other.g1(fr.One(), 8), tau, setup, false, nil) },
		"another source":    func() (*SRS, error) { return Kept(points, tau, formats.Setup{}, false, nil) },
		"another generator": func() (*SRS, error) { return Kept(append(s.g1(s.alpha, 1), points[1:]...), tau, setup, false, nil) },
		"too few":           func() (*SRS, error) { return Kept(points[:4], tau, setup, false, nil) },
	} {
		if _, err := do(); !errors.Is(err, formats.Malformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
