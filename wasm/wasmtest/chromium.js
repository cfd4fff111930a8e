// Verifies in a worker of Chromium what package wasmtest hands out, one frame of the export verify after another.
import { Instance } from "./instance.js";

const retainedBytes = 32 << 20;

async function post(path, body) {
  const response = await fetch(path, { method: "POST", body });
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

function split(frame) {
  const parts = [];
  const view = new DataView(frame.buffer);
  for (let at = 0; at < frame.length; ) {
    const end = at + 4 + view.getUint32(at, true);
    parts.push(frame.subarray(at + 4, end));
    at = end;
  }
  return parts;
}

try {
  const module = await WebAssembly.compileStreaming(fetch("verifier.wasm"));
  let instance = await Instance.create(module);
  for (let frame = await post("ready"); ; ) {
    const { text } = instance.verify(...split(frame));
    if (instance.memory.length > retainedBytes) instance = await Instance.create(module);
    frame = await post("result", text);
  }
} catch (error) {
  await post("failed", String(error));
}
