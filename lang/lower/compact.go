package lower

import (
	"slices"

	"github.com/ixprove/ixprove/lang/bytecode"
)

// compact removes operations whose results nobody uses and that cannot fail, and results of matches that nobody uses, and numbers the values anew. The functions that f calls must have
// their numbers of results.
func compact(p *bytecode.Program, f *bytecode.Function) {
	c := &compactor{p, make([]bool, bytecode.MaxValues+2*bytecode.MaxParams)}
	kept := c.prune(&f.Body, f.Params, nil)
	numbers := make([]bytecode.Value, f.Params)
	for i := range numbers {
		numbers[i] = bytecode.Value(i)
	}
	c.renumber(&f.Body, kept, numbers, bytecode.Value(f.Params))
}

type compactor struct {
	program *bytecode.Program
	used    []bool // by number, for the values in scope
}

// keptBlock says what of a block stays.
type keptBlock struct {
	ops []keptOp
	end []*keptBlock // of the match that ends it
}

type keptOp struct {
	results int // before
	dropped bool
	yields  []bool // of a match: the results that stay
	blocks  []*keptBlock
}

// prune finds what a block needs, from its end. yields says which of the values that the block yields are used.
func (c *compactor) prune(b *bytecode.Block, first int, yields []bool) *keptBlock {
	k := &keptBlock{ops: make([]keptOp, len(b.Ops))}
	next := first
	for i := range b.Ops {
		_, k.ops[i].results = c.program.Arity(&b.Ops[i])
		next += k.ops[i].results
	}
	for i, v := range b.End.Values {
		if b.End.Kind != bytecode.EndYield || yields[i] {
			c.used[v] = true
		}
	}
	if b.End.Match != nil {
		k.end = c.pruneMatch(b.End.Match, next, nil)
	}
	for i := len(b.Ops) - 1; i >= 0; i-- {
		o, ko := &b.Ops[i], &k.ops[i]
		results := c.used[next-ko.results : next]
		next -= ko.results
		switch {
		case o.Code == bytecode.OpMatch:
			ko.yields = slices.Clone(results)
			clear(results)
			ko.blocks = c.pruneMatch(o.Match, next, ko.yields)
		case removable(o) && !slices.Contains(results, true):
			ko.dropped = true
		default:
			clear(results)
			for _, a := range o.Args {
				c.used[a] = true
			}
		}
	}
	return k
}

func (c *compactor) pruneMatch(m *bytecode.Match, first int, yields []bool) (out []*keptBlock) {
	m.Blocks(func(b *bytecode.Block) { out = append(out, c.prune(b, first, yields)) })
	c.used[m.Value] = true
	return out
}

// removable reports whether an operation only computes.
func removable(o *bytecode.Op) bool {
	switch o.Code {
	case bytecode.OpConst, bytecode.OpAdd, bytecode.OpSub, bytecode.OpMul, bytecode.OpIsZero, bytecode.OpStore, bytecode.OpHintInverse, bytecode.OpHintLimbs, bytecode.OpInputLength:
		return true
	}
	return false
}

// renumber removes what does not stay. numbers maps old numbers of values to new ones.
func (c *compactor) renumber(b *bytecode.Block, k *keptBlock, numbers []bytecode.Value, next bytecode.Value) {
	numbers = slices.Clip(numbers)
	renamed := func(list []bytecode.Value) {
		for i, v := range list {
			list[i] = numbers[v]
		}
	}
	kept := b.Ops[:0]
	for i := range k.ops {
		o, ko := b.Ops[i], &k.ops[i]
		if ko.dropped {
			numbers = append(numbers, make([]bytecode.Value, ko.results)...)
			continue
		}
		if o.Code == bytecode.OpMatch {
			c.renumberMatch(o.Match, ko.blocks, ko.yields, numbers, next)
			o.A = 0
			for _, stays := range ko.yields {
				numbers = append(numbers, next)
				if stays {
					next++
					o.A++
				}
			}
		} else {
			renamed(o.Args)
			for range ko.results {
				numbers = append(numbers, next)
				next++
			}
		}
		kept = append(kept, o)
	}
	b.Ops = kept
	renamed(b.End.Values)
	if m := b.End.Match; m != nil {
		c.renumberMatch(m, k.end, nil, numbers, next)
	}
}

