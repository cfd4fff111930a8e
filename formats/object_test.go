package formats_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
)

// codec is one kind of object for tests that hold for all. Objects are pointers to a formats type.
type codec struct {
	name   string
	rule   string // of the schema, formats/<name>.cddl
	form   string // the check of a malformed object
	kind   string // the check of another kind or version
	limit  string // the check of its length
	most   int    // its length limit
	decode func([]byte) (any, error)
	encode func(any) ([]byte, error)
	sample func() any // small, with every field used
	random func(*rand.Rand) any
}

var codecs = []codec{
	{
		name: "proof", rule: "proof", form: "P-2", kind: "P-3", limit: "P-1", most: formats.MaxProofBytes,
		decode: func(b []byte) (any, error) { return formats.DecodeProof(b, formats.MaxProofBytes) },
		encode: func(v any) ([]byte, error) { return encode.Proof(v.(*formats.Proof)) },
		sample: func() any { return sampleProof() },
		random: func(g *rand.Rand) any { return randomProof(g) },
	},
	{
		name: "key", rule: "key", form: "K-1", kind: "K-2", limit: "K-1", most: formats.MaxKeyBytes,
		decode: func(b []byte) (any, error) { return formats.DecodeKey(b) },
		encode: func(v any) ([]byte, error) { return encode.Key(v.(*formats.Key)) },
		sample: func() any { return sampleKey() },
		random: func(g *rand.Rand) any { return randomKey(g) },
	},
	{
		name: "claim", rule: "bound-claim", most: formats.MaxClaimBytes,
		decode: func(b []byte) (any, error) { return formats.DecodeBoundClaim(b) },
		encode: func(v any) ([]byte, error) { return encode.BoundClaim(v.(*formats.BoundClaim)) },
		sample: func() any { return sampleClaim() },
		random: func(g *rand.Rand) any { return randomBoundClaim(g) },
	},
	{
		name: "root", rule: "root", form: "R-2", kind: "R-3", limit: "R-1", most: formats.MaxRootBytes,
		decode: func(b []byte) (any, error) { return formats.DecodeRoot(b) },
		encode: func(v any) ([]byte, error) { return encode.Root(v.(*formats.Root)) },
		sample: func() any { return sampleRoot() },
		random: func(g *rand.Rand) any { return randomRoot(g) },
	},
	{
		name: "root-key", rule: "rootkey", form: "S-1", kind: "S-2", limit: "S-1", most: formats.MaxRootKeyBytes,
		decode: func(b []byte) (any, error) { return formats.DecodeRootKey(b) },
		encode: func(v any) ([]byte, error) { return encode.RootKey(v.(*formats.RootKey)) },
		sample: func() any { return sampleRootKey() },
		random: func(g *rand.Rand) any { return randomRootKey(g) },
	},
}

func elements(values ...uint64) (e formats.Elements) {
	for _, v := range values {
		e = e.Append(v)
	}
	return e
}

func digest(fill byte) (d formats.Digest) {
	for i := range d {
		d[i] = fill
	}
	return d
}

func sampleClaim() *formats.BoundClaim {
	return &formats.BoundClaim{
		Key:   digest(1),
		Claim: formats.Claim{Entry: 300, Args: elements(1, formats.Modulus-1), Results: elements(3)},
	}
}

func sampleRoot() *formats.Root {
	return &formats.Root{
		Backend: formats.BackendPlonk, Curve: formats.CurveBN254, Protocol: digest(1), Program: digest(2), Statement: digest(3),
		Claims: []formats.Claim{{Entry: 1, Args: elements(5), Results: elements(6, 7)}, {}},
		Setup:  formats.Setup{Mode: formats.SetupUniversal, Source: digest(4), Name: "a ceremony"},
		Key:    digest(5), Proof: []byte{1, 2, 3},
	}
}

func sampleRootKey() *formats.RootKey {
	return &formats.RootKey{
		Backend: formats.BackendGroth16, Curve: formats.CurveBN254, Protocol: digest(1), Program: digest(2), Circuit: digest(3),
		Tables: []formats.Table{{Circuit: 0, LogHeight: 27}, {Circuit: 24, LogHeight: 3}}, Claims: formats.MaxClaims, Bits: 128,
		Entries: []formats.Entry{{Name: "e", Channel: 300, Args: []formats.Value{{Name: "a", Type: formats.TypeU64}}, Results: []formats.Value{{Name: "b", Type: formats.TypeField}}}},
		Setup:   formats.Setup{Mode: formats.SetupCeremony, Source: digest(4), Name: "~"}, Key: []byte{9},
	}
}

