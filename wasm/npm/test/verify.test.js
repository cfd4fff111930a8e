import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import test from "node:test";
import { brotliCompressSync, constants } from "node:zlib";
import { digest, limits, load } from "@ixprove/verifier";
import { load as loadInBrowser } from "../index.js";
import { loadWorker } from "@ixprove/verifier/worker";

const file = (name) => readFileSync(new URL(name, import.meta.url));
const fixture = (name) => ({ key: file(`../../../prover/testdata/${name}.key`), proof: file(`../../../prover/testdata/${name}.proof`) });
const wasm = file("../verifier.wasm");
const { key, proof } = fixture("fibonacci-standard-v1");
const verifier = await load();

test("accepts a proof and reports its claims", async () => {
  const result = await verifier.verify(proof, { key });
  assert.equal(result.ok, true);
  assert.equal(result.verdict, "accepted");
  assert.equal(result.provenBits, 128);
  assert.deepEqual(result.claims[0], {
    entry: "fibonacci", index: 0,
    args: [{ name: "n", type: "u32", value: "90" }],
    results: [{ name: "value", type: "field", value: "2880067194370816120" }],
  });
  assert.equal(result.sizes.total, proof.length);
  assert.equal(result.shards[0].tables[0].logHeight > 0, true);
  const copy = proof.buffer.slice(proof.byteOffset, proof.byteOffset + proof.length);
  assert.deepEqual(await verifier.verify(copy, { key: new Uint8Array(key) }), result);
});

test("refuses with class, check and place", async () => {
  const changed = new Uint8Array(proof);
  changed[proof.length - 50] ^= 1;
  for (const [bytes, options, verdict, check] of [
    [changed, { key }, "rejected", "P-34"],
    [proof.subarray(0, 1000), { key }, "malformed", "P-2"],
    [key, { key }, "incompatible", "P-3"],
    [proof, { key: fixture("fibonacci-fast-v1").key }, "incompatible", "P-4"],
    [proof, { key: proof }, "incompatible", "K-2"],
    [proof, { key, claims: [] }, "rejected", "P-9"],
    [proof, { key, policy: { minBits: 129 } }, "rejected", "P-17"],
    [proof, { key, policy: { maxProofBytes: 1000 } }, "limit", "P-1"],
    [proof, { key, policy: { keyDigest: "00".repeat(32) } }, "incompatible", undefined],
    [proof, { key, policy: { keyDigest: "0" } }, "malformed", undefined],
    [proof, { key, claims: [{ entry: "nothing" }] }, "invalid", undefined],
    [proof, { key, claims: 1 }, "malformed", undefined],
    [new Uint8Array(limits.proof + 1), { key }, "limit", "P-1"],
    [proof, { key: new Uint8Array(limits.key + 1) }, "limit", "K-1"],
    [new Uint8Array(0), { key }, "malformed", "P-2"],
    [proof, { key: new Uint8Array(0) }, "malformed", "K-1"],
  ]) {
    const result = await verifier.verify(bytes, options);
    assert.deepEqual([result.ok, result.verdict, result.check], [false, verdict, check], result.message);
    assert.match(result.message, /^ixprove: /);
    assert.ok(result.what.length > 0);
  }
  assert.equal((await verifier.verify(proof, { key })).ok, true);
});

test("takes claims by name and by element, with numbers of every kind", async () => {
  const report = await verifier.verify(proof, { key });
  const named = report.claims.map((c) => ({
    entry: c.entry,
    args: Object.fromEntries(c.args.map((v) => [v.name, Number(v.value)])),
    results: Object.fromEntries(c.results.map((v) => [v.name, BigInt(v.value)])),
  }));
  const plain = report.claims.map((c) => ({ entry: c.index, args: c.args.map((v) => v.value), results: c.results.map((v) => v.value) }));
  for (const claims of [named, plain]) assert.deepEqual(await verifier.verify(proof, { key, claims, policy: { keyDigest: report.key } }), report);
  named[0].results.value += 1n;
  assert.equal((await verifier.verify(proof, { key, claims: named })).check, "P-9");
});

test("throws for misuse alone", async () => {
  for (const call of [
    () => verifier.verify("proof", { key }),
    () => verifier.verify(proof),
    () => verifier.verify(proof, {}),
    () => verifier.verify(proof, { key: "key" }),
    () => verifier.verify(proof, { key, policy: { bits: 1 } }),
    () => verifier.verify(proof, { key, policy: "strict" }),
    () => verifier.verify(proof, { key, claim: [] }),
    () => verifier.verify(proof, { key, keyDigest: "00".repeat(32) }),
    () => verifier.verify(proof, { key, minBits: 200 }),
    () => verifier.verify(proof, { key, claims: [{ entry: 0, args: [2 ** 60] }] }),
  ]) await assert.rejects(call, TypeError);
});

