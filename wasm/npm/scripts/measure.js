// Prints a row of `go run ./wasm/internal/engines`: node scripts/measure.js KEY PROOF RUNS NATIVE_MICROSECONDS
import { readFileSync } from "node:fs";
import { load } from "../node.js";

const [key, proof] = process.argv.slice(2, 4).map((name) => readFileSync(name));
const [runs, native] = process.argv.slice(4).map(Number);

const start = performance.now();
const verifier = await load();
async function time(since = performance.now()) {
  const result = await verifier.verify(proof, { key });
  if (!result.ok) throw new Error(result.message);
  return performance.now() - since;
}
const cold = await time(start);
const warm = [];
for (let i = 0; i < runs; i++) warm.push(await time());
const median = warm.sort((a, b) => a - b)[runs >> 1];
console.log(`${`Node ${process.version}`.padEnd(28)} ${cold.toFixed(1).padStart(10)} ${median.toFixed(1).padStart(10)} ${((median * 1000) / native).toFixed(2).padStart(8)}`);
