package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/prover/cuda"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// defaultProof is the proof that prove writes and verify reads.
const defaultProof = "proof.cbor"

type proveResult struct {
	Schema      string          `json:"schema"`
	Proof       string          `json:"proof"`
	Bytes       int             `json:"bytes"`
	Key         keyObject       `json:"key"`
	Claims      []claimObject   `json:"claims"`
	Shards      [][]tableObject `json:"shards"`
	ProvenBits  int             `json:"proven_bits"`
	DigestBits  int             `json:"digest_bits"` // work for a collision of digests
	Backend     string          `json:"backend"`
	Threads     int             `json:"threads"`
	ElapsedNs   time.Duration   `json:"elapsed_ns"`
	Stages      []stageObject   `json:"stages"`
	Rows        []rowObject     `json:"rows,omitempty"` // how they came to the device
	BufferBytes int64           `json:"peak_buffer_bytes"`
	Planned     prover.Bytes    `json:"planned_peak_bytes"`
	Device      *deviceObject   `json:"device,omitempty"`

	key    *verifier.Key
	claims []formats.Claim
	code   kernels.CodeCounters
	texts  []string
}

// tableObject is a table as JSON.
type tableObject struct {
	Circuit   string `json:"circuit"`
	LogHeight int    `json:"log_height"`
}

type stageObject struct {
	Stage  prover.Stage  `json:"stage"`
	Ns     time.Duration `json:"elapsed_ns"`
	Device *workObject   `json:"device,omitempty"`
}

// workObject is what a device did in a stage.
type workObject struct {
	BytesUp   int64         `json:"bytes_up"`
	BytesDown int64         `json:"bytes_down"`
	Kernels   int64         `json:"kernels"`
	BusyNs    time.Duration `json:"busy_ns"`
	Code      *codeObject   `json:"code,omitempty"`
}

// codeObject is how a stage's constraints or lookups were run.
type codeObject struct {
	Interpreted int           `json:"interpreted"`      // programs that the interpreter ran
	Direct      int           `json:"direct"`           // programs that kernels of their own ran
	Compiled    int           `json:"compiled_kernels"` // of these, compiled now
	Cached      int           `json:"cached_kernels"`   // and taken from disk
	CompileNs   time.Duration `json:"compile_ns"`
	Note        string        `json:"note,omitempty"`
}

func newCodeObject(c kernels.CodeCounters) *codeObject {
	if c.Interpreted+c.Direct == 0 {
		return nil
	}
	return &codeObject{c.Interpreted, c.Direct, c.CompiledKernels, c.CachedKernels, c.Elapsed, c.Note}
}

// stageObjects are a proof's stages with what its device did in them.
func stageObjects(r *prover.Result) (out []stageObject) {
	for _, s := range r.Stages {
		o := stageObject{Stage: s.Stage, Ns: s.Time}
		if at := slices.IndexFunc(r.Work, func(w prover.StageWork) bool { return w.Stage == s.Stage }); at >= 0 {
			w := &r.Work[at]
			o.Device = &workObject{w.BytesUp, w.BytesDown, w.Launches, w.Busy, newCodeObject(w.Code)}
		}
		out = append(out, o)
	}
	return out
}

// rowObject says who wrote the rows of a circuit's tables.
type rowObject struct {
	Circuit string `json:"circuit"`
	By      string `json:"by"` // "device", from seeds, or "host"
	Tables  int    `json:"tables"`
	BytesUp int64  `json:"bytes_up"`
}

func rowObjects(rows []prover.RowWork) (out []rowObject) {
	for _, r := range rows {
		by := "host"
		if r.OnDevice {
			by = "device"
		}
		out = append(out, rowObject{r.Circuit, by, r.Tables, r.BytesUp})
	}
	return out
}

// firstPlan is the plan for the first machine that the proof fits, or that for the last of them.
func firstPlan(key *verifier.Key, shapes []*verifier.Shape, w *prover.Witness, machines []machine) (plan *planResult) {
	for _, on := range machines {
		if plan = newPlan(key, shapes, w, on); plan.Fits {
			break
		}
	}
	return plan
}

