package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/examples"
	"github.com/ixprove/ixprove/systems"
)

type initResult struct {
	Schema  string   `json:"schema"`
	Folder  string   `json:"folder"`
	System  string   `json:"system,omitempty"`
	Program string   `json:"program,omitempty"` // the example
	Files   []string `json:"files"`

	arguments string // of run and prove, for a program
}

func (r *initResult) text(w io.Writer) {
	for _, f := range r.Files {
		fmt.Fprintf(w, "wrote %s\n", f)
	}
	fmt.Fprint(w, "\nNext:\n")
	if r.Folder != "." {
		fmt.Fprintf(w, "  cd %s\n", r.Folder)
	}
	if r.Program != "" {
		fmt.Fprintf(w, "  ixprove run %s\n  ixprove prove %s\n  ixprove verify\n", r.arguments, r.arguments)
		return
	}
	fmt.Fprint(w, "  ixprove prove     makes proof.cbor of what claims.json says\n  ixprove verify    checks it\n")
}

func prepareInit(f *pflag.FlagSet) action {
	system := f.String("system", "blake3", "built-in system: "+systems.Names())
	program := f.String("program", "", "start with a program instead of a claims file: "+examples.Names())
	return func(t *tool) (result, error) {
		r := &initResult{Schema: "ixprove/init/1", Folder: filepath.Clean(t.operand), Files: []string{}}
		var files []examples.File
		switch {
		case *program != "" && f.Changed("system"):
			return nil, usageError("flags", "--program and --system exclude each other", "one of them", "both", "")
		case *program != "":
			e, ok := examples.ByName(*program)
			if !ok {
				return nil, usageError("--program", "there is no such example", "one of "+examples.Names(), strconv.Quote(*program), nearest(*program, strings.Split(examples.Names(), ", ")))
			}
			var err error
			if files, err = e.Files(); err != nil {
				return nil, err
			}
			r.Program, r.arguments = e.Name, e.Arguments()
		default:
			s, err := systemFlag(*system)
			if err != nil {
				return nil, err
			}
			r.System = s.Name
			for _, sample := range s.Sample {
				files = append(files, examples.File{Name: sample.Name, Content: []byte(sample.Content)})
			}
		}
		for _, file := range files {
			path := filepath.Join(r.Folder, file.Name)
			if exists(path) {
				return nil, usageError(path, "the file is there already, and is not overwritten", "a folder without it", "a file", "choose another folder: ixprove init FOLDER")
			}
			r.Files = append(r.Files, path)
		}
		if err := os.MkdirAll(r.Folder, 0o755); err != nil {
			return nil, cannotWrite(r.Folder, err)
		}
		for i, file := range files {
			if err := t.write(r.Files[i], file.Content); err != nil {
				return nil, err
			}
		}
		return r, nil
	}
}
