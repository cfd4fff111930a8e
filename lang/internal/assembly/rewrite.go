package assembly

import (
	"slices"

	bc "github.com/ixprove/ixprove/lang/bytecode"
)

// Rewrite copies a block, and the blocks in it, with other operations in place of each: what a dishonest prover would have the program be. Operations are met in their order.
func Rewrite(b bc.Block, replace func(o bc.Op) []bc.Op) bc.Block {
	match := func(m *bc.Match) *bc.Match {
		if m == nil {
			return nil
		}
		c := *m
		c.Cases = slices.Clone(m.Cases)
		for i := range c.Cases {
			c.Cases[i].Block = Rewrite(c.Cases[i].Block, replace)
		}
		if m.Default != nil {
			d := Rewrite(*m.Default, replace)
			c.Default = &d
		}
		return &c
	}
	var ops []bc.Op
	for _, o := range b.Ops {
		o.Match = match(o.Match)
		ops = append(ops, replace(o)...)
	}
	b.Ops, b.End.Match = ops, match(b.End.Match)
	return b
}