func (c *compactor) renumberMatch(m *bytecode.Match, blocks []*keptBlock, yields []bool, numbers []bytecode.Value, next bytecode.Value) {
	m.Value = numbers[m.Value]
	at := 0
	m.Blocks(func(b *bytecode.Block) {
		if b.End.Kind == bytecode.EndYield {
			values := b.End.Values[:0]
			for i, v := range b.End.Values {
				if yields[i] {
					values = append(values, v)
				}
			}
			b.End.Values = values
		}
		c.renumber(b, blocks[at], numbers, next)
		at++
	})
}

// deduplicate makes functions one that are equal up to the functions they call: it refines classes of functions until members of a class call the same classes (Hopcroft, An n log n algorithm
// for minimizing states in a finite automaton, 1971, in its simple form). Entries stay apart from each other.
func (p *program) deduplicate() {
	functions := p.out.Functions
	class := make([]int, len(functions))
	bodies := make([]string, len(functions))
	calls := make([][]uint32, len(functions))
	for i := range functions {
		w := &writer{}
		w.function(&functions[i])
		bodies[i], calls[i] = string(w.out), w.calls
	}
	for i, e := range p.out.Entries {
		bodies[e.Function] += "entry " + string(rune(i))
	}
	for count := 0; ; {
		ids := map[string]int{}
		next := make([]int, len(functions))
		for i := range functions {
			w := &writer{}
			w.number(uint64(class[i]))
			for _, f := range calls[i] {
				w.number(uint64(class[f]))
			}
			id := bodies[i] + "\x00" + string(w.out)
			if _, ok := ids[id]; !ok {
				ids[id] = len(ids)
			}
			next[i] = ids[id]
		}
		class = next
		if len(ids) == count {
			break
		}
		count = len(ids)
	}
	// The first of a class stands for it.
	number := map[int]uint32{}
	var kept []bytecode.Function
	for i := range functions {
		if _, ok := number[class[i]]; !ok {
			number[class[i]] = uint32(len(kept))
			kept = append(kept, functions[i])
		}
	}
	for i := range kept {
		renameCalls(&kept[i].Body, func(f uint64) uint64 { return uint64(number[class[f]]) })
	}
	for i := range p.out.Entries {
		e := &p.out.Entries[i]
		e.Function = number[class[e.Function]]
	}
	p.out.Functions = kept
}

func renameCalls(b *bytecode.Block, name func(uint64) uint64) {
	for i := range b.Ops {
		o := &b.Ops[i]
		if o.Code == bytecode.OpCall {
			o.A = name(o.A)
		}
		if o.Match != nil {
			o.Match.Blocks(func(b *bytecode.Block) { renameCalls(b, name) })
		}
	}
	if b.End.Match != nil {
		b.End.Match.Blocks(func(b *bytecode.Block) { renameCalls(b, name) })
	}
}

// writer writes a function without names, places and the functions it calls, which it lists.
type writer struct {
	out   []byte
	calls []uint32
}

func (w *writer) number(v uint64) {
	for ; v >= 0x80; v >>= 7 {
		w.out = append(w.out, byte(v)|0x80)
	}
	w.out = append(w.out, byte(v))
}

func (w *writer) values(list []bytecode.Value) {
	w.number(uint64(len(list)))
	for _, v := range list {
		w.number(uint64(v))
	}
}

func (w *writer) function(f *bytecode.Function) {
	w.number(uint64(f.Params))
	w.number(uint64(f.Results))
	w.block(&f.Body)
}

func (w *writer) block(b *bytecode.Block) {
	w.number(uint64(len(b.Ops)))
	for i := range b.Ops {
		o := &b.Ops[i]
		w.number(uint64(o.Code))
		if o.Code == bytecode.OpCall {
			w.calls = append(w.calls, uint32(o.A))
		} else {
			w.number(o.A)
		}
		w.number(o.B)
		w.values(o.Args)
		if o.Match != nil {
			w.match(o.Match)
		}
	}
	w.number(uint64(b.End.Kind))
	w.values(b.End.Values)
	if b.End.Match != nil {
		w.match(b.End.Match)
	}
}

func (w *writer) match(m *bytecode.Match) {
	w.number(uint64(m.Value))
	w.number(uint64(len(m.Cases)))
	for i := range m.Cases {
		w.number(uint64(len(m.Cases[i].Values)))
		for _, v := range m.Cases[i].Values {
			w.number(v)
		}
		w.block(&m.Cases[i].Block)
	}
	if m.Default == nil {
		w.number(0)
		return
	}
	w.number(1)
	w.block(m.Default)
}
