package lower

import (
	"github.com/ixprove/ixprove/lang/types"
)

// Words is the number of field elements that a value of a type takes: one for field, bool, u8, u32 and pointers, two for u64 (low half first), the sum of its parts for a product, and for an enum
// the tag and the largest payload. An enum of one variant has no tag. Sizes are cut off above MaxWords.
func Words(t types.Type) int {
	visited := 0
	return words(t, &visited)
}

// words is Words, and counts the types that it visits.
func words(t types.Type, visited *int) int {
	*visited++
	n := 0
	switch t := types.Resolve(t).(type) {
	case types.Prim:
		if t == types.U64 {
			return 2
		}
		return 1
	case *types.Pointer:
		return 1
	case *types.Tuple:
		for _, e := range t.Elems {
			n = min(n+words(e, visited), MaxWords)
		}
	case *types.Array:
		if length, _ := types.Resolve(t.Len).(types.Length); length > 0 {
			n = min(int(length)*words(t.Elem, visited), MaxWords)
		}
	case *types.Named:
		for i := range t.Data.Variants {
			size := 0
			for f := range t.Data.Variants[i].Fields {
				size = min(size+words(t.Field(i, f), visited), MaxWords)
			}
			n = max(n, size)
		}
		n = min(n+tagWords(t), MaxWords)
	}
	return n
}

// MaxWords bounds the size of a value; larger ones are refused.
const MaxWords = 1 << 17

// shapes keeps the sizes and parts of the types of a program.
type shapes struct {
	sizes  map[any]int
	parts  map[types.Type][]types.Type
	visits *int // of types, counted
}

// words is Words.
func (s *shapes) words(t types.Type) int {
	t = types.Resolve(t)
	var key any = t
	switch t := t.(type) {
	case types.Prim, *types.Pointer:
		return Words(t)
	case *types.Named:
		if len(t.Args) == 0 {
			key = t.Data
		}
	}
	n, ok := s.sizes[key]
	if !ok {
		n = words(t, s.visits)
		s.sizes[key] = n
	}
	return n
}

func (s *shapes) wordsOf(list []types.Type) int {
	n := 0
	for _, t := range list {
		n = min(n+s.words(t), MaxWords)
	}
	return n
}

// tagWords is 1 for a type whose values begin with the number of their variant.
func tagWords(t *types.Named) int {
	if len(t.Data.Variants) > 1 {
		return 1
	}
	return 0
}

// partsOf are the types of the parts of a product: a tuple, an array or a struct.
func (s *shapes) partsOf(t types.Type) []types.Type {
	switch t := types.Resolve(t).(type) {
	case *types.Tuple:
		return t.Elems
	case *types.Array:
		n, _ := types.Resolve(t.Len).(types.Length)
		out := make([]types.Type, n)
		for i := range out {
			out[i] = t.Elem
		}
		return out
	case *types.Named:
		list, ok := s.parts[t]
		if !ok {
			list = t.Fields(0)
			s.parts[t] = list
			*s.visits += len(list)
		}
		return list
	}
	return nil
}

// offset is where a part of a product begins. What is long to add up is counted.
func (s *shapes) offset(parts []types.Type, i int) int {
	*s.visits += i / 16
	return s.wordsOf(parts[:i])
}
