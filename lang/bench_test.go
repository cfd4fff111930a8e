package lang_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/lang"
)

// longProgram is a program of about so many lines: structs, enums, recursion over lists, matches and loops, all reached from its entry.
func longProgram(lines int) string {
	var b strings.Builder
	b.WriteString("import \"std/list\" (List);\nimport \"std/u32\";\n")
	var calls []string
	for i := 0; strings.Count(b.String(), "\n") < lines-60; i++ {
		fmt.Fprintf(&b, `
struct Point%[1]d {
	x: u32,
	y: u32,
	tag: bool,
}

enum Shape%[1]d {
	Empty,
	Dot(Point%[1]d),
	Box(Point%[1]d, Point%[1]d),
}

fn area%[1]d(s: Shape%[1]d) -> u64 {
	match s {
		Shape%[1]d::Empty => 0,
		Shape%[1]d::Dot(Point%[1]d { tag: true, .. }) => 1,
		Shape%[1]d::Dot(p) => p.x as u64 + (p.y as u64),
		Shape%[1]d::Box(p, q) => {
			let w = if p.x < q.x { q.x - p.x } else { p.x - q.x };
			let h = if p.y < q.y { q.y - p.y } else { p.y - q.y };
			w as u64 * (h as u64) + %[1]d
		}
	}
}

fn walk%[1]d(l: List<u32>, sum: u64) -> u64 {
	match l {
		List::Nil => sum,
		List::Cons(0 | 1, &rest) => walk%[1]d(rest, sum),
		List::Cons(x, &rest) => {
			let p = Point%[1]d { x, y: u32::rotate_right(x, 7), tag: x > %[1]d };
			let total = for i in 0..4 with t = 0u64 {
				t + (p.x as u64) * (i as u64)
			};
			walk%[1]d(rest, area%[1]d(Shape%[1]d::Box(p, Point%[1]d { x: 3, ..p })) + total %% 1000)
		}
	}
}
`, i)
		calls = append(calls, fmt.Sprintf("\tlet s = walk%d(l, s);\n", i))
	}
	b.WriteString("\npub fn main(private l: List<u32>) -> u64 {\n\tlet s = 0;\n" + strings.Join(calls, "") + "\ts\n}\n")
	return b.String()
}

func TestLongProgram(t *testing.T) {
	p := compile(t, longProgram(500))
	if got, err := run(t, p, "main()", `{"l": [1, 7, 9, 2]}`); err != nil || got == "0" {
		t.Errorf("%s, %v", got, err)
	}
}

// BenchmarkCompile compiles a program of 5,000 lines.
func BenchmarkCompile(b *testing.B) {
	folder := files(longProgram(5000))
	b.SetBytes(int64(len(folder["main.ix"].Data)))
	for b.Loop() {
		p, err := lang.Compile(folder, "main.ix")
		if err != nil {
			b.Fatal(explain(err))
		}
		b.ReportMetric(float64(len(p.Bytecode.Functions)), "functions")
	}
	b.ReportMetric(float64(strings.Count(string(folder["main.ix"].Data), "\n")), "lines")
}
