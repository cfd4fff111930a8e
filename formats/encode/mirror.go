package encode

import "github.com/ixprove/ixprove/formats"

// The mirror types are the objects as CBOR has them: tags give the map keys, toarray makes an array, lists of digests are one byte string.

type proof struct {
	Kind    string  `cbor:"0,keyasint"`
	Version uint    `cbor:"1,keyasint"`
	Key     []byte  `cbor:"2,keyasint"`
	Claims  []claim `cbor:"3,keyasint"`
	Shards  []shard `cbor:"4,keyasint"`
}

type boundClaim struct {
	Kind    string `cbor:"0,keyasint"`
	Version uint   `cbor:"1,keyasint"`
	Key     []byte `cbor:"2,keyasint"`
	Claim   claim  `cbor:"3,keyasint"`
}

type claim struct {
	_       struct{} `cbor:",toarray"`
	Entry   uint32
	Args    []byte
	Results []byte
}

type shard struct {
	Tables     []table   `cbor:"0,keyasint"`
	Main       []byte    `cbor:"1,keyasint"`
	Pins       []byte    `cbor:"2,keyasint"`
	Aux        []byte    `cbor:"3,keyasint"`
	Sums       []byte    `cbor:"4,keyasint"`
	Quotient   []byte    `cbor:"5,keyasint"`
	Openings   []byte    `cbor:"6,keyasint"`
	LayerRoots []byte    `cbor:"7,keyasint"`
	Final      []byte    `cbor:"8,keyasint"`
	Nonce      uint64    `cbor:"9,keyasint"`
	Trees      []opening `cbor:"10,keyasint"`
	Layers     []opening `cbor:"11,keyasint"`
}

type table struct {
	_         struct{} `cbor:",toarray"`
	Circuit   uint32
	LogHeight uint8
}

type opening struct {
	_        struct{} `cbor:",toarray"`
	Rows     []byte
	Siblings []byte
}

type key struct {
	Kind     string    `cbor:"0,keyasint"`
	Version  uint      `cbor:"1,keyasint"`
	Name     string    `cbor:"2,keyasint"`
	Suite    string    `cbor:"3,keyasint"`
	Profile  profile   `cbor:"4,keyasint"`
	Channels []channel `cbor:"5,keyasint"`
	Circuits []circuit `cbor:"6,keyasint"`
	Entries  []entry   `cbor:"7,keyasint"`
}

type profile struct {
	_            struct{} `cbor:",toarray"`
	LogBlowup    uint8
	Queries      uint16
	GrindingBits uint8
	LogArity     uint8
	LogFinal     uint8
	Multiplicity uint8
}

type channel struct {
	_     struct{} `cbor:",toarray"`
	Name  string
	Arity uint16
}

type circuit struct {
	Name         string   `cbor:"0,keyasint"`
	Columns      uint32   `cbor:"1,keyasint"`
	Periodic     [][]byte `cbor:"2,keyasint"`
	Fixed        []fixed  `cbor:"3,keyasint"`
	MinLogHeight uint8    `cbor:"4,keyasint"`
	Degree       uint8    `cbor:"5,keyasint"`
	Nodes        []node   `cbor:"6,keyasint"`
	Constraints  []uint32 `cbor:"7,keyasint"`
	Lookups      []lookup `cbor:"8,keyasint"`
}

type fixed struct {
	_         struct{} `cbor:",toarray"`
	Columns   uint32
	LogHeight uint8
	Root      []byte
}

type node struct {
	_  struct{} `cbor:",toarray"`
	Op uint8
	A  uint64
	B  uint32
}

type lookup struct {
	_            struct{} `cbor:",toarray"`
	Push         uint
	Channel      uint32
	Multiplicity uint32
	Weight       uint64
	Args         []uint32
}

type entry struct {
	_       struct{} `cbor:",toarray"`
	Name    string
	Channel uint32
	Args    []value
	Results []value
}

type value struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Type uint8
}

type root struct {
	Kind      string  `cbor:"0,keyasint"`
	Version   uint    `cbor:"1,keyasint"`
	Backend   string  `cbor:"2,keyasint"`
	Curve     string  `cbor:"3,keyasint"`
	Protocol  []byte  `cbor:"4,keyasint"`
	Program   []byte  `cbor:"5,keyasint"`
	Statement []byte  `cbor:"6,keyasint"`
	Claims    []claim `cbor:"7,keyasint"`
	Setup     setup   `cbor:"8,keyasint"`
	Key       []byte  `cbor:"9,keyasint"`
	Proof     []byte  `cbor:"10,keyasint"`
}

type rootKey struct {
	Kind     string  `cbor:"0,keyasint"`
	Version  uint    `cbor:"1,keyasint"`
	Backend  string  `cbor:"2,keyasint"`
	Curve    string  `cbor:"3,keyasint"`
	Protocol []byte  `cbor:"4,keyasint"`
	Program  []byte  `cbor:"5,keyasint"`
	Circuit  []byte  `cbor:"6,keyasint"`
	Tables   []table `cbor:"7,keyasint"`
	Claims   uint32  `cbor:"8,keyasint"`
	Bits     uint8   `cbor:"9,keyasint"`
	Entries  []entry `cbor:"10,keyasint"`
	Setup    setup   `cbor:"11,keyasint"`
	Key      []byte  `cbor:"12,keyasint"`
}

