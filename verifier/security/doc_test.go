package security

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocumentedFigures keeps the tables of docs/security.md equal to what Terms says.
func TestDocumentedFigures(t *testing.T) {
	const path, begin, end = "../../docs/security.md", "<!-- figures: go test ./verifier/security -update -->\n", "<!-- end of figures -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s: the markers of the figures are gone", path)
	}
	golden(t, path, before+begin+figures()+end+after)
}

func figures() string {
	var b strings.Builder
	b.WriteString("| profile | suite | blowup | Q | g | m | smallest height | proven (Johnson) | proven (unique) | conjectured | digests |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range Profiles() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %d | %d | %d | %d | 2^%d | %d | %d | %d | %d |\n", p.Name, p.Suite, 1<<p.LogBlowup, p.Queries,
			p.GrindingBits, p.Multiplicity, p.MinLogHeight, Level(Terms(p, reference(), Johnson)),
			Level(Terms(p, reference(), Unique)), Level(Terms(p, reference(), Conjectured)), DigestLevel(Terms(p, reference(), Johnson)))
	}
	for _, r := range []struct {
		regime Regime
		title  string
	}{{Johnson, "proven up to the Johnson bound"}, {Unique, "proven within the unique decoding radius"}, {Conjectured, "conjectured"}} {
		fmt.Fprintf(&b, "\nBits of each term, %s:\n\n| profile |", r.title)
		var longest []Term // profiles differ in the number of folds alone
		for _, p := range Profiles() {
			if terms := Terms(p, reference(), r.regime); len(terms) > len(longest) {
				longest = terms
			}
		}
		for _, term := range longest {
			b.WriteString(" " + term.Name + " |")
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(longest)) + "\n")
		for _, p := range Profiles() {
			bits := byName(Terms(p, reference(), r.regime))
			fmt.Fprintf(&b, "| `%s` |", p.Name)
			for _, term := range longest {
				if v, ok := bits[term.Name]; ok {
					fmt.Fprintf(&b, " %.2f", v)
				}
				b.WriteString(" |")
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\nBits of the terms that grow with the number K of such shards, proven up to the Johnson bound:\n\n| profile |")
	shards := []int{1, 16, 1024}
	for _, name := range []string{"pin", "lookup"} {
		for _, k := range shards {
			fmt.Fprintf(&b, " %s, K = %d |", name, k)
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", 2*len(shards)) + "\n")
	for _, p := range Profiles() {
		fmt.Fprintf(&b, "| `%s` |", p.Name)
		for _, name := range []string{"pin", "lookup"} {
			for _, k := range shards {
				fmt.Fprintf(&b, " %.2f |", byName(Terms(p, repeated(k), Johnson))[name])
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
