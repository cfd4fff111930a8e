//go:build browser

// Tests of the page in Chromium. They need the program chromium (Debian: apt-get install chromium):
//
//	go test -tags browser ./wasm/web
//
// With IXPROVE_SCREENSHOTS=FOLDER they also write pictures of the page there.
package web_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/message"
	"github.com/ixprove/ixprove/wasm/web"
)

// chromium starts the browser. Each test has its own, with a profile of its own, so that no cache is shared.
var chromium context.Context

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	program, err := exec.LookPath("chromium")
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests run the page in Chromium, and the program chromium is missing; on Debian: apt-get install chromium")
		return 1
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true))
	var stop context.CancelFunc
	chromium, stop = chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	return m.Run()
}

// tab is a browser's tab on the page.
type tab struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string // errors on the console, exceptions, and everything that a policy forbade
	hosts    map[string]bool
	run      int // number of the verification whose verdict was looked at last
}

// serve serves the page and opens it.
func serve(t *testing.T) (*tab, *httptest.Server) {
	t.Helper()
	handler, err := web.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p := newTab(t)
	p.open(server.URL)
	return p, server
}

func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, hosts: map[string]bool{}, run: -1}
	chromedp.ListenTarget(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *cdpruntime.EventExceptionThrown:
			p.problems = append(p.problems, e.ExceptionDetails.Error())
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError || e.Entry.Source == cdplog.SourceSecurity {
				p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			_, rest, _ := strings.Cut(e.Request.URL, "://")
			host, _, _ := strings.Cut(rest, "/")
			p.hosts[host] = true
		}
	})
	p.do(cdplog.Enable(), network.Enable())
	return p
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// open loads the page and waits for the engine.
func (p *tab) open(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
	p.until(`document.querySelector("#result")?.dataset.engine === "ready"`)
}

// until waits for a condition to hold. It has no limit of its own but the tab's.
func (p *tab) until(condition string) {
	p.t.Helper()
	for holds := false; !holds; time.Sleep(2 * time.Millisecond) {
		if err := chromedp.Run(p.ctx, chromedp.Evaluate(condition, &holds)); err != nil {
			p.t.Fatalf("%s does not become true: %v", condition, err)
		}
	}
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	var text string
	p.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector), &text))
	return text
}

// verdict waits for a verification to end that began after the one before.
func (p *tab) verdict() string {
	p.t.Helper()
	p.until(fmt.Sprintf(`(({ state, run = 0 }) => run > %d && !["idle", "working"].includes(state))(document.querySelector("#result").dataset)`, p.run))
	var now struct{ State, Run string }
	p.do(chromedp.Evaluate(`({ ...document.querySelector("#result").dataset })`, &now))
	fmt.Sscan(now.Run, &p.run)
	return now.State
}

// expect checks the verdict, and that its card mentions things.
func (p *tab) expect(verdict string, mentions ...string) {
	p.t.Helper()
	got, card := p.verdict(), p.text("#card")
	if got != verdict {
		p.t.Errorf("the verdict is %s, want %s\n%s", got, verdict, card)
	}
	for _, m := range mentions {
		if !strings.Contains(card, m) {
			p.t.Errorf("the card does not mention %q:\n%s", m, card)
		}
	}
}

// offer chooses a file in one of the page's inputs.
func (p *tab) offer(input, name string, data []byte) {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.SetUploadFiles(input, []string{path}, chromedp.ByQuery))
}

// clean checks that nothing went wrong out of sight, and that the page contacted its own server alone.
func (p *tab) clean(server *httptest.Server) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.t.Error("in the console:", problem)
	}
	for host := range p.hosts {
		if "http://"+host != server.URL && host != "" {
			p.t.Errorf("the page contacted %s", host)
		}
	}
}

