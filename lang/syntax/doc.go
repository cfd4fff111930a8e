// Package syntax reads and prints the program language: source files and places in them, diagnostics, the lexer, the parser and the formatter.
//
// The grammar is docs/language.md. Nothing here knows types. No input makes the parser panic or recurse deeper than MaxDepth.
package syntax

// Limits of a source file. They bound memory and recursion; a program that meets one is refused with class formats.Limit.
const (
	MaxSourceBytes = 4 << 20 // of one file
	MaxDepth       = 400     // of nesting, in the source and in the tree that is made of it
	MaxErrors      = 50      // diagnostics kept of one file
)
