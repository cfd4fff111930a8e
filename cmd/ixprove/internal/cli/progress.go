package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ixprove/ixprove/prover"
)

// progressFlag declares --progress.
func progressFlag(f *pflag.FlagSet) *string {
	return f.String("progress", "auto", "on standard error: auto (a bar if it is a terminal), json (a line for each event) or none")
}

// progressLine is an event as JSON.
type progressLine struct {
	Stage   prover.Stage  `json:"stage"`
	Shard   int           `json:"shard"`
	Shards  int           `json:"shards"`
	Done    int           `json:"done"`
	Total   int           `json:"total"`
	Elapsed time.Duration `json:"elapsed_ns"`
}

// progress returns what shows a prover's events, and what ends the show.
func (t *tool) progress(mode string) (show func(prover.Event), end func(), err error) {
	end = func() {}
	switch mode {
	case "none":
	case "json":
		e := json.NewEncoder(t.stderr)
		show = func(v prover.Event) { e.Encode(progressLine{v.Stage, v.Shard, v.Shards, v.Done, v.Total, v.Elapsed}) }
	case "auto":
		if f, ok := t.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			show, end = bar(f)
		}
	default:
		return nil, nil, usageError("--progress", "there is no such kind of progress", "auto, json or none", fmt.Sprintf("%q", mode), "")
	}
	return show, end, nil
}

// bar draws the events on a terminal and wipes the drawing at the end.
func bar(w io.Writer) (show func(prover.Event), end func()) {
	b := progressbar.NewOptions(1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetWidth(40),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(true),
	)
	total := 1
	show = func(e prover.Event) {
		if e.Total != total {
			total = e.Total
			b.ChangeMax(total)
		}
		label := fmt.Sprintf("%-8s", e.Stage)
		if e.Shards > 1 {
			label += fmt.Sprintf(" shard %d/%d", e.Shard+1, e.Shards)
		}
		b.Describe(label)
		b.Set(min(e.Done, total-1)) // the end is for end
	}
	stop := make(chan struct{})
	go func() { // the time goes on while a long step does
		tick := time.NewTicker(time.Second / 2)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				b.RenderBlank()
			}
		}
	}()
	return show, func() { close(stop); b.Finish() }
}