// native is what the verifier says without a browser.
func native(t *testing.T, proof []byte, system, profile string) (result struct {
	Verdict, Check, Place, Expected, Got string
	Key                                  string
}) {
	t.Helper()
	_, key, ok := keys.Encoded(system, profile)
	if !ok {
		t.Fatal("no such key")
	}
	_, text := message.Verify(proof, key, nil)
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestGood(t *testing.T) {
	p, server := serve(t)
	p.do(chromedp.Click("#sample"))
	p.expect("accepted", "Fibonacci number 90, modulo 2⁶⁴ − 2³² + 1, is 2880067194370816120.", "2 claims", "fibonacci, profile standard, built in",
		native(t, site(t)["sample.proof"], "fibonacci", "standard").Key, "128 bits proven", "low-degree test", wasm.Digest)
	if got := p.text("#stage-engine"); !strings.Contains(got, "module hash checked") {
		t.Errorf("the engine's stage says %q", got)
	}
	if got := p.text("#status"); !strings.HasPrefix(got, "Accepted: fibonacci, 2 claims") {
		t.Errorf("a screen reader hears %q", got)
	}
	p.clean(server)
}

func TestTampered(t *testing.T) {
	p, server := serve(t)
	bad := slices.Clone(site(t)["sample.proof"])
	bad[len(bad)/2] ^= 1
	want := native(t, bad, "fibonacci", "standard")
	if want.Verdict != "rejected" {
		t.Fatalf("the tampered sample is %s: a sample that is rejected shows more", want.Verdict)
	}
	p.do(chromedp.Click("#tampered"))
	p.expect(want.Verdict, want.Check+":", want.Place, "Do not rely on its claims", "fibonacci, standard")
	p.do(chromedp.Click("#sample")) // the engine goes on
	p.expect("accepted")
	p.offer("#proof", "bad.cbor", bad)
	p.expect(want.Verdict, want.Check+":", want.Place)
	p.clean(server)
}

func TestTruncated(t *testing.T) {
	p, server := serve(t)
	good := site(t)["sample.proof"]
	for _, n := range []int{0, 1, 20, 53, 1000, len(good) - 1} {
		want := native(t, good[:n], "fibonacci", "standard")
		p.offer("#proof", fmt.Sprintf("cut-%d.cbor", n), good[:n])
		p.expect(want.Verdict, want.Check+":", want.Expected, want.Got, "cut short")
	}
	p.clean(server)
}

// A file that is too long is refused by its size, and is not read.
func TestOversized(t *testing.T) {
	p, server := serve(t)
	p.offer("#proof", "large.cbor", make([]byte, wasm.MaxProofBytes+1))
	p.expect("limit", "P-1", "8,388,608 bytes", "8,388,609 bytes", "not read")
	p.offer("#proof", "zeros.cbor", make([]byte, wasm.MaxProofBytes))
	p.expect("malformed")
	p.do(chromedp.Click("input[value=file]"))
	p.expect("invalid")
	p.offer("#key-file", "large.key", make([]byte, wasm.MaxKeyBytes+1))
	p.expect("limit", "K-1")
	p.clean(server)
}

// choose selects a built-in program.
func (p *tab) choose(system, profile string) {
	p.t.Helper()
	k, _, ok := keys.Encoded(system, profile)
	if !ok {
		p.t.Fatal("no such key")
	}
	p.do(chromedp.Evaluate(fmt.Sprintf(`{
		const select = document.querySelector("#program");
		select.value = %q;
		document.querySelector("input[value=known]").checked = true;
		select.dispatchEvent(new Event("change", { bubbles: true }));
	}`, verifier.Hex(k.Digest)), nil))
	if got := p.text("#program-digest"); got != verifier.Hex(k.Digest) {
		p.t.Errorf("the digest shown is %q", got)
	}
}

func TestKeys(t *testing.T) {
	p, server := serve(t)
	sample := site(t)["sample.proof"]
	p.do(chromedp.Click("#sample"))
	p.expect("accepted")
	wrong := native(t, sample, "blake3", "compact")
	p.choose("blake3", "compact") // a change verifies again
	p.expect("incompatible", "P-4", wrong.Expected, wrong.Got, "another program or security profile")
	p.choose("fibonacci", "standard")
	p.expect("accepted")

	_, key, _ := keys.Encoded("fibonacci", "standard")
	p.do(chromedp.Click("input[value=file]"))
	p.expect("invalid", "no key yet")
	paste := func(text string) {
		p.do(chromedp.Evaluate(fmt.Sprintf(`{
			const area = document.querySelector("#key-text");
			area.value = %q;
			for (const name of ["input", "change"]) area.dispatchEvent(new Event(name, { bubbles: true }));
		}`, text), nil))
	}
	paste(fmt.Sprintf("%x", key))
	p.expect("accepted", "built in")
	paste(base64.StdEncoding.EncodeToString(key[:100]))
	p.expect("malformed", "K-1")
	paste("?")
	p.expect("malformed", "hexadecimal or base64")
	p.offer("#key-file", "sample.proof", sample)
	p.expect("incompatible", "K-2", "A proof given as a key")
	p.offer("#key-file", "fibonacci.key", key)
	p.expect("accepted")

	demand := func(field, value string) {
		p.do(chromedp.Evaluate(fmt.Sprintf(`{
			const field = document.querySelector(%q);
			field.value = %q;
			field.dispatchEvent(new Event("change", { bubbles: true }));
		}`, field, value), nil))
	}
	demand("#pin", strings.Repeat("0", 64))
	p.expect("incompatible", "not the key that the policy names")
	demand("#pin", "12")
	p.expect("invalid", "64 hexadecimal digits")
	p.do(chromedp.Click("input[value=named]"))
	p.expect("invalid")
	demand("#pin", strings.Repeat("0", 64))
	p.expect("incompatible", "none of the built-in programs'")
	demand("#pin", "")
	p.expect("accepted")
	// The verdict goes when its demands do, and not only when the field is left.
	var shown bool
	p.do(chromedp.Evaluate(`document.querySelector("#inputs details").open = true`, nil), chromedp.SendKeys("#pin", "0"), chromedp.Evaluate(`!document.querySelector("#card").hidden`, &shown))
	if shown {
		t.Error("a verdict on other demands stays")
	}
	p.do(chromedp.Blur("#pin"))
	p.expect("invalid", "64 hexadecimal digits")
	demand("#pin", "")
	p.expect("accepted")
	demand("#bits", "200")
	p.expect("rejected", "P-17", "200")
	demand("#bits", "128")
	demand("#claims", `[{"entry": "fibonacci", "args": {"n": 90}, "results": {"value": 2880067194370816120}}]`)
	p.expect("rejected", "P-9")
	demand("#claims", `[{"entry": "fibonacci", "args": {"n": 10}, "results": {"value": 55}}, {"entry": "fibonacci", "args": {"n": 90}, "results": {"value": 2880067194370816120}}]`)
	p.expect("accepted")
	demand("#claims", `[{"entry": "lucas"}]`)
	p.expect("invalid", "no entry of this name")
	demand("#claims", `{`)
	p.expect("invalid", "JSON array")
	p.clean(server)
}

// A key that is not built in gets a warning, and none of the statements that belong to built-in programs. What it says is shown as text, whatever it is.
func TestForeignKey(t *testing.T) {
	const markup = `<img src=x onerror="document.title='run'"><b>`
	system := fibonacci.System()
	system.Entries[0].Name = markup
	system.Entries[0].Results[0].Name = markup
	key, proof := prove(t, system, func(minLogHeight int) (*prover.Witness, error) {
		return fibonacci.Witness([]uint32{7}, 1, minLogHeight)
	})
	p, server := serve(t)
	p.offer("#proof", "foreign.cbor", proof)
	p.expect("incompatible", "none of the built-in programs'")
	p.offer("#key-file", "foreign.key", key)
	p.expect("accepted", "The key is not built in", markup+"(n = 7) → "+markup+" = 13")
	if card := p.text("#card"); strings.Contains(card, "Fibonacci number") {
		t.Errorf("a foreign program is described as if it were built in:\n%s", card)
	}
	p.clean(server)
}

// A proof under the profile dev is refused until the visitor says otherwise, and is then accepted with a warning.
func TestInsecure(t *testing.T) {
	p, server := serve(t)
	proof, err := os.ReadFile("../../prover/testdata/blake3-dev-v1.proof")
	if err != nil {
		t.Fatal(err)
	}
	p.offer("#proof", "dev.cbor", proof)
	p.expect("rejected", "P-17", "only for tests")
	p.do(chromedp.Evaluate(`document.querySelector("#insecure").click()`, nil))
	p.expect("accepted", "Insecure: accepted with", "BLAKE3 digest is")
	p.clean(server)
}

func TestDrop(t *testing.T) {
	p, server := serve(t)
	drop := func(target, name string, data []byte) {
		p.do(chromedp.Evaluate(fmt.Sprintf(`{
			const data = new DataTransfer();
			data.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
			document.querySelector(%q).dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
		}`, base64.StdEncoding.EncodeToString(data), name, target), nil))
	}
	_, key, _ := keys.Encoded("fibonacci", "standard")
	_, other, _ := keys.Encoded("fibonacci", "fast")
	drop("#drop", "p.cbor", site(t)["sample.proof"])
	p.expect("accepted")
	drop("body", "some.key", other)
	p.expect("incompatible", "P-4")
	drop("#program", "k", key)
	p.expect("accepted")
	p.clean(server)
}

// Everything is reached with the keyboard alone.
func TestKeyboard(t *testing.T) {
	p, server := serve(t)
	focused := func() (id string) {
		p.do(chromedp.Evaluate(`document.activeElement.id || document.activeElement.value || document.activeElement.tagName`, &id))
		return id
	}
	var order []string
	for range 5 {
		p.do(chromedp.KeyEvent(kb.Tab))
		order = append(order, focused())
	}
	if want := []string{"proof", "sample", "tampered", "named", "SUMMARY"}; !slices.Equal(order, want) {
		t.Errorf("the Tab key leads to %v, want %v", order, want)
	}
	for range 3 {
		p.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(8))) // Shift
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.expect("accepted")
	var unnamed []string
	p.do(chromedp.Evaluate(`[...document.querySelectorAll("input, select, textarea, button")].filter((e) => !(e.labels?.length || e.innerText.trim())).map((e) => e.outerHTML)`, &unnamed))
	for _, e := range unnamed {
		t.Error("a control has no label:", e)
	}
	p.clean(server)
}

