// Package examples holds complete programs with inputs: each does a real job. ixprove init makes folders of them.
package examples

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed */main.ix */*.txt */*.json
var files embed.FS

// Example is a program with its inputs.
type Example struct {
	Name    string
	About   string // one line
	Call    string // a call of its entry
	Witness bool   // whether witness.json has private arguments
	Shown   string // part of what the call gives
}

// All lists the examples.
func All() []Example {
	return []Example{
		{"digest", "the BLAKE3 digest of a file that stays private", "digest()", true, "0b9e45f65dac10f5a3e4e60b7390cb2711990208b825e29915f2bc0ac87a701d, 20"},
		{"membership", "a record is in a published Merkle tree; which one stays private", `member(x"7d59ae1217a571df01f90d2cd8590883bf11c5a600d26c26bbebf558f516b150")`, true, "()"},
		{"payroll", "the sum of private salaries, and a commitment to them", "payroll()", true, "total: 23350, count: 4, highest: 7300"},
		{"json", "a number in a JSON document whose digest was signed; the rest stays private", "amount()", true, "e547c6687c707f85b625110d759a26005253204c76b97edf550147a1cbabc0d6, 1250"},
		{"life", "the game of life after some steps", "life([0, 0, 0, 0, 0x80, 0x100, 0x1c0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 60)", false, "[0, 0, 0, 64, 128, 224, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"},
	}
}

// ByName finds an example.
func ByName(name string) (Example, bool) {
	all := All()
	i := slices.IndexFunc(all, func(e Example) bool { return e.Name == name })
	if i < 0 {
		return Example{}, false
	}
	return all[i], true
}

// Names lists the names of the examples, with commas between.
func Names() string {
	var out []string
	for _, e := range All() {
		out = append(out, e.Name)
	}
	return strings.Join(out, ", ")
}

// File is a file of an example.
type File struct {
	Name    string
	Content []byte
}

// Files are the files of an example in alphabetical order.
func (e Example) Files() ([]File, error) {
	entries, err := fs.ReadDir(files, e.Name)
	if err != nil {
		return nil, err
	}
	var out []File
	for _, entry := range entries {
		content, err := fs.ReadFile(files, e.Name+"/"+entry.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, File{entry.Name(), content})
	}
	return out, nil
}

// Folder holds the example's files, its program being main.ix.
func (e Example) Folder() (fs.FS, error) { return fs.Sub(files, e.Name) }

// Arguments are the flags of ixprove run and ixprove prove for the example's call.
func (e Example) Arguments() string {
	s := "main.ix --call '" + e.Call + "'"
	if e.Witness {
		s += " --witness witness.json"
	}
	return s
}
