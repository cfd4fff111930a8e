// Package editors_test checks what editors are given against the language itself.
package editors_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// rule is a pattern of a TextMate grammar.
type rule struct {
	Name, Match, Begin, End, Include string
	Captures                         map[string]rule
	BeginCaptures, EndCaptures       map[string]rule
	Patterns                         []rule
}

func read(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// grammar reads the grammar and lists all of its rules.
func grammar(t *testing.T) (all []rule, repository map[string]rule) {
	t.Helper()
	var g struct {
		ScopeName  string
		Patterns   []rule
		Repository map[string]rule
	}
	read(t, "textmate/ix.tmLanguage.json", &g)
	if g.ScopeName != "source.ix" {
		t.Errorf("the scope is %s", g.ScopeName)
	}
	var visit func(r rule)
	visit = func(r rule) {
		all = append(all, r)
		for _, inner := range r.Patterns {
			visit(inner)
		}
	}
	for _, r := range g.Patterns {
		visit(r)
	}
	for _, r := range g.Repository {
		visit(r)
	}
	return all, g.Repository
}

// TestGrammar checks that each expression compiles (they keep to what Go and Oniguruma have in common), that includes are there, and that scopes are of this language.
func TestGrammar(t *testing.T) {
	all, repository := grammar(t)
	used := map[string]bool{}
	for _, r := range all {
		for _, expression := range []string{r.Match, r.Begin, r.End} {
			if _, err := regexp.Compile(expression); err != nil {
				t.Error(err)
			}
		}
		if name, ok := strings.CutPrefix(r.Include, "#"); r.Include != "" {
			if _, there := repository[name]; !ok || !there {
				t.Errorf("nothing to include: %s", r.Include)
			}
			used[name] = true
		}
		scopes := []string{r.Name}
		for _, captures := range []map[string]rule{r.Captures, r.BeginCaptures, r.EndCaptures} {
			for _, c := range captures {
				scopes = append(scopes, c.Name)
			}
		}
		for _, s := range scopes {
			if s != "" && !strings.HasSuffix(s, ".ix") {
				t.Errorf("the scope %s does not end in .ix", s)
			}
		}
	}
	for name := range repository {
		if !used[name] {
			t.Errorf("%s is not included", name)
		}
	}
}

// TestGrammarHasWords checks that the language's keywords and types, and no other words, are coloured as such.
func TestGrammarHasWords(t *testing.T) {
	all, _ := grammar(t)
	scopeOf := func(word string) (scopes []string) {
		for _, r := range all {
			if r.Match != "" && r.Name != "" && regexp.MustCompile(`^(?:`+r.Match+`)$`).MatchString(word) {
				scopes = append(scopes, r.Name)
			}
		}
		return scopes
	}
	of := func(word string, families ...string) bool {
		return slices.ContainsFunc(scopeOf(word), func(s string) bool {
			return slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(s, f) })
		})
	}
	words := syntax.Keywords()
	for _, word := range words {
		if !of(word, "keyword.", "storage.", "constant.language.") {
			t.Errorf("the keyword %s is coloured as %v", word, scopeOf(word))
		}
	}
	for p := types.Field; p <= types.U64; p++ {
		words = append(words, p.String())
		if !of(p.String(), "support.type.") {
			t.Errorf("the type %s is coloured as %v", p, scopeOf(p.String()))
		}
	}
	for _, r := range all {
		if !strings.HasPrefix(r.Name, "keyword.") && !strings.HasPrefix(r.Name, "storage.") && !strings.HasPrefix(r.Name, "support.") && !strings.HasPrefix(r.Name, "constant.language.") {
			continue
		}
		for _, word := range regexp.MustCompile(`[a-z][a-z0-9]+`).FindAllString(strings.ReplaceAll(r.Match, `\b`, " "), -1) {
			if !slices.Contains(words, word) {
				t.Errorf("%s is no word of the language, and coloured as %s", word, r.Name)
			}
		}
	}
}

// TestExtension checks that the files that the extension names are there and that the grammar is the one above.
func TestExtension(t *testing.T) {
	var e struct {
		Main        string
		Contributes struct {
			Languages []struct {
				ID, Configuration string
				Extensions        []string
			}
			Grammars []struct{ Language, ScopeName, Path string }
		}
	}
	read(t, "vscode/package.json", &e)
	if len(e.Contributes.Languages) != 1 || len(e.Contributes.Grammars) != 1 {
		t.Fatalf("%+v", e)
	}
	language, g := e.Contributes.Languages[0], e.Contributes.Grammars[0]
	if language.ID != g.Language || !slices.Equal(language.Extensions, []string{".ix"}) || g.ScopeName != "source.ix" {
		t.Errorf("%+v", e)
	}
	for _, name := range []string{e.Main, language.Configuration, g.Path} {
		if _, err := os.Stat(filepath.Join("vscode", name)); err != nil {
			t.Error(err)
		}
	}
	read(t, filepath.Join("vscode", language.Configuration), &map[string]any{})
	ours, err := os.ReadFile("textmate/ix.tmLanguage.json")
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err := os.ReadFile(filepath.Join("vscode", g.Path)); err != nil || string(theirs) != string(ours) {
		t.Errorf("the extension has another grammar: %v", err)
	}
}
