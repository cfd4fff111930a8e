package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// Limits of a match: nodes of its decision tree, and the weight up to which an arm that several leaves reach is made at each of them.
const (
	maxTree       = 1 << 13
	maxCopied     = 1 << 24 // patterns that are copied on the way
	maxDuplicated = 12
)

// place is a part of the value that is matched: the whole, words of another place, or what a pointer there points to.
type place struct {
	typ    types.Type
	from   *place // nil for the whole value
	at     int    // first word in from
	loaded bool   // from holds a pointer
	words  []word // of the whole value
}

// row is an arm, or an alternative of one: the patterns that remain to be tested at places, and what is bound so far.
type row struct {
	patterns []types.Pattern
	bound    []binding
	arm      int
}

type binding struct {
	local *types.Local
	place *place
}

// tree is a decision: a leaf, a test of a place's first word, or, with neither, what no value reaches.
type tree struct {
	leaf     *row
	test     *place
	branches []treeBranch
}

type treeBranch struct {
	values []uint64 // none for all others
	tree   *tree
}

// planner makes decision trees (Maranget, Compiling pattern matching to good decision trees, ML 2008).
type planner struct {
	*shapes
	nodes  int
	copied int
	leafs  []int // of each arm
}

// copy counts patterns that are copied, and reports whether there may be so many.
func (p *planner) copy(n int) bool {
	if p.copied += n; p.copied > maxCopied {
		p.nodes = max(p.nodes, maxTree+1)
	}
	return p.nodes <= maxTree
}

// match makes a match: a tree of choices. An arm whose body is large and that several leaves reach is made once, behind a second choice by the arm's number.
func (b *builder) match(f *frame, x *types.Match, tail bool) []word {
	value := b.expr(f, x.X)
	n := b.words(f.of(x.Type()))
	if b.dead {
		return make([]word, n)
	}
	root := &place{typ: f.of(x.X.Type()), words: value}
	p := &planner{shapes: b.shapes, leafs: make([]int, len(x.Arms))}
	var rows []row
	for i, a := range x.Arms {
		rows = append(rows, row{[]types.Pattern{a.Pattern}, nil, i})
	}
	t := p.plan(rows, []*place{root})
	if !b.planned(p, x.Place()) {
		return make([]word, n)
	}
	site := b.site(x.Place(), "no arm fits")
	shared := false
	for i, a := range x.Arms {
		shared = shared || p.leafs[i] > 1 && b.weights.arm(a.Body) > maxDuplicated
	}
	if !shared || b.decided(t) {
		return b.decide(t, n, tail, site, func(r *row) []word {
			b.bindRow(f, r)
			return b.arm(f, x, r.arm, tail)
		})
	}
	// The first choice gives the arm's number and what it binds, the second one makes the arms.
	size := 0
	for _, a := range x.Arms {
		size = max(size, b.boundWords(f, a.Pattern))
	}
	chosen := b.decide(t, 1+size, false, site, func(r *row) []word {
		b.bindRow(f, r)
		out := []word{known(uint64(r.arm))}
		for _, l := range types.Variables(x.Arms[r.arm].Pattern) {
			out = append(out, f.vars[l]...)
		}
		for len(out) < 1+size {
			out = append(out, zero)
		}
		return out
	})
	var choices []choice
	for i, a := range x.Arms {
		if p.leafs[i] == 0 {
			continue
		}
		choices = append(choices, choice{[]uint64{uint64(i)}, func() []word {
			at := 1
			for _, l := range types.Variables(a.Pattern) {
				k := b.words(f.of(l.Type))
				f.vars[l] = chosen[at : at+k]
				at += k
			}
			return b.arm(f, x, i, tail)
		}})
	}
	return b.choose(chosen[0], choices, n, tail, site)
}

// planned reports a plan that became too large, which is not whole. The work of plans counts too: loops repeat them.
func (b *builder) planned(p *planner, at syntax.Span) bool {
	if p.nodes <= maxTree {
		return b.spend(p.nodes + p.copied/8)
	}
	b.report(&syntax.Diagnostic{Span: at, Class: formats.Limit, What: "the match becomes too many choices", Next: "match on one part after the other"})
	b.fail(0)
	return false
}

