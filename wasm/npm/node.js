// Node's fetch does not read files.
import { readFile } from "node:fs/promises";
import { load as loadFrom } from "./index.js";

export { digest, limits } from "./index.js";

export function load({ wasm = readFile(new URL("./verifier.wasm", import.meta.url)) } = {}) {
  return loadFrom({ wasm });
}
