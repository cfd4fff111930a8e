package prover

import "context"

// ProveUnchecked is Prove without the verification at the end, for tests that cheat.
func ProveUnchecked(ctx context.Context, key *ProvingKey, w *Witness, o Options) ([]byte, error) {
	_, r, err := prove(ctx, key, w, o)
	if err != nil {
		return nil, err
	}
	return r.Proof, nil
}