func randomSetup(g *rand.Rand) formats.Setup {
	return formats.Setup{Mode: randomName(g), Source: randomDigest(g), Name: randomName(g)}
}

func randomRoot(g *rand.Rand) *formats.Root {
	return &formats.Root{
		Backend: randomName(g), Curve: randomName(g), Protocol: randomDigest(g), Program: randomDigest(g), Statement: randomDigest(g), Claims: some(g, 30, randomClaim),
		Setup: randomSetup(g), Key: randomDigest(g), Proof: make([]byte, 1+g.IntN(1000)),
	}
}

func randomRootKey(g *rand.Rand) *formats.RootKey {
	return &formats.RootKey{
		Backend: randomName(g), Curve: randomName(g), Protocol: randomDigest(g), Program: randomDigest(g), Circuit: randomDigest(g), Tables: some(g, 30, randomTable),
		Claims: uint32(number(g, formats.MaxClaims)), Bits: byteNumber(g), Entries: some(g, 9, randomEntry), Setup: randomSetup(g), Key: make([]byte, 1+g.IntN(1000)),
	}
}

func randomTable(g *rand.Rand) formats.Table {
	return formats.Table{Circuit: index(g), LogHeight: logHeight(g)}
}

func sampleProof() *formats.Proof {
	return &formats.Proof{
		Key:    digest(2),
		Claims: []formats.Claim{{Entry: 1, Args: elements(5), Results: elements(6, 7)}, {}},
		Shards: []formats.Shard{
			{
				Tables:    []formats.Table{{Circuit: 0, LogHeight: 27}, {Circuit: 24, LogHeight: 3}},
				Main:      digest(3),
				Aux:       []formats.Digest{digest(4)},
				Sums:      elements(1, 2, 3),
				Pins:      elements(4, 5, 6),
				Quotient:  digest(5),
				Openings:  elements(4, 5, 6, 7, 8, 9),
				LayerRoot: []formats.Digest{digest(6), digest(7)},
				Final:     elements(10, 11, 12),
				Nonce:     math.MaxUint64,
				Trees: []formats.Opening{
					{Rows: elements(1), Siblings: make([]byte, 64)},
					{Rows: elements(13, 14), Siblings: make([]byte, 32)},
				},
				Layers: []formats.Opening{{Rows: elements(15)}},
			},
			{Main: digest(8), Quotient: digest(9)},
		},
	}
}

func sampleKey() *formats.Key {
	return &formats.Key{
		Name:     "fibonacci",
		Suite:    "blake3",
		Profile:  formats.Profile{LogBlowup: 2, Queries: 112, GrindingBits: 20, LogArity: 3, LogFinal: 6, Multiplicity: 20},
		Channels: []formats.Channel{{Name: "fib", Arity: 3}, {Name: "range", Arity: 1}},
		Circuits: []formats.Circuit{
			{
				Name:         "step",
				Columns:      4,
				Periodic:     []formats.Elements{elements(1, 0), elements(7)},
				Fixed:        []formats.Fixed{{Columns: 1, LogHeight: 8, Root: digest(10)}},
				MinLogHeight: 3,
				Degree:       3,
				Nodes: []formats.Node{
					{Op: formats.OpConst, A: formats.Modulus - 1}, {Op: formats.OpMain, A: 3, B: 1}, {Op: formats.OpMul, A: 0, B: 1},
				},
				Constraints: []uint32{2, 70000},
				Lookups: []formats.Lookup{
					{Push: true, Channel: 0, Multiplicity: 1, Weight: formats.MaxLookupWeight, Args: []uint32{0, 1, 2}},
					{Channel: 1, Multiplicity: 0, Args: []uint32{1}},
				},
			},
			{Name: "~"},
		},
		Entries: []formats.Entry{{
			Name:    "fib",
			Channel: 0,
			Args:    []formats.Value{{Name: "n", Type: formats.TypeU64}},
			Results: []formats.Value{{Name: "value", Type: formats.TypeField}},
		}},
	}
}

// some is a list of 0 to most-1 random things, nil when empty, as decoders make it.
func some[T any](g *rand.Rand, most int, one func(*rand.Rand) T) (list []T) {
	for range g.IntN(most) {
		list = append(list, one(g))
	}
	return list
}

// number is a random integer of at most limit, all lengths of heads being likely.
func number(g *rand.Rand, limit uint64) uint64 {
	v := g.Uint64() >> g.IntN(64)
	switch g.IntN(8) {
	case 0:
		v = 0
	case 1:
		return limit
	}
	if limit == math.MaxUint64 {
		return v
	}
	return v % (limit + 1)
}

func index(g *rand.Rand) uint32 { return uint32(number(g, math.MaxUint32)) }

