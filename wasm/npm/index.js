import { digest } from "./digest.js";
import { Instance, limits } from "./instance.js";

export { digest, limits };

/** An instance that has grown past this many bytes is given up after its call: memory of a module never shrinks. */
const retainedBytes = 32 << 20;

/** Fetches or takes the module, checks its SHA-256, compiles it and starts an instance. See index.d.ts. */
export async function load({ wasm = new URL("./verifier.wasm", import.meta.url) } = {}) {
  const module = await compile(await wasm);
  return new Verifier(module, await Instance.create(module));
}

async function compile(source) {
  if (source instanceof WebAssembly.Module) return source; // compiled by the caller, who answers for it
  if (source instanceof URL || typeof source === "string") source = await fetch(source);
  if (typeof Response !== "undefined" && source instanceof Response) {
    if (!source.ok) throw new Error(`ixprove: the module could not be fetched from ${source.url}: status ${source.status}`);
    source = await source.arrayBuffer();
  }
  const bytes = asBytes(source, "wasm");
  if (globalThis.crypto?.subtle === undefined) {
    throw new Error("ixprove: the module's SHA-256 cannot be checked here: serve the page over HTTPS, or pass a compiled WebAssembly.Module that you trust");
  }
  const found = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
  if (found !== digest) throw new Error(`ixprove: the module is not the one of this package: expected SHA-256 ${digest}, got ${found}`);
  return WebAssembly.compile(bytes);
}

class Verifier {
  #module;
  #idle; // an instance that waits, or null

  constructor(module, instance) {
    this.#module = module;
    this.#idle = instance;
  }

  /** The compiled module, which can be posted to workers. */
  get module() {
    return this.#module;
  }

  async verify(proof, options) {
    const inputs = encode(proof, options);
    const tooLong = overLimit(inputs);
    if (tooLong !== null) return tooLong;
    const instance = this.#idle ?? (await Instance.create(this.#module));
    this.#idle = null; // an instance that throws is lost, as it must be
    let text;
    try {
      text = instance.verify(inputs.proof, inputs.key, inputs.policy).text;
    } catch (error) {
      return failure({ verdict: "internal", what: "the module trapped", got: String(error), next: "please report this with the proof and its key" });
    }
    if (instance.memory.length <= retainedBytes) this.#idle = instance;
    const result = camel(JSON.parse(text));
    return { ok: result.verdict === "accepted", ...result };
  }
}

/** The inputs as the module takes them. Misuse is a TypeError. */
function encode(proof, options) {
  if (typeof options !== "object" || options === null) throw new TypeError("ixprove: verify(proof, { key }) needs the key that the proof shall be checked against");
  return { proof: asBytes(proof, "proof"), key: asBytes(options.key, "key"), policy: new TextEncoder().encode(policyText(options)) };
}

function policyText({ key, claims, policy = {}, ...others }) {
  // What is not understood must not be ignored: it may be what the caller demands.
  for (const name of Object.keys(others)) throw new TypeError(`ixprove: the option ${name} is unknown: expected one of key, claims, policy`);
  if (typeof policy !== "object" || policy === null) throw new TypeError("ixprove: policy must be an object");
  const fields = { keyDigest: "key", maxProofBytes: "max_proof_bytes", minBits: "min_bits", minDigestBits: "min_digest_bits", insecure: "insecure" };
  const out = {};
  for (const [name, value] of Object.entries(policy)) {
    if (!Object.hasOwn(fields, name)) throw new TypeError(`ixprove: policy.${name} is unknown: expected one of ${Object.keys(fields).join(", ")}`);
    if (value !== undefined) out[fields[name]] = name === "keyDigest" && typeof value !== "string" ? hex(asBytes(value, "policy.keyDigest")) : value;
  }
  if (claims !== undefined) out.claims = claims;
  return JSON.stringify(out, (place, value) => {
    if (typeof value === "bigint") return value.toString();
    if (typeof value === "number" && !Number.isSafeInteger(value)) throw new TypeError(`ixprove: ${place} is no safe integer: pass a BigInt or a string`);
    return value;
  });
}

/** The result for inputs that the module would not take, as package wasm for Go words it. */
function overLimit(inputs) {
  for (const [input, check] of [["key", "K-1"], ["policy", undefined], ["proof", "P-1"]]) {
    if (inputs[input].length > limits[input]) {
      return failure({
        verdict: "limit", input, check, place: "at byte 0", what: "the data is too long",
        expected: `at most ${limits[input]} bytes`, got: String(inputs[input].length),
      });
    }
  }
  return null;
}

function failure(error) {
  const where = [error.check, error.place].filter(Boolean).join(", ");
  const detail = error.expected ? `: expected ${error.expected}, got ${error.got}` : `: got ${error.got}`;
  const message = `ixprove: ${error.verdict}: ${error.what}${where && ` (${where})`}${detail}${error.next ? `; ${error.next}` : ""}`;
  return { ok: false, ...Object.fromEntries(Object.entries(error).filter(([, v]) => v !== undefined)), message };
}

function asBytes(data, name) {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw new TypeError(`ixprove: ${name} must be a Uint8Array or an ArrayBuffer`);
}

function hex(bytes) {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Field names of the module's JSON, in the style of JavaScript. */
function camel(value) {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k.replace(/_(.)/g, (_, c) => c.toUpperCase()), camel(v)]));
}
