// Package lang compiles programs of the language docs/language.md describes, and translates between their values and field elements.
package lang

import (
	"io/fs"
	"path"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/lower"
	"github.com/ixprove/ixprove/lang/types"
)

// Program is a compiled program. It must not change.
type Program struct {
	Bytecode *bytecode.Program
	Entries  []lower.Entry // as many as the bytecode's, in their order
	Checked  *types.Program
}

// Compile checks a program and compiles its entries. folder holds the root file and all that it imports but for the standard library. The error is a syntax.Errors, which prints itself with excerpts of the source and unwraps to *formats.Error values.
func Compile(folder fs.FS, root string) (*Program, error) {
	checked, errs := types.Check(folder, root, types.Options{})
	if err := errs.Err(); err != nil {
		return nil, err
	}
	code, entries, errs := lower.Compile(checked, programName(root))
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &Program{code, entries, checked}, nil
}

// programName makes a file's name one of the formats: printable ASCII, not empty, not too long.
func programName(root string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '_'
		}
		return r
	}, strings.TrimSuffix(path.Base(root), ".ix"))
	if name == "" {
		return "program"
	}
	return name[:min(len(name), formats.MaxNameBytes)]
}
