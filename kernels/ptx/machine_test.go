package ptx_test

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// machine runs the PTX that this package writes, and no other: one thread at a time, of one basic block with a guard. It knows the instructions by their full names and operands' kinds, and holds that
// every register is written once and read after that, and that loads and stores stay inside of memory.
type machine struct {
	halves, wides []uint64
	code          []instruction
	params        int // bytes
	threads       int
}

type instruction struct {
	op   string
	run  func(t *thread, i *instruction) error
	args [6]operand
	n    int
}

type operand struct {
	kind  byte // 'r', 'd', 'p', 'i' for an immediate, 'm' for an address in a register, 'a' for one in the parameters
	value uint64
}

// memory is arrays of 64-bit words at addresses that are multiples of 2^40.
type memory map[uint64][]uint64

const segment = 1 << 40

func (m memory) word(at uint64) (*uint64, error) {
	s := m[at/segment]
	i := at % segment / 8
	if at%8 != 0 || i >= uint64(len(s)) {
		return nil, fmt.Errorf("%#x is outside of memory", at)
	}
	return &s[i], nil
}

type thread struct {
	block, index uint32
	r            []uint32
	d            []uint64
	p            []bool
	written      [3][]bool
	carry        uint32
	parameters   []byte
	memory       memory
	ended        bool
}

var (
	entryText = regexp.MustCompile(`(?s)^\.version 7\.0\n\.target sm_80\n\.address_size 64\n\.visible \.entry (\w+)\(\.param \.align 8 \.b8 p\[(\d+)\]\)\n\.maxntid (\d+)\n\.minnctapersm \d+\n\{\n\.reg \.b32 %r<(\d+)>;\n\.reg \.b64 %d<(\d+)>;\n\.reg \.pred %p<(\d+)>;\n(.*)END:\nret;\n\}\n$`)
	nameText  = regexp.MustCompile(`[{}]`)
)

// assemble reads a kernel.
func assemble(text string) (*machine, error) {
	m := entryText.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("no kernel: %.200q", text)
	}
	number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	out := &machine{params: number(2), threads: number(3), halves: make([]uint64, number(4)), wides: make([]uint64, number(5))}
	truths := number(6)
	for _, line := range strings.Split(strings.TrimSuffix(m[7], "\n"), "\n") {
		i, err := decode(line, len(out.halves), len(out.wides), truths)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out.code = append(out.code, i)
	}
	return out, nil
}

func decode(line string, halves, wides, truths int) (i instruction, err error) {
	line, ok := strings.CutSuffix(line, ";")
	if !ok {
		return i, fmt.Errorf("no semicolon")
	}
	guard := ""
	if strings.HasPrefix(line, "@") {
		guard, line, _ = strings.Cut(line[1:], " ")
	}
	op, rest, _ := strings.Cut(line, " ")
	i.op = op
	list := strings.Split(nameText.ReplaceAllString(rest, ""), ",")
	if guard != "" {
		if op != "bra" || rest != "END" {
			return i, fmt.Errorf("a guard")
		}
		list = []string{guard}
	}
	for _, text := range list {
		o, err := parse(text, halves, wides, truths)
		if err != nil {
			return i, err
		}
		if i.n == len(i.args) {
			return i, fmt.Errorf("too many operands")
		}
		i.args[i.n] = o
		i.n++
	}
	kinds := ""
	for _, o := range i.args[:i.n] {
		kinds += string(o.kind)
	}
	s, ok := set[op]
	if !ok || !s.shape.MatchString(kinds) {
		return i, fmt.Errorf("no such instruction with operands %s", kinds)
	}
	i.run = s.run
	return i, nil
}

func parse(text string, halves, wides, truths int) (o operand, err error) {
	switch text {
	case "%ctaid.x":
		return operand{'i', block}, nil
	case "%tid.x":
		return operand{'i', index}, nil
	}
	kind := map[bool]byte{true: 'i'}[text != "" && text[0] >= '0' && text[0] <= '9']
	limit := uint64(1 << 32)
	switch {
	case kind == 'i':
	case strings.HasPrefix(text, "%r"):
		kind, limit, text = 'r', uint64(halves), text[2:]
	case strings.HasPrefix(text, "%d"):
		kind, limit, text = 'd', uint64(wides), text[2:]
	case strings.HasPrefix(text, "%p"):
		kind, limit, text = 'p', uint64(truths), text[2:]
	case strings.HasPrefix(text, "[%d"):
		kind, limit, text = 'm', uint64(wides), strings.TrimSuffix(text[3:], "]")
	case strings.HasPrefix(text, "[p+"):
		kind, text = 'a', strings.TrimSuffix(text[3:], "]")
	}
	if o.value, err = strconv.ParseUint(text, 10, 64); err != nil || kind == 0 || o.value >= limit || kind != 'i' && kind != 'a' && o.value == 0 {
		return o, fmt.Errorf("operand %q", text)
	}
	o.kind = kind
	return o, nil
}

