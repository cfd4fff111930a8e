package prover

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// Options says how to prove. A Backend is needed; the rest may be zero.
type Options struct {
	Backend  Backend
	Progress func(Event) // called on the proving goroutine, often: it must be quick
	// Regenerate drops each shard's main columns between the rounds and makes them again, so that peak memory is that of one shard. It costs about a third more
	// time; the proof is the same.
	Regenerate bool
}

// Result is a finished proof and what it took.
type Result struct {
	Proof     []byte
	Report    *verifier.Report
	Stages    []StageTime
	Runs      []StageRun  // in the order in which they ran
	Work      []StageWork // of the backend's device; nil where it does not count
	Rows      []RowWork   // the same
	PeakBytes int64       // of the backend's buffers
	Elapsed   time.Duration
}

// Prove makes a batch proof of the witness's claims (docs/protocol.md). Equal keys and witnesses give equal bytes, whatever the backend, its threads
// and Options. The proof is verified before it is returned. Errors are the context's, the witness's own, or *formats.Error of class Invalid for a
// witness that does not prove its claims.
func Prove(ctx context.Context, key *ProvingKey, w *Witness, o Options) (*Result, error) {
	p, r, err := prove(ctx, key, w, o)
	if err != nil {
		return nil, err
	}
	closed := make(chan struct{})
	go func() { // giving the memory back takes as long as the check
		defer close(closed)
		p.session.Close()
	}()
	defer func() { <-closed }()
	defer p.clock.leave()
	p.clock.enter(StageCheck, len(p.shards)-1)
	if r.Report, err = verifier.Verify(key.Key, r.Proof, verifier.Policy{MaxProofBytes: len(r.Proof), Insecure: true}); err != nil {
		return nil, unproven(err)
	}
	p.clock.step()
	p.clock.leave()
	r.Runs, r.Stages, r.Elapsed = p.clock.runs, stages(p.clock.runs), time.Since(p.clock.start)
	return r, nil
}

// unproven explains why a finished proof does not verify: a trace that violates its constraints, or else a fault of ours or of the machine.
func unproven(err error) error {
	var e *formats.Error
	if errors.As(err, &e) && e.Check == "P-27" {
		mine := *e
		mine.Class, mine.What = formats.Invalid, "the trace violates a constraint of its circuit"
		mine.Next = "check the trace writer of this table"
		return &mine
	}
	return &formats.Error{Class: formats.Internal, Place: "finished proof", What: "the proof does not verify: " + err.Error(),
		Next: "report this; if it happens once only, suspect the machine's memory"}
}