// Once loaded, the page loads and verifies without its server.
func TestOffline(t *testing.T) {
	p, server := serve(t)
	p.until(`navigator.serviceWorker.controller !== null`)
	server.Close()
	p.do(chromedp.Reload())
	p.until(`document.querySelector("#result")?.dataset.engine === "ready"`)
	p.do(chromedp.Click("#sample"))
	p.expect("accepted", "2 claims")
	p.choose("blake3", "standard")
	p.expect("incompatible", "P-4")
}

// Without its server and without a service worker the page that is open says what it lacks.
func TestServerGone(t *testing.T) {
	p := newTab(t)
	handler, err := web.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sw.js" {
			http.NotFound(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	p.open(server.URL)
	server.Close()
	p.do(chromedp.Click("#sample"))
	p.expect("internal", "cannot be loaded", "check the connection")
}

// The module's digest is checked before it runs; the button starts the engine again.
func TestForgedModule(t *testing.T) {
	p := newTab(t)
	handler, err := web.Handler()
	if err != nil {
		t.Fatal(err)
	}
	var mended atomic.Bool
	forged := append(wasm.Module(), 0, 1, 0) // an empty custom section: it would run
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/verifier/verifier.wasm" && !mended.Load() {
			w.Header().Set("Content-Type", "application/wasm")
			w.Write(forged)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.do(chromedp.Navigate(server.URL))
	p.expect("internal", "not the released one", wasm.Digest)
	mended.Store(true)
	p.do(chromedp.Click("#retry button"))
	p.until(`document.querySelector("#result").dataset.engine === "ready"`)
	p.do(chromedp.Click("#sample"))
	p.expect("accepted")
}

// The policy is in force: requests to elsewhere, and scripts and styles within the document, do not get through. The worker's script comes with the same policy.
func TestPolicy(t *testing.T) {
	p, server := serve(t)
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = true
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	t.Cleanup(elsewhere.Close)
	for name, code := range map[string]string{
		"fetch":  fmt.Sprintf(`fetch(%q).then(() => "got through", () => "blocked")`, elsewhere.URL),
		"beacon": fmt.Sprintf(`new Promise((done) => { document.addEventListener("securitypolicyviolation", () => done("blocked"), { once: true }); navigator.sendBeacon(%q); setTimeout(done, 5000, "got through") })`, elsewhere.URL),
		"image":  fmt.Sprintf(`new Promise((done) => { const i = new Image(); i.onload = () => done("got through"); i.onerror = () => done("blocked"); i.src = %q })`, elsewhere.URL),
		"script": `new Promise((done) => { document.addEventListener("securitypolicyviolation", () => done("blocked"), { once: true }); const s = document.createElement("script"); s.textContent = "document.title = 'got through'"; document.head.append(s); setTimeout(done, 5000, "got through") })`,
		"style":  `new Promise((done) => { document.addEventListener("securitypolicyviolation", () => done("blocked"), { once: true }); document.body.setAttribute("style", "color: red"); setTimeout(done, 5000, "got through") })`,
	} {
		var got string
		p.do(chromedp.Evaluate(code, &got, func(e *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return e.WithAwaitPromise(true) }))
		if got != "blocked" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if reached {
		t.Error("another server was contacted")
	}
	response, err := http.Get(server.URL + "/verifier/worker.js")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := response.Header.Get("Content-Security-Policy"); got != web.ContentSecurityPolicy {
		t.Errorf("the worker's policy is %q", got)
	}
	p.do(chromedp.Click("#sample")) // and verification works under it
	p.expect("accepted")
}

// Times are printed, not judged: they are the machine's. The proof is that of `go run ./wasm/internal/engines`: the digest of a file of 1 MiB.
func TestTimes(t *testing.T) {
	file := make([]byte, 1<<20)
	for i := range file {
		file[i] = byte(i % 251)
	}
	key, proof := prove(t, blake3.System(), func(minLogHeight int) (*prover.Witness, error) {
		return blake3.Witness([][]byte{file}, nil, minLogHeight)
	})
	k, err := verifier.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a proof of %d bytes, in ms", len(proof))
	print := func(name string, times []float64) {
		t.Logf("%-44s first %6.1f  then median %6.1f  best %6.1f", name, times[0], median(times[1:]), slices.Min(times[1:]))
	}
	var direct []float64
	for range 15 {
		start := time.Now()
		if _, err := verifier.Verify(k, proof, verifier.Policy{}); err != nil {
			t.Fatal(err)
		}
		direct = append(direct, float64(time.Since(start).Microseconds())/1000)
	}
	print("native", direct)
	// The page, with this proof in the place of its sample. From the start of navigation to the verdict a script does what a visitor would, without waiting.
	handler, err := web.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sample.proof" {
			w.Header().Set("ETag", `"measured"`)
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeContent(w, r, "sample.proof", time.Time{}, bytes.NewReader(proof))
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p := newTab(t)
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`document.addEventListener("DOMContentLoaded", () => {
			if (location.protocol === "about:") return;
			document.querySelector("#sample").click();
			const result = document.querySelector("#result");
			new MutationObserver(() => { if (result.dataset.state === "accepted") window.verdictAt ??= performance.now(); }).observe(result, { attributes: true });
		});`).Do(ctx)
		return err
	}))
	// Files are in the browser's cache either way. Its engine keeps a module's code as long as some page has it: until the tab shows another page.
	load := func(name string, between ...chromedp.Action) {
		var loads, fresh []float64
		for range 10 {
			p.do(append(between, chromedp.Navigate(server.URL))...)
			p.until(`window.verdictAt > 0`)
			var at float64
			p.do(chromedp.Evaluate(`window.verdictAt`, &at))
			loads, fresh = append(loads, at), append(fresh, p.verifyTime())
		}
		print("page load to verdict, "+name, loads)
		print("the module's first call, "+name, fresh)
	}
	load("after another page", chromedp.Navigate("about:blank"))
	load("loaded again")
	var warm []float64
	p.expect("accepted") // the last load's
	for range 16 {
		p.offer("#proof", "large.cbor", proof)
		p.expect("accepted")
		warm = append(warm, p.verifyTime())
	}
	print("the module's later calls", warm)
}

