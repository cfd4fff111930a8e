// Package tracecheck checks a witness directly: every constraint on every row, every lookup as an entry of a multiset. It proves nothing and finds
// in a second, by name and row, what a failed proof would only say is there. Tests of systems use it.
package tracecheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// Failure is one thing that is wrong with a witness.
type Failure struct {
	Circuit, Constraint string // of a constraint that is not zero
	Channel             string // of a message that does not balance
	Shard, Table, Row   int    // where it failed first
	Message             []field.Element
	Excess              field.Element // pushes minus pulls of the message, modulo p
}

// String says what failed and where.
func (f Failure) String() string {
	if f.Constraint != "" {
		return fmt.Sprintf("shard %d, table %d (%s), row %d: %s", f.Shard, f.Table, f.Circuit, f.Row, f.Constraint)
	}
	return fmt.Sprintf("channel %s: %d of %v", f.Channel, f.Excess, f.Message)
}

// Name is the constraint's or the channel's name.
func (f Failure) Name() string { return f.Constraint + f.Channel }

// Trace is a table's main columns, written.
type Trace [][]field.Element

// Checker checks witnesses of one system.
type Checker struct {
	System   *air.System
	Key      *formats.Key
	Circuits []*air.Circuit
}

// New compiles the system for a blowup of 2^logBlowup. Its errors are those of air.System.Compile.
func New(system *air.System, logBlowup, minLogHeight int) (*Checker, error) {
	key, err := system.Compile("blake3", formats.Profile{LogBlowup: uint8(logBlowup)}, minLogHeight)
	if err != nil {
		return nil, err
	}
	c := &Checker{System: system, Key: key}
	for i := range key.Circuits {
		circuit, err := air.CheckCircuit(&key.Circuits[i], key.Channels, logBlowup, minLogHeight)
		if err != nil {
			return nil, err
		}
		c.Circuits = append(c.Circuits, circuit)
	}
	return c, nil
}

// Write runs the trace writers, shard by shard and table by table, in ranges of RowAlign rows from the last to the first.
func (c *Checker) Write(w *prover.Witness) ([][]Trace, error) {
	out := make([][]Trace, len(w.Shards))
	for i, shard := range w.Shards {
		for _, t := range shard.Tables {
			trace := make(Trace, c.Circuits[t.Circuit].Columns)
			for k := range trace {
				trace[k] = make([]field.Element, 1<<t.LogHeight)
			}
			step := min(prover.RowAlign, 1<<t.LogHeight)
			for first := 1<<t.LogHeight - step; first >= 0; first -= step {
				rows := make([][]field.Element, len(trace))
				for k := range rows {
					rows[k] = trace[k][first : first+step]
				}
				if err := t.Trace.WriteRows(rows, first); err != nil {
					return nil, err
				}
			}
			out[i] = append(out[i], trace)
		}
	}
	return out, nil
}

// Check returns what is wrong with the traces of a witness: the first row of each constraint that fails in each table, and each message that
// is not pulled as often as it is pushed. A witness that cannot be read at all is an error.
func (c *Checker) Check(w *prover.Witness, traces [][]Trace) ([]Failure, error) {
	var failures []Failure
	sums := balance{}
	for _, claim := range w.Claims {
		if int(claim.Entry) >= len(c.System.Entries) {
			return nil, fmt.Errorf("tracecheck: entry %d does not exist", claim.Entry)
		}
		message := []field.Element{}
		for _, e := range []formats.Elements{claim.Args, claim.Results} {
			for i := range e.Len() {
				message = append(message, field.Element(e.At(i)))
			}
		}
		sums.add(c.System.Entries[claim.Entry].Channel, message, 1)
	}
	for i, shard := range w.Shards {
		for k, t := range shard.Tables {
			if k > 0 && (t.Circuit < shard.Tables[k-1].Circuit || t.Circuit == shard.Tables[k-1].Circuit && t.LogHeight > shard.Tables[k-1].LogHeight) {
				return nil, fmt.Errorf("tracecheck: shard %d, table %d: the tables are not sorted", i, k)
			}
			circuit := c.Circuits[t.Circuit]
			if t.LogHeight < int(circuit.MinLogHeight) || len(circuit.Fixed) > 0 && t.LogHeight != int(circuit.Fixed[0].LogHeight) {
				return nil, fmt.Errorf("tracecheck: shard %d, table %d: a height of 2^%d", i, k, t.LogHeight)
			}
			for _, f := range c.table(t, traces[i][k], sums) {
				f.Shard, f.Table = i, k
				failures = append(failures, f)
			}
		}
	}
	return append(failures, sums.failures(c.System)...), nil
}

