package air_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// sound is a circuit that passes every check: two main, one fixed and one periodic column, a constraint, a push and a pull.
func sound() (*formats.Circuit, []formats.Channel) {
	c := &formats.Circuit{
		Name: "only", Columns: 2, MinLogHeight: 2, Degree: 3,
		Periodic: []formats.Elements{formats.Elements(nil).Append(1).Append(2)},
		Fixed:    []formats.Fixed{{Columns: 1, LogHeight: 4}},
		Nodes: []formats.Node{
			{Op: formats.OpMain, A: 0},       // 0
			{Op: formats.OpMain, A: 1, B: 1}, // 1
			{Op: formats.OpFixed, A: 0, B: 1},
			{Op: formats.OpPeriodic, A: 0, B: 1},
			{Op: formats.OpTransition},
			{Op: formats.OpConst, A: 5}, // 5
			{Op: formats.OpMul, A: 0, B: 1},
			{Op: formats.OpMul, A: 6, B: 2}, // degree 3
			{Op: formats.OpMul, A: 7, B: 0}, // degree 4
			{Op: formats.OpMul, A: 4, B: 4}, // transition twice
		},
		Constraints: []uint32{6, 7},
		Lookups: []formats.Lookup{
			{Push: true, Channel: 0, Multiplicity: 5, Weight: 5, Args: []uint32{0, 1}},
			{Channel: 1, Multiplicity: 5, Args: []uint32{3}},
		},
	}
	return c, []formats.Channel{{Name: "two", Arity: 2}, {Name: "one", Arity: 1}}
}

