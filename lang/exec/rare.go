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
	operands := func() []field.Element {
		key := x.key[:in.b]
		for k, r := range fn.operands[in.a : in.a+in.b] {
			key[k] = regs[r]
		}
		return key
	}
	switch code := bc.Code(in.op); code {
	case bc.OpBytes:
		v := regs[in.a]
		if v>>(8*in.imm) != 0 {
			return x.failed(in, formats.Invalid, "a number is out of range", below(8*in.imm), decimal(v))
		}
		for k := range uint32(in.imm) {
			regs[in.dst+k] = v >> (8 * k) & 0xff
		}
	case bc.OpXor:
		a, b := regs[in.a], regs[in.b]
		if (a|b)>>8 != 0 {
			return x.failed(in, formats.Invalid, "a number is no byte", below(8), decimal(max(a, b)))
		}
		regs[in.dst] = a ^ b
	case bc.OpInput:
		values := x.inputs[in.imm]
		if at := regs[in.a]; uint64(at) < uint64(len(values)) {
			regs[in.dst] = values[at]
			break
		}
		name := formats.Quote(x.Module.Program.Inputs[in.imm].Name)
		return x.failed(in, formats.Invalid, "the private input "+name+" is too short", "an element "+decimal(regs[in.a]), strconv.Itoa(len(values))+" elements")
	case bc.OpInputLength:
		regs[in.dst] = field.Element(len(x.inputs[in.imm]))
	case bc.OpHintInverse:
		regs[in.dst], _ = field.Inverse(regs[in.a])
	case bc.OpHintLimbs:
		v := uint64(regs[in.a])
		for k := range uint32(in.imm) {
			regs[in.dst+k] = field.New(v & (1<<in.more - 1))
			v >>= in.more
		}
	case bc.OpHintDivMod, bc.OpHintModInverse:
		args := operands()
		for _, v := range args {
			if v>>32 != 0 {
				return x.failed(in, formats.Invalid, "a limb is too large", below(32), decimal(v))
			}
		}
		first := int(in.imm)
		a, b := integer(args[:first]), integer(args[first:])
		if b.Sign() == 0 {
			return x.failed(in, formats.Invalid, "a division by zero", "", "")
		}
		if code == bc.OpHintModInverse {
			if a.ModInverse(a, b) == nil {
				a.SetUint64(0)
			}
			limbs(regs[in.dst:int(in.dst)+first], a)
			break
		}
		remainder := new(big.Int)
		a.QuoRem(a, b, remainder)
		limbs(regs[in.dst:int(in.dst)+first], a)
		limbs(regs[int(in.dst)+first:int(in.dst)+len(args)], remainder)
	default:
		kind, _ := accel.ByCode(code)
		a := kind.Of()
		args := operands()
		if at := a.Wrong(args); at >= 0 {
			return x.failed(in, formats.Invalid, "operand "+strconv.Itoa(at)+" of "+code.String()+" is no word", below(32), decimal(args[at]))
		}
		if !constrained {
			a.Compute(args, regs[in.dst:int(in.dst)+a.Results])
			break
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
		copy(regs[in.dst:], e[a.Args:a.Args+a.Results])
	}
	return nil
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