// table checks the constraints of one table and counts its lookups.
func (c *Checker) table(t prover.Table, trace Trace, sums balance) []Failure {
	circuit, b := c.Circuits[t.Circuit], c.System.Circuits[t.Circuit]
	n := 1 << t.LogHeight
	root, _ := field.RootOfUnity(t.LogHeight)
	lastPoint, _ := field.Inverse(root)
	x := field.Element(1)
	values := make([]field.Element, len(circuit.Nodes))
	failed := make([]bool, len(circuit.Constraints))
	var failures []Failure
	for r := range n {
		for i, node := range circuit.Nodes {
			at := (r + int(node.B)) % n
			switch node.Op {
			case formats.OpConst:
				values[i] = field.Element(node.A)
			case formats.OpMain:
				values[i] = trace[node.A][at]
			case formats.OpFixed:
				values[i] = b.FixedValues[node.A][at]
			case formats.OpPeriodic:
				p := circuit.Periodic[node.A]
				values[i] = field.Element(p.At(at % p.Len()))
			case formats.OpFirst:
				values[i] = indicator(r == 0)
			case formats.OpLast:
				values[i] = indicator(r == n-1)
			case formats.OpTransition:
				values[i] = field.Sub(x, lastPoint)
			case formats.OpAdd:
				values[i] = field.Add(values[node.A], values[node.B])
			case formats.OpSub:
				values[i] = field.Sub(values[node.A], values[node.B])
			case formats.OpMul:
				values[i] = field.Mul(values[node.A], values[node.B])
			}
		}
		for k, id := range circuit.Constraints {
			if values[id] != 0 && !failed[k] {
				failed[k] = true
				failures = append(failures, Failure{Circuit: b.Name, Constraint: b.Asserted[k], Row: r})
			}
		}
		for _, l := range circuit.Lookups {
			mult := values[l.Multiplicity]
			if mult == 0 {
				continue
			}
			message := make([]field.Element, len(l.Args))
			for k, id := range l.Args {
				message[k] = values[id]
			}
			if l.Push && uint64(mult) > l.Weight {
				failures = append(failures, Failure{Circuit: b.Name, Constraint: "weight of a push on " + c.System.Channels[l.Channel].Name, Row: r})
			}
			if !l.Push {
				mult = field.Neg(mult)
			}
			sums.add(l.Channel, message, mult)
		}
		x = field.Mul(x, root)
	}
	return failures
}

func indicator(b bool) field.Element {
	if b {
		return 1
	}
	return 0
}

// balance counts pushes minus pulls of each message, keyed by channel and arguments.
type balance map[string]field.Element

func (s balance) add(channel uint32, message []field.Element, mult field.Element) {
	key := formats.Elements(nil).Append(uint64(channel))
	for _, v := range message {
		key = key.Append(uint64(v))
	}
	s[string(key)] = field.Add(s[string(key)], mult)
}

func (s balance) failures(system *air.System) []Failure {
	var out []Failure
	for key, excess := range s {
		if excess == 0 {
			continue
		}
		e := formats.Elements(key)
		f := Failure{Channel: system.Channels[e.At(0)].Name, Excess: excess}
		for i := 1; i < e.Len(); i++ {
			f.Message = append(f.Message, field.Element(e.At(i)))
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Failure) int {
		return strings.Compare(a.Channel+strconv.FormatUint(uint64(a.Excess), 10), b.Channel+strconv.FormatUint(uint64(b.Excess), 10))
	})
	return out
}
