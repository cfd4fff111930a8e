package cli

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/security"
)

type inspectResult struct {
	Schema   string          `json:"schema"`
	Kind     string          `json:"kind"` // formats.KindProof or formats.KindKey
	File     string          `json:"file"`
	Key      keyObject       `json:"key"`
	Profile  profileObject   `json:"profile"`
	Entries  []entryObject   `json:"entries"`
	Circuits []circuitObject `json:"circuits"`
	// Of proofs alone.
	Claims   []claimObject    `json:"claims,omitempty"`
	Shards   [][]tableObject  `json:"shards,omitempty"`
	Sizes    []sizeObject     `json:"sizes,omitempty"`
	Security []securityObject `json:"security,omitempty"`

	key    *verifier.Key
	report *verifier.Report
}

type profileObject struct {
	Suite        string `json:"suite"`
	LogBlowup    int    `json:"log_blowup"`
	Queries      int    `json:"queries"`
	GrindingBits int    `json:"grinding_bits"`
	LogArity     int    `json:"log_arity"`
	LogFinal     int    `json:"log_final"`
	Multiplicity int    `json:"multiplicity"`
	MinLogHeight int    `json:"min_log_height"`
}

type entryObject struct {
	Name    string        `json:"name"`
	Args    []valueTyping `json:"args"`
	Results []valueTyping `json:"results"`
}

type valueTyping struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type circuitObject struct {
	Name        string `json:"name"`
	Columns     int    `json:"columns"`
	Fixed       int    `json:"fixed_columns"`
	Periodic    int    `json:"periodic_columns"`
	Aux         int    `json:"auxiliary_columns"`
	Quotient    int    `json:"quotient_columns"`
	Degree      int    `json:"degree"`
	Constraints int    `json:"constraints"`
	Lookups     int    `json:"lookups"`
	Groups      int    `json:"lookup_groups"`
	Nodes       int    `json:"nodes"`
}

type sizeObject struct {
	Part  string `json:"part"`
	Bytes int    `json:"bytes"`
}

type securityObject struct {
	Regime security.Regime      `json:"regime"`
	Bits   int                  `json:"bits"`
	Digest int                  `json:"digest_bits"`
	Terms  []securityTermObject `json:"terms"`
}

type securityTermObject struct {
	Name   string  `json:"name"`
	Bits   float64 `json:"bits"`
	Source string  `json:"source"`
}

// soundcalcResult is the parameters as an input of an independent calculator.
type soundcalcResult struct {
	Schema string `json:"schema"`
	TOML   string `json:"toml"`
}

func (r *soundcalcResult) text(w io.Writer) { io.WriteString(w, r.TOML) }

func prepareInspect(f *pflag.FlagSet) action {
	var k keyFlags
	k.declare(f)
	soundcalc := f.Bool("soundcalc", false, "print a proof's parameters for ethereum/soundcalc as TOML, and nothing else")
	return func(t *tool) (result, error) {
		path := cmp.Or(t.operand, defaultProof)
		data, err := t.read(path, max(formats.MaxProofBytes, formats.MaxKeyBytes))
		if err != nil {
			return nil, err
		}
		switch kind := formats.Kind(data); kind {
		case formats.KindRoot, formats.KindRootKey:
			if *soundcalc {
				return nil, usageError("--soundcalc", "this is no batch proof", "a batch proof", path, "")
			}
			return t.inspectRoot(path, data, kind, &k)
		case formats.KindKey:
			key, err := verifier.ParseKey(data, suites...)
			if err != nil {
				return nil, inFile(path, err)
			}
			if err := k.holdBatch(t, path, key); err != nil {
				return nil, err
			}
			if *soundcalc {
				return nil, usageError("--soundcalc", "a key has no shape to account for", "a proof", path+", a key", "")
			}
			return newInspectResult(formats.KindKey, path, key), nil
		}
		decoded, err := formats.DecodeProof(data, formats.MaxProofBytes)
		if err != nil {
			return nil, inFile(path, err)
		}
		key, err := k.choose(t, decoded.Key)
		if err != nil {
			return nil, err
		}
		report, err := verifier.Verify(key, data, verifier.Policy{Insecure: true})
		if err != nil {
			return nil, inFile(path, err)
		}
		shape := reportShape(key, report)
		if *soundcalc {
			toml, err := security.SoundcalcTOML(key.Profile, shape)
			return &soundcalcResult{"ixprove/soundcalc/1", toml}, err
		}
		r := newInspectResult(formats.KindProof, path, key)
		r.addProof(report, shape)
		return r, nil
	}
}

func reportShape(key *verifier.Key, report *verifier.Report) security.Shape {
	var shapes []*verifier.Shape
	for _, s := range report.Shards {
		shapes = append(shapes, verifier.NewShape(key, s.Tables))
	}
	return verifier.Security(shapes, len(report.Claims))
}

