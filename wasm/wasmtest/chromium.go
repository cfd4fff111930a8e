//go:build browser

package wasmtest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/chromedp/chromedp"

	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/npm"
)

//go:embed chromium.js
var chromiumWorker []byte

func init() { tagged = append(tagged, startChromium) }

// startChromium starts the program chromium, and in it a worker that asks a server of this process for frames and posts their results. Every verification is a request, so
// that a corpus of any size passes, and one that fails is known.
func startChromium() (Engine, error) {
	frames, answers, failed := make(chan []byte), make(chan []byte), make(chan error, 1)
	next := func(w http.ResponseWriter, r *http.Request) {
		select {
		case frame := <-frames:
			w.Write(frame)
		case <-r.Context().Done():
		}
	}
	serve := func(contentType string, data []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Write(data)
		}
	}
	body := func(use func([]byte)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			data, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			use(data)
			next(w, r)
		}
	}
	files := http.NewServeMux()
	files.HandleFunc("GET /{$}", serve("text/html; charset=utf-8", []byte("<!doctype html><title>corpus</title>")))
	files.HandleFunc("GET /chromium.js", serve("text/javascript", chromiumWorker))
	files.HandleFunc("GET /verifier.wasm", serve("application/wasm", wasm.Module()))
	files.HandleFunc("GET /instance.js", http.FileServerFS(npm.Browser).ServeHTTP)
	files.HandleFunc("POST /ready", next)
	files.HandleFunc("POST /result", body(func(data []byte) { answers <- data }))
	files.HandleFunc("POST /failed", body(func(data []byte) { failed <- errors.New(string(data)) }))
	server := httptest.NewServer(files)

	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	closers = append(closers, func() { closeTab(); stop(); server.CloseClientConnections(); server.Close() })
	if err := chromedp.Run(ctx, chromedp.Navigate(server.URL),
		chromedp.Evaluate(`{
			const failed = (body) => fetch("failed", { method: "POST", body });
			globalThis.worker = new Worker("chromium.js", { type: "module" });
			worker.onerror = (e) => failed("the worker: " + e.message);
		}`, nil)); err != nil {
		return Engine{}, fmt.Errorf("chromium (Debian: apt-get install chromium): %w", err)
	}
	return Engine{"Chromium", func(key, proof, policy []byte) ([]byte, error) {
		for out := frames; ; {
			select {
			case out <- Frame(proof, key, policy):
				out = nil // and now its answer
			case result := <-answers:
				return result, nil
			case err := <-failed:
				return nil, err
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}}, nil
}