// The special registers, as immediates that no 32-bit one is.
const (
	block = 1<<32 + iota
	index
)

func (t *thread) get(o operand) (uint64, error) {
	written := true
	var v uint64
	switch o.kind {
	case 'r':
		v, written = uint64(t.r[o.value]), t.written[0][o.value]
	case 'd', 'm':
		v, written = t.d[o.value], t.written[1][o.value]
	case 'p':
		written = t.written[2][o.value]
		if t.p[o.value] {
			v = 1
		}
	default:
		switch v = o.value; v {
		case block:
			v = uint64(t.block)
		case index:
			v = uint64(t.index)
		}
	}
	if !written {
		return 0, fmt.Errorf("register %c%d is read before it is written", o.kind, o.value)
	}
	return v, nil
}

func (t *thread) set(o operand, v uint64) error {
	k := strings.IndexByte("rdp", o.kind)
	if t.written[k][o.value] {
		return fmt.Errorf("register %c%d is written twice", o.kind, o.value)
	}
	t.written[k][o.value] = true
	switch k {
	case 0:
		t.r[o.value] = uint32(v)
	case 1:
		t.d[o.value] = v
	case 2:
		t.p[o.value] = v != 0
	}
	return nil
}

type meaning struct {
	shape *regexp.Regexp
	run   func(t *thread, i *instruction) error
}

// value is an instruction that computes one register of others.
func value(f func(t *thread, v []uint64) uint64) func(t *thread, i *instruction) error {
	return func(t *thread, i *instruction) error {
		var v [6]uint64
		for k := 1; k < i.n; k++ {
			var err error
			if v[k-1], err = t.get(i.args[k]); err != nil {
				return err
			}
		}
		return t.set(i.args[0], f(t, v[:]))
	}
}

// sum is an addition whose carry is kept where flag is set, and that adds the carry before where in is set. Subtractions are additions of complements.
func sum(in, flag, subtract bool, f func(v []uint64) (a, b uint64)) func(t *thread, i *instruction) error {
	return value(func(t *thread, v []uint64) uint64 {
		a, b := f(v)
		carry := uint64(0)
		if in {
			carry = uint64(t.carry)
		}
		s := a + b + carry
		if subtract {
			s = a - b - carry
		}
		if flag {
			t.carry = uint32(s >> 32 & 1)
		}
		return s
	})
}

func pair(v []uint64) (a, b uint64) { return v[0], v[1] }
func low(v []uint64) (a, b uint64)  { return v[0] * v[1] & (1<<32 - 1), v[2] }
func high(v []uint64) (a, b uint64) { return v[0] * v[1] >> 32, v[2] }

