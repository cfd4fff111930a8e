// Package formats holds the objects that travel, verifying keys, claims and batch proofs, and strict decoders for them.
//
// Each object is one deterministically encoded CBOR item (RFC 8949 section 4.2.1): a map with small integer keys whose key 0 is the
// object's kind and key 1 its version. The decoders are written by hand because no library refuses all second encodings of a value
// (non-shortest integers, null for a number, short byte strings); they use no reflection and import nothing outside the standard
// library. Encoders live in formats/encode. The schemas are formats/*.cddl.
//
// Decoded objects are unchecked: lengths and numbers are within the schemas' limits and elements canonical, nothing more. Package verifier checks the rest.
package formats

// Modulus is the Goldilocks prime 2^64 - 2^32 + 1. Every encoded field element is below it.
const Modulus = 0xffffffff00000001

// Kinds and the version of every object.
const (
	KindProof = "ixprove-proof"
	KindKey   = "ixprove-key"
	KindClaim = "ixprove-claim"
	Version   = 1
)

// Limits that hold for any object, whatever the key. They bound memory, not security.
const (
	MaxKeyBytes       = 16 << 20
	MaxProofBytes     = 64 << 20 // default of the verifier's policy
	MaxClaimBytes     = 1 << 20
	MaxClaims         = 1 << 16
	MaxShards         = 1 << 10
	MaxTables         = 1 << 10 // in one shard
	MaxBatchTables    = 1 << 16 // in all shards: what a table costs before its bytes are looked at is bounded by this alone
	MaxClaimElements  = 1 << 12
	MaxNameBytes      = 64
	MaxChannels       = 1 << 10
	MaxCircuits       = 1 << 10
	MaxEntries        = 1 << 10
	MaxValues         = 1 << 8  // arguments or results of one entry
	MaxColumns        = 1 << 16 // of one kind in one circuit
	MaxNodes          = 1 << 22 // of one circuit's constraint graph
	MaxLookups        = 1 << 12 // of one circuit
	MaxLookupArgs     = 1 << 10
	MaxLayers         = 32
	MaxLogHeight      = 27
	MaxPeriodLog      = 16
	MaxLookupWeight   = 1 << 32
	DigestBytes       = 32
	ElementBytes      = 8
	ExtElementBytes   = 24
	MaxOpeningSets    = MaxTables + 3                // in one shard: a tree for each table's fixed columns, main, auxiliary, quotient
	MaxBatchTrees     = MaxBatchTables + 3*MaxShards // in all shards
	MaxFinalPolyTerms = 64
)

// Digest is a 32-byte hash value.
type Digest [DigestBytes]byte

// Elements is a packed vector of canonical base-field elements, 8 little-endian bytes each. A decoded value has a length divisible by 8 and
// every element below Modulus.
type Elements []byte

// Len is the number of elements.
func (e Elements) Len() int { return len(e) / ElementBytes }

