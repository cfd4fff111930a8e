package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/wasm/web"
)

// serveResult says what a server did, or what was exported.
type serveResult struct {
	Schema string `json:"schema"`
	URL    string `json:"url,omitempty"`
	Folder string `json:"folder,omitempty"`
	Files  int    `json:"files,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`
}

func (r *serveResult) text(w io.Writer) {
	if r.Folder != "" {
		fmt.Fprintf(w, "wrote %d files, %d bytes, to %s\nServe them as they are; wasm must be application/wasm.\nPolicy for every response: %s\n", r.Files, r.Bytes, r.Folder, web.ContentSecurityPolicy)
		return
	}
	fmt.Fprintf(w, "stopped serving %s\n", r.URL)
}

func prepareServe(f *pflag.FlagSet) action {
	port := f.Int("port", 0, "port on 127.0.0.1; 0 takes a free one")
	open := f.Bool("open", false, "open the page in the browser")
	export := f.String("export", "", "write the page to `FOLDER` for a web server of your own, and serve nothing")
	return func(t *tool) (result, error) {
		if *export != "" {
			return t.exportPage(*export)
		}
		if *port < 0 || *port > 65535 {
			return nil, usageError("--port", "the number is out of range", "0 to 65535", strconv.Itoa(*port), "")
		}
		handler, err := web.Handler()
		if err != nil {
			return nil, err
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(*port)))
		if err != nil {
			return nil, &failure{exitResource, classOutput, detail{Place: "--port", What: "the port cannot be listened on", Got: plain(err), Next: "take another port, or 0 for a free one"}}
		}
		url := "http://" + listener.Addr().String() + "/"
		// The address is needed while the server runs, so it is no result: it is progress.
		fmt.Fprintf(t.stderr, "The page is at %s until you press Ctrl-C.\n", url)
		if *open {
			if err := openBrowser(url); err != nil {
				fmt.Fprintf(t.stderr, "No browser could be started (%s); open the address yourself.\n", printable(plain(err)))
			}
		}
		if err := serve(t.ctx, listener, handler); err != nil {
			return nil, err
		}
		return &serveResult{Schema: serveSchema, URL: url}, nil
	}
}

const serveSchema = "ixprove/serve/1"

// serve serves until ctx ends, which is how it is meant to end, or until the listener fails. Requests that are under way get a moment to finish.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	const moment = 2 * time.Second
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return &failure{exitResource, classOutput, detail{Place: l.Addr().String(), What: "the server stopped", Got: plain(err)}}
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), moment)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}

// openers start the user's browser, by operating system.
var openers = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

func openBrowser(url string) error {
	command, ok := openers[runtime.GOOS]
	if !ok {
		command = []string{"xdg-open"}
	}
	c := exec.Command(command[0], append(slices.Clone(command[1:]), url)...)
	if err := c.Start(); err != nil {
		return err
	}
	go c.Wait() // it may live as long as the browser
	return nil
}

func (t *tool) exportPage(folder string) (result, error) {
	files, err := web.Files()
	if err != nil {
		return nil, err
	}
	r := &serveResult{Schema: serveSchema, Folder: folder, Files: len(files)}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, cannotWrite(path, err)
		}
		if err := t.write(path, files[name]); err != nil {
			return nil, err
		}
		r.Bytes += len(files[name])
	}
	return r, nil
}
