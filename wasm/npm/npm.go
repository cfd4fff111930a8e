// Package npm holds the browser's part of the npm package @ixprove/verifier, for pages that Go programs serve.
package npm

import "embed"

// Browser are the modules that a page needs, without verifier.wasm, which they expect beside them. A page imports spawn.js, which starts worker.js.
//
//go:embed digest.js index.js instance.js serve.js spawn.js worker.js
var Browser embed.FS
