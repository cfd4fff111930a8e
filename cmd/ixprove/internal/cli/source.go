package cli

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/lower"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// mainProgram is the program of commands that name none.
const mainProgram = "main.ix"

// diagnosticObject is an error in a program; line and column count from 1.
type diagnosticObject struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	What      string `json:"what"`
	Expected  string `json:"expected,omitempty"`
	Got       string `json:"got,omitempty"`
	Next      string `json:"next,omitempty"`
}

func newDiagnosticObject(d *syntax.Diagnostic) diagnosticObject {
	e := d.Err()
	o := diagnosticObject{What: e.What, Expected: e.Expected, Got: e.Got, Next: e.Next}
	if f := d.Span.File; f != nil {
		start, end := f.Position(d.Span.Start), f.Position(d.Span.End)
		o.File, o.Line, o.Column, o.EndLine, o.EndColumn = f.Name, start.Line, start.Column, end.Line, end.Column
	}
	return o
}

type checkResult struct {
	Schema  string   `json:"schema"`
	Program string   `json:"program"`
	Entries []string `json:"entries"`
}

func (r *checkResult) text(w io.Writer) {
	fmt.Fprintf(w, "%s has no errors\n", r.Program)
	for _, e := range r.Entries {
		fmt.Fprintf(w, "  %s\n", e)
	}
}

func prepareCheck(f *pflag.FlagSet) action {
	library := f.Bool("library", false, "check a module that is only imported: it needs no entries")
	return func(t *tool) (result, error) {
		path := cmp.Or(t.operand, mainProgram)
		if _, err := regularSize(path); err != nil {
			return nil, err
		}
		checked, errs := types.Check(os.DirFS(filepath.Dir(path)), filepath.Base(path), types.Options{Library: *library})
		if err := errs.Err(); err != nil {
			return nil, err
		}
		if !*library { // what only compilation finds: sizes, and loops and calls written out
			if _, _, errs := lower.Compile(checked, "check"); errs.Err() != nil {
				return nil, errs
			}
		}
		r := &checkResult{Schema: "ixprove/check/1", Program: path, Entries: []string{}}
		for _, e := range checked.Entries {
			r.Entries = append(r.Entries, e.Signature())
		}
		return r, nil
	}
}

// formatResult lists files; printed is the program where none is rewritten.
type formatResult struct {
	Schema  string   `json:"schema"`
	Files   []string `json:"files"`   // that were looked at
	Changed []string `json:"changed"` // that are, or were, not in standard form

	printed string
}

func (r *formatResult) text(w io.Writer) {
	fmt.Fprint(w, r.printed)
	for _, f := range r.Changed {
		if r.printed == "" {
			fmt.Fprintf(w, "formatted %s\n", f)
		}
	}
}

func prepareFormat(f *pflag.FlagSet) action {
	write := f.BoolP("write", "w", false, "rewrite the file, or each "+"*.ix"+" file of a folder, in place")
	check := f.Bool("check", false, "change nothing, and fail if a file is not in the standard form")
	return func(t *tool) (result, error) {
		if *write && *check {
			return nil, usageError("flags", "-w and --check exclude each other", "one of them", "both", "")
		}
		files, folder, err := sources(cmp.Or(t.operand, mainProgram))
		if err != nil {
			return nil, err
		}
		if folder && !*write && !*check {
			return nil, usageError("PROGRAM", "a folder is not printed", "a file, or -w or --check", t.operand, "")
		}
		r := &formatResult{Schema: "ixprove/fmt/1", Files: files, Changed: []string{}}
		for _, path := range files {
			data, err := t.read(path, syntax.MaxSourceBytes)
			if err != nil {
				return nil, err
			}
			m, errs := syntax.Parse(syntax.NewFile(path, string(data)))
			if err := errs.Err(); err != nil {
				return nil, err
			}
			standard := syntax.Format(m)
			if !*write && !*check {
				r.printed = standard
			}
			if standard == string(data) {
				continue
			}
			r.Changed = append(r.Changed, path)
			if *write {
				if err := t.write(path, []byte(standard)); err != nil {
					return nil, err
				}
			}
		}
		if *check && len(r.Changed) > 0 {
			return nil, &formats.Error{Class: formats.Invalid, Place: strings.Join(r.Changed, ", "), What: "not in the standard form", Next: "ixprove fmt -w"}
		}
		return r, nil
	}
}

// sources lists the file of a path, or the programs in a folder and below it.
func sources(path string) (files []string, folder bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, cannotRead(path, err)
	}
	if !info.IsDir() {
		return []string{path}, false, nil
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return cannotRead(name, err)
		case d.IsDir() && name != path && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(name, programExt): // what a link leads to may lie elsewhere
			files = append(files, name)
		}
		return nil
	})
	return files, true, err
}
