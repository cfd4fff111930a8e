package exec

import (
	"math/big"
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/accel"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/verifier/field"
)

// rare executes the operations that are not worth a place in the loop.
func (x *machine) rare(in *instruction, fn *function, regs []field.Element, constrained bool) error {
	code := bc.Code(in.op)
	switch code {
	case bc.OpBytes:
		v := regs[in.a]
		if v>>(8*in.imm) != 0 {
			return x.failed(in, formats.Invalid, "a number is out of range", below(8*in.imm), decimal(v))
		}
		for k := range uint32(in.imm) {
			regs[in.dst+k] = v >> (8 * k) & 0xff
		}
		return nil
	case bc.OpXor:
		a, b := regs[in.a], regs[in.b]
		if (a|b)>>8 != 0 {
			return x.failed(in, formats.Invalid, "a number is no byte", below(8), decimal(max(a, b)))
		}
		regs[in.dst] = a ^ b
		return nil
	case bc.OpInput, bc.OpInputLength, bc.OpHintInverse, bc.OpHintLimbs:
		x.key[0] = regs[in.a]
		return x.hinted(in, x.hint(code, in.imm, uint64(in.more), x.key[:1], regs[in.dst:]))
	}
	args := x.key[:in.b]
	for k, r := range fn.operands[in.a : in.a+in.b] {
		args[k] = regs[r]
	}
	kind, ok := accel.ByCode(code)
	if !ok {
		return x.hinted(in, x.hint(code, in.imm, uint64(in.more), args, regs[in.dst:]))
	}
	a := kind.Of()
	if at := a.Wrong(args); at >= 0 {
		return x.failed(in, formats.Invalid, "operand "+strconv.Itoa(at)+" of "+code.String()+" is no word", below(32), decimal(args[at]))
	}
	results := regs[in.dst : int(in.dst)+a.Results]
	if !constrained {
		a.Compute(args, results)
		return nil
	}
	t := x.accel[kind]
	if t == nil {
		t = newTable(a.Args, a.Results+1, &x.memory)
		x.accel[kind] = t
	}
	i, added, ok := t.find(args)
	if !ok {
		return x.outOfMemory()
	}
	e := t.entry(i)
	if added {
		a.Compute(e[:a.Args], e[a.Args:a.Args+a.Results])
	}
	e[a.Args+a.Results]++
	copy(results, e[a.Args:])
	return nil
}

// problem is why a hint cannot be given.
type problem struct{ what, expected, got string }

func (x *machine) hinted(in *instruction, p *problem) error {
	if p == nil {
		return nil
	}
	return x.failed(in, formats.Invalid, p.what, p.expected, p.got)
}

// hint computes the results of a hint with immediates A and B but for unconstrained calls. The slices may not overlap.
func (r *Record) hint(code bc.Code, a, b uint64, args, results []field.Element) *problem {
	switch code {
	case bc.OpInput:
		values := r.inputs[a]
		if uint64(args[0]) >= uint64(len(values)) {
			return &problem{"the private input " + formats.Quote(r.Module.Program.Inputs[a].Name) + " is too short", "an element " + decimal(args[0]), strconv.Itoa(len(values)) + " elements"}
		}
		results[0] = values[args[0]]
	case bc.OpInputLength:
		results[0] = field.Element(len(r.inputs[a]))
	case bc.OpHintInverse:
		results[0], _ = field.Inverse(args[0])
	case bc.OpHintLimbs:
		v := uint64(args[0])
		for k := range a {
			results[k] = field.New(v & (1<<b - 1))
			v >>= b
		}
	case bc.OpHintDivMod, bc.OpHintModInverse:
		for _, v := range args {
			if v>>32 != 0 {
				return &problem{"a limb is too large", below(32), decimal(v)}
			}
		}
		x, y := integer(args[:a]), integer(args[a:])
		if y.Sign() == 0 {
			return &problem{"a division by zero", "", ""}
		}
		if code == bc.OpHintModInverse {
			if x.ModInverse(x, y) == nil {
				x.SetUint64(0)
			}
			limbs(results[:a], x)
			break
		}
		remainder := new(big.Int)
		x.QuoRem(x, y, remainder)
		limbs(results[:a], x)
		limbs(results[a:a+b], remainder)
	}
	return nil
}

// Hint recomputes the results of an operation for which IsHint holds, as they were in the execution. It is false if the operation was not executed with these operands. It may be called concurrently; the slices may
// not overlap.
func (r *Record) Hint(o *bc.Op, args, results []field.Element) bool {
	if o.Unconstrained() {
		e, ok := r.Find(int(o.A), args)
		copy(results, e.Results)
		return ok
	}
	return r.hint(o.Code, o.A, o.B, args, results) == nil
}

// integer is the number with these limbs of 32 bits, lowest first.
func integer(limbs []field.Element) *big.Int {
	bytes := make([]byte, 4*len(limbs))
	for k, v := range limbs {
		at := len(bytes) - 4*k
		bytes[at-1], bytes[at-2], bytes[at-3], bytes[at-4] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
	return new(big.Int).SetBytes(bytes)
}

// limbs writes a number into limbs that are enough for it.
func limbs(out []field.Element, n *big.Int) {
	bytes := n.FillBytes(make([]byte, 4*len(out)))
	for k := range out {
		at := len(bytes) - 4*k
		out[k] = field.Element(bytes[at-1]) | field.Element(bytes[at-2])<<8 | field.Element(bytes[at-3])<<16 | field.Element(bytes[at-4])<<24
	}
}
