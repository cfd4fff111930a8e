package types

import (
	"fmt"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
)

// maxParts bounds the parts of a type, written out: types are short to write and can double with each declaration.
const maxParts = 1 << 17

// sizes counts the parts of types. Types share parts, so counts are kept.
type sizes struct {
	types map[sizeKey]int
	named map[string]int
}

type sizeKey struct {
	t      Type
	behind bool
}

// of is the number of parts of a type, cut off above maxParts: what a pointer points to counts without the fields of structs and enums.
func (s *sizes) of(t Type, behind bool) int {
	t = Resolve(t)
	n := 1
	add := func(list []Type, behind bool) {
		for _, e := range list {
			n = min(n+s.of(e, behind), maxParts+1)
		}
	}
	switch t := t.(type) {
	case *Tuple:
		if known, ok := s.types[sizeKey{t, behind}]; ok {
			return known
		}
		add(t.Elems, behind)
		s.types[sizeKey{t, behind}] = n
	case *Array:
		if known, ok := s.types[sizeKey{t, behind}]; ok {
			return known
		}
		length, _ := Resolve(t.Len).(Length)
		n = min(1+max(1, int(length))*s.of(t.Elem, behind), maxParts+1)
		s.types[sizeKey{t, behind}] = n
	case *Pointer:
		if known, ok := s.types[sizeKey{t, behind}]; ok {
			return known
		}
		add([]Type{t.To}, true)
		s.types[sizeKey{t, behind}] = n
	case *Named:
		add(t.Args, true)
		if behind {
			return n
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%p", t.Data)
		for _, a := range t.Args {
			switch a := Resolve(a).(type) {
			case Prim, Length:
				fmt.Fprintf(&b, ",%s", a)
			default:
				fmt.Fprintf(&b, ",%p", a)
			}
		}
		if known, ok := s.named[b.String()]; ok {
			return known
		}
		for v := range t.Data.Variants {
			add(t.Fields(v), false)
		}
		s.named[b.String()] = n
	}
	return n
}

// sized reports a type with too many parts. Until types of declarations were found not to hold themselves, which is in constants, it counts only what is written out.
func (c *checker) sized(t Type, at syntax.Span) bool { return c.counted(t, !c.finite, at) }

// counted is sized, or with behind it counts only what is written out, which types that hold themselves may be asked for.
func (c *checker) counted(t Type, behind bool, at syntax.Span) bool {
	if c.sizes == nil {
		c.sizes = &sizes{map[sizeKey]int{}, map[string]int{}}
	}
	if c.sizes.of(t, behind) <= maxParts {
		return true
	}
	c.report(&syntax.Diagnostic{Span: at, Class: formats.Limit, What: "the type is too large", Expected: fmt.Sprintf("at most %d parts", maxParts), Next: "keep large data in lists behind pointers"})
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
