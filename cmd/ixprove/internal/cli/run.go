package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/values"
	"github.com/ixprove/ixprove/prover"
)

// runResult is what an execution gave, and what proving it would cost.
type runResult struct {
	Schema  string       `json:"schema"`
	Program string       `json:"program"`
	Calls   []callObject `json:"calls"`
	Steps   uint64       `json:"operations"`
	Bytes   int64        `json:"record_bytes"`
	Profile string       `json:"profile"`
	Costs   []costObject `json:"costs"`
	Cells   int          `json:"cells"`
	Peak    prover.Bytes `json:"proving_peak_bytes"`

	texts []string
	quiet bool
}

type callObject struct {
	Entry  string `json:"entry"`
	Args   []any  `json:"args"`
	Result any    `json:"result"`
}

// costObject is the cost of a function, of memory, of an accelerator or of the table of words.
type costObject struct {
	Name    string `json:"name"`
	Circuit string `json:"circuit"`
	Calls   uint64 `json:"calls"`
	Rows    int    `json:"rows"`
	Columns int    `json:"columns"`
	Cells   int    `json:"cells"`
}

func (r *runResult) text(w io.Writer) {
	for _, s := range r.texts {
		fmt.Fprintln(w, s)
	}
	if r.quiet {
		return
	}
	fmt.Fprintf(w, "\n%d operations; to prove under the profile %s:\n\n", r.Steps, r.Profile)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "calls\trows\tcolumns\tcells\t\t\n")
	for i, c := range r.Costs {
		if i == shown {
			break
		}
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%.1f%%\t  %s\n", c.Calls, c.Rows, c.Columns, c.Cells, 100*float64(c.Cells)/float64(max(1, r.Cells)), c.Name)
	}
	t.Flush()
	if more := len(r.Costs) - shown; more > 0 {
		fmt.Fprintf(w, "and %d more (--json lists all)\n", more)
	}
	fmt.Fprintf(w, "\n%d cells, %s of memory in one shard\n", r.Cells, bytesText(r.Peak))
}

func prepareRun(f *pflag.FlagSet) action {
	var c callFlags
	c.declare(f)
	profile := f.String("profile", defaultProfile, "security profile that the cost is predicted for: "+profileNames())
	quiet := f.BoolP("quiet", "q", false, "print results alone")
	var memory size
	f.Var(&memory, "memory", "most memory to take, 4GiB if not given")
	return func(t *tool) (result, error) {
		if !isProgram(t.operand) {
			return nil, usageError("PROGRAM", "this is no program", "a file whose name ends in "+programExt, fmt.Sprintf("%q", t.operand), "")
		}
		level, err := profileFlag(*profile)
		if err != nil {
			return nil, err
		}
		p, err := t.readProgram(t.operand)
		if err != nil {
			return nil, err
		}
		record, err := c.execute(t, p, int64(memory))
		if err != nil {
			return nil, err
		}
		r := &runResult{Schema: "ixprove/run/1", Program: p.path, Steps: record.Steps, Bytes: record.Bytes, Profile: level.Name, quiet: *quiet}
		for i := range record.Claims {
			r.texts = append(r.texts, p.callText(record, &record.Claims[i]))
			r.Calls = append(r.Calls, p.callObject(record, &record.Claims[i]))
		}
		if *quiet {
			return r, nil
		}
		key, err := p.keygen(t, level)
		if err != nil {
			return nil, err
		}
		for _, x := range p.system.Costs(record, func(i int) int {
			circuit := key.Circuits[i]
			return int(circuit.Columns) + circuit.AuxColumns() + circuit.QuotientColumns()
		}) {
			r.Costs = append(r.Costs, costObject{x.Name, key.Circuits[x.Circuit].Name, x.Calls, x.Rows, x.Columns, x.Cells()})
			r.Cells += x.Cells()
		}
		slices.SortStableFunc(r.Costs, func(a, b costObject) int { return cmp.Compare(b.Cells, a.Cells) })
		w, err := p.system.Witness(record, 1, level.MinLogHeight)
		if err != nil {
			return nil, err
		}
		shapes, err := prover.Shapes(key.Key, w)
		if err != nil {
			return nil, err
		}
		r.Peak = prover.EstimateMemory(key.Key, shapes, false).Peak
		return r, nil
	}
}

// callObject is an executed call as JSON.
func (p *program) callObject(r *exec.Record, c *exec.Claim) callObject {
	e := &p.Entries[c.Entry]
	o := callObject{Entry: e.Name, Args: []any{}, Result: values.JSON(e.Result, p.Result(c.Entry, c.Results))}
	args := r.Entry(int(p.Bytecode.Entries[c.Entry].Function), c.Row).Args
	for _, a := range e.Args {
		var v values.Value
		v, args = values.FromWords(a.Type, args)
		o.Args = append(o.Args, values.JSON(a.Type, v))
	}
	return o
}
