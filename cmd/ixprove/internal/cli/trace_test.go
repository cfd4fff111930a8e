package cli

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ixprove/ixprove/prover"
)

func TestChromeTrace(t *testing.T) {
	var got struct{ TraceEvents []traceEvent }
	err := json.Unmarshal(chromeTrace([]prover.StageRun{{Stage: prover.StageTrace, Shard: 0, Start: 0, Time: 2 * time.Millisecond},
		{Stage: prover.StageCommit, Shard: 1, Start: 2 * time.Millisecond, Time: 1500 * time.Nanosecond}}), &got)
	if err != nil {
		t.Fatal(err)
	}
	if e := got.TraceEvents; len(e) != 4 || e[0].Args["name"] != "shard 0" || e[1].Name != "trace" || e[1].Duration != 2000 || e[3].Thread != 1 || e[3].Start != 2000 || e[3].Duration != 1.5 {
		t.Errorf("%+v", got)
	}
}
