package lang_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/std"
)

// sources are programs whose parts mutations mix.
func sources(t testing.TB) (out []string) {
	t.Helper()
	for _, m := range std.Modules() {
		text, err := fs.ReadFile(std.FS, strings.TrimPrefix(m, "std/")+".ix")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.ReplaceAll(string(text), "#[builtin", "#[inline")+"\npub fn main(x: u64) -> u64 { x }\n")
	}
	out = append(out, longProgram(120))
	for seed := range uint64(30) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 9))}
		g.program()
		out = append(out, g.out.String())
	}
	return out
}

// checkCompile checks that a program compiles to valid bytecode or is refused with a typed error; it must not panic.
func checkCompile(t *testing.T, text string) {
	t.Helper()
	_, err := lang.Compile(files(text), "main.ix")
	var e *formats.Error
	if err != nil && (!errors.As(err, &e) || e.Class == formats.Internal) {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestMutatedPrograms compiles programs in which words and lines have changed places.
func TestMutatedPrograms(t *testing.T) {
	list := sources(t)
	r := rand.New(rand.NewPCG(11, 12))
	for range 3000 {
		words := strings.FieldsFunc(list[r.IntN(len(list))], func(c rune) bool { return c == ' ' })
		other := strings.FieldsFunc(list[r.IntN(len(list))], func(c rune) bool { return c == ' ' })
		for range 1 + r.IntN(3) {
			i, k := r.IntN(len(words)), r.IntN(len(words))
			switch r.IntN(5) {
			case 0:
				words[i], words[k] = words[k], words[i]
			case 1:
				words[i] = words[k]
			case 2:
				words[i] = other[r.IntN(len(other))]
			case 3:
				words = slices.Delete(words, i, i+1)
			case 4:
				words = slices.Insert(words, i, words[k])
			}
		}
		checkCompile(t, strings.Join(words, " "))
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range sources(f) {
		f.Add(text)
	}
	f.Fuzz(checkCompile)
}
