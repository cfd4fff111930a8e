// Package fri is the low-degree test over codewords of several heights at once (docs/protocol.md section 8): FRI of Ben-Sasson, Bentov, Horesh and Riabzev
// (ICALP 2018) with folds by 2, 4 or 8 and shorter codewords entering at the layer of their own height.
package fri

// Schedule says how codewords of given heights are folded.
type Schedule struct {
	Heights   []int // distinct log degree bounds, falling
	Steps     []int // log arity of each layer's fold
	Final     int   // log2 of the number of coefficients of the final polynomial
	LogBlowup int
}

// NewSchedule derives the schedule from the log heights present, in any order and with repetitions, at least one.
func NewSchedule(heights []int, logBlowup, logArity, logFinal int) Schedule {
	s := Schedule{LogBlowup: logBlowup}
	var present [64]bool
	for _, h := range heights {
		present[h] = true
	}
	for h := len(present) - 1; h >= 0; h-- {
		if present[h] {
			s.Heights = append(s.Heights, h)
		}
	}
	s.Final = min(logFinal, s.Heights[len(s.Heights)-1])
	for i, h := range s.Heights {
		stop := s.Final
		if i+1 < len(s.Heights) {
			stop = s.Heights[i+1]
		}
		// The rows of a layer cost 2^step - 1 values a query, so even steps are smaller than greedy ones.
		for left := h - stop; left > 0; {
			rounds := (left + logArity - 1) / logArity
			step := (left + rounds - 1) / rounds
			s.Steps = append(s.Steps, step)
			left -= step
		}
	}
	return s
}

// LogSize is the log2 of the size of F_i's domain, for i up to the number of steps.
func (s *Schedule) LogSize(i int) int {
	log := s.Heights[0] + s.LogBlowup
	for _, step := range s.Steps[:i] {
		log -= step
	}
	return log
}

// Entering is the position in Heights of the codeword that enters at layer i > 0, or -1.
func (s *Schedule) Entering(i int) int {
	h := s.LogSize(i) - s.LogBlowup
	for k, height := range s.Heights {
		if height == h && k > 0 {
			return k
		}
	}
	return -1
}