func newInspectResult(kind, path string, key *verifier.Key) *inspectResult {
	p := key.Profile
	r := &inspectResult{Schema: "ixprove/inspect/1", Kind: kind, File: path, Key: newKeyObject(key), key: key,
		Profile: profileObject{key.Suite.Name(), p.LogBlowup, p.Queries, p.GrindingBits, p.LogArity, p.LogFinal, p.Multiplicity, p.MinLogHeight}}
	for _, e := range key.Entries {
		r.Entries = append(r.Entries, entryObject{e.Name, typings(e.Args), typings(e.Results)})
	}
	for _, c := range key.Circuits {
		r.Circuits = append(r.Circuits, circuitObject{c.Name, int(c.Columns), c.FixedColumns(), len(c.Periodic), c.AuxColumns(), c.QuotientColumns(), int(c.Degree),
			len(c.Constraints), len(c.Lookups), len(c.Groups), len(c.Nodes)})
	}
	return r
}

func typings(values []formats.Value) []valueTyping {
	out := []valueTyping{}
	for _, v := range values {
		out = append(out, valueTyping{v.Name, v.Type.String()})
	}
	return out
}

func (r *inspectResult) addProof(report *verifier.Report, shape security.Shape) {
	r.report, r.Claims = report, claimObjects(r.key, report.Claims)
	for _, s := range report.Shards {
		r.Shards = append(r.Shards, tableObjects(s.Tables))
	}
	for k := range verifier.NumKinds {
		r.Sizes = append(r.Sizes, sizeObject{k.String() + " rows", report.Sizes.Rows[k]}, sizeObject{k.String() + " siblings", report.Sizes.Siblings[k]})
	}
	r.Sizes = append(r.Sizes, sizeObject{"openings and pins", report.Sizes.Openings}, sizeObject{"FRI layers", report.Sizes.Layers}, sizeObject{"final polynomial", report.Sizes.Final},
		sizeObject{"rest", report.Sizes.Rest}, sizeObject{"total", report.Sizes.Total})
	for _, regime := range []security.Regime{security.Johnson, security.Unique, security.Conjectured} {
		terms := security.Terms(r.key.Profile, shape, regime)
		o := securityObject{Regime: regime, Bits: security.Level(terms), Digest: security.DigestLevel(terms)}
		for _, t := range terms {
			o.Terms = append(o.Terms, securityTermObject{t.Name, t.Bits, t.Source})
		}
		r.Security = append(r.Security, o)
	}
}

var regimeAbout = map[security.Regime]string{
	security.Johnson:     "proven, up to the Johnson bound",
	security.Unique:      "proven, within the unique decoding radius",
	security.Conjectured: "conjectured, not proven",
}

func (r *inspectResult) text(w io.Writer) {
	kinds := map[string]string{formats.KindProof: "valid batch proof", formats.KindKey: "verifying key"}
	fmt.Fprintf(w, "%s: %s\nkey      %s\n", printable(r.File), kinds[r.Kind], r.Key)
	p := r.Profile
	fmt.Fprintf(w, "profile  suite %s, blowup %d, %d queries, %d grinding bits, arity %d, final polynomial of at most %d coefficients\n\n", p.Suite, 1<<p.LogBlowup, p.Queries, p.GrindingBits,
		1<<p.LogArity, 1<<p.LogFinal)
	if r.report != nil {
		fmt.Fprint(w, "claims\n")
		claimLines(w, r.key, r.report.Claims, nil)
		fmt.Fprintln(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "circuit\tcolumns\tfixed\tperiodic\tauxiliary\tquotient\tdegree\tconstraints\tlookups\tgroups\tnodes\n")
	for _, c := range r.Circuits {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", c.Name, c.Columns, c.Fixed, c.Periodic, c.Aux, c.Quotient, c.Degree, c.Constraints, c.Lookups, c.Groups, c.Nodes)
	}
	t.Flush()
	if r.report == nil {
		fmt.Fprint(w, "\nentries\n")
		for _, e := range r.Entries {
			fmt.Fprintf(w, "  %s(%s) = %s\n", e.Name, typingText(e.Args), typingText(e.Results))
		}
		return
	}
	fmt.Fprintln(w)
	for i, s := range r.report.Shards {
		fmt.Fprintf(w, "shard %d: %s; %d FRI layers\n", i, shapeText(r.Shards[i:i+1]), s.Layers)
	}
	fmt.Fprint(w, "\n")
	fmt.Fprint(t, "part\tbytes\n")
	for _, s := range r.Sizes {
		fmt.Fprintf(t, "%s\t%d\n", s.Part, s.Bytes)
	}
	t.Flush()
	for _, s := range r.Security {
		fmt.Fprintf(w, "\n%d bits %s; digests %d bits collision resistant\n", s.Bits, regimeAbout[s.Regime], s.Digest)
		for _, term := range s.Terms {
			fmt.Fprintf(t, "  %s\t%.2f\t%s\n", term.Name, term.Bits, term.Source)
		}
		t.Flush()
	}
}

func typingText(list []valueTyping) string {
	s := ""
	for i, v := range list {
		if i > 0 {
			s += ", "
		}
		s += v.Name + " " + v.Type
	}
	return s
}
