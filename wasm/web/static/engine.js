// The engine: the npm package's verifier in a worker. This script runs before the page is parsed to its end, so that the module compiles and the worker loads meanwhile.
import { release } from "./release.js";
import { digest } from "./verifier/digest.js";
import { loadWorker } from "./verifier/spawn.js";

// Refusal is an error that the page itself reports, in the verifier's form.
export class Refusal extends Error {
  constructor(verdict, detail) {
    super(detail.what);
    this.verdict = verdict;
    this.detail = detail;
  }
}

export async function download(file) {
  const response = await fetch(file).catch(() => null);
  if (!response?.ok) {
    throw new Refusal("internal", { what: `the page's own file ${file} cannot be loaded`, got: response ? `status ${response.status}` : "no answer", next: "check the connection and try again" });
  }
  return response;
}

// compile fetches and compiles the module, which needs no worker, and checks its digest.
async function compile() {
  const response = await download(release.module);
  const copy = response.clone().arrayBuffer();
  const [module, found] = await Promise.all([WebAssembly.compileStreaming(response), copy.then(sha256)]);
  if (found !== digest) throw new Error(`the module is not the released one: expected SHA-256 ${digest}, got ${found}`);
  return module;
}

async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) throw new Error("the module's hash cannot be checked, because this page came neither over https nor from this machine");
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

export const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

const newWorker = () => new Worker("verifier/worker.js", { type: "module" });

export const engine = {
  current: null, // a promise of the verifier
  took: 0, // how long it took to start, in ms

  start() {
    const begun = performance.now();
    let early = newWorker(); // it loads while the module does; if it is lost, the next is made when it is needed
    early.addEventListener("error", (event) => event.preventDefault()); // reported through the promise
    const create = () => {
      const worker = early ?? newWorker();
      early = null;
      return worker;
    };
    this.current = compile().then((wasm) => loadWorker({ wasm, create }));
    this.current.then(
      () => (this.took = performance.now() - begun),
      () => early?.terminate(),
    );
  },
};

engine.start();