func TestSoundCircuit(t *testing.T) {
	raw, channels := sound()
	c, err := air.CheckCircuit(raw, channels, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c.Weights != 5 || c.LogPeriod != 1 || len(c.NextMain) != 1 || c.NextMain[0] != 1 || len(c.NextFixed) != 1 || c.MessageElements() != 3 {
		t.Errorf("%+v", c)
	}
}

// TestChecks breaks one thing each (K-7 to K-11) and expects the check, the place, and an explanation.
func TestChecks(t *testing.T) {
	manyPeriods := formats.Elements(nil).Append(1).Append(2).Append(3)
	for _, c := range []struct {
		name, check, place, what string
		spoil                    func(c *formats.Circuit)
	}{
		{"operand is itself", "K-7", ", node 6", "earlier node", func(c *formats.Circuit) { c.Nodes[6].A = 6 }},
		{"second operand is later", "K-7", ", node 6", "earlier node", func(c *formats.Circuit) { c.Nodes[6].B = 9 }},
		{"operand beyond 32 bits", "K-7", ", node 6", "earlier node", func(c *formats.Circuit) { c.Nodes[6].A = 1 << 32 }},
		{"unknown operation", "K-7", ", node 5", "unknown operation", func(c *formats.Circuit) { c.Nodes[5].Op = formats.NumOps }},
		{"main column", "K-7", ", node 0", "column does not exist", func(c *formats.Circuit) { c.Nodes[0].A = 2 }},
		{"fixed column", "K-7", ", node 2", "column does not exist", func(c *formats.Circuit) { c.Nodes[2].A = 1 }},
		{"no fixed columns", "K-7", ", node 2", "column does not exist", func(c *formats.Circuit) { c.Fixed = nil }},
		{"periodic column", "K-7", ", node 3", "column does not exist", func(c *formats.Circuit) { c.Nodes[3].A = 1 }},
		{"column beyond 32 bits", "K-7", ", node 0", "column does not exist", func(c *formats.Circuit) { c.Nodes[0].A = 1 << 32 }},
		{"two rows down", "K-7", ", node 0", "neither this row nor the next", func(c *formats.Circuit) { c.Nodes[0].B = 2 }},
		{"selector with an operand", "K-7", ", node 4", "selector has operands", func(c *formats.Circuit) { c.Nodes[4].B = 1 }},
		{"constant with an operand", "K-7", ", node 5", "constant has an operand", func(c *formats.Circuit) { c.Nodes[5].B = 1 }},
		{"constant not canonical", "K-7", ", node 5", "not canonical", func(c *formats.Circuit) { c.Nodes[5].A = field.Modulus }},
		{"constraint is no node", "K-8", ", constraint 1", "no node", func(c *formats.Circuit) { c.Constraints[1] = 10 }},
		{"degree too high", "K-8", ", constraint 1", "degree is too high", func(c *formats.Circuit) { c.Constraints[1] = 8 }},
		{"transition twice", "K-8", ", constraint 0", "degree is too high", func(c *formats.Circuit) { c.Constraints[0] = 9 }},
		{"declared degree too low", "K-8", ", constraint 1", "degree is too high", func(c *formats.Circuit) { c.Degree = 2 }},
		{"degree 1", "K-8", ", degree", "blowup", func(c *formats.Circuit) { c.Degree = 1 }},
		{"degree over blowup + 1", "K-8", ", degree", "blowup", func(c *formats.Circuit) { c.Degree = 4 }},
		{"channel", "K-9", ", lookup 1", "channel does not exist", func(c *formats.Circuit) { c.Lookups[1].Channel = 2 }},
		{"arity", "K-9", ", lookup 0", `arity of channel "two"`, func(c *formats.Circuit) { c.Lookups[0].Args = []uint32{0} }},
		{"argument is no node", "K-9", ", lookup 0", "no node", func(c *formats.Circuit) { c.Lookups[0].Args[1] = 10 }},
		{"multiplicity is no node", "K-9", ", lookup 1", "no node", func(c *formats.Circuit) { c.Lookups[1].Multiplicity = 10 }},
		{"push of weight 0", "K-9", ", lookup 0", "weight", func(c *formats.Circuit) { c.Lookups[0].Weight = 0 }},
		{"push of weight 2^32 + 1", "K-9", ", lookup 0", "weight", func(c *formats.Circuit) { c.Lookups[0].Weight = 1<<32 + 1 }},
		{"pull with a weight", "K-9", ", lookup 1", "weight", func(c *formats.Circuit) { c.Lookups[1].Weight = 1 }},
		{"fingerprint of degree 3", "K-9", ", lookup 1", "degree is too high", func(c *formats.Circuit) { c.Lookups[1].Args[0] = 7 }},
		{"multiplicity of degree 4", "K-9", ", lookup 1", "degree is too high", func(c *formats.Circuit) { c.Lookups[1].Multiplicity = 8 }},
		{"minimum below the profile's", "K-10", ", minimum log height", "out of range", func(c *formats.Circuit) { c.MinLogHeight = 1 }},
		{"minimum below a period", "K-10", ", minimum log height", "out of range", func(c *formats.Circuit) {
			for c.Periodic[0].Len() < 8 {
				c.Periodic[0] = append(c.Periodic[0], c.Periodic[0]...)
			}
		}},
		{"minimum above the limit", "K-10", ", minimum log height", "out of range", func(c *formats.Circuit) { c.MinLogHeight = 28 }},
		{"period of three", "K-10", ", periodic column 0", "power of two", func(c *formats.Circuit) { c.Periodic[0] = manyPeriods }},
		{"period of none", "K-10", ", periodic column 0", "power of two", func(c *formats.Circuit) { c.Periodic[0] = nil }},
		{"fixed height below the minimum", "K-10", "", "height", func(c *formats.Circuit) { c.Fixed[0].LogHeight = 1 }},
		{"fixed height above the limit", "K-10", "", "height", func(c *formats.Circuit) { c.Fixed[0].LogHeight = 28 }},
		{"no main column", "K-11", ", main columns", "out of range", func(c *formats.Circuit) { c.Columns = 0 }},
		{"too many main columns", "K-11", ", main columns", "out of range", func(c *formats.Circuit) { c.Columns = formats.MaxColumns + 1 }},
		{"no fixed column", "K-11", ", fixed columns", "out of range", func(c *formats.Circuit) { c.Fixed[0].Columns = 0 }},
		{"too many fixed columns", "K-11", ", fixed columns", "out of range", func(c *formats.Circuit) { c.Fixed[0].Columns = formats.MaxColumns + 1 }},
		{"nothing to check", "K-11", "", "neither constraints nor lookups", func(c *formats.Circuit) { c.Constraints, c.Lookups = nil, nil }},
	} {
		raw, channels := sound()
		c.spoil(raw)
		_, err := air.CheckCircuit(raw, channels, 1, 2)
		var e *formats.Error
		if !errors.As(err, &e) || e.Class != formats.Invalid || e.Check != c.check ||
			!strings.HasPrefix(e.Place, `circuit "only"`+c.place) || !strings.Contains(e.What, c.what) {
			t.Errorf("%s: %v", c.name, err)
		} else if e.Expected == e.Got && e.Got != "" {
			t.Errorf("%s explains nothing: %v", c.name, err)
		}
	}
}

// TestDegreesDoNotOverflow squares a column 40 times: the check ends in an error, not in a small degree.
func TestDegreesDoNotOverflow(t *testing.T) {
	for _, op := range []formats.Op{formats.OpMain, formats.OpTransition} {
		raw, channels := sound()
		raw.Nodes = []formats.Node{{Op: op}}
		for i := range 70 {
			raw.Nodes = append(raw.Nodes, formats.Node{Op: formats.OpMul, A: uint64(i), B: uint32(i)})
		}
		raw.Constraints, raw.Lookups = []uint32{70}, nil
		_, err := air.CheckCircuit(raw, channels, 1, 1)
		var e *formats.Error
		if !errors.As(err, &e) || e.Check != "K-7" || !strings.Contains(e.What, "degree") {
			t.Errorf("%v", err)
		}
	}
}
