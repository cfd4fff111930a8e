// Package bytecode is the contract between the compiler of the program language and everything behind it: the executor, the circuits, the trace writers.
//
// A program is a list of functions from field elements to field elements. Every value is one element of the Goldilocks field; what a source program calls a u64, a struct or an
// enum is several values side by side, and the compiler keeps the book. Pointers are values too: indices of cells of a write-once memory, one for each width.
//
// A function's body is a tree of blocks in static single assignment form. Values are numbered by position: parameters first, then the results of each operation in turn. A block nested
// in a match goes on counting where its match stands, and sees everything before it; values that it makes are gone behind it, so that the results of a match take the first number that
// was free before its blocks. Loops are recursion.
//
// Three promises hold for every valid program. Operations that assert (OpAssertZero, OpRange, OpSplit, OpBytes, OpXor, OpLoad, a match without a case) fail in an execution exactly when no trace satisfies the
// circuits. Operations that hint (OpHintInverse and the like, OpInput, unconstrained calls) assert nothing: a dishonest prover may give any results, and the program must check them. All
// others compute. Nothing else can be observed, so an execution calls a function at most once for equal arguments, and the order of independent operations is free. A proof may have calls with equal arguments and
// different results where the program's checks leave its hints a choice.
package bytecode

import "github.com/ixprove/ixprove/formats"

// Limits of a program. They bound what a hostile encoding can make a reader do.
const (
	MaxBytes     = 64 << 20 // of an encoding
	MaxFunctions = 1 << 16
	MaxInputs    = 1 << 8
	MaxParams    = 400     // and results: with both, a message still fits a lookup
	MaxWidth     = 512     // of a memory cell
	MaxOps       = 1 << 22 // and blocks, of a program
	MaxValues    = 1 << 16 // in scope at one place
	MaxCases     = 1 << 12 // of one match, counting each value
	MaxDepth     = 128     // of nested matches
	MaxDebug     = 1 << 22 // sites
	MaxText      = 1 << 12 // bytes of a file name or note
)

// Value is the number of a value in scope.
type Value = uint32

// Program is a compiled program. It is valid if Validate says so; nothing but Validate and Decode looks at a program that may not be.
type Program struct {
	Name      string // 1 to formats.MaxNameBytes characters of printable ASCII, as are all names; becomes the name of the key
	Functions []Function
	Entries   []Entry
	Inputs    []Input
	Debug     Debug // where things come from; no part of the digest
}

// Entry is a function that claims are made of. The key has an entry of the same name.
type Entry struct {
	Name          string
	Function      uint32
	Args, Results []formats.Value // their elements are the function's parameters and results, in order; verifiers hold claims to these types
}

// Input is a private input that the witness file supplies under this name: a vector of elements below 2^Bits.
type Input struct {
	Name string
	Bits uint8 // 8, 32 or 64; 64 stands for any element
}

// Function is a function. Its name needs not be unique.
type Function struct {
	Name            string
	Params, Results int // values
	Body            Block
	Site            uint32 // of its declaration
}

// Block is operations in order and an end.
type Block struct {
	Ops []Op
	End End
}

// EndKind says how a block ends.
type EndKind uint8

// The ends; their numbers are part of the format.
const (
	EndReturn EndKind = iota // Values are the function's results. Only in a function's body and in blocks of tail matches.
	EndYield                 // Values are the results of the OpMatch whose block this is
	EndMatch                 // a tail match: its blocks end the function
	EndFail                  // nothing gets here: an execution that does fails at Site
	numEnds
)

// End is the end of a block.
type End struct {
	Kind   EndKind
	Values []Value
	Match  *Match // of EndMatch
	Site   uint32
}

// Match chooses the block whose case has the value. With none and no default block, it fails.
type Match struct {
	Value   Value
	Cases   []Case
	Default *Block // may be nil
}

// Case is a block for one or more values, all distinct within a match. Each value costs a column; a default block costs another column or so for every value.
type Case struct {
	Values []uint64 // canonical elements
	Block  Block
}

// Op is an operation. What A and B mean depends on the code.
type Op struct {
	Code  Code
	A, B  uint64
	Args  []Value
	Match *Match // of OpMatch
	Site  uint32 // number of its site in Debug.Sites, counting from 1; 0 for none
}

// Code is what an operation does.
type Code uint8

