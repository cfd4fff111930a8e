// Package std holds the standard library of the program language, in its own language.
package std

import (
	"embed"
	"strings"
)

// FS holds the library's files. A program imports list.ix as "std/list".
//
//go:embed *.ix
var FS embed.FS

// Modules lists the paths that programs can import, in alphabetical order.
func Modules() []string {
	entries, err := FS.ReadDir(".")
	if err != nil {
		return nil // an embedded folder can be read
	}
	var out []string
	for _, e := range entries {
		out = append(out, "std/"+strings.TrimSuffix(e.Name(), ".ix"))
	}
	return out
}