// trapping is a module with the exports that traps in verify_with.
function trapping() {
  const text = (s) => [s.length, ...new TextEncoder().encode(s)];
  const section = (id, ...items) => {
    const body = [items.length, ...items.flat()];
    return [id, body.length, ...body];
  };
  const i32 = 0x7f;
  const functions = [["_initialize", 0, []], ["abi_version", 1, [0x41, 1]], ["alloc", 2, [0x41, 16]], ["free", 3, []], ["verify_with", 4, [0x00]], ["result_ptr", 1, [0x41, 0]], ["result_len", 1, [0x41, 0]]];
  return new WebAssembly.Module(Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [0x60, 0, 0], [0x60, 0, 1, i32], [0x60, 1, i32, 1, i32], [0x60, 1, i32, 0], [0x60, 6, i32, i32, i32, i32, i32, i32, 1, i32]),
    ...section(3, ...functions.map(([, type]) => [type])),
    ...section(5, [0, 1]),
    ...section(7, [...text("memory"), 2, 0], ...functions.map(([name], i) => [...text(name), 0, i])),
    ...section(10, ...functions.map(([, , code]) => [code.length + 2, 0, ...code, 0x0b])),
  ]));
}

test("gives up an instance that traps", async (t) => {
  const made = t.mock.method(WebAssembly, "instantiate");
  const v = await load({ wasm: trapping() });
  for (const instances of [1, 2, 3]) {
    const result = await v.verify(new Uint8Array(1), { key: new Uint8Array(1) });
    assert.deepEqual([result.ok, result.verdict, made.mock.callCount()], [false, "internal", instances], result.message);
  }
});

test("serves calls that overlap", async () => {
  const results = await Promise.all(Array.from({ length: 5 }, (_, i) => verifier.verify(i % 2 ? proof.subarray(1) : proof, { key })));
  assert.deepEqual(results.map((r) => r.ok), [true, false, true, false, true]);
});

test("loads from an address, a response, bytes and a module", async (t) => {
  const server = createServer((request, response) => {
    if (request.url !== "/verifier.wasm") return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "application/wasm" }).end(wasm);
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${server.address().port}/verifier.wasm`;
  for (const source of [url, new URL(url), fetch(url), await fetch(url), wasm, new Uint8Array(wasm).buffer, await WebAssembly.compile(wasm), verifier.module]) {
    const v = await loadInBrowser({ wasm: source });
    assert.equal((await v.verify(proof, { key })).ok, true);
  }
  await assert.rejects(loadInBrowser({ wasm: url + "x" }), /status 404/);
});

test("refuses another module", async () => {
  const other = new Uint8Array(wasm);
  other[other.length - 1] ^= 1;
  await assert.rejects(load({ wasm: other }), new RegExp(`expected SHA-256 ${digest}`));
  await assert.rejects(load({ wasm: 7 }), TypeError);
});

test("verifies in a worker, and ends it on request", async () => {
  const worker = await loadWorker({ wasm: verifier.module });
  assert.deepEqual(await worker.verify(proof, { key }), await verifier.verify(proof, { key }));
  await assert.rejects(worker.verify(proof, {}), TypeError);
  await assert.rejects(worker.verify(undefined, { key }), TypeError);
  await assert.rejects(worker.verify(proof, { key, claim: [] }), TypeError);
  const controller = new AbortController();
  const ended = worker.verify(proof, { key }, { signal: controller.signal });
  controller.abort();
  await assert.rejects(ended, { name: "AbortError" });
  await assert.rejects(worker.verify(proof, { key }, { signal: controller.signal }), { name: "AbortError" });
  assert.equal((await worker.verify(proof, { key })).ok, true);
  worker.terminate();
  await assert.rejects(loadWorker({ wasm: new Uint8Array(3) }), /SHA-256/);
});

test("is a CommonJS package, too", async () => {
  const require = createRequire(import.meta.url);
  const v = await require("@ixprove/verifier").load();
  assert.equal((await v.verify(proof, { key })).ok, true);
  const worker = await require("@ixprove/verifier/worker").loadWorker();
  assert.equal((await worker.verify(proof, { key })).ok, true);
  worker.terminate();
  assert.equal(readFileSync(require.resolve("@ixprove/verifier/verifier.wasm")).equals(wasm), true);
});

test("has a module that is small on the wire", () => {
  const n = brotliCompressSync(wasm, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length } }).length;
  assert.ok(n <= 520_000, `${n} bytes`);
});