type setup struct {
	_      struct{} `cbor:",toarray"`
	Mode   string
	Source []byte
	Name   string
}

func rootFrom(r *formats.Root) root {
	return root{formats.KindRoot, formats.Version, r.Backend, r.Curve, r.Protocol[:], r.Program[:], r.Statement[:], each(r.Claims, claimFrom), setupFrom(r.Setup), r.Key[:], vector(r.Proof)}
}

func rootKeyFrom(k *formats.RootKey) rootKey {
	return rootKey{formats.KindRootKey, formats.Version, k.Backend, k.Curve, k.Protocol[:], k.Program[:], k.Circuit[:], each(k.Tables, tableFrom), k.Claims, k.Bits, each(k.Entries, entryFrom), setupFrom(k.Setup), vector(k.Key)}
}

func setupFrom(s formats.Setup) setup { return setup{Mode: s.Mode, Source: s.Source[:], Name: s.Name} }

func proofFrom(p *formats.Proof) proof {
	return proof{formats.KindProof, formats.Version, p.Key[:], each(p.Claims, claimFrom), each(p.Shards, shardFrom)}
}

func boundClaimFrom(b *formats.BoundClaim) boundClaim {
	return boundClaim{formats.KindClaim, formats.Version, b.Key[:], claimFrom(b.Claim)}
}

func claimFrom(c formats.Claim) claim {
	return claim{Entry: c.Entry, Args: vector(c.Args), Results: vector(c.Results)}
}

func shardFrom(s formats.Shard) shard {
	return shard{
		Tables:     each(s.Tables, tableFrom),
		Main:       s.Main[:],
		Aux:        concat(s.Aux),
		Pins:       vector(s.Pins),
		Sums:       vector(s.Sums),
		Quotient:   s.Quotient[:],
		Openings:   vector(s.Openings),
		LayerRoots: concat(s.LayerRoot),
		Final:      vector(s.Final),
		Nonce:      s.Nonce,
		Trees:      each(s.Trees, openingFrom),
		Layers:     each(s.Layers, openingFrom),
	}
}

func tableFrom(t formats.Table) table { return table{Circuit: t.Circuit, LogHeight: t.LogHeight} }

func openingFrom(o formats.Opening) opening {
	return opening{Rows: vector(o.Rows), Siblings: vector(o.Siblings)}
}

func keyFrom(k *formats.Key) key {
	p := k.Profile
	return key{
		formats.KindKey, formats.Version, k.Name, k.Suite,
		profile{
			LogBlowup:    p.LogBlowup,
			Queries:      p.Queries,
			GrindingBits: p.GrindingBits,
			LogArity:     p.LogArity,
			LogFinal:     p.LogFinal,
			Multiplicity: p.Multiplicity,
		},
		each(k.Channels, channelFrom), each(k.Circuits, circuitFrom), each(k.Entries, entryFrom),
	}
}

func channelFrom(c formats.Channel) channel { return channel{Name: c.Name, Arity: c.Arity} }

func circuitFrom(c formats.Circuit) circuit {
	return circuit{
		Name:         c.Name,
		Columns:      c.Columns,
		Periodic:     each(c.Periodic, vector[formats.Elements]),
		Fixed:        each(c.Fixed, fixedFrom),
		MinLogHeight: c.MinLogHeight,
		Degree:       c.Degree,
		Nodes:        each(c.Nodes, nodeFrom),
		Constraints:  each(c.Constraints, index),
		Lookups:      each(c.Lookups, lookupFrom),
	}
}

func fixedFrom(f formats.Fixed) fixed {
	return fixed{Columns: f.Columns, LogHeight: f.LogHeight, Root: f.Root[:]}
}

func nodeFrom(n formats.Node) node { return node{Op: uint8(n.Op), A: n.A, B: n.B} }

func index(i uint32) uint32 { return i }

func lookupFrom(l formats.Lookup) lookup {
	m := lookup{Channel: l.Channel, Multiplicity: l.Multiplicity, Weight: l.Weight, Args: each(l.Args, index)}
	if l.Push {
		m.Push = 1
	}
	return m
}

func entryFrom(e formats.Entry) entry {
	return entry{Name: e.Name, Channel: e.Channel, Args: each(e.Args, valueFrom), Results: each(e.Results, valueFrom)}
}

func valueFrom(v formats.Value) value { return value{Name: v.Name, Type: uint8(v.Type)} }

// each maps a list; the result of an empty one is empty but not nil, which is how the library tells it from null.
func each[T, M any](list []T, from func(T) M) []M {
	out := make([]M, len(list))
	for i, v := range list {
		out[i] = from(v)
	}
	return out
}

func vector[B ~[]byte](b B) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func concat(digests []formats.Digest) []byte {
	out := []byte{}
	for _, d := range digests {
		out = append(out, d[:]...)
	}
	return out
}