var set = func() map[string]meaning {
	const two, three = `^r[ri][ri]$`, `^r[ri][ri][ri]$`
	out := map[string]meaning{}
	add := func(op, shape string, run func(t *thread, i *instruction) error) {
		out[op] = meaning{regexp.MustCompile(shape), run}
	}
	add("add.u32", two, value(func(_ *thread, v []uint64) uint64 { return v[0] + v[1] }))
	add("sub.u32", two, value(func(_ *thread, v []uint64) uint64 { return v[0] - v[1] }))
	add("and.b32", two, value(func(_ *thread, v []uint64) uint64 { return v[0] & v[1] }))
	add("shl.b32", two, value(func(_ *thread, v []uint64) uint64 { return uint64(uint32(v[0]) << v[1]) }))
	add("shr.u32", two, value(func(_ *thread, v []uint64) uint64 { return v[0] >> v[1] }))
	add("shr.s32", `^rri$`, value(func(_ *thread, v []uint64) uint64 { return uint64(uint32(int32(uint32(v[0])) >> v[1])) }))
	add("brev.b32", `^rr$`, value(func(_ *thread, v []uint64) uint64 { return uint64(bits.Reverse32(uint32(v[0]))) }))
	add("mov.u32", `^r[ri]$`, value(func(_ *thread, v []uint64) uint64 { return v[0] }))
	add("mad.lo.u32", three, value(func(_ *thread, v []uint64) uint64 { return v[0]*v[1] + v[2] }))
	add("mul.wide.u32", `^dr[ri]$`, value(func(_ *thread, v []uint64) uint64 { return v[0] * v[1] }))
	add("mad.wide.u32", `^dr[ri]d$`, value(func(_ *thread, v []uint64) uint64 { return v[0]*v[1] + v[2] }))
	add("setp.ge.u32", `^prr$`, value(func(_ *thread, v []uint64) uint64 { return truthOf(v[0] >= v[1]) }))
	add("setp.eq.u32", `^pr[ri]$`, value(func(_ *thread, v []uint64) uint64 { return truthOf(v[0] == v[1]) }))
	add("selp.u32", `^riip$`, value(func(_ *thread, v []uint64) uint64 { return v[1-v[2]] }))
	add("add.cc.u32", two, sum(false, true, false, pair))
	add("addc.cc.u32", two, sum(true, true, false, pair))
	add("addc.u32", two, sum(true, false, false, pair))
	add("sub.cc.u32", two, sum(false, true, true, pair))
	add("subc.cc.u32", two, sum(true, true, true, pair))
	add("subc.u32", two, sum(true, false, true, pair))
	add("mad.lo.cc.u32", `^rr[ri][ri]$`, sum(false, true, false, low))
	add("madc.lo.cc.u32", `^rr[ri][ri]$`, sum(true, true, false, low))
	add("madc.hi.cc.u32", `^rr[ri][ri]$`, sum(true, true, false, high))
	add("mov.b64", `^rrd$`, func(t *thread, i *instruction) error {
		v, err := t.get(i.args[2])
		if err == nil {
			err = t.set(i.args[0], v)
		}
		if err == nil {
			err = t.set(i.args[1], v>>32)
		}
		return err
	})
	parameter := func(size uint64) func(t *thread, i *instruction) error {
		return func(t *thread, i *instruction) error {
			at := i.args[1].value
			if at%size != 0 || at+size > uint64(len(t.parameters)) {
				return fmt.Errorf("no parameter at %d", at)
			}
			v := uint64(0)
			for k := range size {
				v |= uint64(t.parameters[at+k]) << (8 * k)
			}
			return t.set(i.args[0], v)
		}
	}
	add("ld.param.u32", `^ra$`, parameter(4))
	add("ld.param.u64", `^da$`, parameter(8))
	load := func(t *thread, i *instruction) error {
		at, err := t.get(i.args[2])
		if err != nil {
			return err
		}
		w, err := t.memory.word(at)
		if err == nil {
			err = t.set(i.args[0], *w&(1<<32-1))
		}
		if err == nil {
			err = t.set(i.args[1], *w>>32)
		}
		return err
	}
	add("ld.global.v2.u32", `^rrm$`, load)
	add("ld.global.nc.v2.u32", `^rrm$`, load)
	add("st.global.v2.u32", `^mrr$`, func(t *thread, i *instruction) error {
		var v [3]uint64
		for k := range v {
			var err error
			if v[k], err = t.get(i.args[k]); err != nil {
				return err
			}
		}
		w, err := t.memory.word(v[0])
		if err == nil {
			*w = v[2]<<32 | v[1]
		}
		return err
	})
	add("bra", `^p$`, func(t *thread, i *instruction) error {
		v, err := t.get(i.args[0])
		t.ended = v != 0
		return err
	})
	return out
}()

func truthOf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// run runs blocks of threads.
func (m *machine) run(blocks int, parameters []byte, memory memory) error {
	if len(parameters) != m.params {
		return fmt.Errorf("%d bytes of parameters, want %d", len(parameters), m.params)
	}
	for b := range blocks {
		for k := range m.threads {
			t := &thread{block: uint32(b), index: uint32(k), parameters: parameters, memory: memory,
				r: make([]uint32, len(m.halves)), d: make([]uint64, len(m.wides)), p: make([]bool, 8)}
			t.written = [3][]bool{make([]bool, len(t.r)), make([]bool, len(t.d)), make([]bool, len(t.p))}
			for i := range m.code {
				if err := m.code[i].run(t, &m.code[i]); err != nil {
					return fmt.Errorf("thread %d of block %d, instruction %d, %s: %w", k, b, i, m.code[i].op, err)
				}
				if t.ended {
					break
				}
			}
		}
	}
	return nil
}

// live is the most 32-bit registers that are live at a time, in the order in which the kernel is written, wide ones counted twice.
func (m *machine) live() (most int) {
	type key struct {
		kind byte
		n    uint64
	}
	last := map[key]int{}
	at := func(o operand) (key, int) {
		switch o.kind {
		case 'r':
			return key{'r', o.value}, 1
		case 'd', 'm':
			return key{'d', o.value}, 2
		}
		return key{}, 0
	}
	for i := range m.code {
		for _, o := range m.code[i].args[:m.code[i].n] {
			if k, n := at(o); n > 0 {
				last[k] = i
			}
		}
	}
	now, seen := 0, map[key]bool{}
	for i := range m.code {
		for _, o := range m.code[i].args[:m.code[i].n] {
			k, n := at(o)
			if n > 0 && !seen[k] && m.code[i].op != "ld.param.u32" { // parameters are operands where they are
				seen[k] = true
				now += n
			}
		}
		most = max(most, now)
		for _, o := range m.code[i].args[:m.code[i].n] {
			if k, n := at(o); n > 0 && seen[k] && last[k] == i {
				now -= n
				delete(seen, k)
			}
		}
	}
	return most
}
