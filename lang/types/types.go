// Package types checks programs: it loads modules, resolves names, infers types, checks matches for exhaustiveness and gives a typed tree.
//
// Integers are checked and no conversion is implicit. A type of the tree may hold inference variables that are bound; Resolve follows them.
package types

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/lang/syntax"
)

// Type is a type: Prim, *Tuple, *Array, *Pointer, *Named, *Param, Length or *Var.
type Type interface{ String() string }

// Prim is a type without parts.
type Prim uint8

// The types without parts. Bad stands where an error was reported and fits everything.
const (
	Bad Prim = iota
	Field
	Bool
	U8
	U32
	U64
)

var primNames = [...]string{"?", "field", "bool", "u8", "u32", "u64"}

// String is the type as a program writes it; so for all types.
func (p Prim) String() string { return primNames[p] }

// Bits is the number of bits of an integer type, and 0 for others.
func (p Prim) Bits() int {
	return [...]int{U8: 8, U32: 32, U64: 64}[p]
}

// Max is the largest value of a type without parts.
func (p Prim) Max() uint64 {
	return [...]uint64{0, Modulus - 1, 1, 1<<8 - 1, 1<<32 - 1, 1<<64 - 1}[p]
}

// Modulus is the Goldilocks prime.
const Modulus = 0xffffffff00000001

type (
	// Tuple is (A, B); without elements it is the unit type.
	Tuple struct{ Elems []Type }
	// Array is [Elem; Len]; Len is a Length, a constant *Param or a *Var.
	Array struct{ Elem, Len Type }
	// Pointer is &To.
	Pointer struct{ To Type }
	// Named is a struct or an enum with its type arguments.
	Named struct {
		Data *Data
		Args []Type
	}
	// Param is a type parameter of a function or of a type, or with Const a length.
	Param struct {
		Name  string
		Const bool
		Index int
	}
	// Length is the length of an array.
	Length uint32
	// Var is a type to be inferred.
	Var struct {
		bound   Type
		span    syntax.Span
		literal bool  // of a number: field, u8, u32 or u64
		others  int64 // variables that are bound to this one
	}
)

// Unit is the type of what has no value.
var Unit = &Tuple{}

// String implements Type.
func (t *Tuple) String() string { return text(t) }

// String implements Type.
func (t *Array) String() string { return text(t) }

// String implements Type.
func (t *Pointer) String() string { return text(t) }

// String implements Type.
func (t *Named) String() string { return text(t) }

// String implements Type.
func (t *Param) String() string { return t.Name }

// String implements Type.
func (t Length) String() string { return strconv.FormatUint(uint64(t), 10) }

// String implements Type.
func (t *Var) String() string {
	switch {
	case t.bound != nil:
		return text(t)
	case t.literal:
		return "a number"
	}
	return "_"
}

// maxText is about the length from which on a type is cut off with … where it is shown. A short program can have types whose text would fill the memory.
const maxText = 400

func text(t Type) string {
	var b strings.Builder
	write(&b, t)
	return b.String()
}

func write(b *strings.Builder, t Type) {
	list := func(open string, types []Type, end string) {
		b.WriteString(open)
		for i, e := range types {
			if i > 0 {
				b.WriteString(", ")
			}
			if b.Len() > maxText {
				b.WriteString("…")
				break
			}
			write(b, e)
		}
		b.WriteString(end)
	}
	if b.Len() > maxText {
		b.WriteString("…")
		return
	}
	switch t := Resolve(t).(type) {
	case *Tuple:
		if len(t.Elems) == 1 {
			list("(", t.Elems, ",)")
		} else {
			list("(", t.Elems, ")")
		}
	case *Array:
		b.WriteString("[")
		write(b, t.Elem)
		b.WriteString("; ")
		write(b, t.Len)
		b.WriteString("]")
	case *Pointer:
		b.WriteString("&")
		write(b, t.To)
	case *Named:
		b.WriteString(t.Data.Name)
		if len(t.Args) > 0 {
			list("<", t.Args, ">")
		}
	default:
		b.WriteString(t.String())
	}
}

// Resolve follows bound variables at the top of a type.
func Resolve(t Type) Type {
	for {
		v, ok := t.(*Var)
		if !ok || v.bound == nil {
			return t
		}
		t = v.bound
	}
}

// Substitute replaces the parameters of a declaration by args.
func Substitute(t Type, params []*Param, args []Type) Type {
	if len(params) == 0 {
		return Resolve(t)
	}
	switch t := Resolve(t).(type) {
	case *Param:
		if i := slices.Index(params, t); i >= 0 && i < len(args) {
			return args[i]
		}
		return t
	case *Tuple:
		if len(t.Elems) == 0 {
			return Unit
		}
		return &Tuple{substituteAll(t.Elems, params, args)}
	case *Array:
		return &Array{Substitute(t.Elem, params, args), Substitute(t.Len, params, args)}
	case *Pointer:
		return &Pointer{Substitute(t.To, params, args)}
	case *Named:
		return &Named{t.Data, substituteAll(t.Args, params, args)}
	default:
		return t
	}
}

func substituteAll(list []Type, params []*Param, args []Type) []Type {
	out := make([]Type, len(list))
	for i, t := range list {
		out[i] = Substitute(t, params, args)
	}
	return out
}

