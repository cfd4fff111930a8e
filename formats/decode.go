package formats

import (
	"math"
	"strconv"
)

// object is what a decoder expects of the whole: its kind, the number of its map entries, and the checks of docs/protocol.md section 9 that
// its length, its form and its kind come under.
type object struct {
	kind      string
	entries   int
	sizeCheck string
	formCheck string
	kindCheck string
}

var (
	proofObject = object{KindProof, 5, "P-1", "P-2", "P-3"}
	keyObject   = object{KindKey, 8, "K-1", "K-1", "K-2"}
	claimObject = object{KindClaim, 4, "", "", ""}
)

// title names a kind for people; it is empty for a kind that is not ours.
func title(kind string) string {
	switch kind {
	case KindProof:
		return "a batch proof"
	case KindKey:
		return "a verifying key"
	case KindClaim:
		return "a claim"
	case KindRoot:
		return "a compressed proof"
	case KindRootKey:
		return "a key of compressed proofs"
	}
	return ""
}

// Fewest bytes that an item of a list can take, from its schema. They bound what a list's head can make a decoder allocate.
const (
	leastClaim    = 4  // [entry, "", ""]
	leastTable    = 3  // [circuit, log height]
	leastOpening  = 3  // ["", ""]
	leastShard    = 91 // 12 keys, 2 digests of 34 bytes, 10 empty fields
	leastChannel  = 4  // ["x", arity]
	leastPeriodic = 9  // one element
	leastFixed    = 37 // [columns, log height, root]
	leastNode     = 4  // [op, a, b]
	leastIndex    = 1
	leastLookup   = 6  // [push, channel, multiplicity, weight, []]
	leastCircuit  = 20 // 9 keys, a name of 2 bytes, 8 empty fields
	leastValue    = 4  // ["x", type]
	leastEntry    = 6  // ["x", channel, [], []]
)

// anyNumber bounds what only the length of the data limits. It is the same where int has 32 bits, because an error names it.
const anyNumber = math.MaxInt32

// DecodeProof decodes a batch proof of at most maxBytes bytes: checks P-1 to P-3, in the words of formats/proof.cddl. The proof's vectors
// share memory with data, which must not change while the proof is in use; empty lists and vectors are nil. Memory taken is at most about 16
// times len(data), whatever data says of its lengths. An error is an *Error of class Limit, Malformed or Incompatible.
func DecodeProof(data []byte, maxBytes int) (*Proof, error) {
	return decode(data, maxBytes, proofObject, (*reader).proof)
}

// DecodeKey decodes a verifying key: checks K-1 and K-2, in the words of formats/key.cddl. Sharing, memory and errors are those of DecodeProof.
func DecodeKey(data []byte) (*Key, error) {
	return decode(data, MaxKeyBytes, keyObject, (*reader).verifyingKey)
}

// DecodeBoundClaim decodes a claim that travels alone, in the words of formats/claim.cddl. Sharing, memory and errors are those of
// DecodeProof; the errors name no check.
func DecodeBoundClaim(data []byte) (*BoundClaim, error) {
	return decode(data, MaxClaimBytes, claimObject, (*reader).boundClaim)
}

func decode[T any](data []byte, maxBytes int, obj object, body func(*reader) T) (*T, error) {
	r := &reader{data: data, obj: obj}
	r.enter("")
	r.open(maxBytes)
	v := body(r)
	r.close()
	if r.err != nil {
		return nil, r.err
	}
	return &v, nil
}

