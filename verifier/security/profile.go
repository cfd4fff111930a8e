package security

// Profile is a set of protocol parameters. It is part of the verifying key and never read from a proof.
type Profile struct {
	Name         string
	Suite        string // name of the hash suite that keys of the profile are for
	LogBlowup    int    // rate rho = 2^-LogBlowup
	Queries      int    // positions at which FRI is tested
	GrindingBits int    // proof of work before the queries are drawn
	LogArity     int    // a fold divides the domain by at most 2^LogArity
	LogFinal     int    // FRI stops at a polynomial of 2^LogFinal coefficients, or at the smallest height if that is less
	Multiplicity int    // m of the analysis up to the Johnson bound; no prover or verifier uses it
	MinLogHeight int    // smallest log2 of rows that leaves room for quotients by two points; shorter tables are padded to it
}

// The suites of profiles.
const (
	SuiteBlake3    = "blake3"
	SuitePoseidon2 = "poseidon2-bn254"
)

// Profiles returns the profiles, from the fastest prover to the smallest proof, then those for tests. The first four reach 128 bits in
// every term of the argument, proven up to the Johnson bound, for shards of up to 2^24 rows and 8,192 batched openings; Queries is the
// smallest number that does, and Multiplicity the one that allows it. Dev and root-dev are for tests and insecure. Dev shares the rate
// of standard, and root-dev rate and suite of root, so that a circuit that fits one fits the other; a root-dev proof of 2^8 rows folds
// by 8 and by 4, as one under root does.
func Profiles() []Profile {
	return []Profile{
		{Name: "fast", Suite: SuiteBlake3, LogBlowup: 1, Queries: 227, GrindingBits: 20, LogArity: 3, LogFinal: 6, Multiplicity: 30, MinLogHeight: 3},
		{Name: "standard", Suite: SuiteBlake3, LogBlowup: 2, Queries: 112, GrindingBits: 20, LogArity: 3, LogFinal: 6, Multiplicity: 20, MinLogHeight: 1},
		{Name: "compact", Suite: SuiteBlake3, LogBlowup: 3, Queries: 75, GrindingBits: 20, LogArity: 3, LogFinal: 6, Multiplicity: 12, MinLogHeight: 1},
		{Name: "root", Suite: SuitePoseidon2, LogBlowup: 5, Queries: 45, GrindingBits: 20, LogArity: 3, LogFinal: 6, Multiplicity: 7, MinLogHeight: 1},
		{Name: "dev", Suite: SuiteBlake3, LogBlowup: 2, Queries: 8, GrindingBits: 2, LogArity: 3, LogFinal: 6, Multiplicity: 20, MinLogHeight: 1},
		{Name: "root-dev", Suite: SuitePoseidon2, LogBlowup: 5, Queries: 2, GrindingBits: 2, LogArity: 3, LogFinal: 3, Multiplicity: 7, MinLogHeight: 1},
	}
}

// ProfileByName returns the profile of that name, or false if there is none.
func ProfileByName(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
