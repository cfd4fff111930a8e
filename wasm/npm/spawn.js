import { WorkerVerifier } from "./serve.js";

/** Verifies in a Web Worker, so that the page stays responsive. See spawn.d.ts. */
export async function loadWorker({ wasm, create = () => new Worker(new URL("./worker.js", import.meta.url), { type: "module" }) } = {}) {
  const verifier = new WorkerVerifier((receive, fail) => {
    const worker = create();
    worker.addEventListener("message", (event) => receive(event.data));
    worker.addEventListener("error", (event) => fail(new Error(`ixprove: the worker failed: ${event.message ?? "it could not be started"}`)));
    return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
  }, wasm);
  await verifier.ready();
  return verifier;
}
