package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
)

// TestArena gives out and takes back buffers on both sides of the size where the heap ends.
func TestArena(t *testing.T) {
	a := &arena{}
	expect := func(what string, now, peak int64) {
		t.Helper()
		if a.now != now || a.peak != peak {
			t.Errorf("%s: %d bytes, peak %d; want %d, %d", what, a.now, a.peak, now, peak)
		}
	}
	const n = small / 8
	large, err := a.elements(2 * n)
	if err != nil {
		t.Fatal(err)
	}
	little, err := a.elements(n - 1)
	if err != nil {
		t.Fatal(err)
	}
	exts, err := buffer[field.Ext](a, n)
	if err != nil {
		t.Fatal(err)
	}
	if len(large) != 2*n || len(little) != n-1 || len(exts) != n {
		t.Fatal("a buffer has another length")
	}
	const all = 16*n + 8*(n-1) + 24*n
	expect("three buffers", all, all)
	for i := range large {
		if large[i] != 0 {
			t.Fatal("a buffer is not zero")
		}
		large[i] = field.Element(i)
	}
	exts[n-1] = field.Ext{1, 2, 3}

	own := make([]field.Element, 2*n) // not the arena's
	release(a, own)
	release[field.Element](a, nil)
	release(a, large[1:]) // not a buffer's start
	expect("nothing of the arena's", all, all)
	release(a, large)
	expect("one freed", all-16*n, all)
	release(a, large)
	release(a, large[:0])
	expect("freed twice", all-16*n, all)
	release(a, little)
	release(a, exts[:5])
	expect("all freed", 0, all)

	again, err := a.elements(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range again {
		if v != 0 {
			t.Fatal("a buffer is not zero the second time")
		}
	}
	expect("one more", 8*n, all)
	a.close()
	expect("closed", 0, all)
	a.close()
	release(a, again)
	expect("closed twice", 0, all)
	if empty, err := a.elements(0); err != nil || len(empty) != 0 {
		t.Errorf("no elements: %v, %v", empty, err)
	}
	expect("an empty buffer", 0, all)
}

// TestHandlesFreeTheirMemory runs a table's matrices through a session: freed, they leave only the coset factors, and freed again, they do not touch
// buffers that took their place.
func TestHandlesFreeTheirMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(111, 1))
	for _, logHeight := range []int{2, 13} { // on the heap, and outside
		s := newSession(t, 1)
		kept := int64(0)
		m, err := s.newMatrix(2, 1<<logHeight)
		if err != nil {
			t.Fatal(err)
		}
		copy(m.columns[0], randomColumn(r, 1<<logHeight))
		c := commit(t, s, logHeight, m)
		word, err := s.Deep(logHeight, []prover.DeepPoint{{Z: randomExt(r)}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.CommitLayer(word, logHeight+1, 2)
		if err != nil {
			t.Fatal(err)
		}
		folded, err := s.Fold(word, logHeight+1, 2, randomExt(r), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, co := range s.cosets {
			kept += int64(8 * len(co.scale))
		}
		if s.arena.now <= kept || s.PeakBytes() < s.arena.now {
			t.Errorf("%d bytes, peak %d", s.arena.now, s.PeakBytes())
		}
		free := func() {
			m.Free()
			c.Free()
			l.Free()
			word.Free()
			folded.Free()
		}
		free()
		if s.arena.now != kept {
			t.Errorf("height 2^%d: %d bytes are left, want %d", logHeight, s.arena.now, kept)
		}
		peak := s.PeakBytes()
		for bytes := int64(1 << 14); bytes <= 1<<20; bytes *= 2 {
			for range 4 {
				if _, err := s.arena.elements(int(bytes / 8)); err != nil {
					t.Fatal(err)
				}
				kept += bytes
			}
		}
		free()
		if s.arena.now != kept {
			t.Errorf("height 2^%d: handles freed twice free %d bytes of others", logHeight, kept-s.arena.now)
		}
		peak = max(peak, kept)
		s.Close()
		if s.arena.now != 0 || s.PeakBytes() != peak {
			t.Errorf("a closed session has %d bytes and peak %d", s.arena.now, s.PeakBytes())
		}
	}
}
