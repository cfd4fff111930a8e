package sha256

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

var iv = [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}

// padded are the blocks of a message (FIPS 180-4, section 5.1.1).
func padded(message string) (blocks [][16]uint32) {
	b := append([]byte(message), 0x80)
	for len(b)%64 != 56 {
		b = append(b, 0)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(8*len(message)))
	for ; len(b) > 0; b = b[64:] {
		var block [16]uint32
		for i := range block {
			block[i] = binary.BigEndian.Uint32(b[4*i:])
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// vectors are the examples that NIST published for FIPS 180-4, of one and of two blocks.
var vectors = map[string]string{
	"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
}

func TestCompress(t *testing.T) {
	messages := maps.Clone(vectors)
	for n := range 130 {
		m := strings.Repeat("x", n)
		sum := sha256.Sum256([]byte(m))
		messages[m] = hex.EncodeToString(sum[:])
	}
	for m, want := range messages {
		v, digest := iv, ""
		for _, block := range padded(m) {
			v = Compress(&v, &block)
		}
		for _, w := range v {
			digest += hex.EncodeToString(binary.BigEndian.AppendUint32(nil, w))
		}
		if digest != want {
			t.Errorf("%q: %s, want %s", m, digest, want)
		}
	}
}

// callSystem claims calls directly.
func callSystem() *air.System {
	s := air.NewSystem("calls")
	calls, words := s.Channel("calls", CallElements), s.Channel("range", 1)
	var args, results []formats.Value
	for i := range 24 {
		args = append(args, formats.Value{Name: "a" + strconv.Itoa(i), Type: formats.TypeField})
	}
	for i := range 8 {
		results = append(results, formats.Value{Name: "r" + strconv.Itoa(i), Type: formats.TypeField})
	}
	s.Entry("compress", calls, args, results)
	BuildCalls(s.Circuit("compress"), words, calls)
	c := s.Circuit("words")
	numbers := make([]field.Element, 1<<16)
	for i := range numbers {
		numbers[i] = field.Element(i)
	}
	c.Pull(words, c.Column("uses"), c.FixedColumn(numbers))
	return s
}

// checkers are made once, by the logarithm of the blowup.
var checkers = func() (all [4]func() *tracecheck.Checker) {
	for logBlowup := range all {
		all[logBlowup] = sync.OnceValue(func() *tracecheck.Checker {
			checker, err := tracecheck.New(callSystem(), logBlowup, 3)
			if err != nil {
				panic(err)
			}
			return checker
		})
	}
	return all
}()

func claim(c Call, out [8]uint32) (x formats.Claim) {
	for _, w := range slices.Concat(c.State[:], c.Block[:]) {
		x.Args = x.Args.Append(uint64(w))
	}
	for _, w := range out {
		x.Results = x.Results.Append(uint64(w))
	}
	return x
}

func outputs(c Call) [8]uint32 { return Compress(&c.State, &c.Block) }

// run returns what is wrong with claims and a table of calls, of which tamper may change what is written. The table of words answers for whatever is below 2^16.
func run(t *testing.T, logBlowup, logHeight int, calls []Call, tamper func(x tracecheck.Trace), claims ...formats.Claim) []string {
	t.Helper()
	checker := checkers[logBlowup]()
	table := &Calls{LogHeight: logHeight, At: func(i int) Call { return calls[i] }, Count: len(calls)}
	counts := make([]uint64, 1<<16)
	table.Tally(0, 1<<logHeight/TableRows*TableCalls, counts)
	w := &prover.Witness{Claims: claims, Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: logHeight, Trace: table}, {Circuit: 1, LogHeight: 16, Trace: wordUses(counts)}}}}}
	traces, err := checker.Write(w)
	if err != nil {
		t.Fatal(err)
	}
	if tamper != nil {
		tamper(traces[0][0])
		uses := traces[0][1][0]
		clear(uses)
		for r := range traces[0][0][0] {
			if r%TableRows == TableRows-1 || !slices.Contains(rangeRows[:], (TableRows-2-r%TableRows)%callRows) {
				continue
			}
			for j := range 4 {
				if v := traces[0][0][colS+4+j][r]; v < 1<<16 {
					uses[v]++
				}
			}
		}
	}
	failures, err := checker.Check(w, traces)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, f := range failures {
		set[f.Name()] = true
	}
	return slices.Sorted(maps.Keys(set))
}

type wordUses []uint64

func (u wordUses) WriteRows(trace [][]field.Element, first int) error {
	for i := range trace[0] {
		trace[0][i] = field.Element(u[first+i])
	}
	return nil
}

func testCall() Call {
	c := Call{Uses: 1}
	for i := range c.State {
		c.State[i] = 0x9e3779b9 * uint32(i+1)
	}
	for i := range c.Block {
		c.Block[i] = 0xdeadbeef * uint32(i+3)
	}
	return c
}

func TestCalls(t *testing.T) {
	ones := Call{Uses: 2}
	for i := range ones.State {
		ones.State[i] = 1<<32 - 1
	}
	for i := range ones.Block {
		ones.Block[i] = 1<<32 - 1
	}
	var calls []Call
	var claims []formats.Claim
	for m := range vectors {
		v := iv
		for _, block := range padded(m) {
			c := Call{v, block, 1}
			v = outputs(c)
			calls, claims = append(calls, c), append(claims, claim(c, v))
		}
	}
	calls, claims = append(calls, ones), append(claims, claim(ones, outputs(ones)), claim(ones, outputs(ones)))
	for i := range 15 { // the second table of a period's height
		c := testCall()
		c.Block[i]++
		calls, claims = append(calls, c), append(claims, claim(c, outputs(c)))
	}
	for _, logBlowup := range []int{1, 2} {
		for logHeight := 9; logHeight <= 10; logHeight++ {
			if got := run(t, logBlowup, logHeight, calls, nil, claims...); len(got) > 0 {
				t.Error(got)
			}
		}
	}
}

// TestColumns compares the table of the documentation with the compiled circuit.
func TestColumns(t *testing.T) {
	text, err := os.ReadFile("../../docs/systems/sha256.md")
	if err != nil {
		t.Fatal(err)
	}
	for logBlowup := 1; logBlowup <= 3; logBlowup++ {
		c := checkers[logBlowup]().Circuits[0]
		row := "|"
		cells := func(columns int) int { return columns * TableRows / TableCalls }
		for _, n := range []int{1 << logBlowup, int(c.Columns), c.AuxColumns(), c.QuotientColumns(), cells(int(c.Columns)), cells(int(c.Columns) + c.AuxColumns()), cells(int(c.Columns) + c.AuxColumns() + c.QuotientColumns())} {
			row += " " + strconv.Itoa(n) + " |"
		}
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/systems/sha256.md lacks %s", row)
		}
	}
}
