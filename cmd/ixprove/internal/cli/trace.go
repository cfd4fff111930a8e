package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ixprove/ixprove/prover"
)

// traceEvent is an event of Chrome's trace format ("Trace Event Format", Google, 2016), which chrome://tracing and Perfetto show. Times are in microseconds.
type traceEvent struct {
	Name     string            `json:"name"`
	Phase    string            `json:"ph"`
	Start    float64           `json:"ts"`
	Duration float64           `json:"dur,omitempty"`
	Process  int               `json:"pid"`
	Thread   int               `json:"tid"`
	Args     map[string]string `json:"args,omitempty"`
}

// chromeTrace lists the stages of a proof, a row for each shard.
func chromeTrace(runs []prover.StageRun) []byte {
	micros := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	var events []traceEvent
	named := map[int]bool{}
	for _, s := range runs {
		if !named[s.Shard] {
			named[s.Shard] = true
			events = append(events, traceEvent{Name: "thread_name", Phase: "M", Process: 1, Thread: s.Shard, Args: map[string]string{"name": fmt.Sprintf("shard %d", s.Shard)}})
		}
		events = append(events, traceEvent{Name: string(s.Stage), Phase: "X", Start: micros(s.Start), Duration: micros(s.Time), Process: 1, Thread: s.Shard})
	}
	b, _ := json.Marshal(map[string]any{"traceEvents": events, "displayTimeUnit": "ms"}) // nothing in it can fail
	return b
}
