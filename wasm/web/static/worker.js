// The verifier module in a worker: it is compiled once, checked against its digest, and asked one proof at a time (docs/wasm.md).
import { release } from "./release.js";

const RETAINED_BYTES = 32 << 20; // memory of an instance never shrinks: one that has grown past this is not kept

let compiled; // the module
let instance; // its instance, null after a trap

const hex = (buffer) => Array.from(new Uint8Array(buffer), (b) => b.toString(16).padStart(2, "0")).join("");

// compile returns the module. Its digest is checked wherever the browser offers SHA-256, which is on every secure origin.
async function compile() {
  const response = await fetch(release.module.file);
  if (!response.ok) throw new Error(`the verifier module cannot be loaded: status ${response.status}`);
  const bytes = response.clone().arrayBuffer();
  const [module, digest] = await Promise.all([
    WebAssembly.compileStreaming(response),
    bytes.then((b) => self.crypto.subtle?.digest("SHA-256", b)),
  ]);
  if (digest && hex(digest) !== release.module.sha256) {
    throw new Error(`the verifier module is not the released one: expected SHA-256 ${release.module.sha256}, got ${hex(digest)}`);
  }
  return { module, checked: Boolean(digest) };
}

async function instantiate() {
  const { exports } = await WebAssembly.instantiate(compiled.module, {});
  exports._initialize();
  return exports;
}

// verify returns the module's result. An exception is a trap, after which the instance is of no use.
function verify(exports, inputs) {
  const args = inputs.flatMap((bytes) => {
    if (bytes.length === 0) return [0, 0];
    const at = exports.alloc(bytes.length) >>> 0;
    if (at === 0) throw new Error(`the verifier module has no room for ${bytes.length} bytes`);
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes); // a new view: alloc may have moved the memory
    return [at, bytes.length];
  });
  exports.verify_with(...args);
  const result = new Uint8Array(exports.memory.buffer, exports.result_ptr() >>> 0, exports.result_len() >>> 0);
  const text = new TextDecoder().decode(result);
  for (let i = 0; i < args.length; i += 2) exports.free(args[i]);
  return JSON.parse(text);
}

const ready = (async () => {
  const start = performance.now();
  compiled = await compile();
  instance = await instantiate();
  postMessage({ type: "ready", ms: performance.now() - start, checked: compiled.checked });
})();

ready.catch((error) => postMessage({ type: "failed", what: String(error.message ?? error) }));

self.onmessage = async ({ data: { run, proof, key, policy } }) => {
  try {
    await ready;
  } catch {
    return; // said already
  }
  try {
    instance ??= await instantiate();
    const start = performance.now();
    const result = verify(instance, [new Uint8Array(proof), new Uint8Array(key), new TextEncoder().encode(policy)]);
    const ms = performance.now() - start;
    if (instance.memory.buffer.byteLength > RETAINED_BYTES) instance = null;
    postMessage({ type: "verified", run, result, ms });
  } catch (error) {
    instance = null;
    postMessage({ type: "trapped", run, what: String(error.message ?? error) });
  }
};
