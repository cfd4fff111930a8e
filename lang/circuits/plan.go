package circuits

import (
	bc "github.com/ixprove/ixprove/lang/bytecode"
)

// Plan says how the rows of a function are written: which columns hold what, and which facts a row uses. The layout makes it together with the constraints; the row writer follows it, and so can
// a generator of row writers for other devices. What a row needs from outside are the entry's arguments and, in the order of the plan, the results of calls, loads, stores and hints.
type Plan struct {
	Function  int
	Params    []int // columns
	Uses      int   // column of the entry's uses
	Claims    int   // column of its claims, -1 for none
	Rank      int   // column of its rank, -1 for none
	Registers int   // those of the function's values, and some more for the plan's own numbers
	Body      blockPlan
}

// blockPlan is the plan of a block: for each operation what to write once it is done, then what to write at the end.
type blockPlan struct {
	Block *bc.Block
	First int // register of the first value of the block's operations
	Ops   []opPlan
	End   []write
	Match *matchPlan // of an end that is a match
	Dead  bool       // no row gets here
}

type opPlan struct {
	Writes []write
	Match  *matchPlan
	Ranked int // of a call within a component that is not the row's only one: the register of the callee's rank; -1 otherwise
	Gap    int // and that of how far it lies below the row's, less 1
	Known  int // of another call of a function with ranks: the register of the callee's rank; -1 otherwise
}

// matchPlan has a block plan for each case, then that of the default.
type matchPlan struct {
	Match  *bc.Match
	Blocks []blockPlan
	Before [][]write // for each block, what to write on the way in
}

// writeKind says what a write computes from its register r.
type writeKind uint8

const (
	writeValue          writeKind = iota // r
	writeLimb                            // 16 bits of r from Shift on, times 2^Scale; a use of the fact range
	writePair                            // bytes of r and r2 from Shift and Shift2 on; a use of the fact pair. r2 may be none.
	writeXor                             // a use of the fact xor of the bytes r and r2; writes nothing
	writeInverse                         // 1/r, or 0
	writeFactor                          // the product so far, times r - Constant; Begin starts with 1
	writeInverseProduct                  // the inverse of the product so far, or 0
	writeBit                             // bit Shift of r
	writeQuotient                        // r/(2^32 - 1 - r2), or 0
	writeOne                             // 1
)

const none = -1

// write puts a number into a column, if Column is not none.
type write struct {
	Kind           writeKind
	Column, Second int
	R, R2          int
	Shift, Shift2  uint8
	Scale          uint8
	Begin          bool
	Constant       uint64
}
