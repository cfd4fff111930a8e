package syntax

// Module is a parsed file.
type Module struct {
	File    *File
	Imports []*Import
	Items   []Item
	Lost    map[string]bool // names of items that could not be read

	tokens   []Token
	comments []Comment
}

// Name is an identifier in the source.
type Name struct {
	Span
	Text string
}

// Import is `import "path" as name (item, …);`.
type Import struct {
	Span
	Path     string
	PathSpan Span
	As       Name   // empty if not given
	Names    []Name // items that are known without the module's name
}

// Item is a declaration of a module: *Func, *Struct, *Enum, *Const or *Alias.
type Item interface {
	Ident() Name
	IsPub() bool
}

// Decl is what declarations have in common.
type Decl struct {
	Span
	Name   Name
	Pub    bool
	Attrs  []Attr
	Params []TypeParam
	Doc    string // of the comment lines right above
}

// Ident is the declared name.
func (d *Decl) Ident() Name { return d.Name }

// IsPub reports whether other modules may use the declaration.
func (d *Decl) IsPub() bool { return d.Pub }

// Attr is `#[name]` or `#[name(arg)]`; Arg is a name or the content of a string.
type Attr struct {
	Span
	Name Name
	Arg  string
}

// TypeParam is a type parameter or, with Const, a constant u32 that is used as a length.
type TypeParam struct {
	Name  Name
	Const bool
}

// Func is a function. Body is nil for a builtin.
type Func struct {
	Decl
	Unconstrained bool
	Args          []Param
	Result        TypeExpr // nil for ()
	Body          *Block
}

// Param is an argument of a function.
type Param struct {
	Name    Name
	Type    TypeExpr
	Private bool
}

// Struct is `struct Name<T> { field: type, … }`.
type Struct struct {
	Decl
	Fields []FieldDecl
}

// FieldDecl is a field of a struct.
type FieldDecl struct {
	Name Name
	Type TypeExpr
}

// Enum is `enum Name<T> { Variant(type, …), … }`.
type Enum struct {
	Decl
	Variants []VariantDecl
}

// VariantDecl is a constructor of an enum.
type VariantDecl struct {
	Name Name
	Args []TypeExpr
}

// Const is `const NAME: type = value;`.
type Const struct {
	Decl
	Type  TypeExpr
	Value Expr
}

// Alias is `type Name = type;`.
type Alias struct {
	Decl
	Type TypeExpr
}

// Path is a name, perhaps behind a module's or an enum's, perhaps with type arguments.
type Path struct {
	Span
	Parts []Name
	Args  []TypeExpr
}

// TypeExpr is a type in the source: *NamedType, *TupleType, *ArrayType, *PointerType or, as an argument of a type, *LengthType.
type TypeExpr interface{ Place() Span }

// Place is the span itself: it makes every node that embeds a Span give its place.
func (s Span) Place() Span { return s }

// The types.
type (
	// NamedType is a name, perhaps with arguments.
	NamedType struct{ Path }
	// TupleType is (A, B).
	TupleType struct {
		Span
		Elems []TypeExpr
	}
	// ArrayType is [T; N].
	ArrayType struct {
		Span
		Elem TypeExpr
		Len  Expr
	}
	// PointerType is &T.
	PointerType struct {
		Span
		To TypeExpr
	}
	// LengthType is a number as a type argument.
	LengthType struct {
		Span
		Value Expr
	}
)

// Expr is an expression.
type Expr interface {
	Place() Span
	height() int
}

// node is what expressions and patterns have in common; high is the height of the tree below.
type node struct {
	Span
	high int
}

func (n *node) height() int { return n.high }

