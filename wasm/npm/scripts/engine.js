// Answers verifications for package wasmtest: node scripts/engine.js MODULE [--memory]
//
// On standard input: lengths in four little-endian bytes, each before a frame of the export verify. On standard output: lengths and results. With --memory it verifies one frame
// and answers with the SHA-256 of the linear memory.
import { createHash } from "node:crypto";
import { readFileSync, writeSync } from "node:fs";
import { Instance } from "../instance.js";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const retainedBytes = 32 << 20;
let instance = await Instance.create(module);

async function answer(frame) {
  const parts = [];
  for (let at = 0; at < frame.length; ) {
    const end = at + 4 + frame.readUInt32LE(at);
    parts.push(frame.subarray(at + 4, end));
    at = end;
  }
  const { text } = instance.verify(...parts);
  if (process.argv[3] === "--memory") return createHash("sha256").update(instance.memory).digest();
  if (instance.memory.length > retainedBytes) instance = await Instance.create(module);
  return Buffer.from(text);
}

let pending = Buffer.alloc(0);
for await (const chunk of process.stdin) {
  pending = Buffer.concat([pending, chunk]);
  while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32LE(0)) {
    const end = 4 + pending.readUInt32LE(0);
    const result = await answer(pending.subarray(4, end));
    pending = pending.subarray(end);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(result.length);
    const out = Buffer.concat([size, result]);
    for (let at = 0; at < out.length; ) at += writeSync(1, out, at);
  }
}