// verifyTime is the time that the page shows for the module's call, in ms.
func (p *tab) verifyTime() float64 {
	p.t.Helper()
	var ms float64
	if _, err := fmt.Sscanf(p.text("#stage-verify .note"), "accepted in %f ms", &ms); err != nil {
		p.t.Fatal(err)
	}
	return ms
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// TestPictures writes what the page looks like, light and dark, wide and on a phone, and checks that nothing is wider than the window.
func TestPictures(t *testing.T) {
	folder := os.Getenv("IXPROVE_SCREENSHOTS")
	for _, width := range []int64{1280, 390, 320} {
		for _, scheme := range []string{"light", "dark"} {
			p, _ := serve(t)
			p.do(emulation.SetDeviceMetricsOverride(width, 844, 1, width < 500),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
			for _, state := range []struct {
				name string
				do   func()
			}{
				{"idle", func() {}},
				{"accepted", func() { p.do(chromedp.Click("#sample")); p.expect("accepted") }},
				{"rejected", func() { p.do(chromedp.Click("#tampered")); p.expect("rejected") }},
				{"wrong-key", func() {
					p.do(chromedp.Evaluate(`document.querySelector("#inputs details").open = true`, nil))
					p.choose("blake3", "standard")
					p.expect("incompatible")
				}},
			} {
				state.do()
				var wide int64
				p.do(chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide))
				if wide > width {
					t.Errorf("%s: the page is %d wide in a window of %d", state.name, wide, width)
				}
				if folder == "" {
					continue
				}
				var picture []byte
				p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
					picture, err = page.CaptureScreenshot().WithCaptureBeyondViewport(true).Do(ctx)
					return err
				}), chromedp.FullScreenshot(&picture, 100))
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%s-%d.png", state.name, scheme, width)), picture, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