// open checks the length and reads the map's head, the kind and the version. What the map holds may depend on these two, so the number of its
// entries is judged after them.
func (r *reader) open(maxBytes int) {
	if len(r.data) > maxBytes {
		r.failAs(Limit, r.obj.sizeCheck, &Error{What: "the data is too long",
			Expected: "at most " + strconv.Itoa(maxBytes) + " bytes", Got: strconv.Itoa(len(r.data))})
	}
	if len(r.data) > 0 && r.data[0]>>5 != majorMap {
		r.fail("this is not "+title(r.obj.kind), majorNames[majorMap], describe(r.data[0]), hintFile)
	}
	entries := r.head(majorMap)
	if entries < 2 {
		r.sized(majorMap, r.obj.entries, entries)
	}
	if kind := r.key(0, "kind").name(); r.err == nil && kind != r.obj.kind {
		r.wrongKind(kind)
	}
	if v := r.key(1, "version").uint(math.MaxUint64); r.err == nil && v != Version {
		e := &Error{What: "this is " + title(r.obj.kind) + " of another version", Next: "use a release that reads version " + strconv.FormatUint(v, 10)}
		r.failAs(Incompatible, r.obj.kindCheck, e.Mismatch(Version, v))
	}
	if r.err == nil {
		r.enter("")
		r.item = 0
		r.sized(majorMap, r.obj.entries, entries)
	}
}

func (r *reader) wrongKind(kind string) {
	e := &Error{What: "this is not " + title(r.obj.kind), Expected: r.obj.kind, Got: kind, Next: hintFile}
	if t := title(kind); t != "" {
		e.What = "this is " + t + ", not " + title(r.obj.kind)
	}
	r.failAs(Incompatible, r.obj.kindCheck, e)
}

// close checks that nothing follows the object.
func (r *reader) close() {
	r.enter("")
	if left := len(r.data) - r.off; left > 0 {
		r.item = r.off
		r.fail("something follows the object", "the end of the data", strconv.Itoa(left)+" more bytes", "pass one object alone")
	}
}

// The schemas. Each method reads one rule of formats/*.cddl, field by field.

func (r *reader) proof() (p Proof) {
	p.Key = r.key(2, "key").digest()
	p.Claims = list(r.key(3, "claims"), MaxClaims, leastClaim, (*reader).claim)
	p.Shards = list(r.key(4, "shards"), MaxShards, leastShard, (*reader).shard)
	return p
}

func (r *reader) boundClaim() (b BoundClaim) {
	b.Key = r.key(2, "key").digest()
	b.Claim = one(r.key(3, "claim"), (*reader).claim)
	return b
}

func (r *reader) claim() (c Claim) {
	r.exactly(majorArray, 3)
	c.Entry = uint32(r.at("entry").uint(math.MaxUint32))
	c.Args = r.at("args").elements(0, MaxClaimElements)
	c.Results = r.at("results").elements(0, MaxClaimElements)
	return c
}

func (r *reader) shard() (s Shard) {
	r.exactly(majorMap, 12)
	s.Tables = list(r.key(0, "tables"), min(MaxTables, MaxBatchTables-r.tables), leastTable, (*reader).table)
	r.tables += len(s.Tables)
	s.Main = r.key(1, "main").digest()
	s.Pins = r.key(2, "pins").elements(0, 3*MaxTables)
	s.Aux = r.key(3, "aux").digests(1)
	s.Sums = r.key(4, "sums").elements(0, 3*MaxTables)
	s.Quotient = r.key(5, "quotient").digest()
	s.Openings = r.key(6, "openings").elements(0, anyNumber)
	s.LayerRoot = r.key(7, "layerroot").digests(MaxLayers)
	s.Final = r.key(8, "final").elements(0, 3*MaxFinalPolyTerms)
	s.Nonce = r.key(9, "nonce").uint(math.MaxUint64)
	s.Trees = list(r.key(10, "trees"), min(MaxOpeningSets, MaxBatchTrees-r.trees), leastOpening, (*reader).opening)
	r.trees += len(s.Trees)
	s.Layers = list(r.key(11, "layers"), MaxLayers, leastOpening, (*reader).opening)
	return s
}

func (r *reader) table() (t Table) {
	r.exactly(majorArray, 2)
	t.Circuit = uint32(r.at("circuit").uint(math.MaxUint32))
	t.LogHeight = uint8(r.at("logheight").uint(MaxLogHeight))
	return t
}

func (r *reader) opening() (o Opening) {
	r.exactly(majorArray, 2)
	o.Rows = r.at("rows").elements(0, anyNumber)
	o.Siblings = r.at("siblings").bytes(DigestBytes, 0, anyNumber)
	return o
}