// fitting cuts a batch into more shards until it fits one of the machines, or until more shards do not help.
func fitting(key *verifier.Key, w *prover.Witness, machines []machine, cut func(shards int) (*prover.Witness, error)) (*prover.Witness, *planResult, error) {
	shapes, err := prover.Shapes(key, w)
	if err != nil {
		return nil, nil, err
	}
	plan := firstPlan(key, shapes, w, machines)
	for count := 2; !plan.Fits && plan.machine.automatic && count <= formats.MaxShards; count *= 2 {
		finer, err := cut(count)
		if err != nil {
			break // it cannot be cut further
		}
		shapes, err := prover.Shapes(key, finer)
		if err != nil {
			break
		}
		next := firstPlan(key, shapes, finer, machines)
		if next.Peak >= plan.Peak {
			break // what remains does not depend on the shards' size
		}
		w, plan = finer, next
	}
	return w, plan, nil
}

func (r *proveResult) text(w io.Writer) {
	fmt.Fprintf(w, "proven with %d bits of security%s:\n", r.ProvenBits, digestText(r.DigestBits))
	claimLines(w, r.key, r.claims, r.texts)
	fmt.Fprintf(w, "proof   %s, %d bytes\nkey     %s\n", r.Proof, r.Bytes, r.Key)
	fmt.Fprintf(w, "shape   %s\n", shapeText(r.Shards))
	fmt.Fprintf(w, "time    %s on %s with %d threads, %s of buffers\n", timeText(r.ElapsedNs), r.Backend, r.Threads, bytesText(prover.Bytes(r.BufferBytes)))
	if r.Device != nil {
		var sum workObject
		for _, s := range r.Stages {
			if w := s.Device; w != nil {
				sum = workObject{sum.BytesUp + w.BytesUp, sum.BytesDown + w.BytesDown, sum.Kernels + w.Kernels, sum.BusyNs + w.BusyNs, nil}
			}
		}
		fmt.Fprintf(w, "device  %s, busy for %s in %d kernels, %s up, %s down\n", r.Device.UUID, timeText(sum.BusyNs), sum.Kernels, bytesText(prover.Bytes(sum.BytesUp)), bytesText(prover.Bytes(sum.BytesDown)))
		if c := r.code; c.Interpreted+c.Direct > 0 {
			fmt.Fprintf(w, "code    %d programs compiled for their circuits, %d interpreted; %d kernels compiled and %d read in %s\n", c.Direct, c.Interpreted, c.CompiledKernels, c.CachedKernels, timeText(c.Elapsed))
		}
		if r.code.Note != "" {
			fmt.Fprintf(w, "note    %s\n", r.code.Note)
		}
	}
	for _, o := range r.Rows {
		fmt.Fprintf(w, "rows    of %s by the %s, %s up\n", o.Circuit, o.By, bytesText(prover.Bytes(o.BytesUp)))
	}
	if r.ProvenBits < verifier.DefaultMinBits {
		fmt.Fprintf(w, "Insecure: verify refuses fewer than %d bits unless told otherwise.\n", verifier.DefaultMinBits)
	}
}

func shapeObjects(shapes []*verifier.Shape) [][]tableObject {
	out := make([][]tableObject, len(shapes))
	for i, s := range shapes {
		out[i] = tableObjects(s.Tables)
	}
	return out
}

func tableObjects(tables []verifier.Table) []tableObject {
	var out []tableObject
	for _, t := range tables {
		out = append(out, tableObject{t.Name, t.LogHeight})
	}
	return out
}

// shapeText lists the tables of each shard.
func shapeText(shards [][]tableObject) string {
	s := ""
	for i, tables := range shards {
		if i > 0 {
			s += " | "
		}
		if i == shown {
			return s + fmt.Sprintf("and %d more shards", len(shards)-shown)
		}
		for k, t := range tables {
			if k > 0 {
				s += ", "
			}
			s += fmt.Sprintf("%s 2^%d", t.Circuit, t.LogHeight)
		}
	}
	return s
}

