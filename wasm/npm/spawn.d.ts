import type { Bytes, Result, Source, VerifyOptions } from "./index.js";

export interface WorkerOptions {
  /** Where the module comes from; it is sent to the worker. Default: verifier.wasm beside this package's code. */
  wasm?: Exclude<Source, Response>;
  /** Makes the worker, for pages whose bundler or policy needs it elsewhere. It must run this package's worker.js. */
  create?: () => any;
}

/** Starts a worker and loads the module there. */
export declare function loadWorker(options?: WorkerOptions): Promise<WorkerVerifier>;

export interface WorkerVerifier {
  /** As Verifier.verify. When signal aborts, the promise rejects with its reason, and so do other calls that wait: the worker is ended, and the next call starts another. */
  verify(proof: Bytes, options: VerifyOptions, control?: { signal?: AbortSignal }): Promise<Result>;
  /** Ends the worker. Calls that wait are rejected. */
  terminate(): void;
}
