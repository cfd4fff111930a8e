// Package cli is the command line: Run is what main calls.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
)

// verb is a command.
type verb struct {
	name    string
	operand string // what may follow, for the usage line; empty if nothing may
	about   string
	// prepare declares the verb's flags and returns what it does.
	prepare func(f *pflag.FlagSet) action
}

// action does a verb's work. Its result is all that is printed on standard output.
type action func(t *tool) (result, error)

// result is rendered as text, or as one JSON object that has a field "schema".
type result interface{ text(w io.Writer) }

// tool is what an action works with.
type tool struct {
	ctx     context.Context
	stdin   io.Reader
	stdout  io.Writer // for what is served; results are printed by run
	stderr  io.Writer
	operand string // empty if not given
	disk    disk
	cards   cards

	compressor compressor
}

var verbs = []verb{
	{"init", "[FOLDER]", "start a folder with a claims file or an example program", prepareInit},
	{"check", "[PROGRAM]", "check a program (main.ix) without executing it", prepareCheck},
	{"fmt", "[PROGRAM]", "print a program (main.ix) in the standard form, or rewrite files", prepareFormat},
	{"lsp", "", "serve an editor: diagnostics, types and definitions of programs, over standard input and output", prepareLSP},
	{"run", "PROGRAM", "execute calls of a program (.ix), and say what proving them would cost", prepareRun},
	{"prove", "[CLAIMS|PROGRAM]", "prove a claims file (claims.json), or calls of a program (.ix)", prepareProve},
	{"verify", "[PROOF]", "check a proof (proof.cbor), compressed or not", prepareVerify},
	{"inspect", "[FILE]", "show what is in a proof or a key (proof.cbor)", prepareInspect},
	{"keygen", "[PROGRAM]", "write the verifying key of a program or of a built-in system", prepareKeygen},
	{"setup", "plonk|groth16", "make the keys that compress-root needs, once", prepareSetup},
	{"compress-root", "[PROOF]", "compress a root proof (proof.cbor) into one of under a kilobyte", prepareCompressRoot},
	{"ceremony", "init|contribute|verify|finish", "a setup of Groth16 by many people", prepareCeremony},
	{"export-solidity", "[PROOF]", "write the contract that checks compressed proofs (root.plonk.cbor)", prepareExportSolidity},
	{"serve", "", "open the page that checks proofs in a browser, on this machine", prepareServe},
	{"bench", "[WHAT]", "measure this machine: field, hash, cpu, prove, verify, gpu or all", prepareBench},
	{"devices", "", "list the CUDA devices", prepareDevices},
	{"version", "", "say what this program is", prepareVersion},
}

// Run runs a command line and returns its exit code. Results go to stdout, progress and errors to stderr; with --json an error is also an object on stdout.
// A cancelled ctx ends the work with code 6.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return run(&tool{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, disk: realDisk{}, cards: realCards{}, compressor: realCompressor{}}, args, stdout)
}

func run(t *tool, args []string, stdout io.Writer) int {
	t.stdout = stdout
	var out bytes.Buffer
	asJSON, err := dispatch(t, args, &out)
	if err == nil {
		if _, err = stdout.Write(out.Bytes()); err == nil {
			return int(exitDone)
		}
		asJSON, err = false, cannotWrite("standard output", err)
	}
	f := classify(err)
	var source syntax.Errors
	if errors.As(err, &source) {
		source.Text(t.stderr) // with the lines that they are about
	} else {
		f.text(t.stderr)
	}
	if asJSON {
		o := f.object()
		for _, d := range source {
			o.Diagnostics = append(o.Diagnostics, newDiagnosticObject(d))
		}
		writeJSON(stdout, o)
	}
	return int(f.exit)
}

// dispatch runs the verb that args name.
func dispatch(t *tool, args []string, out *bytes.Buffer) (asJSON bool, err error) {
	defer func() {
		if r := recover(); r != nil { // a bug must still end with its exit code
			err = &formats.Error{Class: formats.Internal, Place: "program", What: fmt.Sprint("a panic: ", r), Next: "report this with the command line"}
		}
	}()
	if len(args) == 0 {
		usage(t.stderr)
		return false, usageError("command", "no command is given", "one of "+verbNames(), "nothing", "")
	}
	if slices.Contains([]string{"help", "--help", "-h"}, args[0]) {
		if len(args) < 2 {
			usage(out)
			return false, nil
		}
		args = []string{args[1], "--help"}
	}
	at := slices.IndexFunc(verbs, func(v verb) bool { return v.name == args[0] })
	if at < 0 {
		return slices.Contains(args, "--json"), usageError("command", "there is no such command", "one of "+verbNames(), fmt.Sprintf("%q", args[0]), nearest(args[0], strings.Split(verbNames(), ", ")))
	}
	v := &verbs[at]
	f := pflag.NewFlagSet(v.name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	do := v.prepare(f)
	f.BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	help := f.BoolP("help", "h", false, "say how to use this command")
	if err := f.Parse(args[1:]); err != nil {
		return slices.Contains(args, "--json"), flagError(f, err)
	}
	if *help {
		verbUsage(out, v, f)
		return asJSON, nil
	}
	most := min(1, len(v.operand))
	if f.NArg() > most {
		return asJSON, usageError("command line", "there is an operand too many", fmt.Sprintf("at most %d", most), fmt.Sprintf("%q", f.Arg(most)), "")
	}
	if err := noneEmpty(f); err != nil {
		return asJSON, err
	}
	t.operand = f.Arg(0)
	r, err := do(t)
	if err != nil {
		return asJSON, err
	}
	if asJSON {
		return true, writeJSON(out, r)
	}
	r.text(out)
	return false, nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func verbNames() string {
	var names []string
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

func usage(w io.Writer) {
	fmt.Fprint(w, "ixprove proves that computations were carried out correctly, and verifies such proofs.\n\nUsage: ixprove COMMAND [flags]\n\n")
	for _, v := range verbs {
		fmt.Fprintf(w, "  %-39s %s\n", strings.TrimSpace(v.name+" "+v.operand), v.about)
	}
	fmt.Fprint(w, "\nixprove help COMMAND lists a command's flags. A new user runs: ixprove init && ixprove prove && ixprove verify\n\nExit codes:\n\n")
	for code, about := range exitAbout {
		fmt.Fprintf(w, "  %d  %s\n", code, about)
	}
}

func verbUsage(w io.Writer, v *verb, f *pflag.FlagSet) {
	fmt.Fprintf(w, "ixprove %s: %s\n\nUsage: ixprove %s [flags]\n\n%s", v.name, v.about, strings.TrimSpace(v.name+" "+v.operand), f.FlagUsages())
}
