package docs_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/lower"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
	"github.com/ixprove/ixprove/lang/values"
)

// snippets are the blocks of a page that are marked with a language.
func snippets(t *testing.T, page, language string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n```"+language+"\n")[1:] {
		block, _, ok := strings.Cut(part, "```")
		if !ok {
			t.Fatal("a snippet has no end")
		}
		out = append(out, block)
	}
	return out
}

func TestLanguageSnippets(t *testing.T) {
	list := snippets(t, "language.md", "ix")
	if len(list) < 10 {
		t.Fatalf("only %d snippets", len(list))
	}
	for _, text := range list {
		folder := fstest.MapFS{"snippet.ix": {Data: []byte(text)}}
		checked, errs := types.Check(folder, "snippet.ix", types.Options{Library: true})
		if len(errs) > 0 {
			t.Errorf("%s\n%v", text, errs.Err())
			continue
		}
		if m, _ := syntax.Parse(syntax.NewFile("snippet.ix", text)); syntax.Format(m) != text {
			t.Errorf("not in standard form:\n%s\nbut\n%s", text, syntax.Format(m))
		}
		if len(checked.Entries) == 0 {
			continue
		}
		if _, _, errs := lower.Compile(checked, "snippet"); len(errs) > 0 {
			t.Errorf("%s\n%v", text, errs.Err())
			continue
		}
		p, err := lang.Compile(folder, "snippet.ix")
		if err != nil {
			t.Errorf("%s\n%v", text, err)
			continue
		}
		for _, line := range strings.Split(text, "\n") {
			call, want, ok := strings.Cut(strings.TrimPrefix(line, "// "), " = ")
			if !ok || !strings.HasPrefix(line, "// f(") {
				continue
			}
			if got := execute(t, p, call); got != want {
				t.Errorf("%s\n%s = %s, the page says %s", text, call, got, want)
			}
		}
	}
}

func execute(t *testing.T, p *lang.Program, text string) string {
	t.Helper()
	call, err := p.ParseCall(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := exec.Load(p.Bytecode)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Execute(context.Background(), []exec.Call{{Entry: call.Entry, Args: call.Words}}, nil, exec.Limits{})
	if err != nil {
		return err.Error()
	}
	return values.Text(p.Entries[call.Entry].Result, p.Result(call.Entry, r.Claims[0].Results))
}

// TestLanguageErrors checks that snippets of errors have the error that their first line names.
func TestLanguageErrors(t *testing.T) {
	list := snippets(t, "language.md", "ix-error")
	if len(list) < 4 {
		t.Fatalf("only %d snippets", len(list))
	}
	for _, text := range list {
		first, _, _ := strings.Cut(text, "\n")
		_, errs := types.Check(fstest.MapFS{"snippet.ix": {Data: []byte(text)}}, "snippet.ix", types.Options{Library: true})
		var b strings.Builder
		errs.Text(&b)
		if !strings.Contains(b.String(), strings.TrimPrefix(first, "// ")) {
			t.Errorf("%s\nsays\n%s", text, b.String())
		}
	}
}
