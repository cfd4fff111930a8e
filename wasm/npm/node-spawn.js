import { Worker } from "node:worker_threads";
import { WorkerVerifier } from "./serve.js";

/** Verifies in a worker thread. */
export async function loadWorker({ wasm, create = () => new Worker(new URL("./node-worker.js", import.meta.url)) } = {}) {
  const verifier = new WorkerVerifier((receive, fail) => {
    const worker = create();
    worker.on("message", receive);
    worker.on("error", fail);
    return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
  }, wasm);
  await verifier.ready();
  return verifier;
}
