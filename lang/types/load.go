package types

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/std"
	"github.com/ixprove/ixprove/lang/syntax"
)

// Limits of a program.
const (
	MaxModules   = 256
	MaxArray     = 1 << 16 // elements of an array
	MaxTypeDepth = 100     // of a type within types
)

// extension ends the names of source files; imports leave it out.
const extension = ".ix"

// standard begins the paths of the modules that are embedded in this program.
const standard = "std/"

// load parses the root file and all that it imports, the root first. Files are looked up in folder, which is the root file's.
func (c *checker) load(folder fs.FS, root string) {
	c.modules = map[string]*Module{}
	name := strings.TrimSuffix(root, extension)
	if strings.HasPrefix(name, standard) { // a user's folder of that name has no builtins
		name = path.Base(name)
	}
	if c.open(folder, name, root, syntax.Span{}) == nil {
		return
	}
	for i := 0; i < len(c.program.Modules); i++ {
		m := c.program.Modules[i]
		m.modules = map[string]*Module{}
		for _, im := range m.Syntax.Imports {
			c.importModule(folder, m, im)
		}
	}
}

// importModule makes the module of an import known in m.
func (c *checker) importModule(folder fs.FS, m *Module, im *syntax.Import) {
	p := strings.TrimSuffix(im.Path, extension)
	if p != path.Clean(p) || !fs.ValidPath(p) || p == "." {
		c.report(&syntax.Diagnostic{Span: im.PathSpan, What: "an import names a file below the folder of the program's first file", Got: im.Path, Next: `such as import "lib/tree"; or import "std/list";`})
		return
	}
	if strings.HasPrefix(m.Path, standard) && !strings.HasPrefix(p, standard) {
		c.report(&syntax.Diagnostic{Span: im.PathSpan, What: "the standard library imports only itself"})
		return
	}
	other := c.modules[p]
	if other == nil {
		if len(c.program.Modules) >= MaxModules {
			c.report(&syntax.Diagnostic{Span: im.Span, Class: formats.Limit, What: "the program has too many modules"})
			return
		}
		other = c.open(folder, p, p+extension, im.PathSpan)
		if other == nil {
			return
		}
	}
	name := im.As
	if name.Text == "" {
		name = syntax.Name{Span: im.PathSpan, Text: path.Base(p)}
	}
	if m.modules[name.Text] != nil {
		c.report(&syntax.Diagnostic{Span: name.Span, What: "another module is imported under this name", Got: name.Text, Next: "give it another name: import \"" + p + "\" as other;"})
		return
	}
	m.modules[name.Text] = other
	c.refModule(im.PathSpan, other)
}

// open reads and parses a module. It reports what is wrong and returns nil if there is no such file.
func (c *checker) open(folder fs.FS, name, file string, at syntax.Span) *Module {
	if strings.HasPrefix(name, standard) && at.File != nil {
		folder, file = std.FS, strings.TrimPrefix(file, standard)
	}
	text, err := readFile(folder, file)
	if err != nil {
		d := &syntax.Diagnostic{Span: at, Class: formats.Malformed, What: "the module cannot be read", Got: err.Error()}
		if errors.Is(err, fs.ErrNotExist) {
			d.What, d.Got = "there is no such module", name
			if strings.HasPrefix(name, standard) {
				d.Expected = "one of " + strings.Join(std.Modules(), ", ")
				d.Next = nearest(name, std.Modules())
			} else {
				d.Expected = "a file " + file + " in the folder of the program's first file"
			}
		}
		c.report(d)
		return nil
	}
	shown := file
	if folder == std.FS {
		shown = standard + file
	}
	m := &Module{Path: name, File: syntax.NewFile(shown, text)}
	parsed, errs := syntax.Parse(m.File)
	m.Syntax, m.lost = parsed, maps.Clone(parsed.Lost)
	c.errors = append(c.errors, errs...)
	c.modules[name] = m
	c.program.Modules = append(c.program.Modules, m)
	return m
}

// readFile reads at most what a source file may have and one byte more, which the parser refuses.
func readFile(folder fs.FS, name string) (string, error) {
	if s, ok := folder.(fs.StatFS); ok { // a pipe would be waited for
		info, err := s.Stat(name)
		if err != nil {
			return "", err
		}
		if !info.Mode().IsRegular() {
			return "", &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")}
		}
	}
	f, err := folder.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, syntax.MaxSourceBytes+1))
	return string(data), err
}

// nearest asks for the name that is closest to a mistyped one, the first in order of several; it is empty if none is close.
func nearest(name string, names []string) string {
	best, at := 3, ""
	for _, n := range names {
		if d := syntax.Distance(name, n, best+1); d < len(name) && (d < best || d == best && at != "" && n < at) {
			best, at = d, n
		}
	}
	if at == "" {
		return ""
	}
	return "did you mean " + at + "?"
}