func (b *builder) boundWords(f *frame, p types.Pattern) int {
	n := 0
	for _, l := range types.Variables(p) {
		n += b.words(f.of(l.Type))
	}
	return n
}

func (b *builder) arm(f *frame, x *types.Match, i int, tail bool) []word {
	if tail {
		b.tail(f, x.Arms[i].Body)
		return nil
	}
	return b.expr(f, x.Arms[i].Body)
}

func (b *builder) bindRow(f *frame, r *row) {
	for _, bound := range r.bound {
		f.vars[bound.local] = b.placeWords(bound.place)
	}
}

// placeWords are the words of a place. Pointers are loaded on the way, once in a scope.
func (b *builder) placeWords(p *place) []word {
	n := b.words(p.typ)
	if p.from == nil {
		return p.words
	}
	from := b.placeWords(p.from)
	if b.dead {
		return make([]word, n)
	}
	if p.loaded {
		return b.load(from[0], n, 0)
	}
	return from[p.at : p.at+n]
}

// decided reports whether a tree chooses by constants alone.
func (b *builder) decided(t *tree) bool {
	if t.test == nil {
		return true
	}
	root := t.test
	at := 0
	for root.from != nil {
		if root.loaded {
			return false
		}
		at += root.at
		root = root.from
	}
	w := root.words[at]
	if !w.known {
		return false
	}
	for _, c := range t.branches {
		if c.values == nil || slices.Contains(c.values, w.v) {
			return b.decided(c.tree)
		}
	}
	return true
}

// decide makes a tree.
func (b *builder) decide(t *tree, n int, tail bool, site uint32, leaf func(*row) []word) []word {
	switch {
	case t.leaf != nil:
		return leaf(t.leaf)
	case t.test == nil:
		b.fail(site)
		return make([]word, n)
	}
	w := b.placeWords(t.test)[0]
	var choices []choice
	for _, c := range t.branches {
		choices = append(choices, choice{c.values, func() []word { return b.decide(c.tree, n, tail, site, leaf) }})
	}
	return b.choose(w, choices, n, tail, site)
}

// plan makes the tree for rows of patterns at places.
func (p *planner) plan(rows []row, places []*place) *tree {
	if p.nodes++; p.nodes > maxTree {
		return &tree{}
	}
	rows = p.simplify(rows, places)
	if len(rows) == 0 {
		return &tree{}
	}
	first := &rows[0]
	at := slices.IndexFunc(first.patterns, func(q types.Pattern) bool { return q != nil })
	if at < 0 {
		p.leafs[first.arm]++
		return &tree{leaf: first}
	}
	// Bring the column to the front.
	if at > 0 {
		places = slices.Clone(places)
		places[0], places[at] = places[at], places[0]
		for i := range rows {
			q := slices.Clone(rows[i].patterns)
			q[0], q[at] = q[at], q[0]
			rows[i].patterns = q
		}
	}
	o := places[0]
	switch t := types.Resolve(o.typ).(type) {
	case types.Prim:
		if t == types.U64 {
			return p.halves(rows, places)
		}
		return p.literals(rows, places, t)
	case *types.Pointer:
		to := &place{typ: types.Resolve(t.To), from: o, loaded: true}
		return p.plan(p.spread(rows, 1, func(q types.Pattern) []types.Pattern { return []types.Pattern{q.(*types.PointerPattern).To} }), append([]*place{to}, places[1:]...))
	case *types.Named:
		if len(t.Data.Variants) > 1 {
			return p.tags(rows, places, t)
		}
		list := t.Fields(0)
		return p.plan(p.spread(rows, len(list), func(q types.Pattern) []types.Pattern { return q.(*types.MakePattern).Args }), p.open(places, list, 0))
	default:
		list := p.partsOf(t)
		return p.plan(p.spread(rows, len(list), func(q types.Pattern) []types.Pattern { return q.(*types.ProductPattern).Elems }), p.open(places, list, 0))
	}
}

