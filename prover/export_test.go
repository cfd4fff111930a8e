package prover

import "context"

// ProveUnchecked is Prove without the verification at the end, for tests that cheat.
func ProveUnchecked(ctx context.Context, key *ProvingKey, w *Witness, o Options) ([]byte, error) {
	p, r, err := prove(ctx, key, w, o)
	if p != nil {
		p.session.Close()
	}
	if err != nil {
		return nil, err
	}
	return r.Proof, nil
}