// At is element i, which must be in range.
func (e Elements) At(i int) uint64 {
	b := e[i*ElementBytes : i*ElementBytes+ElementBytes]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// Append adds element v, which must be below Modulus, and returns the longer vector.
func (e Elements) Append(v uint64) Elements {
	return append(e, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
}

// Proof is a batch proof: K >= 1 shards that share the lookup challenges (docs/protocol.md).
type Proof struct {
	Key    Digest  // 2: digest of the verifying key
	Claims []Claim // 3: 0 to MaxClaims
	Shards []Shard // 4: 0 to MaxShards
}

// Claim says that an entry of the key's system, given the arguments, yields the results.
type Claim struct {
	Entry   uint32   // index in the key's entries
	Args    Elements // at most MaxClaimElements
	Results Elements // at most MaxClaimElements
}

// BoundClaim is a claim that travels alone, with the digest of the key under which it is made (kind KindClaim).
type BoundClaim struct {
	Key   Digest // 2
	Claim Claim  // 3
}

// Table names a circuit of the key and the height that it has in a shard.
type Table struct {
	Circuit   uint32
	LogHeight uint8 // at most MaxLogHeight
}

// Shard is one shard's part of a batch proof. Its lengths are determined by the key and the tables; the decoder only bounds them.
type Shard struct {
	Tables    []Table   // 0: 0 to MaxTables
	Main      Digest    // 1: root of the main traces
	Pins      Elements  // 2: per table, 3 elements: its main columns' random combination at a random point
	Aux       []Digest  // 3: root of the auxiliary traces, none or one
	Sums      Elements  // 4: per table with lookups, 3 elements
	Quotient  Digest    // 5: root of the quotient slices
	Openings  Elements  // 6: 3 elements each, in the order of docs/protocol.md section 7
	LayerRoot []Digest  // 7: one per FRI layer, at most MaxLayers
	Final     Elements  // 8: coefficients of the final polynomial, 3 elements each, at most MaxFinalPolyTerms
	Nonce     uint64    // 9: proof of work
	Trees     []Opening // 10: multiproofs of the fixed trees, main, aux, quotient, at most MaxOpeningSets
	Layers    []Opening // 11: multiproofs of the FRI layers, at most MaxLayers
}

// Opening is a pruned multiproof: the rows that the queries reach and the digests that they do not determine.
type Opening struct {
	Rows     Elements // row after row, tallest matrices first
	Siblings []byte   // digests, 32 bytes each, from the leaves up
}

// Profile holds the numbers of a security profile, as a key carries them.
type Profile struct {
	LogBlowup    uint8 // log2 of 1/rate
	Queries      uint16
	GrindingBits uint8
	LogArity     uint8 // largest FRI folding step, as a logarithm
	LogFinal     uint8 // the final polynomial has at most 2^LogFinal coefficients
	Multiplicity uint8 // m of the Johnson-bound analysis (docs/security.md)
}

// Key is a verifying key as it travels: everything that a verifier must know of a system. Its digest names the program.
type Key struct {
	Name     string    // 2: the system's name; each name is 1 to MaxNameBytes characters of printable ASCII
	Suite    string    // 3: hash suite
	Profile  Profile   // 4: array of its six numbers
	Channels []Channel // 5
	Circuits []Circuit // 6
	Entries  []Entry   // 7
}

// Channel is a lookup channel: messages of one arity. Encoded as [name, arity].
type Channel struct {
	Name  string
	Arity uint16 // 0 to MaxLookupArgs
}

// Circuit is a circuit's constraint graph and shape. Encoded as a map with keys 0 to 8.
type Circuit struct {
	Name         string     // 0
	Columns      uint32     // 1: main columns
	Periodic     []Elements // 2: values of each periodic column, 2^k of them
	Fixed        []Fixed    // 3: none or one
	MinLogHeight uint8      // 4
	Degree       uint8      // 5: bound D
	Nodes        []Node     // 6
	Constraints  []uint32   // 7: node indices
	Lookups      []Lookup   // 8
}

// Fixed describes a circuit's fixed (preprocessed) columns. Encoded as [columns, log height, root].
type Fixed struct {
	Columns   uint32
	LogHeight uint8
	Root      Digest
}

// Op is the operation of a constraint graph's node.
type Op uint8

// The operations; their numbers are part of the format. Columns and selectors come first, arithmetic after.
const (
	OpConst      Op = iota // A = the value, canonical
	OpMain                 // A = column, B = 0 for this row, 1 for the next
	OpFixed                // A = column, B as above
	OpPeriodic             // A = column, B as above
	OpFirst                // selector of the first row; A = B = 0
	OpLast                 // selector of the last row; A = B = 0
	OpTransition           // zero on the last row only; A = B = 0
	OpAdd                  // nodes A + B
	OpSub                  // nodes A - B
	OpMul                  // nodes A * B
	NumOps
)

// Node is one node of a constraint graph. Encoded as [op, a, b]. A decoded node has an Op below NumOps and A below Modulus, whatever Op.
type Node struct {
	Op Op
	A  uint64
	B  uint32
}

// Lookup is a message that each row of a circuit sends. Encoded as [push 0 or 1, channel, multiplicity, weight, [args]].
type Lookup struct {
	Push         bool
	Channel      uint32
	Multiplicity uint32   // node
	Weight       uint64   // push: the largest multiplicity of a row; pull: 0
	Args         []uint32 // nodes
}

// Entry is a statement that can be claimed. Encoded as [name, channel, [args], [results]].
type Entry struct {
	Name    string
	Channel uint32
	Args    []Value
	Results []Value
}

// Value is a named, typed group of elements of a claim. Encoded as [name, type].
type Value struct {
	Name string
	Type ValueType
}

// ValueType is how a value of a claim is laid out in field elements.
type ValueType uint8

// The types; their numbers are part of the format.
const (
	TypeField   ValueType = iota // 1 element
	TypeU8                       // 1 element below 2^8
	TypeU32                      // 1 element below 2^32
	TypeU64                      // 2 elements below 2^32, low half first
	TypeBytes32                  // 8 elements below 2^32, little-endian words of 32 bytes
	NumValueTypes
)

type valueLayout struct {
	name     string
	elements int
	bits     int // each element is below 2^bits; 64 stands for any canonical element
}

var valueLayouts = [NumValueTypes]valueLayout{
	TypeField:   {"field", 1, 64},
	TypeU8:      {"u8", 1, 8},
	TypeU32:     {"u32", 1, 32},
	TypeU64:     {"u64", 2, 32},
	TypeBytes32: {"bytes32", 8, 32},
}

// String is the type's name in schemas and reports.
func (t ValueType) String() string {
	if t < NumValueTypes {
		return valueLayouts[t].name
	}
	return "unknown"
}

// Elements is the number of field elements that a value of the type takes, 0 for an unknown type.
func (t ValueType) Elements() int {
	if t < NumValueTypes {
		return valueLayouts[t].elements
	}
	return 0
}

// Holds reports whether v may be an element of a value of the type.
func (t ValueType) Holds(v uint64) bool {
	if t >= NumValueTypes {
		return false
	}
	bits := valueLayouts[t].bits
	return v < Modulus && (bits == 64 || v>>bits == 0)
}