// prove is Prove without the check at the end. Without an error the session is left open.
func prove(ctx context.Context, key *ProvingKey, w *Witness, o Options) (_ *proof, _ *Result, err error) {
	if err := verifier.CheckClaims(key.Key, w.Claims); err != nil {
		return nil, nil, invalid(err)
	}
	shapes, err := Shapes(key.Key, w)
	if err != nil {
		return nil, nil, err
	}
	tables := 0
	for _, s := range shapes {
		tables += len(s.Tables)
	}
	steps := 4*tables + 6*len(shapes) + 1
	if o.Regenerate {
		steps += 2*tables + len(shapes)
	}
	p := &proof{key: key, witness: w, options: o, clock: newClock(ctx, o.Progress, len(shapes), steps)}
	session, err := o.Backend.Open(ctx, NewJob(key.Key, shapes, w, o.Regenerate))
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			session.Close()
		}
	}()
	p.session = session
	defer p.clock.leave()
	p.meter, _ = session.(Meter)
	for i := range shapes {
		p.shards = append(p.shards, &shard{proof: p, index: i, Shape: shapes[i], tables: w.Shards[i].Tables})
	}
	if err := p.fixed(shapes); err != nil {
		return nil, nil, err
	}

	// Round one: main commitments, then the challenges that all shards share. A device hashes while the host goes on with the next shard.
	commitments, roots := make([]Commitment, len(p.shards)), make([]formats.Digest, len(p.shards))
	for i, s := range p.shards {
		if err := s.commitMain(); err != nil {
			return nil, nil, err
		}
		commitments[i] = s.main
		if o.Regenerate {
			s.forget()
		}
	}
	if err := p.checkFixed(); err != nil {
		return nil, nil, err
	}
	for i, s := range p.shards {
		if roots[i], err = commitments[i].Root(); err != nil {
			return nil, nil, err
		}
		s.begin(roots[i])
	}
	tr := transcript.New(key.Suite)
	verifier.AbsorbStatement(tr, key.Key, w.Claims, shapes, roots) // T-1 to T-3
	pin := tr.Challenge(transcript.TagPinPoint)                    // T-4
	p.pinPoint, p.pinFold = pin.Ext(), pin.Ext()
	for _, s := range p.shards {
		if err := s.pin(); err != nil {
			return nil, nil, err
		}
		tr.AbsorbElements(transcript.TagPins, s.out.Pins) // T-5
		if o.Regenerate {
			s.forget()
		}
	}
	lookup := tr.Challenge(transcript.TagLookup) // T-6
	p.lookup = logup.NewChallenges(lookup.Ext(), lookup.Ext(), key.MessageElements())
	if p.balance, err = p.claimSum(); err != nil {
		return nil, nil, err
	}

	// Round two: each shard on its own fork.
	out := &formats.Proof{Key: key.Digest(), Claims: w.Claims}
	for i, s := range p.shards {
		if err := s.finish(tr.Fork(uint64(i))); err != nil {
			return nil, nil, err
		}
		out.Shards = append(out.Shards, s.out)
	}

	r := &Result{PeakBytes: session.PeakBytes()}
	if p.meter != nil {
		if r.Work, err = p.meter.Work(); err != nil {
			return nil, nil, err
		}
		r.Rows = p.meter.Rows()
	}
	r.Proof, err = encode.Proof(out)
	return p, r, err
}

// Shapes checks a witness's tables against the key and returns the shape of each shard.
func Shapes(key *verifier.Key, w *Witness) ([]*verifier.Shape, error) {
	if len(w.Shards) < 1 || len(w.Shards) > formats.MaxShards {
		e := (&formats.Error{Class: formats.Invalid, Place: "witness", What: "the number of shards is out of range"}).Mismatch(1, uint64(len(w.Shards)))
		e.Expected = "1 to " + strconv.Itoa(formats.MaxShards)
		return nil, e
	}
	var shapes []*verifier.Shape
	for i, s := range w.Shards {
		raw := make([]formats.Table, len(s.Tables))
		for k, t := range s.Tables {
			if t.Circuit < 0 || t.LogHeight < 0 || t.LogHeight > formats.MaxLogHeight || t.Trace == nil {
				return nil, &formats.Error{Class: formats.Invalid, Place: "witness, shard " + strconv.Itoa(i) + ", table " + strconv.Itoa(k),
					What: "the circuit, the height or the trace writer is missing or out of range"}
			}
			for _, r := range RowKernels(t.Trace) {
				if r.Name == "" || r.Items < 1 || r.Words < 1 || r.Threads < 1 || r.Items >= math.MaxInt32 || r.Words > formats.MaxColumns || r.Seeds == nil {
					return nil, &formats.Error{Class: formats.Invalid, Place: "witness, shard " + strconv.Itoa(i) + ", table " + strconv.Itoa(k),
						What: "the row kernel " + strconv.Quote(r.Name) + " has no seeds, or an impossible number of items, words or threads"}
				}
			}
			raw[k] = formats.Table{Circuit: uint32(t.Circuit), LogHeight: uint8(t.LogHeight)}
		}
		tables, err := verifier.CheckTables(key, i, raw)
		if err != nil {
			return nil, invalid(err)
		}
		shapes = append(shapes, verifier.NewShape(key, tables))
	}
	if err := verifier.CheckWeights(shapes, len(w.Claims)); err != nil {
		return nil, invalid(err)
	}
	if err := verifier.CheckWork(shapes); err != nil {
		return nil, invalid(err)
	}
	return shapes, nil
}

