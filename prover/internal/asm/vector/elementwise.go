package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// loop runs body with i from 0 to n-1 in steps of the lanes. n is not zero.
func (v *isa) loop(n reg.GPVirtual, label string, body func(i reg.GPVirtual)) {
	i := GP64()
	XORQ(i, i)
	Label(label)
	body(i)
	ADDQ(Imm(uint64(v.lanes)), i)
	CMPQ(i, n)
	JB(LabelRef(label))
}

func at(base, i reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 8} }

// binary is a kernel of two vectors.
func (v *isa) binary(name, doc string, f func(v *isa, a, b reg.Register) reg.Register) {
	v.begin(name, "dst, a, b *uint64, n int", doc)
	dst, a, b, n := pointer("dst"), pointer("a"), pointer("b"), pointer("n")
	v.loop(n, "loop", func(i reg.GPVirtual) {
		v.move(f(v, v.load(at(a, i)), v.load(at(b, i))), at(dst, i))
	})
	v.end()
}

// scale multiplies a vector by a number.
func (v *isa) scale() {
	v.begin("scale", "dst, a *uint64, k uint64, n int", "multiplies a vector by a number: dst = k·a. n is a multiple of the lanes.")
	dst, a, n := pointer("dst"), pointer("a"), pointer("n")
	k := v.new()
	VPBROADCASTQ(NewParamAddr("k", 16), k)
	v.loop(n, "loop", func(i reg.GPVirtual) {
		v.move(v.mulCanonical(v.load(at(a, i)), k), at(dst, i))
	})
	v.end()
}