// The codes; their numbers are part of the format.
//
// Integers are compositions of these. With x and y below 2^32: a checked sum is OpAdd and OpRange 32; a checked difference OpSub and OpRange 32; a checked product OpMul and OpRange 32; a sum modulo
// 2^32 is OpAdd and OpSplit (32, 1), whose second result is the carry; x >= y is the second result of OpSplit (32, 1) of x - y + 2^32; a product of 64 bits is OpMul and OpSplit (32, 32).
const (
	OpConst  Code = iota // A -> the element A
	OpAdd                // x, y -> x + y
	OpSub                // x, y -> x - y
	OpMul                // x, y -> x · y
	OpIsZero             // x -> 1 if x = 0, else 0

	OpAssertZero // x -> ; x is 0
	OpRange      // x -> ; x, as an integer, is below 2^A, 1 <= A <= 63. Cheapest for A = 8, 16, 32.
	OpSplit      // x -> low, high; x = low + 2^A·high with low below 2^A and high below 2^B, 1 <= A, B <= 32. For A = B = 32 every x has exactly one such pair, as an integer below p.
	OpBytes      // x -> A bytes, lowest first, that make up x; 1 <= A <= 7
	OpXor        // x, y -> x xor y; both are bytes. and = (x + y - xor)/2, or = (x + y + xor)/2.

	OpCall  // args -> results of function A; B = 1: unconstrained, the results are hints
	OpMatch // -> A results, yielded by the block chosen
	OpStore // A values -> a pointer to a cell of width A that holds them, 1 <= A <= MaxWidth
	OpLoad  // pointer -> the A values of its cell

	OpInput          // i -> element i of input A; a hint. Fails in an execution if there is none.
	OpInputLength    // -> number of elements of input A; a hint
	OpHintInverse    // x -> 1/x, or 0 for 0; a hint
	OpHintLimbs      // x -> A limbs of B bits each, lowest first, of x as an integer below p, the rest dropped; a hint; A·B <= 64
	OpHintDivMod     // A limbs of x, B limbs of y -> A limbs of x/y, B limbs of x mod y, limbs of 32 bits lowest first; a hint. Fails in an execution if y = 0 or a limb is too large.
	OpHintModInverse // A limbs of x, A limbs of m -> A limbs of 1/x mod m, or 0 if there is none; a hint. Fails as HintDivMod.

	// The operands of these two must be known to be below 2^32. An execution fails where one is not; circuits take the program's word for it.
	OpBlake3    // chaining value of 8 words, block of 16, counter low, counter high, block length, flags -> chaining value of 8 words (BLAKE3 specification 2.3)
	OpSha256    // state of 8 words, block of 16 -> state of 8 words (FIPS 180-4, 6.2.2)
	OpPoseidon2 // state of 12 elements -> state of 12 elements (eprint 2023/323 over this field, width 12, 4 + 22 + 4 rounds, the designers' constants)
	NumCodes
)

// MaxHintLimbs bounds the limbs of one operand of a hint on large integers.
const MaxHintLimbs = 128

// shape is how many operands and results an operation of a code has.
type shape struct {
	name          string
	args, results int // -1: they depend on A and B
}

var shapes = [NumCodes]shape{
	OpConst: {"const", 0, 1}, OpAdd: {"add", 2, 1}, OpSub: {"sub", 2, 1}, OpMul: {"mul", 2, 1}, OpIsZero: {"is_zero", 1, 1},
	OpAssertZero: {"assert_zero", 1, 0}, OpRange: {"range", 1, 0}, OpSplit: {"split", 1, 2}, OpBytes: {"bytes", 1, -1}, OpXor: {"xor", 2, 1},
	OpCall: {"call", -1, -1}, OpMatch: {"match", 0, -1}, OpStore: {"store", -1, 1}, OpLoad: {"load", 1, -1},
	OpInput: {"input", 1, 1}, OpInputLength: {"input_length", 0, 1}, OpHintInverse: {"hint_inverse", 1, 1}, OpHintLimbs: {"hint_limbs", 1, -1},
	OpHintDivMod: {"hint_div_mod", -1, -1}, OpHintModInverse: {"hint_mod_inverse", -1, -1},
	OpBlake3: {"blake3", 28, 8}, OpSha256: {"sha256", 24, 8}, OpPoseidon2: {"poseidon2", 12, 12},
}

// String is the code's name in listings.
func (c Code) String() string {
	if c < NumCodes {
		return shapes[c].name
	}
	return "unknown"
}

// Arity is the number of operands and of results of a valid program's operation.
func (p *Program) Arity(o *Op) (args, results int) {
	s := shapes[o.Code]
	args, results = s.args, s.results
	switch o.Code {
	case OpBytes, OpHintLimbs, OpLoad, OpMatch:
		results = int(o.A)
	case OpCall:
		f := &p.Functions[o.A]
		args, results = f.Params, f.Results
	case OpStore:
		args = int(o.A)
	case OpHintDivMod:
		args, results = int(o.A+o.B), int(o.A+o.B)
	case OpHintModInverse:
		args, results = int(2*o.A), int(o.A)
	}
	return args, results
}

// IsHint reports whether the operation's results are unchecked: fresh values that a prover chooses.
func (o *Op) IsHint() bool {
	switch o.Code {
	case OpInput, OpInputLength, OpHintInverse, OpHintLimbs, OpHintDivMod, OpHintModInverse:
		return true
	}
	return o.Unconstrained()
}

// Unconstrained reports whether the operation is an unconstrained call.
func (o *Op) Unconstrained() bool { return o.Code == OpCall && o.B == 1 }

// Blocks calls f for each block of a match, cases in order and then the default.
func (m *Match) Blocks(f func(*Block)) {
	for i := range m.Cases {
		f(&m.Cases[i].Block)
	}
	if m.Default != nil {
		f(m.Default)
	}
}

// Debug says where a program's parts stand in its source and what to say when one fails.
type Debug struct {
	Files []string // UTF-8, as are notes
	Notes []string
	Sites []Site
}

// Site is a place in a source file and what an operation there says when it fails.
type Site struct {
	File         uint32 // index in Files
	Line, Column uint32 // from 1
	Note         uint32 // number in Notes, counting from 1; 0 for none
}

// At returns the site with that number: the file's name, the line, the column, and the note. They are empty for number 0.
func (d *Debug) At(site uint32) (file string, line, column uint32, note string) {
	if site == 0 || int(site) > len(d.Sites) {
		return "", 0, 0, ""
	}
	s := d.Sites[site-1]
	if s.Note != 0 {
		note = d.Notes[s.Note-1]
	}
	return d.Files[s.File], s.Line, s.Column, note
}
