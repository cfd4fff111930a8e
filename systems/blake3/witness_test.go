package blake3

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	zeebo "github.com/zeebo/blake3"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
)

// file is n bytes that differ from each other and from those of other lengths.
func file(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i*i>>3 + 7*i + n)
	}
	return out
}

func newChecker(t testing.TB, minLogHeight int) *tracecheck.Checker {
	t.Helper()
	c, err := tracecheck.New(System(), 2, minLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustPass(t *testing.T, c *tracecheck.Checker, w *prover.Witness) {
	t.Helper()
	traces, err := c.Write(w)
	if err != nil {
		t.Fatal(err)
	}
	failures, err := c.Check(w, traces)
	if err != nil || len(failures) > 0 {
		t.Fatal(err, failures[:min(len(failures), 10)])
	}
}

func TestWitness(t *testing.T) {
	checker := newChecker(t, 3)
	for _, lengths := range [][]int{
		{0}, {1}, {3}, {4}, {63}, {64}, {65}, {127}, {1023}, {1024}, {1025}, {2048}, {2049}, {3072}, {5000}, {16<<10 + 1}, {0, 1, 1025, 64, 5000, 0}, {2049, 2049},
	} {
		t.Run(fmt.Sprint(lengths), func(t *testing.T) {
			var files [][]byte
			for _, n := range lengths {
				files = append(files, file(n))
			}
			w, err := Witness(files, nil, 3)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range files {
				digest := zeebo.Sum256(f)
				r := w.Claims[i].Results
				for k := range 8 {
					if want := binary.LittleEndian.Uint32(digest[4*k:]); r.At(k) != uint64(want) {
						t.Errorf("file %d, word %d: %x, want %x", i, k, r.At(k), want)
					}
				}
				if r.At(8) != uint64(len(f)) || r.At(9) != 0 {
					t.Errorf("file %d: length %d, %d", i, r.At(8), r.At(9))
				}
			}
			mustPass(t, checker, w)
		})
	}
}

func TestShards(t *testing.T) {
	files := [][]byte{file(5000), file(0), file(4096), file(100)}
	for minLogHeight := 1; minLogHeight <= 3; minLogHeight++ {
		checker := newChecker(t, minLogHeight)
		for _, plan := range []Plan{
			{{11}}, {{10, 10}}, {{7, 8, 9, 9}}, {{10}, {10}}, {{7}, {9, 10}}, {{7}, {3, 7}, {10}, {8, 8}, {3}}, {{8}, {8}, {8}, {8}, {9}},
		} {
			w, err := Witness(files, plan, minLogHeight)
			if err != nil {
				t.Fatal(plan, err)
			}
			mustPass(t, checker, w)
		}
	}
}

// What a row holds does not depend on the range that it is asked for in.
func TestRanges(t *testing.T) {
	checker := newChecker(t, 3)
	w, err := Witness([][]byte{file(5000), file(7)}, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := checker.Write(w)
	if err != nil {
		t.Fatal(err)
	}
	for i, table := range w.Shards[0].Tables {
		whole := make(tracecheck.Trace, len(traces[0][i]))
		for k := range whole {
			whole[k] = make([]field.Element, 1<<table.LogHeight)
		}
		if err := table.Trace.WriteRows(whole, 0); err != nil {
			t.Fatal(err)
		}
		for k := range whole {
			if !slices.Equal(whole[k], traces[0][i][k]) {
				t.Errorf("table %d, column %d differs", i, k)
			}
		}
	}
}

// The columns that docs/systems/blake3.md states are those of the compiled system.
func TestDocumentedShape(t *testing.T) {
	text, err := os.ReadFile("../../docs/systems/blake3.md")
	if err != nil {
		t.Fatal(err)
	}
	for logBlowup := 1; logBlowup <= 3; logBlowup++ {
		checker, err := tracecheck.New(System(), logBlowup, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range checker.Circuits {
			row := fmt.Sprintf("| %d | %s | %d | %d | %d | %d | %d | %d | %d |\n", 1<<logBlowup, c.Name, c.Degree, c.FixedColumns(), c.Columns, c.AuxColumns(), c.QuotientColumns(), len(c.NextMain), len(c.Lookups))
			if !strings.Contains(string(text), row) {
				t.Errorf("no row %s", row)
			}
		}
		c := checker.Circuits[circuitCompress]
		cells := fmt.Sprintf("| %d | %d | %d | %d |\n", 1<<logBlowup, rowsPerCompression*int(c.Columns), rowsPerCompression*(int(c.Columns)+c.AuxColumns()), rowsPerCompression*(int(c.Columns)+c.AuxColumns()+c.QuotientColumns()))
		if !strings.Contains(string(text), cells) {
			t.Errorf("no row %s", cells)
		}
	}
}

func TestRefusedInputs(t *testing.T) {
	big := make([]byte, MaxBytes+1)
	for _, c := range []struct {
		files [][]byte
		plan  Plan
		class formats.Class
	}{
		{nil, nil, formats.Invalid},
		{[][]byte{big}, nil, formats.Limit},
		{[][]byte{big[:MaxBytes/2], big[:MaxBytes/2+1]}, nil, formats.Limit},
		{[][]byte{{1}}, Plan{}, formats.Invalid},
		{[][]byte{{1}}, Plan{{}}, formats.Invalid},
		{[][]byte{{1}}, Plan{{2}}, formats.Invalid},
		{[][]byte{{1}}, Plan{{formats.MaxLogHeight + 1}}, formats.Invalid},
		{[][]byte{big[:1024]}, Plan{{6, 6}}, formats.Invalid},
	} {
		if _, err := Witness(c.files, c.plan, 1); !errors.Is(err, c.class) {
			t.Errorf("%v: %v, want %v", c.plan, err, c.class)
		}
	}
}

func TestDefaultHeights(t *testing.T) {
	for _, c := range []struct {
		compressions, least int
		want                []int
	}{
		{1, 3, []int{3}}, {2, 3, []int{4}}, {8, 3, []int{6}}, {9, 3, []int{7}}, {17, 3, []int{7, 6}}, {16, 3, []int{7}}, {31, 3, []int{8}}, {25, 3, []int{8}},
		{64 + 32 + 8 + 1, 3, []int{9, 8, 7}}, {1 << 24, 3, []int{27}}, {1<<24 + 1, 3, []int{27, 6}}, {1 << 25, 3, []int{27, 27}}, {1, 5, []int{5}},
	} {
		if got := defaultHeights(c.compressions, c.least); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d compressions: %v, want %v", c.compressions, got, c.want)
		}
	}
	for n := 1; n < 5000; n++ {
		heights, sum := defaultHeights(n, 3), 0
		for _, h := range heights {
			sum += 1 << h
		}
		if rows := n * rowsPerCompression; len(heights) > 3 || sum < rows || n > 64 && (sum-rows)*7 > rows {
			t.Errorf("%d compressions: %v", n, heights)
		}
	}
}

func BenchmarkTrace(b *testing.B) {
	w, err := Witness([][]byte{file(1 << 20)}, nil, 3)
	if err != nil {
		b.Fatal(err)
	}
	traces := make([]tracecheck.Trace, 0)
	for _, t := range w.Shards[0].Tables {
		trace := make(tracecheck.Trace, compressColumns)
		for k := range trace {
			trace[k] = make([]field.Element, min(prover.RowAlign, 1<<t.LogHeight))
		}
		traces = append(traces, trace)
	}
	b.ResetTimer()
	for b.Loop() {
		for i, t := range w.Shards[0].Tables {
			for r := 0; r < 1<<t.LogHeight; r += len(traces[i][0]) {
				if err := t.Trace.WriteRows(traces[i], r); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func BenchmarkWitness(b *testing.B) {
	data := file(1 << 20)
	for b.Loop() {
		if _, err := Witness([][]byte{data}, nil, 3); err != nil {
			b.Fatal(err)
		}
	}
}
