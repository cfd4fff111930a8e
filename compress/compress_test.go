package compress_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/compress/srs"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/internal/toy"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
)

var ctx = context.Background()

// ptauPath is a setup with 2^5 powers that snarkjs made.
var ptauPath = filepath.Join("srs", "testdata", "snarkjs-5.ptau")

func ptauBytes(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(ptauPath)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func system(t testing.TB, backend string, commitments bool) *compress.System {
	t.Helper()
	s, err := toy.Compile(ctx, backend, commitments)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func realPowers(t testing.TB, logSize int) *srs.SRS {
	t.Helper()
	p, err := srs.Read(ctx, bytes.NewReader(ptauBytes(t)), logSize, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ceremony(t testing.TB) *compress.Ceremony {
	t.Helper()
	c, err := toy.Ceremony(ctx, ptauBytes(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// transcript is a ceremony with two contributions.
func transcript(t testing.TB, c *compress.Ceremony) [][]byte {
	t.Helper()
	first, err := c.Initial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	files := [][]byte{first}
	for range 2 {
		next, err := compress.Contribute(ctx, files[len(files)-1])
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, next)
	}
	return files
}

// TestEveryBackend proves, keeps keys, loads them and proves again. Lengths are those that the documentation promises.
func TestEveryBackend(t *testing.T) {
	lengths := map[string]int{toy.Plonk: 896, toy.PlonkDev: 896, toy.Groth16Dev: 384, toy.Groth16: 256}
	modes := map[string]string{toy.Plonk: formats.SetupUniversal, toy.PlonkDev: formats.SetupInsecureDev, toy.Groth16Dev: formats.SetupInsecureDev, toy.Groth16: formats.SetupCeremony}
	provers, err := toy.Provers(ctx, ptauPath)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range provers {
		setups := compress.NewSetups(t.TempDir())
		again := p
		for round := range 2 {
			data, err := toy.Prove(ctx, again)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			root, err := snark.Verify(p.Key, data, snark.Policy{AllowInsecureSetup: true, Claims: toy.Claims()})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(root.Proof) != lengths[name] || len(root.Proof) != p.Key.ProofBytes() || root.Setup.Mode != modes[name] {
				t.Errorf("%s: a proof of %d bytes under %q", name, len(root.Proof), root.Setup.Mode)
			}
			_, err = snark.Verify(p.Key, data, snark.Policy{})
			if insecure := modes[name] == formats.SetupInsecureDev; insecure != errors.Is(err, formats.Rejected) || !insecure && err != nil {
				t.Errorf("%s: without a word on insecure setups: %v", name, err)
			}
			if round > 0 {
				break
			}
			if again, err = keepAndLoad(t, setups, p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if again.Key.Digest() != p.Key.Digest() {
				t.Errorf("%s: another key is loaded", name)
			}
			list, err := setups.Keys(ctx)
			if err != nil || len(list) != 1 || list[0].Digest() != p.Key.Digest() {
				t.Errorf("%s: %d keys are listed (%v)", name, len(list), err)
			}
		}
	}
}

func keepAndLoad(t testing.TB, setups *compress.Setups, p *compress.Prover) (*compress.Prover, error) {
	t.Helper()
	if p.System.Backend == formats.BackendGroth16 {
		if err := setups.Keep(ctx, p); err != nil {
			return nil, err
		}
		return setups.Groth16(ctx, p.System, p.Key.Setup)
	}
	powers := realPowers(t, p.System.LogDomain)
	if p.Key.Setup.Mode == formats.SetupInsecureDev {
		var err error
		if powers, err = srs.Dev(ctx, 3); err != nil { // fewer than are needed: more are made
			return nil, err
		}
	}
	if err := setups.KeepPowers(ctx, powers); err != nil {
		return nil, err
	}
	if _, err := setups.Plonk(ctx, p.System, p.Key.Setup); err != nil { // made and kept
		return nil, err
	}
	return setups.Plonk(ctx, p.System, p.Key.Setup)
}

// TestPlonkKeysReproduce makes a key twice, from powers in different files' worth of length.
func TestPlonkKeysReproduce(t *testing.T) {
	s := system(t, formats.BackendPlonk, true)
	a, errA := s.SetupPlonk(ctx, realPowers(t, s.LogDomain))
	b, errB := system(t, formats.BackendPlonk, true).SetupPlonk(ctx, realPowers(t, s.LogDomain+1))
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Key.Encoded(), b.Key.Encoded()) {
		t.Error("two keys of one circuit and setup")
	}
}

// TestPowersAreRanked prefers real setups to the development setup.
func TestPowersAreRanked(t *testing.T) {
	setups := compress.NewSetups(t.TempDir())
	if list, err := setups.Powers(); err != nil || list != nil {
		t.Errorf("%v (%v)", list, err)
	}
	dev, err := srs.Dev(ctx, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*srs.SRS{dev, realPowers(t, 3)} {
		if err := setups.KeepPowers(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	list, err := setups.Powers()
	if err != nil || len(list) != 2 || list[0].Mode != formats.SetupUniversal || list[1].Mode != formats.SetupInsecureDev {
		t.Errorf("%v (%v)", list, err)
	}
}

// TestPowersStay sets up several times with powers of one tau: the most and the best known ones stay, and keys follow when an origin becomes known.
func TestPowersStay(t *testing.T) {
	setups := compress.NewSetups(t.TempDir())
	s := system(t, formats.BackendPlonk, true)
	keep := func(logSize int, name string) *srs.SRS {
		t.Helper()
		p := realPowers(t, logSize)
		p.Setup.Name = name
		if err := setups.KeepPowers(ctx, p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	load := func(p *srs.SRS) *compress.Prover {
		t.Helper()
		prover, err := setups.Plonk(ctx, s, p.Setup)
		if err != nil {
			t.Fatal(err)
		}
		return prover
	}
	first := load(keep(s.LogDomain, srs.Unknown))
	if again := load(keep(3, srs.Unknown)); again.Key.Digest() != first.Key.Digest() { // fewer than the circuit needs
		t.Error("another key")
	}
	known := load(keep(s.LogDomain, "a ceremony"))
	if known.Key.Setup.Name != "a ceremony" || known.Key.Setup.Source != first.Key.Setup.Source {
		t.Errorf("a key of %+v", known.Key.Setup)
	}
	if again := load(keep(s.LogDomain, srs.Unknown)); again.Key.Digest() != known.Key.Digest() {
		t.Errorf("a key of %+v", again.Key.Setup)
	}
	list, err := setups.Keys(ctx)
	if err != nil || len(list) != 1 || list[0].Digest() != known.Key.Digest() {
		t.Errorf("%d keys (%v)", len(list), err)
	}
}

func TestCeremony(t *testing.T) {
	c := ceremony(t)
	files := transcript(t, c)
	digest, err := c.Verify(ctx, files)
	if err != nil {
		t.Fatal(err)
	}
	if fewer, err := c.Verify(ctx, files[:2]); err != nil || fewer == digest {
		t.Errorf("a shorter ceremony: %v", err)
	}
	beacon := []byte("a public random value")
	a, finished, errA := c.Finish(ctx, files, beacon)
	b, _, errB := ceremony(t).Finish(ctx, files, beacon)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if finished != digest {
		t.Errorf("finishing is of transcript %x, verifying of %x", finished, digest)
	}
	if !bytes.Equal(a.Key.Encoded(), b.Key.Encoded()) {
		t.Error("everyone must get the same key of a ceremony")
	}
	if other, _, err := c.Finish(ctx, files, []byte("another public random value")); err != nil || other.Key.Digest() == a.Key.Digest() || other.Key.Setup.Source == a.Key.Setup.Source {
		t.Errorf("the beacon changes nothing (%v)", err)
	}
	other := transcript(t, c)
	foreign := system(t, formats.BackendGroth16, false)
	foreign.ID[0] ^= 1
	common, phase1, err := srs.ReadPhase1(ctx, bytes.NewReader(ptauBytes(t)), foreign.LogDomain)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := compress.NewCeremony(foreign, common, phase1)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(i int, at int) [][]byte {
		list := slices.Clone(files)
		list[i] = slices.Clone(list[i])
		list[i][at] ^= 1
		return list
	}
	last := len(files[1]) - 1
	// Two points more in each list, and all points good.
	longer := func() [][]byte {
		const lists = 16 + 2*formats.DigestBytes + 2 + bn254.SizeOfG1AffineCompressed
		list := slices.Clone(files[:2])
		out := slices.Clone(files[1][:lists])
		rest := files[1][lists:]
		for range 2 {
			n := binary.BigEndian.Uint32(rest)
			end := 4 + int(n)*bn254.SizeOfG1AffineCompressed
			out = append(binary.BigEndian.AppendUint32(out, n+2), rest[4:end]...)
			out = append(out, bytes.Repeat(rest[4:4+bn254.SizeOfG1AffineCompressed], 2)...)
			rest = rest[end:]
		}
		list[1] = append(out, rest...)
		return list
	}
	for name, test := range map[string]struct {
		class formats.Class
		do    func() error
	}{
		"no contribution":           {formats.Invalid, func() error { _, _, err := c.Finish(ctx, files[:1], beacon); return err }},
		"no file":                   {formats.Invalid, func() error { _, err := c.Verify(ctx, nil); return err }},
		"a short beacon":            {formats.Invalid, func() error { _, _, err := c.Finish(ctx, files, []byte("short")); return err }},
		"one left out":              {formats.Rejected, func() error { _, err := c.Verify(ctx, [][]byte{files[0], files[2]}); return err }},
		"of another ceremony":       {formats.Rejected, func() error { _, _, err := c.Finish(ctx, [][]byte{files[0], files[1], other[2]}, beacon); return err }},
		"another order":             {formats.Rejected, func() error { _, err := c.Verify(ctx, [][]byte{files[0], files[2], files[1]}); return err }},
		"a start with a secret":     {formats.Rejected, func() error { _, _, err := c.Finish(ctx, files[1:], beacon); return err }},
		"another start":             {formats.Rejected, func() error { _, err := c.Verify(ctx, [][]byte{files[1], files[1], files[2]}); return err }},
		"another circuit":           {formats.Incompatible, func() error { _, err := elsewhere.Verify(ctx, files); return err }},
		"a changed challenge":       {formats.Rejected, func() error { _, err := c.Verify(ctx, changed(1, last)); return err }},
		"a changed circuit":         {formats.Incompatible, func() error { _, err := c.Verify(ctx, changed(1, 20)); return err }},
		"a changed phase 1":         {formats.Incompatible, func() error { _, err := c.Verify(ctx, changed(1, 60)); return err }},
		"a file that is none":       {formats.Malformed, func() error { _, err := c.Verify(ctx, changed(0, 0)); return err }},
		"longer lists":              {formats.Malformed, func() error { _, err := c.Verify(ctx, longer()); return err }},
		"contributing to no file":   {formats.Malformed, func() error { _, err := compress.Contribute(ctx, files[0][:90]); return err }},
		"contributing to a cut one": {formats.Malformed, func() error { _, err := compress.Contribute(ctx, files[1][:last]); return err }},
	} {
		var e *formats.Error
		if err := test.do(); !errors.As(err, &e) || e.Class != test.class {
			t.Errorf("%s: %v, want %v", name, err, test.class)
		}
	}
}

// TestCeremonyHostile changes each byte of the heads and lengths, and some of the points.
func TestCeremonyHostile(t *testing.T) {
	c := ceremony(t)
	files := transcript(t, c)
	for i := 0; i < len(files[1]); i += 1 + i/150*7 {
		changed := slices.Clone(files[1])
		changed[i] ^= 0x80
		if _, err := c.Verify(ctx, [][]byte{files[0], changed}); err == nil {
			t.Errorf("byte %d can be changed", i)
		}
		if out, err := compress.Contribute(ctx, files[1][:i]); err == nil {
			t.Errorf("contributed %d bytes to %d", len(out), i)
		}
	}
}

// TestCeremonyAllocation hides a list of 2^32 points behind a point that is not compressed.
func TestCeremonyAllocation(t *testing.T) {
	first, err := ceremony(t).Initial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, _, g, _ := bn254.Generators()
	raw := g.RawBytes() // its y is 2, so that its first bytes are lengths of 0
	hidden := slices.Concat(first[:80], []byte{0, 0}, raw[:], []byte{0xff, 0xff, 0xff, 0xff}, make([]byte, 133))
	if _, err := compress.Contribute(ctx, hidden); !errors.Is(err, formats.Malformed) {
		t.Errorf("got %v", err)
	}
}

// TestForeign gives provers what belongs to other circuits, setups and programs.
func TestForeign(t *testing.T) {
	provers, err := toy.Provers(ctx, ptauPath)
	if err != nil {
		t.Fatal(err)
	}
	p, dev := provers[toy.Plonk], provers[toy.PlonkDev]
	powers := realPowers(t, p.System.LogDomain)
	other := func(change func(k *formats.RootKey)) *snark.Key {
		raw := p.Key.RootKey
		change(&raw)
		k, err := snark.NewKey(&raw)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if _, err := p.System.LoadPlonk(ctx, powers, p.Key); err != nil {
		t.Error(err)
	}
	for name, k := range map[string]*snark.Key{
		"another setup":    dev.Key,
		"another circuit":  other(func(k *formats.RootKey) { k.Circuit[0] ^= 1 }),
		"another protocol": other(func(k *formats.RootKey) { k.Protocol[5] ^= 1 }),
		"another backend":  provers[toy.Groth16].Key,
		"another domain":   other(func(k *formats.RootKey) { k.Key = slices.Clone(k.Key); k.Key[7] *= 2 }),
	} {
		if _, err := p.System.LoadPlonk(ctx, powers, k); !errors.Is(err, formats.Incompatible) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(s *circuit.Statement){
		"another program":  func(s *circuit.Statement) { s.Program[0] ^= 1 },
		"another protocol": func(s *circuit.Statement) { s.Protocol[5] ^= 1 },
	} {
		s := toy.Statement()
		change(&s)
		if _, err := p.Prove(ctx, toy.Assign(s, true), s, toy.Claims()); !errors.Is(err, formats.Incompatible) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A witness of another statement does not satisfy the circuit.
	s := toy.Statement()
	s.Claims[0] ^= 1
	wrong := toy.Assign(s, true)
	wrong.Secrets[0] = 5
	if _, err := p.Prove(ctx, wrong, toy.Statement(), toy.Claims()); !errors.Is(err, formats.Internal) {
		t.Errorf("a wrong witness: %v", err)
	}
	// Neither does a proof of another statement become one of this.
	if _, err := p.Prove(ctx, toy.Assign(s, true), toy.Statement(), toy.Claims()); !errors.Is(err, formats.Internal) {
		t.Errorf("a witness of another statement: %v", err)
	}
	for name, backend := range map[string]string{"no backend": "fflonk", "plonk without commitments": formats.BackendPlonk} {
		if _, err := compress.CompileCircuit(ctx, toy.New(false), toy.Key(backend), false); !errors.Is(err, formats.Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := compress.CompileCircuit(ctx, new(fourPublics), toy.Key(formats.BackendPlonk), true); !errors.Is(err, formats.Internal) {
		t.Errorf("four public inputs: %v", err)
	}
}

// fourPublics has a public input less than a statement.
type fourPublics struct {
	Publics [4]frontend.Variable `gnark:",public"`
}

func (c *fourPublics) Define(api frontend.API) error {
	api.AssertIsDifferent(api.Mul(c.Publics[0], c.Publics[1]), api.Mul(c.Publics[2], c.Publics[3]))
	return nil
}

// TestDecode reads what can be compressed out of a proof.
func TestDecode(t *testing.T) {
	k, data, ok := keys.Encoded("fibonacci", "root-dev")
	if !ok {
		t.Fatal("no key")
	}
	key, err := verifier.ParseKey(data, poseidon2.Suite{})
	if err != nil {
		t.Fatal(err)
	}
	proof := func(change func(p *formats.Proof)) []byte {
		p := &formats.Proof{Key: k.Digest, Claims: []formats.Claim{{Args: formats.Elements{}.Append(10), Results: formats.Elements{}.Append(55)}},
			Shards: []formats.Shard{{Tables: []formats.Table{{Circuit: 0, LogHeight: 8}}}}}
		change(p)
		data, err := encode.Proof(p)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	program, claims, err := compress.Decode(key, proof(func(p *formats.Proof) {}))
	if err != nil || len(claims) != 1 || program.Template(formats.BackendPlonk).Bits >= 128 || program.Template(formats.BackendPlonk).Protocol != program.Protocol() {
		t.Errorf("%+v (%v)", program, err)
	}
	for name, c := range map[string]struct {
		class  formats.Class
		change func(p *formats.Proof)
	}{
		"another key":        {formats.Incompatible, func(p *formats.Proof) { p.Key[0] ^= 1 }},
		"two shards":         {formats.Incompatible, func(p *formats.Proof) { p.Shards = append(p.Shards, p.Shards[0]) }},
		"no shard":           {formats.Incompatible, func(p *formats.Proof) { p.Shards = nil }},
		"a table of nothing": {formats.Rejected, func(p *formats.Proof) { p.Shards[0].Tables[0].Circuit = 9 }},
		"no claim":           {formats.Rejected, func(p *formats.Proof) { p.Claims = nil }},
	} {
		if _, _, err := compress.Decode(key, proof(c.change)); !errors.Is(err, c.class) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := compress.Decode(key, []byte{0xa0}); !errors.Is(err, formats.Malformed) {
		t.Errorf("no proof: %v", err)
	}
}

func TestStops(t *testing.T) {
	stopped, cancel := context.WithCancel(ctx)
	s := system(t, formats.BackendPlonk, true)
	p, err := s.SetupPlonk(ctx, realPowers(t, s.LogDomain))
	if err != nil {
		t.Fatal(err)
	}
	c := ceremony(t)
	files := transcript(t, c)
	folder := t.TempDir()
	cancel()
	setups := compress.NewSetups(folder)
	for name, do := range map[string]func() error{
		"compile":      func() error { _, err := toy.Compile(stopped, formats.BackendPlonk, true); return err },
		"setup":        func() error { _, err := s.SetupPlonk(stopped, realPowers(t, s.LogDomain)); return err },
		"prove":        func() error { _, err := toy.Prove(stopped, p); return err },
		"keep powers":  func() error { return setups.KeepPowers(stopped, realPowers(t, 3)) },
		"keep":         func() error { return setups.Keep(stopped, p) },
		"initial":      func() error { _, err := c.Initial(stopped); return err },
		"contribute":   func() error { _, err := compress.Contribute(stopped, files[0]); return err },
		"verify":       func() error { _, err := c.Verify(stopped, files); return err },
		"finish":       func() error { _, _, err := c.Finish(stopped, files, make([]byte, 32)); return err },
		"groth16 keys": func() error { _, err := system(t, formats.BackendGroth16, true).SetupGroth16Dev(stopped); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := setups.Keys(ctx); err != nil || list != nil {
		t.Errorf("left over: %v (%v)", list, err)
	}
}

// TestDamagedSetups changes kept files together with their digests, which is what somebody who writes to the folder can do: what is loaded is refused or makes good proofs, and nothing
// panics.
func TestDamagedSetups(t *testing.T) {
	p, err := system(t, formats.BackendGroth16, true).SetupGroth16Dev(ctx)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	setups := compress.NewSetups(folder)
	if err := setups.Keep(ctx, p); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(folder, "groth16", "*", "*", "pk"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v (%v)", found, err)
	}
	good, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	load := func(data []byte) error {
		t.Helper()
		compress.Rewrite(t, folder, p, data)
		again, err := setups.Groth16(ctx, p.System, p.Key.Setup)
		if err != nil {
			var e *formats.Error
			if !errors.As(err, &e) || e.Class != formats.Malformed {
				t.Errorf("an untyped error: %v", err)
			}
			return err
		}
		_, err = toy.Prove(ctx, again)
		return err
	}
	if err := load(good); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 10, 300, len(good) / 2, len(good) - 1} {
		if load(good[:n]) == nil {
			t.Errorf("a proving key of %d bytes is taken", n)
		}
	}
	if load(append(slices.Clone(good), 0)) == nil {
		t.Error("a longer proving key is taken")
	}
	for i := 0; i < len(good); i += 97 {
		changed := slices.Clone(good)
		changed[i] ^= 0x40
		if load(changed) == nil {
			t.Errorf("byte %d of the proving key can be changed", i)
		}
	}
	if err := os.WriteFile(found[0], good[:100], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := setups.Groth16(ctx, p.System, p.Key.Setup); !errors.Is(err, formats.Malformed) {
		t.Errorf("a file without its digest: %v", err)
	}
}