func byteNumber(g *rand.Rand) uint8 { return uint8(number(g, math.MaxUint8)) }

func logHeight(g *rand.Rand) uint8 { return uint8(number(g, formats.MaxLogHeight)) }

func element(g *rand.Rand) uint64 { return number(g, formats.Modulus-1) }

func randomElements(g *rand.Rand) formats.Elements { return elements(some(g, 6, element)...) }

func randomDigest(g *rand.Rand) (d formats.Digest) {
	for i := 0; i < len(d); i += 8 {
		binary.LittleEndian.PutUint64(d[i:], g.Uint64())
	}
	return d
}

func randomName(g *rand.Rand) string {
	name := make([]byte, 1+g.IntN(formats.MaxNameBytes))
	for i := range name {
		name[i] = byte(' ' + g.IntN('~'-' '+1))
	}
	return string(name)
}

func randomClaim(g *rand.Rand) formats.Claim {
	return formats.Claim{Entry: index(g), Args: randomElements(g), Results: randomElements(g)}
}

func randomBoundClaim(g *rand.Rand) *formats.BoundClaim {
	return &formats.BoundClaim{Key: randomDigest(g), Claim: randomClaim(g)}
}

func randomProof(g *rand.Rand) *formats.Proof {
	return &formats.Proof{Key: randomDigest(g), Claims: some(g, 30, randomClaim), Shards: some(g, 4, randomShard)}
}

func randomShard(g *rand.Rand) formats.Shard {
	return formats.Shard{
		Tables:    some(g, 30, randomTable),
		Main:      randomDigest(g),
		Aux:       some(g, 2, randomDigest),
		Sums:      randomElements(g),
		Quotient:  randomDigest(g),
		Openings:  randomElements(g),
		LayerRoot: some(g, 9, randomDigest),
		Final:     randomElements(g),
		Nonce:     number(g, math.MaxUint64),
		Trees:     some(g, 30, randomOpening),
		Layers:    some(g, 5, randomOpening),
	}
}

func randomOpening(g *rand.Rand) (o formats.Opening) {
	o.Rows = randomElements(g)
	for range g.IntN(5) {
		d := randomDigest(g)
		o.Siblings = append(o.Siblings, d[:]...)
	}
	return o
}

func randomKey(g *rand.Rand) *formats.Key {
	return &formats.Key{
		Name:  randomName(g),
		Suite: randomName(g),
		Profile: formats.Profile{
			LogBlowup:    byteNumber(g),
			Queries:      uint16(number(g, math.MaxUint16)),
			GrindingBits: byteNumber(g),
			LogArity:     byteNumber(g),
			LogFinal:     byteNumber(g),
			Multiplicity: byteNumber(g),
		},
		Channels: some(g, 30, func(g *rand.Rand) formats.Channel {
			return formats.Channel{Name: randomName(g), Arity: uint16(number(g, formats.MaxLookupArgs))}
		}),
		Circuits: some(g, 4, randomCircuit),
		Entries:  some(g, 30, randomEntry),
	}
}

func randomEntry(g *rand.Rand) formats.Entry {
	return formats.Entry{Name: randomName(g), Channel: index(g), Args: some(g, 4, randomValue), Results: some(g, 4, randomValue)}
}

func randomValue(g *rand.Rand) formats.Value {
	return formats.Value{Name: randomName(g), Type: formats.ValueType(g.IntN(int(formats.NumValueTypes)))}
}

func randomCircuit(g *rand.Rand) formats.Circuit {
	return formats.Circuit{
		Name:    randomName(g),
		Columns: uint32(number(g, formats.MaxColumns)),
		Periodic: some(g, 4, func(g *rand.Rand) formats.Elements {
			return randomElements(g).Append(element(g))
		}),
		Fixed: some(g, 2, func(g *rand.Rand) formats.Fixed {
			return formats.Fixed{Columns: uint32(number(g, formats.MaxColumns)), LogHeight: logHeight(g), Root: randomDigest(g)}
		}),
		MinLogHeight: logHeight(g),
		Degree:       byteNumber(g),
		Nodes: some(g, 300, func(g *rand.Rand) formats.Node {
			return formats.Node{Op: formats.Op(g.IntN(int(formats.NumOps))), A: element(g), B: index(g)}
		}),
		Constraints: some(g, 30, index),
		Lookups: some(g, 30, func(g *rand.Rand) formats.Lookup {
			return formats.Lookup{
				Push:         g.IntN(2) == 1,
				Channel:      index(g),
				Multiplicity: index(g),
				Weight:       number(g, formats.MaxLookupWeight),
				Args:         some(g, 5, index),
			}
		}),
	}
}
