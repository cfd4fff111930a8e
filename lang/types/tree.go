package types

import "github.com/ixprove/ixprove/lang/syntax"

// Expr is a typed expression.
type Expr interface {
	Type() Type
	Place() syntax.Span
}

// base is what expressions have in common.
type base struct {
	typ  Type
	span syntax.Span
}

// Type is the expression's type.
func (b *base) Type() Type { return Resolve(b.typ) }

// Place is where the expression stands.
func (b *base) Place() syntax.Span { return b.span }

// The expressions.
type (
	// Lit is a number, or a bool as 0 or 1.
	Lit struct {
		base
		Value uint64
	}
	// LocalRef is a variable.
	LocalRef struct {
		base
		Local *Local
	}
	// LengthRef is a constant parameter as a u32.
	LengthRef struct {
		base
		Param *Param
	}
	// Call calls a function. Types are the arguments of its type parameters.
	Call struct {
		base
		Func  *Func
		Types []Type
		Args  []Expr
	}
	// Product is a tuple or an array of its elements.
	Product struct {
		base
		Elems []Expr
	}
	// Repeat is an array of one value.
	Repeat struct {
		base
		Value Expr
	}
	// Make is a value of a struct or an enum.
	Make struct {
		base
		Variant int
		Args    []Expr
	}
	// Update is a struct with some fields replaced; Args are nil where the base's field stays.
	Update struct {
		base
		Base Expr
		Args []Expr
	}
	// Part is a field of a tuple or a struct.
	Part struct {
		base
		X     Expr
		Index int
	}
	// Index is an element of an array.
	Index struct {
		base
		X, I Expr
	}
	// Slice is elements of an array from Low on; the type says how many.
	Slice struct {
		base
		X   Expr
		Low uint32
	}
	// Unary is -, !, & (store) or * (load).
	Unary struct {
		base
		Op syntax.Kind
		X  Expr
	}
	// Binary is an operator on two values of one type; a shift's amount is a u32.
	Binary struct {
		base
		Op   syntax.Kind
		L, R Expr
	}
	// Cast converts between types without parts and fails where the value has no counterpart.
	Cast struct {
		base
		X Expr
	}
	// If is a choice; without else, Else is nil and the type is ().
	If struct {
		base
		Cond, Then, Else Expr
	}
	// Match is a choice by patterns, the first that fits.
	Match struct {
		base
		X    Expr
		Arms []MatchArm
	}
	// Loop is a for expression: Body's value becomes Acc's for the next value of Var. Acc and Init are nil without an accumulator.
	Loop struct {
		base
		Var       *Local
		Low, High Expr
		Acc       Pattern
		Init      Expr
		Body      Expr
	}
	// Each is an array made by evaluating Body for each value of Var.
	Each struct {
		base
		Var       *Local
		Low, High Expr
		Body      Expr
	}
	// Block is statements and a value.
	Block struct {
		base
		Stmts  []Stmt
		Result Expr // nil for ()
	}
	// Fail has no value: an execution that gets there fails.
	Fail struct {
		base
		Message string
	}
)

// MatchArm is an arm of a match.
type MatchArm struct {
	Pattern Pattern
	Body    Expr
}

// Stmt is a statement: *Let, *Hint, *Assert or *Do.
type Stmt interface{ Place() syntax.Span }

// The statements.
type (
	// Let binds the variables of a pattern that fits every value.
	Let struct {
		syntax.Span
		Pattern Pattern
		Value   Expr
	}
	// Hint binds the result of an unconstrained call, of which only Where is known afterwards, and that it is a value of its type.
	Hint struct {
		syntax.Span
		Pattern Pattern
		Call    *Call
		Where   Expr
	}
	// Assert fails unless the condition holds.
	Assert struct {
		syntax.Span
		Cond    Expr
		Message string
	}
	// Do evaluates an expression of type ().
	Do struct {
		syntax.Span
		X Expr
	}
)

// Pattern is a typed pattern.
type Pattern interface {
	Type() Type
	Place() syntax.Span
}

// The patterns.
type (
	// Wild fits anything.
	Wild struct{ base }
	// Bind binds a variable to what Sub fits, or anything if it is nil.
	Bind struct {
		base
		Local *Local
		Sub   Pattern
	}
	// LitPattern is a number or a bool.
	LitPattern struct {
		base
		Value uint64
	}
	// ProductPattern is a tuple or an array.
	ProductPattern struct {
		base
		Elems []Pattern
	}
	// MakePattern is a variant of an enum, or a struct.
	MakePattern struct {
		base
		Variant int
		Args    []Pattern
	}
	// PointerPattern fits pointers to what To fits.
	PointerPattern struct {
		base
		To Pattern
	}
	// OrPattern fits what one of its alternatives fits; they bind the same variables.
	OrPattern struct {
		base
		Alts []Pattern
	}
)

// NewLitPattern is a number as a pattern.
func NewLitPattern(t Type, v uint64) *LitPattern { return &LitPattern{base{typ: t}, v} }