// Equal reports whether two types without unbound variables are the same.
func Equal(a, b Type) bool {
	switch a := Resolve(a).(type) {
	case *Tuple:
		b, ok := Resolve(b).(*Tuple)
		return ok && slices.EqualFunc(a.Elems, b.Elems, Equal)
	case *Array:
		b, ok := Resolve(b).(*Array)
		return ok && Equal(a.Elem, b.Elem) && Equal(a.Len, b.Len)
	case *Pointer:
		b, ok := Resolve(b).(*Pointer)
		return ok && Equal(a.To, b.To)
	case *Named:
		b, ok := Resolve(b).(*Named)
		return ok && a.Data == b.Data && slices.EqualFunc(a.Args, b.Args, Equal)
	default:
		return a == Resolve(b)
	}
}

// Data is a struct, which has one variant, or an enum.
type Data struct {
	Name     string
	Module   *Module
	Params   []*Param
	Variants []Variant
	Enum     bool
	Pub      bool
	Span     syntax.Span // of its name
	Doc      string
}

// Variant is a constructor. The fields of an enum's variants have no names.
type Variant struct {
	Name   string
	Span   syntax.Span
	Fields []FieldType
}

// FieldType is a field of a variant.
type FieldType struct {
	Name string
	Type Type
	Span syntax.Span // of its name, or of the type of a field without one
}

// Fields are the types of a variant's fields for the arguments of the named type.
func (t *Named) Fields(variant int) []Type {
	out := make([]Type, len(t.Data.Variants[variant].Fields))
	for i := range out {
		out[i] = t.Field(variant, i)
	}
	return out
}

// Field is the type of one field of a variant.
func (t *Named) Field(variant, i int) Type {
	return Substitute(t.Data.Variants[variant].Fields[i].Type, t.Data.Params, t.Args)
}

// HasPointer reports whether values of the type hold pointers, or a type argument does. Type parameters count as none.
func HasPointer(t Type) bool { return hasPointer(t, map[*Data]bool{}) }

// hasPointer leaves out the types seen, so that it ends for a type that holds itself, which is an error but perhaps not reported yet.
func hasPointer(t Type, seen map[*Data]bool) bool {
	in := func(t Type) bool { return hasPointer(t, seen) }
	switch t := Resolve(t).(type) {
	case *Pointer:
		return true
	case *Tuple:
		return slices.ContainsFunc(t.Elems, in)
	case *Array:
		return in(t.Elem)
	case *Named:
		if slices.ContainsFunc(t.Args, in) {
			return true
		}
		if seen[t.Data] {
			return false
		}
		seen[t.Data] = true
		return slices.ContainsFunc(t.Data.Variants, func(v Variant) bool {
			return slices.ContainsFunc(v.Fields, func(f FieldType) bool { return in(f.Type) })
		})
	}
	return false
}

// Func is a function.
type Func struct {
	Name          string
	Module        *Module
	Params        []*Param
	Args          []Arg
	Result        Type
	Body          *Block // nil for a builtin
	Builtin       string // name of the operation that a function of the standard library stands for, or empty
	Unconstrained bool
	Pub           bool
	Inline        Inline
	Span          syntax.Span // of its name
	Doc           string
}

// Inline says whether calls of a function are replaced by its body.
type Inline uint8

// The ways of inlining.
const (
	InlineAuto Inline = iota // where it is cheaper
	InlineAlways
	InlineNever
)

// Arg is an argument of a function. Private ones are read from the witness file and are no part of claims.
type Arg struct {
	Local   *Local
	Private bool
}

// Signature is the function's head as a program writes it.
func (f *Func) Signature() string {
	var b strings.Builder
	if f.Unconstrained {
		b.WriteString("unconstrained ")
	}
	b.WriteString("fn " + f.Name)
	if len(f.Params) > 0 {
		var names []string
		for _, p := range f.Params {
			if p.Const {
				names = append(names, "const "+p.Name+": u32")
			} else {
				names = append(names, p.Name)
			}
		}
		b.WriteString("<" + strings.Join(names, ", ") + ">")
	}
	b.WriteString("(")
	for i, a := range f.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		if a.Private {
			b.WriteString("private ")
		}
		b.WriteString(a.Local.Name + ": " + a.Local.Type.String())
	}
	b.WriteString(")")
	if !Equal(f.Result, Unit) {
		b.WriteString(" -> " + f.Result.String())
	}
	return b.String()
}

// Local is a variable. Static ones are those of loops, whose values are constants where the loop is unrolled.
type Local struct {
	Name   string
	Type   Type
	Span   syntax.Span
	Static bool
}

// Constant is a constant; Value is made of literals, tuples, arrays and variants alone.
type Constant struct {
	Name  string
	Type  Type
	Value Expr
	Pub   bool
	Span  syntax.Span
	Doc   string
}

// Module is a checked module.
type Module struct {
	Path   string // as imports name it, without the file's ending
	File   *syntax.File
	Syntax *syntax.Module

	items   map[string]*item
	modules map[string]*Module // imported, by the name they have here
	lost    map[string]bool    // names whose items could not be read or imported
}

// Program is a checked program.
type Program struct {
	Modules []*Module // the root first, then in the order of imports
	Funcs   []*Func   // of all modules, in order
	Entries []*Func   // the root's pub functions
	Refs    []Ref     // what names stand for, in no order
}

// Ref says what a name in the source stands for.
type Ref struct {
	Span syntax.Span
	Def  syntax.Span // of the declared name; the empty start of the file for a module
	What string      // "let", "function", "constant", "struct", …
	Type Type        // of a variable, an argument or a field
	Text string      // of all else: a function's signature, a declaration as it is written
	Doc  string
}