// invalid turns a verifier's rejection into a complaint about a witness.
func invalid(err error) error {
	var e *formats.Error
	if !errors.As(err, &e) {
		return err
	}
	mine := *e
	mine.Class = formats.Invalid
	mine.Place = "witness, " + mine.Place
	return &mine
}

// proof is a batch in the making.
type proof struct {
	key      *ProvingKey
	witness  *Witness
	options  Options
	session  Session
	meter    Meter // the session, where it is one
	clock    *clock
	shards   []*shard
	tables   []fixedTable // per circuit; zero for those without fixed columns or without a table
	pinPoint field.Ext
	pinFold  field.Ext
	lookup   *logup.Challenges
	balance  field.Ext // sum of the claims and of all lookups so far
}

// fixedTable is a circuit's fixed columns.
type fixedTable struct {
	trace  Matrix
	commit Commitment
}

// checkFixed compares the roots of fixed columns with the key's.
func (p *proof) checkFixed() error {
	for i := range p.tables {
		if p.tables[i].commit == nil {
			continue
		}
		c := p.key.Circuits[i]
		root, err := p.tables[i].commit.Root()
		if err != nil {
			return err
		}
		if root != c.Fixed[0].Root {
			return &formats.Error{Class: formats.Internal, Place: "circuit " + strconv.Quote(c.Name), What: "the fixed columns are not those that the key commits to"}
		}
	}
	return nil
}