func timeText(d time.Duration) string {
	if d < time.Second {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// opening opens a device while the host does something else: a context takes a tenth of a second.
type opening struct {
	cards cards
	done  chan struct{} // closed when card or err is there; nil if nothing is being opened
	card  *cuda.Backend
	err   error
}

// opener begins to open the device of the machines, if there is but one and it is wanted.
func opener(c cards, machines []machine, wanted bool) *opening {
	o := &opening{cards: c}
	if wanted && len(machines) == 1 && machines[0].gpu {
		o.begin(machines[0].device.Index)
	}
	return o
}

func (o *opening) begin(index int) {
	o.done = make(chan struct{})
	go func() {
		defer close(o.done)
		var d kernels.Driver
		if d, o.err = o.cards.open(index); o.err == nil {
			o.card = cuda.New(d)
		}
	}()
}

// backend waits for a machine's device.
func (o *opening) backend(on machine) (prover.Backend, error) {
	if o.done == nil {
		o.begin(on.device.Index)
	}
	<-o.done
	if o.err != nil {
		return nil, o.err
	}
	o.card.Budget = on.budget
	return o.card, nil
}

// close gives the device back.
func (o *opening) close() {
	if o.done == nil {
		return
	}
	if <-o.done; o.card != nil {
		o.card.Close()
	}
}

// rootOnDevice refuses a root with --gpu: there are kernels for blake3 alone.
func (p *proveFlags) rootOnDevice(profile security.Profile) error {
	if *p.gpu == "" || !isRoot(profile) {
		return nil
	}
	return usageError("--gpu", "the hash suite "+profile.Suite+" of the profile "+profile.Name+" has no kernels for devices", "a profile of the suite "+hash.Blake3{}.Name(), "--profile "+profile.Name,
		"prove roots on the CPU: leave --gpu out")
}

// rootShards refuses a root with --shards.
func (p *proveFlags) rootShards(profile security.Profile) error {
	if *p.shards == "" || !isRoot(profile) {
		return nil
	}
	return usageError("--shards", "a root is one shard, whose heights follow from the claims", "no --shards with --profile "+profile.Name, strconv.Quote(*p.shards), "")
}

type proveFlags struct {
	out, profile, shards, progress, gpu, trace *string
	threads                                    *int
	plan                                       *bool
	hashTime                                   *time.Duration
	memory, vram                               size
	calls                                      callFlags
}

func prepareProve(f *pflag.FlagSet) action {
	p := &proveFlags{
		out:      f.StringP("output", "o", defaultProof, "write the proof to `FILE`"),
		profile:  f.String("profile", "", "security profile, "+profileNames()+"; that of the claims file if not given"),
		plan:     f.Bool("plan", false, "print the shape and the memory it takes, and prove nothing"),
		threads:  f.Int("threads", 0, "processors to use; all if 0"),
		shards:   f.String("shards", "", "`SPEC`: a number of shards, or the log heights of each shard's tables such as 15,12/14"),
		gpu:      f.String("gpu", "", "prove on a CUDA `DEVICE`: a number or a UUID of ixprove devices, or several, of which the first with enough memory proves"),
		trace:    f.String("trace", "", "write the stages' times to `FILE`, in Chrome's trace format"),
		hashTime: f.Duration("max-hash-time", 10*time.Minute, "longest that hashing the trees of a root may be estimated to take"),
		progress: progressFlag(f),
	}
	f.Var(&p.memory, "memory", "most memory to take on the CPU, such as 8GiB; shards are recomputed where that saves enough")
	p.calls.declare(f)
	f.Var(&p.vram, "vram", "most device memory to take with --gpu, 90% of the device's if not given; the batch is cut into shards where it has to be")
	return func(t *tool) (result, error) {
		if profile, ok := security.ProfileByName(*p.profile); ok {
			if err := p.rootOnDevice(profile); err != nil {
				return nil, err
			}
		}
		machines, err := p.machines(t, f)
		if err != nil {
			return nil, err
		}
		return p.prove(t, machines)
	}
}

// claimsSource reads a claims file.
func (p *proveFlags) claimsSource(t *tool, path string) (*source, error) {
	c, err := t.readClaims(path)
	if err != nil {
		return nil, err
	}
	if *p.profile != "" {
		if c.profile, err = profileFlag(*p.profile); err != nil {
			return nil, err
		}
	}
	if err := p.rootOnDevice(c.profile); err != nil {
		return nil, err
	}
	if err := p.rootShards(c.profile); err != nil {
		return nil, err
	}
	request := systems.Request{Claims: c.Claims, Read: c.readPrivate(), MinLogHeight: c.profile.MinLogHeight}
	if *p.plan {
		request.Read = c.sizePrivate()
		for i := range c.Claims { // results of zeros are nobody's
			c.Claims[i].Results = nil
		}
	}
	return &source{
		profile: c.profile,
		witness: func(s systems.Shards) (*prover.Witness, error) {
			request.Shards = s
			if isRoot(c.profile) {
				return c.system.RootWitness(request)
			}
			return c.system.Witness(request)
		},
		verifying: func() (*verifier.Key, error) { return builtIn(c.system.Name, c.profile) },
		proving: func() (*prover.ProvingKey, error) {
			return prover.Keygen(t.ctx, c.system.Build(), suiteOf(c.profile), c.profile, cpu.Backend{})
		},
	}, nil
}

func (p *proveFlags) prove(t *tool, machines []machine) (result, error) {
	show, end, err := t.progress(*p.progress)
	if err != nil {
		return nil, err
	}
	var shards systems.Shards
	if *p.shards != "" {
		if shards, err = systems.ParseShards(*p.shards); err != nil {
			e := classify(err)
			return nil, usageError("--shards", e.What, e.Expected, e.Got, e.Next)
		}
	}
	if *p.hashTime <= 0 {
		return nil, usageError("--max-hash-time", "the time is out of range", "more than 0s, such as 30m", p.hashTime.String(), "")
	}
	if *p.threads < 0 {
		return nil, usageError("--threads", "the number is negative", "0 or more", fmt.Sprint(*p.threads), "")
	}
	if *p.threads > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(*p.threads))
	}
	path := cmp.Or(t.operand, systems.SampleClaims)
	if !*p.plan {
		if err := t.writable(*p.out, path, p.calls.witness); err != nil {
			return nil, err
		}
		if *p.trace != "" {
			if err := t.writable(*p.trace, path, p.calls.witness); err != nil {
				return nil, err
			}
		}
	}
	read := p.claimsSource
	if isProgram(path) {
		read = p.programSource
	} else if len(p.calls.calls) > 0 || p.calls.witness != "" {
		return nil, usageError("--call, --witness", "these are for programs", "a program, a file whose name ends in "+programExt, path, "")
	}
	c, err := read(t, path)
	if err != nil {
		return nil, err
	}
	open := opener(t.cards, machines, !*p.plan)
	defer open.close()
	w, err := c.witness(shards)
	if err != nil {
		return nil, inFile(path, err)
	}
	vk, err := c.verifying()
	if err != nil {
		return nil, err
	}
	w, plan, err := fitting(vk, w, machines, func(count int) (*prover.Witness, error) { return c.witness(systems.Shards{Count: count}) })
	if err != nil {
		return nil, err
	}
	if isRoot(c.profile) {
		shapes, err := prover.Shapes(vk, w)
		if err != nil {
			return nil, err
		}
		plan.Hashing = newHashing(vk, shapes, *p.hashTime)
	}
	if *p.plan {
		return plan, nil
	}
	if err := plan.admit(); err != nil {
		return nil, err
	}
	key, err := c.proving()
	if err != nil {
		return nil, err
	}
	var backend prover.Backend = cpu.Backend{}
	if on := plan.machine; on.gpu {
		if backend, err = open.backend(on); err != nil {
			return nil, err
		}
	}
	r, err := prover.Prove(t.ctx, key, w, prover.Options{Backend: backend, Progress: show, Regenerate: plan.Regenerate})
	end()
	if err != nil {
		return nil, err
	}
	if err := t.write(*p.out, r.Proof); err != nil {
		return nil, err
	}
	if *p.trace != "" {
		if err := t.write(*p.trace, chromeTrace(r.Runs)); err != nil {
			return nil, err
		}
	}
	out := &proveResult{Schema: "ixprove/prove/1", Proof: *p.out, Bytes: len(r.Proof), Key: newKeyObject(key.Key), Claims: claimObjects(key.Key, w.Claims), Shards: plan.Shards, Rows: rowObjects(r.Rows),
		ProvenBits: r.Report.ProvenBits, DigestBits: r.Report.DigestBits, Backend: backend.Name(), Threads: runtime.GOMAXPROCS(0), ElapsedNs: r.Elapsed, BufferBytes: r.PeakBytes, Planned: plan.Peak, key: key.Key, claims: w.Claims}
	out.Stages = stageObjects(r)
	for i := range r.Work {
		out.code = out.code.Add(r.Work[i].Code)
	}
	if c.texts != nil {
		out.texts = c.texts(w.Claims)
	}
	if d := plan.machine.device; d != nil {
		o := newDeviceObject(*d)
		o.Kernels = "load"
		out.Device = &o
	}
	return out, nil
}
