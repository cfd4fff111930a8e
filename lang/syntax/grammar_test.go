package syntax

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTextMate checks that the editors' grammar is one, and that it knows the language's keywords and the tokens of the sample.
func TestTextMate(t *testing.T) {
	data, err := os.ReadFile("../../editors/ix.tmLanguage.json")
	if err != nil {
		t.Fatal(err)
	}
	var grammar struct {
		ScopeName  string `json:"scopeName"`
		Repository map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &grammar); err != nil || grammar.ScopeName != "source.ix" {
		t.Fatalf("%v, scope %q", err, grammar.ScopeName)
	}
	var list []*regexp.Regexp
	for _, m := range regexp.MustCompile(`"(?:match|begin|end)": ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(string(data), -1) {
		var pattern string
		if err := json.Unmarshal([]byte(m[1]), &pattern); err != nil {
			t.Fatal(err)
		}
		pattern = regexp.MustCompile(`\(\?=[^)]*\)`).ReplaceAllString(strings.ReplaceAll(pattern, `\(|::<`, "."), "") // Go has no lookahead
		re, err := regexp.Compile("^(?:" + pattern + ")")
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		list = append(list, re)
	}
	known := func(text string) bool {
		for _, re := range list {
			if re.FindString(text) == text {
				return true
			}
		}
		return false
	}
	for k := range keywords {
		if !known(k) {
			t.Errorf("the grammar does not know the keyword %s", k)
		}
	}
	m := parse(t, sample)
	for _, token := range m.tokens {
		switch token.Kind {
		case Int, Byte, Plus, Arrow, FatArrow, ShiftLeft, AndAnd, DotDot, At:
			if text := m.File.Text[token.Start:token.End]; !known(text) {
				t.Errorf("the grammar does not know %s", text)
			}
		}
	}
}