func (r *reader) verifyingKey() (k Key) {
	k.Name = r.key(2, "name").name()
	k.Suite = r.key(3, "suite").name()
	k.Profile = one(r.key(4, "profile"), (*reader).profile)
	k.Channels = list(r.key(5, "channels"), MaxChannels, leastChannel, (*reader).channel)
	k.Circuits = list(r.key(6, "circuits"), MaxCircuits, leastCircuit, (*reader).circuit)
	k.Entries = list(r.key(7, "entries"), MaxEntries, leastEntry, (*reader).entry)
	return k
}

func (r *reader) profile() (p Profile) {
	r.exactly(majorArray, 6)
	p.LogBlowup = uint8(r.at("logblowup").uint(math.MaxUint8))
	p.Queries = uint16(r.at("queries").uint(math.MaxUint16))
	p.GrindingBits = uint8(r.at("grindingbits").uint(math.MaxUint8))
	p.LogArity = uint8(r.at("logarity").uint(math.MaxUint8))
	p.LogFinal = uint8(r.at("logfinal").uint(math.MaxUint8))
	p.Multiplicity = uint8(r.at("multiplicity").uint(math.MaxUint8))
	return p
}

func (r *reader) channel() (c Channel) {
	r.exactly(majorArray, 2)
	c.Name = r.at("name").name()
	c.Arity = uint16(r.at("arity").uint(MaxLookupArgs))
	return c
}

func (r *reader) circuit() (c Circuit) {
	r.exactly(majorMap, 9)
	c.Name = r.key(0, "name").name()
	c.Columns = uint32(r.key(1, "columns").uint(MaxColumns))
	c.Periodic = list(r.key(2, "periodic"), MaxColumns, leastPeriodic, (*reader).periodic)
	c.Fixed = list(r.key(3, "fixed"), 1, leastFixed, (*reader).fixed)
	c.MinLogHeight = uint8(r.key(4, "minlogheight").uint(MaxLogHeight))
	c.Degree = uint8(r.key(5, "degree").uint(math.MaxUint8))
	c.Nodes = list(r.key(6, "nodes"), MaxNodes, leastNode, (*reader).node)
	c.Constraints = list(r.key(7, "constraints"), MaxNodes, leastIndex, (*reader).index)
	c.Lookups = list(r.key(8, "lookups"), MaxLookups, leastLookup, (*reader).lookup)
	return c
}

func (r *reader) periodic() Elements { return r.elements(1, 1<<MaxPeriodLog) }

func (r *reader) fixed() (f Fixed) {
	r.exactly(majorArray, 3)
	f.Columns = uint32(r.at("columns").uint(MaxColumns))
	f.LogHeight = uint8(r.at("logheight").uint(MaxLogHeight))
	f.Root = r.at("root").digest()
	return f
}

func (r *reader) node() (n Node) {
	r.exactly(majorArray, 3)
	n.Op = Op(r.at("op").uint(uint64(NumOps) - 1))
	n.A = r.at("a").uint(Modulus - 1)
	n.B = uint32(r.at("b").uint(math.MaxUint32))
	return n
}

func (r *reader) index() uint32 { return uint32(r.uint(math.MaxUint32)) }

func (r *reader) lookup() (l Lookup) {
	r.exactly(majorArray, 5)
	l.Push = r.at("push").uint(1) == 1
	l.Channel = uint32(r.at("channel").uint(math.MaxUint32))
	l.Multiplicity = uint32(r.at("multiplicity").uint(math.MaxUint32))
	l.Weight = r.at("weight").uint(MaxLookupWeight)
	l.Args = list(r.at("args"), MaxLookupArgs, leastIndex, (*reader).index)
	return l
}

func (r *reader) entry() (e Entry) {
	r.exactly(majorArray, 4)
	e.Name = r.at("name").name()
	e.Channel = uint32(r.at("channel").uint(math.MaxUint32))
	e.Args = list(r.at("args"), MaxValues, leastValue, (*reader).value)
	e.Results = list(r.at("results"), MaxValues, leastValue, (*reader).value)
	return e
}

func (r *reader) value() (v Value) {
	r.exactly(majorArray, 2)
	v.Name = r.at("name").name()
	v.Type = ValueType(r.at("type").uint(uint64(NumValueTypes) - 1))
	return v
}