// fixed commits to the fixed columns of the circuits that have tables.
func (p *proof) fixed(shapes []*verifier.Shape) error {
	p.tables = make([]fixedTable, len(p.key.Circuits))
	for i, s := range shapes {
		for k := range s.Tables {
			t := &s.Tables[k]
			f := &p.tables[t.Index]
			if t.FixedColumns() == 0 || f.trace != nil {
				continue
			}
			p.enter(StageCommit, i)
			var err error
			if f.trace, err = p.session.Fixed(p.key.Fixed[t.Index]); err != nil {
				return err
			}
			if f.commit, err = p.session.Commit(s.Tree(verifier.Fixed, k).Tree, []Matrix{f.trace}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *proof) claimSum() (field.Ext, error) {
	sum, ok := verifier.ClaimSum(p.key.Key, p.witness.Claims, p.lookup)
	if !ok {
		return sum, errors.New("ixprove: a claim's lookup denominator is zero: this happens with negligible probability, prove again with other claims")
	}
	return sum, nil
}

// shard is one shard in the making.
type shard struct {
	*proof
	*verifier.Shape
	index  int
	tables []Table
	out    formats.Shard

	traces              []Matrix // main
	main, aux, quotient Commitment
	pins                []Matrix
	sums                []field.Ext // per table
	zeta, delta, lambda field.Ext
	opened              []opened
}

// opened holds a table's out-of-domain values, by kind.
type opened struct {
	here, next [verifier.NumKinds][]field.Ext
}

func (p *proof) enter(stage Stage, shard int) {
	p.clock.enter(stage, shard)
	if p.meter != nil {
		p.meter.Enter(stage)
	}
}

func (s *shard) enter(stage Stage) { s.proof.enter(stage, s.index) }

// commitMain writes and commits to the main traces.
func (s *shard) commitMain() error {
	if err := s.writeTraces(); err != nil {
		return err
	}
	s.enter(StageCommit)
	var err error
	if s.main, err = s.session.Commit(s.Tree(verifier.Main, 0).Tree, s.traces); err != nil {
		return err
	}
	s.clock.step()
	return nil
}

// recommitMain is commitMain in round two, after forget.
func (s *shard) recommitMain() error {
	if err := s.commitMain(); err != nil {
		return err
	}
	root, err := s.main.Root()
	if err != nil {
		return err
	}
	if root != s.out.Main {
		return &formats.Error{Class: formats.Internal, Place: s.place(), What: "the main columns came out differently the second time",
			Next: "a trace writer must write the same values each time"}
	}
	return nil
}

// begin notes the shard's header.
func (s *shard) begin(main formats.Digest) {
	s.out.Main = main
	for i := range s.Tables {
		s.out.Tables = append(s.out.Tables, formats.Table{Circuit: uint32(s.Tables[i].Index), LogHeight: uint8(s.Tables[i].LogHeight)})
	}
}

func (s *shard) place() string { return "shard " + strconv.Itoa(s.index) }

func (s *shard) writeTraces() error {
	s.enter(StageTrace)
	for i := range s.Tables {
		m, err := s.session.Trace(&s.Tables[i], s.tables[i].Trace)
		if err != nil {
			return err
		}
		s.traces = append(s.traces, m)
		s.clock.step()
	}
	return nil
}

// forget drops the main columns.
func (s *shard) forget() {
	if s.main != nil {
		s.main.Free()
		s.main = nil
	}
	for _, m := range s.traces {
		m.Free()
	}
	s.traces = nil
}

// pin computes the pins (T-5).
func (s *shard) pin() error {
	if s.traces == nil {
		if err := s.writeTraces(); err != nil {
			return err
		}
	}
	s.enter(StagePin)
	for i := range s.Tables {
		m, v, err := s.session.Pin(&s.Tables[i], s.traces[i], s.pinPoint, s.pinFold)
		if err != nil {
			return err
		}
		s.pins = append(s.pins, m)
		s.out.Pins = appendExt(s.out.Pins, v)
	}
	s.clock.step()
	return nil
}

func appendExt(e formats.Elements, v field.Ext) formats.Elements {
	return e.Append(uint64(v[0])).Append(uint64(v[1])).Append(uint64(v[2]))
}

// finish performs T-7 to T-18 on the shard's fork of the transcript.
func (s *shard) finish(tr *transcript.Transcript) error {
	if s.main == nil {
		if err := s.recommitMain(); err != nil {
			return err
		}
	}
	if err := s.lookups(); err != nil {
		return err
	}
	if len(s.out.Aux) > 0 { // T-7
		tr.Absorb(transcript.TagAux, transcript.AppendElements(transcript.AppendDigest(nil, s.out.Aux[0]), s.out.Sums))
	}
	s.delta = tr.Challenge(transcript.TagFold).Ext() // T-8
	if err := s.quotients(); err != nil {
		return err
	}
	tr.AbsorbDigest(transcript.TagQuotient, s.out.Quotient) // T-9
	s.zeta = tr.Challenge(transcript.TagZeta).Ext()         // T-10
	if err := s.openings(); err != nil {
		return err
	}
	tr.AbsorbElements(transcript.TagOpenings, s.out.Openings) // T-11
	s.lambda = tr.Challenge(transcript.TagBatch).Ext()        // T-12
	words, err := s.deep()
	if err != nil {
		return err
	}
	layers, folded, err := s.fold(tr, words) // T-13 to T-15
	if err != nil {
		return err
	}
	s.enter(StageGrind)
	state := tr.GrindState() // T-16
	if s.out.Nonce, err = s.session.Grind(state, s.key.Profile.GrindingBits); err != nil {
		return err
	}
	s.clock.step()
	tr.Absorb(transcript.TagNonce, []uint64{s.out.Nonce}) // T-17
	indices := verifier.SortDistinct(verifier.DrawQueries(tr, s.key.Profile.Queries, s.Schedule.LogSize(0)))
	if err := s.queries(indices, layers); err != nil { // T-18
		return err
	}
	for _, l := range layers {
		l.Free()
	}
	for _, w := range append(words, folded...) {
		w.Free()
	}
	for _, m := range s.pins {
		m.Free()
	}
	s.aux, s.quotient = free(s.aux), free(s.quotient)
	s.forget()
	return nil
}

func free(c Commitment) Commitment {
	if c != nil {
		c.Free()
	}
	return nil
}

// lookups computes and commits to the auxiliary traces.
func (s *shard) lookups() error {
	s.enter(StageLookup)
	s.sums = make([]field.Ext, len(s.Tables))
	var traces []Matrix
	for i := range s.Tables {
		t := &s.Tables[i]
		if t.HasLookups() {
			m, sum, err := s.session.Lookups(t, s.proof.tables[t.Index].trace, s.traces[i], s.lookup)
			if err != nil {
				return err
			}
			traces = append(traces, m)
			s.sums[i] = sum
			s.out.Sums = appendExt(s.out.Sums, sum)
			s.balance = field.AddExt(s.balance, sum)
		}
		s.traces[i].Free()
		s.clock.step()
	}
	s.traces = nil
	if s.index == len(s.shards)-1 && !s.balance.IsZero() {
		return &formats.Error{Class: formats.Invalid, Check: "P-25", Place: "witness", What: "the lookups of the tables and the claims do not balance",
			Next: "a message is pushed that no table pulls, or the other way round: check claims, multiplicities and tables"}
	}
	if len(traces) == 0 {
		return nil
	}
	var err error
	if s.aux, err = s.session.Commit(s.Tree(verifier.Aux, 0).Tree, traces); err != nil {
		return err
	}
	root, err := s.aux.Root()
	if err != nil {
		return err
	}
	s.out.Aux = []formats.Digest{root}
	for _, m := range traces {
		m.Free()
	}
	return nil
}

// columns names a table's matrix of a kind; the zero value if it has none.
func (s *shard) columns(kind verifier.Kind, table int) Columns {
	tree := s.Tree(kind, table)
	if tree == nil {
		return Columns{}
	}
	commit := [...]Commitment{s.proof.tables[s.Tables[table].Index].commit, s.main, s.aux, s.quotient}[kind]
	for i, t := range tree.Tables {
		if t == table {
			return Columns{commit, i}
		}
	}
	return Columns{}
}

// quotients computes and commits to the quotient slices.
func (s *shard) quotients() error {
	s.enter(StageQuotient)
	var slices []Matrix
	for i := range s.Tables {
		t := &s.Tables[i]
		m, err := s.session.Quotient(t, s.columns(verifier.Fixed, i), s.columns(verifier.Main, i), s.columns(verifier.Aux, i), s.lookup, s.sums[i], s.delta)
		if err != nil {
			return err
		}
		slices = append(slices, m)
		s.clock.step()
	}
	var err error
	if s.quotient, err = s.session.CommitSlices(s.Tree(verifier.Quotient, 0).Tree, slices); err != nil {
		return err
	}
	if s.out.Quotient, err = s.quotient.Root(); err != nil {
		return err
	}
	for _, m := range slices {
		m.Free()
	}
	return nil
}

// nextPoint is zeta one row further down a table.
func (s *shard) nextPoint(t *verifier.Table) field.Ext {
	w, _ := field.RootOfUnity(t.LogHeight)
	return field.ScaleExt(s.zeta, w)
}

// openings evaluates all columns out of the domain.
func (s *shard) openings() error {
	s.enter(StageOpen)
	s.opened = make([]opened, len(s.Tables))
	for i := range s.Tables {
		t, o := &s.Tables[i], &s.opened[i]
		var here, next []Selection
		for kind := range verifier.NumKinds {
			if t.Columns(kind) == 0 {
				continue
			}
			here = append(here, Selection{s.columns(kind, i), nil})
			if which := t.NextColumns(kind); len(which) > 0 {
				next = append(next, Selection{s.columns(kind, i), which})
			}
		}
		values, err := s.session.Evaluate(here, t.LogHeight, s.zeta)
		if err != nil {
			return err
		}
		var below []field.Ext
		if len(next) > 0 {
			if below, err = s.session.Evaluate(next, t.LogHeight, s.nextPoint(t)); err != nil {
				return err
			}
		}
		for kind := range verifier.NumKinds {
			n, m := t.Columns(kind), len(t.NextColumns(kind))
			o.here[kind], values = values[:n:n], values[n:]
			o.next[kind], below = below[:m:m], below[m:]
			for _, v := range append(o.here[kind], o.next[kind]...) {
				s.out.Openings = appendExt(s.out.Openings, v)
			}
		}
		s.clock.step()
	}
	return nil
}

// deep computes the batched DEEP quotients of each height.
func (s *shard) deep() ([]Codeword, error) {
	s.enter(StageDeep)
	batch := verifier.NewBatch(s.Shape)
	powers := batch.Powers(s.lambda)
	var words []Codeword
	for _, h := range s.Schedule.Heights {
		points := []DeepPoint{{Z: s.zeta}, {}, {Z: s.pinPoint}}
		for i := range s.Tables {
			t := &s.Tables[i]
			if t.LogHeight != h {
				continue
			}
			points[1].Z = s.nextPoint(t)
			for kind := range verifier.NumKinds {
				if t.Columns(kind) == 0 {
					continue
				}
				here, next := batch.Coefficients(t, i, kind, powers)
				points[0].add(s.columns(kind, i), nil, here, s.opened[i].here[kind])
				if len(next) > 0 {
					points[1].add(s.columns(kind, i), t.NextColumns(kind), next, s.opened[i].next[kind])
				}
			}
			pin := batch.Pin(i, powers)
			value := field.Ext{field.Element(s.out.Pins.At(3 * i)), field.Element(s.out.Pins.At(3*i + 1)), field.Element(s.out.Pins.At(3*i + 2))}
			points[2].Pins = append(points[2].Pins, DeepPin{s.pins[i], pin})
			points[2].Claimed = field.AddExt(points[2].Claimed, field.MulExt(pin, value))
		}
		word, err := s.session.Deep(h, points)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	s.clock.step()
	return words, nil
}

func (p *DeepPoint) add(c Columns, which []int, coefficients, values []field.Ext) {
	p.Terms = append(p.Terms, DeepTerm{Selection{c, which}, coefficients})
	for i, v := range values {
		p.Claimed = field.AddExt(p.Claimed, field.MulExt(coefficients[i], v))
	}
}

// fold commits to the FRI layers and folds down to the final polynomial. It returns the layers and the words that they refer to, besides the given ones.
func (s *shard) fold(tr *transcript.Transcript, words []Codeword) (layers []Layer, folded []Codeword, err error) {
	s.enter(StageFRI)
	word := words[0]
	sponge, err := s.session.Sponge(tr, len(s.Schedule.Steps))
	if err != nil {
		return nil, nil, err
	}
	for i, step := range s.Schedule.Steps {
		log := s.Schedule.LogSize(i)
		layer, err := s.session.CommitLayer(word, log, step)
		if err != nil {
			return nil, nil, err
		}
		layers = append(layers, layer)
		beta, err := sponge.Draw(layer, transcript.TagLayer, transcript.TagBeta) // T-13, T-14
		if err != nil {
			return nil, nil, err
		}
		var entering Codeword
		if k := s.Schedule.Entering(i + 1); k > 0 {
			entering = words[k]
		}
		if word, err = s.session.Fold(word, log, step, beta, entering); err != nil {
			return nil, nil, err
		}
		folded = append(folded, word)
	}
	final, err := s.session.Final(word, &s.Schedule)
	if err != nil {
		return nil, nil, err
	}
	if s.out.LayerRoot, err = sponge.Roots(); err != nil {
		return nil, nil, err
	}
	sponge.Free()
	for _, root := range s.out.LayerRoot { // our transcript follows
		tr.AbsorbDigest(transcript.TagLayer, root)
		tr.Challenge(transcript.TagBeta)
	}
	for _, c := range final {
		s.out.Final = appendExt(s.out.Final, c)
	}
	tr.AbsorbElements(transcript.TagFinal, s.out.Final) // T-15
	s.clock.step()
	return layers, folded, nil
}

// queries opens all trees and layers at the query indices.
func (s *shard) queries(indices []uint32, layers []Layer) error {
	s.enter(StageQuery)
	logTop := s.Schedule.LogSize(0)
	for i := range s.Trees {
		t := &s.Trees[i]
		at := merkle.Distinct(indices, logTop-t.LogRows())
		o, err := s.columns(t.Kind, t.Tables[0]).In.Open(at)
		if err != nil {
			return err
		}
		s.out.Trees = append(s.out.Trees, o)
	}
	known := indices
	for i, l := range layers {
		leaves := merkle.Distinct(known, s.Schedule.Steps[i])
		o, err := l.Open(leaves, known)
		if err != nil {
			return err
		}
		s.out.Layers = append(s.out.Layers, o)
		known = leaves
	}
	s.clock.step()
	return nil
}
