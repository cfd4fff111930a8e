package encode_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
)

func key(change func(*formats.Key)) ([]byte, error) {
	k := &formats.Key{Name: "n", Suite: "s", Circuits: []formats.Circuit{{Name: "c"}}, Entries: []formats.Entry{{Name: "e"}}}
	change(k)
	return encode.Key(k)
}

func proof(change func(*formats.Proof)) ([]byte, error) {
	p := &formats.Proof{Claims: make([]formats.Claim, 1), Shards: make([]formats.Shard, 1)}
	change(p)
	return encode.Proof(p)
}

// TestOutOfLimits encodes objects that no decoder would accept.
func TestOutOfLimits(t *testing.T) {
	ok := func(data []byte, err error) error { return err }
	long := strings.Repeat("x", formats.MaxNameBytes+1)
	for _, test := range []struct {
		place string
		err   error
	}{
		{"claims", ok(proof(func(p *formats.Proof) { p.Claims = make([]formats.Claim, formats.MaxClaims+1) }))},
		{"claims[0].args[1]", ok(proof(func(p *formats.Proof) { p.Claims[0].Args = formats.Elements{}.Append(0).Append(formats.Modulus) }))},
		{"claims[0].results", ok(proof(func(p *formats.Proof) { p.Claims[0].Results = make(formats.Elements, 7) }))},
		{"shards", ok(proof(func(p *formats.Proof) { p.Shards = make([]formats.Shard, formats.MaxShards+1) }))},
		{"shards[0].aux", ok(proof(func(p *formats.Proof) { p.Shards[0].Aux = make([]formats.Digest, 2) }))},
		{"shards[0].tables[0].logheight", ok(proof(func(p *formats.Proof) { p.Shards[0].Tables = []formats.Table{{LogHeight: formats.MaxLogHeight + 1}} }))},
		{"shards[0].trees[0].siblings", ok(proof(func(p *formats.Proof) { p.Shards[0].Trees = []formats.Opening{{Siblings: make([]byte, 31)}} }))},
		{"name", ok(key(func(k *formats.Key) { k.Name = "" }))},
		{"suite", ok(key(func(k *formats.Key) { k.Suite = long }))},
		{"entries[0].name", ok(key(func(k *formats.Key) { k.Entries[0].Name = "a\xff" }))},
		{"circuits[0].name", ok(key(func(k *formats.Key) { k.Circuits[0].Name = "a\n" }))},
		{"circuits[0].fixed", ok(key(func(k *formats.Key) { k.Circuits[0].Fixed = make([]formats.Fixed, 2) }))},
		{"circuits[0].periodic[0]", ok(key(func(k *formats.Key) { k.Circuits[0].Periodic = make([]formats.Elements, 1) }))},
		{"circuits[0].nodes[0].op", ok(key(func(k *formats.Key) { k.Circuits[0].Nodes = []formats.Node{{Op: formats.NumOps}} }))},
		{"circuits[0].nodes[0].a", ok(key(func(k *formats.Key) { k.Circuits[0].Nodes = []formats.Node{{A: formats.Modulus}} }))},
		{"circuits[0].lookups[0].weight", ok(key(func(k *formats.Key) { k.Circuits[0].Lookups = []formats.Lookup{{Weight: formats.MaxLookupWeight + 1}} }))},
	} {
		var e *formats.Error
		if !errors.As(test.err, &e) || e.Class != formats.Invalid || !strings.HasPrefix(e.Place, test.place+" at byte ") {
			t.Errorf("%s: %v", test.place, test.err)
		}
	}
	if _, err := key(func(k *formats.Key) { k.Circuits[0].Nodes = make([]formats.Node, formats.MaxNodes) }); !errors.Is(err, formats.Limit) {
		t.Errorf("a key of more than %d bytes: %v", formats.MaxKeyBytes, err)
	}
}

func TestNil(t *testing.T) {
	_, proofErr := encode.Proof(nil)
	_, keyErr := encode.Key(nil)
	_, claimErr := encode.BoundClaim(nil)
	for _, err := range []error{proofErr, keyErr, claimErr} {
		if !errors.Is(err, formats.Invalid) {
			t.Errorf("nil: %v", err)
		}
	}
}

// TestEmpty checks that an empty list and none are encoded alike.
func TestEmpty(t *testing.T) {
	none, err := proof(func(p *formats.Proof) {})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := proof(func(p *formats.Proof) {
		p.Claims[0] = formats.Claim{Args: formats.Elements{}, Results: formats.Elements{}}
		p.Shards[0] = formats.Shard{
			Tables: []formats.Table{}, Aux: []formats.Digest{}, Sums: formats.Elements{}, Openings: formats.Elements{},
			LayerRoot: []formats.Digest{}, Final: formats.Elements{}, Trees: []formats.Opening{}, Layers: []formats.Opening{},
		}
	})
	if err != nil || !bytes.Equal(none, empty) {
		t.Errorf("%x (%v), without the empty lists %x", empty, err, none)
	}
}
