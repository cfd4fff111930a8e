package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/systems"
)

type initResult struct {
	Schema string   `json:"schema"`
	Folder string   `json:"folder"`
	System string   `json:"system"`
	Files  []string `json:"files"`
}

func (r *initResult) text(w io.Writer) {
	for _, f := range r.Files {
		fmt.Fprintf(w, "wrote %s\n", f)
	}
	fmt.Fprint(w, "\nNext:\n")
	if r.Folder != "." {
		fmt.Fprintf(w, "  cd %s\n", r.Folder)
	}
	fmt.Fprint(w, "  ixprove prove     makes proof.cbor of what claims.json says\n  ixprove verify    checks it\n")
}

func prepareInit(f *pflag.FlagSet) action {
	system := f.String("system", "blake3", "built-in system: "+systems.Names())
	return func(t *tool) (result, error) {
		s, err := systemFlag(*system)
		if err != nil {
			return nil, err
		}
		r := &initResult{Schema: "ixprove/init/1", Folder: filepath.Clean(t.operand), System: s.Name}
		for _, sample := range s.Sample {
			path := filepath.Join(r.Folder, sample.Name)
			if exists(path) {
				return nil, usageError(path, "the file is there already, and is not overwritten", "a folder without it", "a file", "choose another folder: ixprove init FOLDER")
			}
			r.Files = append(r.Files, path)
		}
		if err := os.MkdirAll(r.Folder, 0o755); err != nil {
			return nil, cannotWrite(r.Folder, err)
		}
		for i, sample := range s.Sample {
			if err := t.write(r.Files[i], []byte(sample.Content)); err != nil {
				return nil, err
			}
		}
		return r, nil
	}
}
