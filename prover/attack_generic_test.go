package prover_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
)

// mutations visits every way to change one place of a value by its Go type: numbers are flipped in their lowest and highest bits, vectors and lists lose and
// gain items at both ends. visit is called with v changed; afterwards v is as it was.
func mutations(path string, v reflect.Value, visit func(path string)) {
	change := func(name string, to reflect.Value) {
		was := reflect.ValueOf(v.Interface())
		v.Set(to)
		visit(path + " " + name)
		v.Set(was)
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			mutations(path+"."+v.Type().Field(i).Name, v.Field(i), visit)
		}
	case reflect.Bool:
		change("flipped", reflect.ValueOf(!v.Bool()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		for _, x := range []uint64{v.Uint() ^ 1, v.Uint() + 1, v.Uint() ^ 1<<(v.Type().Bits()-1), 0, 1<<64 - 1} {
			if to := reflect.ValueOf(x).Convert(v.Type()); to.Uint() != v.Uint() {
				change("changed", to)
			}
		}
	case reflect.String:
		change("longer", reflect.ValueOf(v.String()+"x").Convert(v.Type()))
	case reflect.Array: // a digest
		for _, i := range []int{0, v.Len() - 1} {
			mutations(path, v.Index(i), visit)
		}
	case reflect.Slice:
		n, unit := v.Len(), 1
		switch v.Type() {
		case reflect.TypeFor[formats.Elements]():
			unit = formats.ElementBytes
		case reflect.TypeFor[[]byte]():
			unit = formats.DigestBytes
		}
		grown := func(parts ...reflect.Value) reflect.Value {
			out := reflect.MakeSlice(v.Type(), 0, n+unit)
			for _, p := range parts {
				out = reflect.AppendSlice(out, p)
			}
			return out
		}
		empty := reflect.MakeSlice(v.Type(), unit, unit)
		change("with an item more", grown(v, empty))
		if n == 0 {
			return
		}
		change("without the first", grown(v.Slice(unit, n)))
		change("without the last", grown(v.Slice(0, n-unit)))
		change("with the first twice", grown(v.Slice(0, unit), v))
		change("with the last twice", grown(v, v.Slice(n-unit, n)))
		change("empty", reflect.Zero(v.Type()))
		if n > unit {
			a, b := v.Slice(0, unit), v.Slice(unit, 2*unit)
			if !reflect.DeepEqual(a.Interface(), b.Interface()) {
				change("with two items swapped", grown(b, a, v.Slice(2*unit, n)))
			}
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			step := max(n/8/unit, 1) * unit // a few places of each vector
			for i := 0; i < n; i += step {
				was := v.Index(i).Uint()
				v.Index(i).SetUint(was ^ 1)
				visit(fmt.Sprintf("%s byte %d changed", path, i))
				v.Index(i).SetUint(was)
			}
			return
		}
		for i := range n {
			mutations(fmt.Sprintf("%s[%d]", path, i), v.Index(i), visit)
		}
	}
}

// TestEveryPlaceOfAProof changes every list, vector and number of each sample: never accepted, always a typed error.
func TestEveryPlaceOfAProof(t *testing.T) {
	for name, s := range samples() {
		p := s.proof(t)
		count, checks := 0, map[string]int{}
		mutations(name, reflect.ValueOf(p).Elem(), func(path string) {
			data, err := encode.Proof(p)
			if err != nil {
				return // no encoding carries it
			}
			_, err = verify(t, s.pk.Key, data, policy)
			typed(t, err, path)
			if e, ok := err.(*formats.Error); ok {
				checks[e.Check]++
			}
			count++
		})
		if again := encoded(t, p); !bytes.Equal(again, s.data) {
			t.Fatal("a mutation was not undone")
		}
		t.Logf("%s: %d mutations, refused by %v", name, count, checks)
	}
}

// TestEveryPlaceOfAKey changes every list, vector and number of a key. What still loads is another key, which no proof is for.
func TestEveryPlaceOfAKey(t *testing.T) {
	for name, s := range samples() {
		if name == "shards" {
			continue
		}
		k, err := formats.DecodeKey(bytes.Clone(s.pk.Encoded))
		if err != nil {
			t.Fatal(err)
		}
		loaded, count := 0, 0
		mutations(name, reflect.ValueOf(k).Elem(), func(path string) {
			data, err := encode.Key(k)
			if err != nil {
				return
			}
			count++
			other, err := verifier.ParseKey(data, suites...)
			if err != nil {
				typed(t, err, path)
				return
			}
			loaded++
			_, err = verify(t, other, s.data, policy)
			refused(t, err, "P-4", formats.Incompatible)
			// The same proof, said to be for that key.
			p := s.proof(t)
			p.Key = other.Digest()
			_, err = verify(t, other, encoded(t, p), policy)
			typed(t, err, path)
		})
		t.Logf("%s: %d mutations, %d of them keys", name, count, loaded)
	}
}

// TestOtherProofs swaps proofs and keys of the systems.
func TestOtherProofs(t *testing.T) {
	toy, fibonacci := samples()["toy"], samples()["fibonacci"]
	for _, c := range []struct{ of, under *sample }{{toy, fibonacci}, {fibonacci, toy}} {
		_, err := verify(t, c.under.pk.Key, c.of.data, policy)
		refused(t, err, "P-4", formats.Incompatible)
		p := c.of.proof(t)
		p.Key = c.under.pk.Digest()
		_, err = verify(t, c.under.pk.Key, encoded(t, p), policy)
		typed(t, err, "a proof said to be for another key")
		_, err = verify(t, c.under.pk.Key, c.of.pk.Encoded, policy)
		refused(t, err, "P-3", formats.Incompatible)
		_, err = verifier.ParseKey(c.of.data)
		refused(t, err, "K-2", formats.Incompatible)
	}
}

// TestRegroupedClaims moves words between claims: the transcript holds their borders.
func TestRegroupedClaims(t *testing.T) {
	s := samples()["toy"]
	p := s.proof(t)
	whole := p.Claims
	for i := range whole {
		for k := range whole {
			p = s.proof(t)
			p.Claims[i].Args, p.Claims[k].Args = p.Claims[k].Args, p.Claims[i].Args
			p.Claims[i].Results, p.Claims[k].Results = p.Claims[k].Results, p.Claims[i].Results
			if data := encoded(t, p); !bytes.Equal(data, s.data) {
				_, err := verify(t, s.pk.Key, data, policy)
				typed(t, err, fmt.Sprintf("claims %d and %d with each other's words", i, k))
			}
		}
	}
	for _, groups := range [][]formats.Claim{
		{{Entry: entryLadder, Args: append(bytes.Clone(whole[0].Args), whole[1].Args...), Results: append(bytes.Clone(whole[0].Results), whole[1].Results...)}},
		{{Entry: entryLadder, Args: whole[0].Args, Results: whole[0].Results}, {Entry: entryLadder, Args: whole[1].Args}, {Entry: entryLadder, Results: whole[1].Results}},
	} {
		p = s.proof(t)
		p.Claims = append(groups, whole[2:]...)
		_, err := verify(t, s.pk.Key, encoded(t, p), policy)
		refused(t, err, "P-7", formats.Rejected)
	}
}

// TestTruncations cuts proofs and keys at every length.
func TestTruncations(t *testing.T) {
	for name, s := range samples() {
		for n := range s.data {
			_, err := verify(t, s.pk.Key, s.data[:n], policy)
			refused(t, err, "P-2", formats.Malformed)
		}
		for n := range s.pk.Encoded {
			_, err := verifier.ParseKey(s.pk.Encoded[:n])
			refused(t, err, "K-1", formats.Malformed)
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestBitFlips flips random bits: a byte string holds most of them, so they reach every check.
func TestBitFlips(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	all := samples()
	for _, name := range slices.Sorted(maps.Keys(all)) { // one order, for one sequence of flips
		s := all[name]
		data := bytes.Clone(s.data)
		for range 1500 {
			at, bit := g.IntN(len(data)), byte(1)<<g.IntN(8)
			data[at] ^= bit
			_, err := verify(t, s.pk.Key, data, policy)
			typed(t, err, fmt.Sprintf("%s with bit %d of byte %d flipped", name, bit, at))
			data[at] ^= bit
		}
		key := bytes.Clone(s.pk.Encoded)
		for range 500 {
			at, bit := g.IntN(len(key)), byte(1)<<g.IntN(8)
			key[at] ^= bit
			if k, err := verifier.ParseKey(key, suites...); err != nil {
				typed(t, err, "a key with a flipped bit")
			} else if k.Digest() == s.pk.Digest() {
				t.Errorf("another key with the digest %s", hex.EncodeToString(key))
			}
			key[at] ^= bit
		}
	}
}

// TestDeclaredHeights declares tables of 2^27 rows, and as many tables as a proof may have, in a few megabytes: refused without memory to match.
func TestDeclaredHeights(t *testing.T) {
	s := samples()["toy"]
	quiet := func(n, log int) []formats.Table {
		tables := make([]formats.Table, n)
		for i := range tables {
			tables[i] = formats.Table{Circuit: circuitQuiet, LogHeight: uint8(log)}
		}
		return tables
	}
	tall := s.proof(t)
	tall.Shards[0].Tables = quiet(1, formats.MaxLogHeight)
	many := s.proof(t)
	many.Shards = make([]formats.Shard, formats.MaxBatchTables/formats.MaxTables)
	for i := range many.Shards {
		many.Shards[i].Tables = quiet(formats.MaxTables, 5)
	}
	for name, p := range map[string]*formats.Proof{"one tall table": tall, "many tables": many} {
		data := encoded(t, p)
		for _, policy := range []verifier.Policy{policy, {}} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := verifier.Verify(s.pk.Key, data, policy)
			runtime.ReadMemStats(&after)
			typed(t, err, name)
			used := int(after.TotalAlloc - before.TotalAlloc)
			t.Logf("%s: %d bytes of proof, %d allocated: %v", name, len(data), used, err)
			if used > 100*len(data) {
				t.Errorf("%s: %d bytes allocated for %d bytes of proof", name, used, len(data))
			}
		}
	}
}