// The expressions.
type (
	// IntLit is a number; Suffix is the type behind its digits, or empty.
	IntLit struct {
		node
		Value  uint64
		Suffix string
	}
	// ByteLit is b'x'.
	ByteLit struct {
		node
		Value byte
	}
	// BytesLit is b"text", an array of u8.
	BytesLit struct {
		node
		Value []byte
	}
	// BoolLit is true or false.
	BoolLit struct {
		node
		Value bool
	}
	// PathExpr is a variable, a constant or a variant without payload.
	PathExpr struct {
		node
		Path Path
	}
	// CallExpr calls a function or makes a variant.
	CallExpr struct {
		node
		Path Path
		Args []Expr
	}
	// StructExpr is Name { field: value, ..base }.
	StructExpr struct {
		node
		Path   Path
		Fields []FieldInit
		Base   Expr // behind .., or nil
	}
	// TupleExpr is (a, b).
	TupleExpr struct {
		node
		Elems []Expr
	}
	// ArrayExpr is [a, b].
	ArrayExpr struct {
		node
		Elems []Expr
	}
	// RepeatExpr is [value; length].
	RepeatExpr struct {
		node
		Value Expr
		Len   Expr
	}
	// EachExpr is [for name in low..high => body].
	EachExpr struct {
		node
		Var       Name
		Low, High Expr
		Body      Expr
	}
	// ForExpr is for name in low..high with pattern = init { body }; without `with`, Acc and Init are nil.
	ForExpr struct {
		node
		Var       Name
		Low, High Expr
		Acc       Pattern
		Init      Expr
		Body      *Block
	}
	// UnaryExpr is an operator before its operand.
	UnaryExpr struct {
		node
		Op Kind // Minus, Not, And (store) or Star (load)
		X  Expr
	}
	// BinaryExpr is an operator between its operands.
	BinaryExpr struct {
		node
		Op     Kind
		OpSpan Span
		L, R   Expr
	}
	// CastExpr is x as type.
	CastExpr struct {
		node
		X  Expr
		To TypeExpr
	}
	// FieldExpr is x.name or x.0.
	FieldExpr struct {
		node
		X     Expr
		Field Name
	}
	// IndexExpr is x[i].
	IndexExpr struct {
		node
		X, I Expr
	}
	// SliceExpr is x[low..high].
	SliceExpr struct {
		node
		X, Low, High Expr
	}
	// IfExpr is if, with or without else.
	IfExpr struct {
		node
		Cond Expr
		Then *Block
		Else Expr // *Block, *IfExpr or nil
	}
	// MatchExpr is match x { arms }.
	MatchExpr struct {
		node
		X    Expr
		Arms []Arm
	}
	// Block is { statements; result }.
	Block struct {
		node
		Stmts  []Stmt
		Result Expr // nil for ()
		End    Span // of the closing brace
	}
	// FailExpr is fail "message".
	FailExpr struct {
		node
		Message string
	}
	// BadExpr stands where the parser found an error.
	BadExpr struct{ node }
)

// FieldInit is a field of a struct expression; Value is nil for the shorthand of a variable of the field's name.
type FieldInit struct {
	Name  Name
	Value Expr
}

// Arm is an arm of a match.
type Arm struct {
	Pattern Pattern
	Body    Expr
}

// Stmt is a statement of a block.
type Stmt interface{ Place() Span }

// The statements.
type (
	// LetStmt is let pattern: type = value where condition. Unconstrained says that value is the result of an unconstrained call, which needs a condition.
	LetStmt struct {
		Span
		Pattern       Pattern
		Type          TypeExpr // or nil
		Value         Expr
		Unconstrained bool
		Where         Expr // or nil
	}
	// AssertStmt is assert condition, "message".
	AssertStmt struct {
		Span
		Cond    Expr
		Message string
	}
	// ExprStmt is an expression whose value is ().
	ExprStmt struct {
		Span
		X Expr
	}
)

// Pattern is a pattern.
type Pattern interface {
	Place() Span
	height() int
}

// The patterns.
type (
	// WildPattern is _.
	WildPattern struct{ node }
	// BindPattern is a variable, or name @ pattern. A lone name is a constant or a variant if one is known by it.
	BindPattern struct {
		node
		Name Name
		Sub  Pattern // or nil
	}
	// LitPattern is a literal: IntLit, ByteLit, BytesLit or BoolLit.
	LitPattern struct {
		node
		Value Expr
	}
	// TuplePattern is (a, b).
	TuplePattern struct {
		node
		Elems []Pattern
	}
	// ArrayPattern is [a, b].
	ArrayPattern struct {
		node
		Elems []Pattern
	}
	// PointerPattern is &pattern.
	PointerPattern struct {
		node
		To Pattern
	}
	// PathPattern is a variant, or a constant when it has no arguments.
	PathPattern struct {
		node
		Path Path
		Args []Pattern
		Call bool // it has parentheses
	}
	// StructPattern is Name { field: pattern, .. }.
	StructPattern struct {
		node
		Path   Path
		Fields []FieldPattern
		Rest   bool // ends in ..
	}
	// OrPattern is alternatives with | between.
	OrPattern struct {
		node
		Alts []Pattern
	}
)

// FieldPattern is a field of a struct pattern; Pattern is nil for the shorthand that binds the field's name.
type FieldPattern struct {
	Name    Name
	Pattern Pattern
}

// NewPathExpr is a path as an expression.
func NewPathExpr(p Path) *PathExpr { return &PathExpr{node{p.Span, 1}, p} }

// NewBindPattern is a variable as a pattern.
func NewBindPattern(n Name) *BindPattern { return &BindPattern{node{n.Span, 1}, n, nil} }
