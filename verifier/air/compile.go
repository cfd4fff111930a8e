package air

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
)

// Compile checks the system for a profile and returns its verifying key, complete but for the roots of the fixed columns, which the caller commits to.
// minLogHeight is the profile's least table height.
//
// Each circuit gets the degree bound, between that of its constraints and blowup + 1, that commits to the fewest columns: a higher bound packs more lookups into an
// auxiliary column but needs more quotient slices.
func (s *System) Compile(suite string, profile formats.Profile, minLogHeight int) (*formats.Key, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	key := &formats.Key{Name: s.Name, Suite: suite, Profile: profile, Channels: s.Channels, Entries: s.Entries}
	for _, b := range s.Circuits {
		c := b.Circuit
		c.MinLogHeight = uint8(max(minLogHeight, int(c.MinLogHeight)))
		for _, values := range c.Periodic {
			for 1<<c.MinLogHeight < values.Len() {
				c.MinLogHeight++
			}
		}
		var best *Circuit
		var firstErr error
		for degree := 2; degree <= 1<<profile.LogBlowup+1; degree++ {
			c.Degree = uint8(degree)
			checked, err := CheckCircuit(&c, s.Channels, int(profile.LogBlowup), minLogHeight)
			switch {
			case err != nil:
				firstErr = err
			case best == nil || checked.AuxColumns()+checked.QuotientColumns() < best.AuxColumns()+best.QuotientColumns():
				best = checked
			}
		}
		if best == nil {
			return nil, b.explain(firstErr)
		}
		key.Circuits = append(key.Circuits, best.Circuit)
	}
	return key, nil
}

// explain adds the name of the constraint at which a check failed.
func (b *Builder) explain(err error) error {
	e, ok := err.(*formats.Error)
	if !ok {
		return err
	}
	named := *e
	for i, name := range b.Asserted {
		if e.Place == "circuit "+formats.Quote(b.Name)+", constraint "+strconv.Itoa(i) {
			named.Place += " " + formats.Quote(name)
		}
	}
	return &named
}