// open replaces the first place by its parts.
func (p *planner) open(places []*place, list []types.Type, skip int) []*place {
	out := make([]*place, 0, len(list)+len(places)-1)
	at := skip
	for i := range list {
		out = append(out, &place{typ: list[i], from: places[0], at: at})
		at += p.words(list[i])
	}
	return append(out, places[1:]...)
}

// spread replaces the first pattern of each row by k patterns for the parts.
func (p *planner) spread(rows []row, k int, parts func(types.Pattern) []types.Pattern) []row {
	out := make([]row, 0, len(rows))
	for _, r := range rows {
		if !p.copy(k + len(r.patterns)) {
			return nil
		}
		q := make([]types.Pattern, k, k+len(r.patterns)-1)
		if r.patterns[0] != nil {
			copy(q, parts(r.patterns[0]))
		}
		out = append(out, row{append(q, r.patterns[1:]...), r.bound, r.arm})
	}
	return out
}

// simplify binds variables, writes nil for patterns that fit anything, and gives alternatives rows of their own.
func (p *planner) simplify(rows []row, places []*place) []row {
	var out []row
	for _, r := range rows {
		out = p.simplifyRow(out, r, places, 0)
	}
	return out
}

func (p *planner) simplifyRow(out []row, r row, places []*place, at int) []row {
	if !p.copy(len(r.patterns)) {
		return out
	}
	r.patterns = slices.Clone(r.patterns)
	for ; at < len(r.patterns); at++ {
		switch q := r.patterns[at].(type) {
		case *types.Wild:
			r.patterns[at] = nil
		case *types.Bind:
			r.patterns[at] = q.Sub
			r.bound = append(slices.Clip(r.bound), binding{q.Local, places[at]})
			at--
		case *types.OrPattern:
			for _, a := range q.Alts {
				r.patterns[at] = a
				out = p.simplifyRow(out, r, places, at)
			}
			return out
		}
	}
	return append(out, r)
}

// halves treats a u64 as two numbers of 32 bits.
func (p *planner) halves(rows []row, places []*place) *tree {
	list := []types.Type{types.U32, types.U32}
	return p.plan(p.spread(rows, 2, func(q types.Pattern) []types.Pattern {
		v := q.(*types.LitPattern).Value
		return []types.Pattern{types.NewLitPattern(types.U32, v&(two32-1)), types.NewLitPattern(types.U32, v>>32)}
	}), p.open(places, list, 0))
}

// under keeps the rows that fit a constructor, the first pattern replaced by patterns for k parts.
func (p *planner) under(rows []row, k int, fits func(types.Pattern) ([]types.Pattern, bool)) []row {
	var out []row
	for _, r := range rows {
		if !p.copy(1) {
			return nil
		}
		parts := make([]types.Pattern, k)
		if r.patterns[0] != nil {
			own, ok := fits(r.patterns[0])
			if !ok {
				continue
			}
			copy(parts, own)
		}
		if !p.copy(k + len(r.patterns)) {
			return nil
		}
		out = append(out, row{append(parts, r.patterns[1:]...), r.bound, r.arm})
	}
	return out
}

// signature tells apart lists of rows that need different trees.
func signature(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%d", r.arm)
		for _, q := range r.patterns {
			fmt.Fprintf(&b, ",%p", q)
		}
		for _, v := range r.bound {
			fmt.Fprintf(&b, ";%p=%p", v.local, v.place)
		}
		b.WriteByte('|')
	}
	return b.String()
}

