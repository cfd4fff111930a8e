package prover

import (
	"context"
	"time"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// Backend is a machine that does the matrix work of proofs. Backends do not know the protocol: they transform, hash, evaluate and fold what they are told
// to, and all give the same words.
type Backend interface {
	// Name is the backend's name in reports.
	Name() string
	// Open starts a job. The context cancels all work of the session.
	Open(ctx context.Context, j Job) (Session, error)
}

// Job is what a session is opened for.
type Job struct {
	Suite     hash.Suite
	LogBlowup int
	// The rest is zero where only fixed columns are committed to.
	Queries         int
	MessageElements int               // of the widest channel of lookups
	Shapes          []*verifier.Shape // of the proof's shards
	Seeds           [][][]Bytes       // per shard and table, what each of its row kernels reads; none where the host writes the rows
	Regenerate      bool              // as in Options
}

// NewJob is the job of a proof of a witness with these shapes.
func NewJob(key *verifier.Key, shapes []*verifier.Shape, w *Witness, regenerate bool) Job {
	p := &key.Profile
	j := Job{Suite: key.Suite, LogBlowup: p.LogBlowup, Queries: p.Queries, MessageElements: key.MessageElements(), Shapes: shapes, Seeds: make([][][]Bytes, len(shapes)), Regenerate: regenerate}
	for i := range shapes {
		j.Seeds[i] = make([][]Bytes, len(w.Shards[i].Tables))
		for k := range j.Seeds[i] {
			for _, r := range RowKernels(w.Shards[i].Tables[k].Trace) {
				j.Seeds[i][k] = append(j.Seeds[i][k], r.seedBytes())
			}
		}
	}
	return j
}

// Meter is a Session whose device counts its work.
type Meter interface {
	// Enter charges what follows to a stage.
	Enter(s Stage)
	// Rows says how the rows of the tables were written, circuit by circuit.
	Rows() []RowWork
	// Work returns what was done so far, in the order in which stages were first entered. It waits for the device.
	Work() ([]StageWork, error)
}

// StageWork is a device's work in a stage.
type StageWork struct {
	Stage              Stage
	BytesUp, BytesDown int64
	Launches           int64         // kernels started
	Busy               time.Duration // of the device in these kernels, by its own clock
	Code               kernels.CodeCounters
}

// RowWork is how the rows of a circuit's tables came to a device.
type RowWork struct {
	Circuit  string
	OnDevice bool  // kernels wrote them, from seeds; else the host did
	Tables   int   // each time that they were written
	BytesUp  int64 // seeds or rows
}

// Matrix is a handle of columns on a trace domain, column-major, in row order, where the backend keeps them.
type Matrix interface{ Free() }

// Commitment is a handle of extended matrices, column-major in bit-reversed coset slabs, and the tree over them.
type Commitment interface {
	// Root returns the tree's root; it waits for the tree, where Commit did not. It may be asked for after Free.
	Root() (formats.Digest, error)
	// Open returns the multiproof for the sorted, distinct indices of the tallest height.
	Open(indices []uint32) (formats.Opening, error)
	Free()
}

// Codeword is a handle of an extension-field word on a FRI domain, in bit-reversed order.
type Codeword interface{ Free() }

// Layer is a committed FRI layer.
type Layer interface {
	// Open returns the multiproof for leaves, both sorted and distinct: known are the positions that the verifier computes, whose values are left out.
	Open(leaves, known []uint32) (formats.Opening, error)
	Free()
}

// Scalar is a handle of an element of E. It is valid until the session draws the next one.
type Scalar any

// Sponge is a transcript that a session carries on where it keeps the roots of layers, so that no challenge waits for the host.
type Sponge interface {
	// Draw absorbs a layer's root as the message of one step and draws an element of E in another.
	Draw(l Layer, root, challenge transcript.Tag) (Scalar, error)
	// Roots waits for the roots that were absorbed.
	Roots() ([]formats.Digest, error)
	Free()
}

// Columns names a matrix of a commitment, by its position among those committed to.
type Columns struct {
	In    Commitment
	Index int
}

// Selection is some columns of a committed matrix; Which is nil for all of them.
type Selection struct {
	Columns
	Which []int
}

// DeepPoint is the quotients at one point: Σ coefficient·f(x) over the terms and pins, less Claimed, divided by x - Z.
type DeepPoint struct {
	Z       field.Ext
	Claimed field.Ext // Σ coefficient·claimed value
	Terms   []DeepTerm
	Pins    []DeepPin
}

// DeepTerm is some columns with a coefficient for each.
type DeepTerm struct {
	Selection
	Coefficients []field.Ext
}

// DeepPin is a combined main trace, as Pin returned it.
type DeepPin struct {
	Trace       Matrix
	Coefficient field.Ext
}

// Session does the matrix work of one proof. Its methods run one after the other. Handles belong to the session; Close frees what is left.
type Session interface {
	// Trace holds a table's main columns, written by w.
	Trace(t *verifier.Table, w TraceWriter) (Matrix, error)
	// Fixed holds a circuit's fixed columns.
	Fixed(columns [][]field.Element) (Matrix, error)
	// Commit extends traces, in the order of the tree's tables, and hashes the tree.
	Commit(tree *merkle.Tree, traces []Matrix) (Commitment, error)
	// CommitSlices is Commit for matrices of coefficients.
	CommitSlices(tree *merkle.Tree, slices []Matrix) (Commitment, error)
	// Pin returns Σ fold^c f_c over the columns of a main trace, and its value at z.
	Pin(t *verifier.Table, main Matrix, z, fold field.Ext) (Matrix, field.Ext, error)
	// Lookups returns a table's auxiliary trace and the sum of its lookups. fixed is nil without fixed columns.
	Lookups(t *verifier.Table, fixed, main Matrix, ch *logup.Challenges) (Matrix, field.Ext, error)
	// Quotient returns the coefficients of a table's quotient slices. fixed and aux are zero where the table has none.
	Quotient(t *verifier.Table, fixed, main, aux Columns, ch *logup.Challenges, sum, delta field.Ext) (Matrix, error)
	// Evaluate returns the values at z of columns of a table of the given height, in order.
	Evaluate(columns []Selection, logHeight int, z field.Ext) ([]field.Ext, error)
	// Deep returns the sum of the quotients at the points, on the extension of tables of the given height.
	Deep(logHeight int, points []DeepPoint) (Codeword, error)
	// CommitLayer commits to a word of 2^logSize elements in leaves of 2^step.
	CommitLayer(word Codeword, logSize, step int) (Layer, error)
	// Sponge carries on with a transcript for at most so many layers. The transcript stays as it is; it must have drawn all that it absorbed.
	Sponge(tr *transcript.Transcript, layers int) (Sponge, error)
	// Fold folds a word of 2^logSize elements by 2^step and adds beta^(2^step)·entering where entering is not nil.
	Fold(word Codeword, logSize, step int, beta Scalar, entering Codeword) (Codeword, error)
	// Final interpolates the last word.
	Final(word Codeword, s *fri.Schedule) ([]field.Ext, error)
	// Grind returns the lowest nonce whose hash with state has its low bits zero.
	Grind(state formats.Digest, bits int) (uint64, error)
	// PeakBytes is the most memory that the session's buffers took at a time.
	PeakBytes() int64
	// Close frees the session.
	Close()
}

// HostSponge is the Sponge of a session whose roots and scalars are on the host: its scalars are of type field.Ext.
type HostSponge struct {
	transcript *transcript.Transcript
	root       func(Layer) formats.Digest
	roots      []formats.Digest
}

// NewHostSponge carries on with a transcript. root returns the root of a layer.
func NewHostSponge(tr *transcript.Transcript, root func(Layer) formats.Digest) *HostSponge {
	return &HostSponge{transcript: tr.Clone(), root: root}
}

// Draw implements Sponge.
func (s *HostSponge) Draw(l Layer, root, challenge transcript.Tag) (Scalar, error) {
	s.roots = append(s.roots, s.root(l))
	s.transcript.AbsorbDigest(root, s.roots[len(s.roots)-1])
	return s.transcript.Challenge(challenge).Ext(), nil
}

// Roots implements Sponge.
func (s *HostSponge) Roots() ([]formats.Digest, error) { return s.roots, nil }

// Free implements Sponge.
func (*HostSponge) Free() {}
