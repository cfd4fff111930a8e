package kernels

import (
	"cmp"
	"math"
	"slices"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels/lower"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// Operations and places of operands: the enumerations of cu/air.cuh.
const (
	opAdd = iota
	opSub
	opMul
	opPeriodic
	opTerm
	opFold
	opMessage
	opFraction
	opGroup
	opEnd
)

const (
	inRegister = iota
	inRow
	inNextRow
	inConstant
	inResult
)

const (
	noRegister         = 1<<32 - 1
	instructionWords   = 3
	airThreads         = 128
	maxSharedRegisters = 48 // 48 KiB a block: four blocks a multiprocessor
	maxScratchBlocks   = 8  // a multiprocessor's
)

// sharedRegisters is how many registers may be in shared memory; only tests change it.
var sharedRegisters = maxSharedRegisters

// domain is where a program runs: what its leaves are there. Columns are of 2^logColumn values.
type domain struct {
	main, fixed Address
	logColumn   int
	first       Address // column of the first row's selector; 0 on the trace domain, where selectors are in registers
	periodic    func(index int) periodicTable
}

// periodicTable holds the values of a periodic column: that of a row is at (row >> shift) & mask.
type periodicTable struct {
	values []field.Element
	shift  int
	mask   uint64
}

// programParams is the kernels' Program.
type programParams struct {
	code, table, scratch    Address
	tables                  tableParams
	logHeight               uint64
	first, last, transition uint64
}

// encoder writes a circuit's program as the kernels read it.
type encoder struct {
	domain
	nodes     []formats.Node
	code      []uint64
	data      []uint64       // what the code refers to: the table, constants, periodic columns
	relocate  []int          // words of the code to which the address of the data is to be added
	constants map[uint64]int // in data
	periods   map[uint64]periodicTable
	places    map[uint64]int // of periodic columns in data
	registers int
	selectors [3]uint64
	result    int32 // register of the last result, -1 for none
	writer    []int // instruction that last wrote each register
}

func (e *encoder) emit(op, a, b uint64) {
	e.code = append(e.code, op|noRegister<<8, a, b)
}

// store makes the instruction that begins at a word of the code store its result.
func (e *encoder) store(at int, register int32) {
	e.code[at] = e.code[at]&0xff | uint64(register)<<8
}

// located is the word of an operand by its number and what the number counts.
func located(number, what uint64) uint64 { return number<<3 | what }

// operand is the word of an operand. Results that only the next instruction with a result reads are never stored: the first other read of a register has its writer store it.
func (e *encoder) operand(o int32) uint64 {
	switch {
	case o >= 0 && o == e.result:
		return inResult
	case o >= 0:
		e.store(e.writer[o], o)
		return located(uint64(o), inRegister)
	}
	n := e.nodes[^o]
	place := inRow + uint64(n.B)
	switch n.Op {
	case formats.OpMain:
		return uint64(e.main) + n.A<<(e.logColumn+3) | place
	case formats.OpFixed:
		return uint64(e.fixed) + n.A<<(e.logColumn+3) | place
	case formats.OpConst:
		at, ok := e.constants[n.A]
		if !ok {
			at = len(e.data)
			e.data = append(e.data, n.A)
			e.constants[n.A] = at
		}
		return located(uint64(at), inConstant) // an address once the data has one
	case formats.OpFirst:
		if e.first != 0 {
			return uint64(e.first) | inRow
		}
	case formats.OpLast:
		if e.first != 0 {
			return uint64(e.first) | inNextRow
		}
	}
	s := &e.selectors[n.Op-formats.OpFirst]
	if *s == noRegister {
		*s = uint64(e.registers)
		e.registers++
	}
	return located(*s, inRegister)
}

// step encodes an instruction with a result.
func (e *encoder) step(ins lower.Instruction) {
	at := len(e.code)
	if ins.Op == formats.OpPeriodic {
		index := uint64(ins.A)
		place, ok := e.places[index]
		if !ok {
			p := e.periodic(int(index))
			place = len(e.data)
			for _, v := range p.values {
				e.data = append(e.data, uint64(v))
			}
			e.places[index], e.periods[index] = place, p
		}
		p := e.periods[index]
		e.relocate = append(e.relocate, at+1)
		e.emit(opPeriodic, uint64(place)<<3|(inRow+uint64(ins.B)), uint64(p.shift)|p.mask<<8)
	} else {
		a, b := e.operand(ins.A), e.operand(ins.B)
		e.emit(opAdd+uint64(ins.Op-formats.OpAdd), a, b)
		for k, o := range [2]uint64{a, b} {
			if o&7 == inConstant {
				e.relocate = append(e.relocate, at+1+k)
			}
		}
	}
	e.result, e.writer[ins.To] = ins.To, at
}

// hand encodes an instruction that consumes a value.
func (e *encoder) hand(op uint64, o int32, b uint64) {
	a := e.operand(o)
	if a&7 == inConstant {
		e.relocate = append(e.relocate, len(e.code)+1)
	}
	e.emit(op, a, b)
}

// use is what is done with an output of the lowered program, and what after it.
type use struct {
	op, b uint64
	after [][2]uint64
}

// sequence lists outputs in the order in which they are computed.
type sequence struct {
	e       *encoder
	outputs []uint32
	uses    []use
}

func (s *sequence) use(id uint32, op, b uint64) {
	s.outputs, s.uses = append(s.outputs, id), append(s.uses, use{op: op, b: b})
}

// then adds an operation without operand after the last output.
func (s *sequence) then(op, b uint64) {
	if len(s.uses) == 0 {
		s.e.emit(op, 0, b)
		return
	}
	last := &s.uses[len(s.uses)-1]
	last.after = append(last.after, [2]uint64{op, b})
}

// encode writes the program of a circuit: its constraints folded with powers of delta unless delta is nil, and its lookups. Constraints come before the first lookup with a
// node above theirs, so that both are computed about where the circuit's author wrote them: what they share need not be held for long.
func encode(c *air.Circuit, on domain, ch *logup.Challenges, delta *field.Ext) *encoder {
	e := &encoder{
		domain: on, nodes: c.Nodes, constants: map[uint64]int{}, periods: map[uint64]periodicTable{}, places: map[uint64]int{},
		selectors: [3]uint64{noRegister, noRegister, noRegister}, result: -1,
	}
	// The table: zero, powers of delta, powers of gamma, the bases of messages.
	table := make([]field.Ext, 1)
	var constraints []int
	if delta != nil {
		m := c.FoldedConstraints()
		table = append(table, make([]field.Ext, m)...)
		for k, p := m, (field.Ext{1}); k >= 1; k, p = k-1, field.MulExt(p, *delta) {
			table[k] = p
		}
		constraints = make([]int, len(c.Constraints))
		for k := range constraints {
			constraints[k] = k
		}
		slices.SortStableFunc(constraints, func(i, j int) int { return cmp.Compare(c.Constraints[i], c.Constraints[j]) })
	}
	powers := len(table)
	if c.HasLookups() {
		table = append(table, ch.Powers...)
	}
	s := sequence{e: e}
	fold := func(below uint64) {
		for first := true; len(constraints) > 0 && uint64(c.Constraints[constraints[0]]) < below; first = false {
			if first {
				s.then(opMessage, 0)
			}
			s.use(c.Constraints[constraints[0]], opTerm, uint64(1+constraints[0]))
			constraints = constraints[1:]
			if len(constraints) == 0 || uint64(c.Constraints[constraints[0]]) >= below {
				s.then(opFold, 0)
			}
		}
	}
	for g, group := range c.Groups {
		for i := group.First; i < group.End; i++ {
			l := &c.Lookups[i]
			top := l.Multiplicity
			for _, id := range l.Args {
				top = max(top, id)
			}
			fold(uint64(top))
			s.then(opMessage, uint64(len(table)))
			table = append(table, ch.Base(l.Channel))
			for k, id := range l.Args {
				s.use(id, opTerm, uint64(powers+k))
			}
			flags := uint64(0)
			if i == group.First {
				flags |= 1
			}
			if l.Push {
				flags |= 2
			}
			s.use(l.Multiplicity, opFraction, flags)
		}
		b := uint64(g)
		if delta != nil {
			b |= uint64(1+len(c.Constraints)+g) << 32
		}
		s.then(opGroup, b)
	}
	fold(math.MaxUint64)
	for _, v := range table {
		e.data = append(e.data, uint64(v[0]), uint64(v[1]), uint64(v[2]))
	}
	p := lower.Stream(c, s.outputs)
	e.registers, e.writer = p.Registers, make([]int, p.Registers)
	for _, ins := range p.Code {
		if ins.Op != lower.Use {
			e.step(ins)
			continue
		}
		u := s.uses[ins.B]
		e.hand(u.op, ins.A, u.b)
		for _, next := range u.after {
			e.emit(next[0], 0, next[1])
		}
	}
	e.emit(opEnd, 0, 0)
	e.emit(opEnd, 0, 0)
	return e
}

// loaded is a program on a device.
type loaded struct {
	programParams
	words, scratch Array[uint64]
	kind           string // of kernel: "shared" or "scratch"
	grid           [3]uint32
	sharedBytes    int
}

func (l *loaded) free() error {
	err := l.words.Free()
	if second := l.scratch.Free(); err == nil {
		err = second
	}
	return err
}

// scratchBlocks is how many blocks share the registers of a program that keeps them in global memory.
func scratchBlocks(points uint64, processors int) uint32 {
	grid, _ := linear(points, airThreads)
	return min(grid[0], uint32(max(processors, 1)*maxScratchBlocks))
}

// load brings a program to the device, ready to run on up to `points` points at a time. For a compiled program it brings the data alone, to the room that both take: what a proof needs does not
// depend on how a program is run.
func (d *Device) load(e *encoder, logHeight int, points uint64, compiled bool) (*loaded, error) {
	tables, err := d.powerTables()
	if err != nil {
		return nil, err
	}
	l := &loaded{programParams: programParams{
		tables: tables, logHeight: uint64(logHeight), first: e.selectors[0], last: e.selectors[1], transition: e.selectors[2],
	}, kind: "shared", sharedBytes: 8 * airThreads * e.registers}
	l.grid, _ = linear(points, airThreads)
	if e.registers > sharedRegisters {
		l.kind, l.sharedBytes = "scratch", 0
		l.grid[0] = scratchBlocks(points, d.Info().Processors)
		if l.scratch, err = Alloc[uint64](d, e.registers*airThreads*int(l.grid[0])); err != nil {
			return nil, err
		}
		l.programParams.scratch = l.scratch.at
	}
	if l.words, err = Alloc[uint64](d, len(e.data)+len(e.code)); err != nil {
		l.free()
		return nil, err
	}
	l.table = l.words.at
	l.code = l.words.at + Address(8*len(e.data))
	words := e.data
	if !compiled {
		for _, at := range e.relocate {
			e.code[at] += uint64(l.words.at)
		}
		words = append(words, e.code...)
	}
	if err = l.words.Upload(words); err != nil {
		l.free()
		return nil, err
	}
	return l, nil
}

// checkTable checks a table's columns, of 2^(logHeight+logBlowup) values each, and what kernels rely on beyond what a checked circuit is known to satisfy.
func checkTable(place string, c *air.Circuit, logHeight, logBlowup int, main, fixed Array[field.Element], ch *logup.Challenges) error {
	if c == nil {
		return outOfRange(place, "there is no circuit")
	}
	if logHeight < c.LogPeriod || logHeight > maxLogHeight || len(c.Fixed) > 0 && logHeight != int(c.Fixed[0].LogHeight) {
		return outOfRange(place, "log height %d", logHeight)
	}
	for i := range c.Lookups {
		if n := len(c.Lookups[i].Args); ch == nil || len(ch.Powers) < n {
			return outOfRange(place, "challenges for messages of less than %d arguments", n)
		}
	}
	if err := need(place, "the main matrix", main, uint64(c.Circuit.Columns)<<(logHeight+logBlowup)); err != nil {
		return err
	}
	return need(place, "the fixed matrix", fixed, uint64(c.FixedColumns())<<(logHeight+logBlowup))
}

// natural lists a periodic column in natural order.
func natural(e formats.Elements) []field.Element {
	out := make([]field.Element, e.Len())
	for i := range out {
		out[i] = field.Element(e.At(i))
	}
	return out
}