// literals tests a number or a bool.
func (p *planner) literals(rows []row, places []*place, t types.Prim) *tree {
	out := &tree{test: places[0]}
	var values []uint64
	for _, r := range rows {
		if q, ok := r.patterns[0].(*types.LitPattern); ok && !slices.Contains(values, q.Value) {
			values = append(values, q.Value)
		}
	}
	slices.Sort(values)
	p.group(out, values, func(v uint64) []row {
		return p.under(rows, 0, func(q types.Pattern) ([]types.Pattern, bool) { return nil, q.(*types.LitPattern).Value == v })
	}, places[1:])
	if uint64(len(values)) == t.Max()+1 && t != types.Field {
		return out
	}
	if rest := p.under(rows, 0, func(types.Pattern) ([]types.Pattern, bool) { return nil, false }); len(rest) > 0 {
		if t == types.Bool {
			p.group(out, []uint64{1 - values[0]}, func(uint64) []row { return rest }, places[1:])
		} else {
			out.branches = append(out.branches, treeBranch{nil, p.plan(rest, places[1:])})
		}
	}
	return out
}

// group adds a branch for each list of rows that values lead to.
func (p *planner) group(out *tree, values []uint64, rowsOf func(uint64) []row, places []*place) {
	at := map[string]int{}
	for _, v := range values {
		rows := rowsOf(v)
		id := signature(rows)
		if i, ok := at[id]; ok {
			out.branches[i].values = append(out.branches[i].values, v)
			continue
		}
		at[id] = len(out.branches)
		out.branches = append(out.branches, treeBranch{[]uint64{v}, p.plan(rows, places)})
	}
}

// tags tests the variant of an enum. Variants that no row names share a branch: all others if those are many, for a branch for all others costs about what a value costs for each value
// that is not among them.
func (p *planner) tags(rows []row, places []*place, t *types.Named) *tree {
	out := &tree{test: places[0]}
	named := map[int]bool{}
	for _, r := range rows {
		if q, ok := r.patterns[0].(*types.MakePattern); ok {
			named[q.Variant] = true
		}
	}
	var rest, plain []uint64
	for v := range t.Data.Variants {
		switch {
		case !named[v]:
			rest = append(rest, uint64(v))
		case len(t.Data.Variants[v].Fields) == 0:
			plain = append(plain, uint64(v))
		default:
			list := t.Fields(v)
			sub := p.under(rows, len(list), func(q types.Pattern) ([]types.Pattern, bool) {
				m := q.(*types.MakePattern)
				return m.Args, m.Variant == v
			})
			out.branches = append(out.branches, treeBranch{[]uint64{uint64(v)}, p.plan(sub, p.open(places, list, 1))})
		}
	}
	p.group(out, plain, func(v uint64) []row {
		return p.under(rows, 0, func(q types.Pattern) ([]types.Pattern, bool) { return nil, q.(*types.MakePattern).Variant == int(v) })
	}, places[1:])
	if len(rest) > 0 {
		others := p.under(rows, 0, func(types.Pattern) ([]types.Pattern, bool) { return nil, false })
		if len(others) > 0 {
			if len(rest) > len(named) {
				rest = nil
			}
			out.branches = append(out.branches, treeBranch{rest, p.plan(others, places[1:])})
		}
	}
	return out
}

// bindCovering binds the variables of an or-pattern that fits every value: it is a match with one arm.
func (b *builder) bindCovering(f *frame, q *types.OrPattern, words []word) {
	root := &place{typ: f.of(q.Type()), words: words}
	p := &planner{shapes: b.shapes, leafs: make([]int, 1)}
	t := p.plan([]row{{[]types.Pattern{q}, nil, 0}}, []*place{root})
	vars := types.Variables(q)
	if !b.planned(p, q.Place()) {
		for _, l := range vars {
			f.vars[l] = make([]word, b.words(f.of(l.Type)))
		}
		return
	}
	out := b.decide(t, b.boundWords(f, q), false, b.site(q.Place(), "no alternative fits"), func(r *row) []word {
		b.bindRow(f, r)
		var list []word
		for _, l := range vars {
			list = append(list, f.vars[l]...)
		}
		return list
	})
	for _, l := range vars {
		n := b.words(f.of(l.Type))
		f.vars[l] = out[:n]
		out = out[n:]
	}
}
