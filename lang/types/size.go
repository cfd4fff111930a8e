package types

import (
	"fmt"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
)

// Types are short to write and can double with each declaration, each let and each call, so every type that is made is measured. What works on types may then walk all of one.
const (
	maxParts    = 1 << 17 // the parts of values of a type, written out
	maxNodes    = 1 << 12 // a type as a program would write it
	maxMeasured = 1 << 25 // the work of measuring all types of a program and the constants that it uses, as much as lowering has
	maxMembers  = 1 << 10 // fields, variants, arguments or type parameters of a declaration
)

// Meter measures the types of a program. The zero Meter is ready to use.
type Meter struct {
	known map[partsKey]int // of types without variables
	work  int
}

type partsKey struct {
	t      any // a Type, or the *Data of one without arguments
	behind bool
}

// Fits reports whether a type is small enough to be worked with. All of its declarations must be known, and must not hold themselves.
func (m *Meter) Fits(t Type) bool { return m.Written(t) && m.fits(t, false) }

// Written reports whether a type is small enough as a program would write it, so that it can be walked.
func (m *Meter) Written(t Type) bool {
	left := maxNodes
	walkable(t, &left)
	m.work += maxNodes - left
	return left >= 0 && !m.over()
}

func (m *Meter) fits(t Type, behind bool) bool {
	n, _ := m.parts(t, behind)
	return n <= maxParts && !m.over()
}

// over reports whether the program's types are too many and too large altogether.
func (m *Meter) over() bool { return m.work > maxMeasured }

// walkable takes the nodes of a type from left, until none is left.
func walkable(t Type, left *int) {
	if *left--; *left < 0 {
		return
	}
	var list []Type
	switch t := Resolve(t).(type) {
	case *Tuple:
		list = t.Elems
	case *Array:
		walkable(t.Elem, left)
	case *Pointer:
		walkable(t.To, left)
	case *Named:
		list = t.Args
	}
	for _, e := range list {
		if *left < 0 {
			return
		}
		walkable(e, left)
	}
}

// parts is the number of parts of a type, cut off above maxParts: what a pointer points to counts without the fields of structs and enums. final says that no variable can change it.
func (m *Meter) parts(t Type, behind bool) (n int, final bool) {
	t = Resolve(t)
	key := partsKey{t, behind}
	switch t := t.(type) {
	case *Var:
		return 1, false
	case *Named:
		if len(t.Args) == 0 {
			key.t = t.Data
		}
	case *Tuple, *Array, *Pointer:
	default:
		return 1, true
	}
	if n, ok := m.known[key]; ok {
		return n, true
	}
	n, final = 1, true
	add := func(list []Type, behind bool) {
		for _, e := range list {
			if n > maxParts || m.over() {
				n = maxParts + 1
				return
			}
			m.work++
			k, f := m.parts(e, behind)
			n, final = min(n+k, maxParts+1), final && f
		}
	}
	switch t := t.(type) {
	case *Tuple:
		add(t.Elems, behind)
	case *Array:
		add([]Type{t.Elem}, behind)
		length, known := Resolve(t.Len).(Length)
		n = min(1+max(1, int(length))*(n-1), maxParts+1)
		_, variable := Resolve(t.Len).(*Var)
		final = final && (known || !variable)
	case *Pointer:
		add([]Type{t.To}, true)
	case *Named:
		add(t.Args, true)
		if behind {
			break
		}
		for v := range t.Data.Variants {
			for f := range t.Data.Variants[v].Fields {
				if n > maxParts {
					break
				}
				add([]Type{t.Field(v, f)}, false)
			}
		}
	}
	if final {
		if m.known == nil {
			m.known = map[partsKey]int{}
		}
		m.known[key] = n
	}
	return n, final
}

// sized reports a type that is too large. Until types of declarations were found not to hold themselves, which is in constants, it counts only what is written out.
func (c *checker) sized(t Type, at syntax.Span) bool { return c.counted(t, !c.finite, at) }

// counted is sized, or with behind it counts only what is written out, which types that hold themselves may be asked for.
func (c *checker) counted(t Type, behind bool, at syntax.Span) bool {
	if c.meter.Written(t) && c.meter.fits(t, behind) {
		return true
	}
	d := &syntax.Diagnostic{Span: at, Class: formats.Limit, What: "the type is too large", Expected: fmt.Sprintf("at most %d parts, and %d as it is written", maxParts, maxNodes), Next: "keep large data in lists behind pointers"}
	if c.meter.over() {
		d.What, d.Expected = "the types and constants of the program are too large altogether", ""
	}
	c.report(d)
	return false
}

// members reports a declaration with too many of something.
func (c *checker) members(n int, what string, at syntax.Span) bool {
	if n <= maxMembers {
		return true
	}
	c.report(&syntax.Diagnostic{Span: at, Class: formats.Limit, What: "the declaration has too many " + what, Expected: fmt.Sprintf("at most %d", maxMembers), Got: fmt.Sprint(n)})
	return false
}

// checkParts reports declarations whose types are too large.
func (c *checker) checkParts() {
	for _, m := range c.program.Modules {
		for _, s := range m.Syntax.Items {
			switch i := m.items[s.Ident().Text]; {
			case i == nil || i.module != m:
			case i.data != nil:
				args := make([]Type, len(i.data.Params))
				for k, p := range i.data.Params {
					args[k] = p
				}
				c.sized(&Named{i.data, args}, i.data.Span)
				for _, v := range i.data.Variants {
					for _, f := range v.Fields {
						c.written(f.Type, f.Span)
					}
				}
			case i.alias != nil:
				c.sized(i.alias, s.Ident().Span)
			case i.fn != nil:
				all := &Tuple{Elems: []Type{i.fn.Result}}
				for _, a := range i.fn.Args {
					all.Elems = append(all.Elems, a.Local.Type)
				}
				c.sized(all, i.fn.Span)
			}
		}
	}
}

// spend counts a use of a constant, whose parts what follows walks so many times or copies.
func (c *checker) spend(t Type, times int, at syntax.Span) bool {
	n, _ := c.meter.parts(t, !c.finite)
	c.meter.work += n * times
	return c.sized(t, at)
}

// written reports a type that is too large as it is written.
func (c *checker) written(t Type, at syntax.Span) bool { return c.counted(t, true, at) }
