/** The worker's side: answers { id, load: true, wasm } by loading the module and { id, proof, options } by verifying. send posts to the other side. */
export function serve(load, send) {
  let verifier;
  return async ({ id, load: first, wasm, proof, options }) => {
    try {
      if (first) {
        verifier = load(wasm === undefined ? {} : { wasm });
        await verifier;
        send({ id });
      } else {
        send({ id, result: await (await verifier).verify(proof, options) });
      }
    } catch (error) {
      send({ id, error: { misuse: error instanceof TypeError, message: String(error?.message ?? error) } });
    }
  };
}

/** The page's side. start makes a port { post, terminate } that hands incoming messages to receive and failures of the worker to fail. */
export class WorkerVerifier {
  #start;
  #wasm;
  #port = null;
  #loaded = null;
  #waiting = new Map();
  #next = 0;

  constructor(start, wasm) {
    this.#start = start;
    this.#wasm = wasm;
  }

  /** Starts the worker and loads the module there, unless that is done. */
  ready() {
    if (this.#loaded === null) {
      this.#port = this.#start(
        ({ id, result, error }) => {
          const waiting = this.#waiting.get(id);
          this.#waiting.delete(id);
          if (error === undefined) waiting?.resolve(result);
          else waiting?.reject(error.misuse ? new TypeError(error.message) : new Error(error.message));
        },
        (error) => this.#stop(error),
      );
      this.#loaded = this.#ask({ load: true, wasm: this.#wasm });
      this.#loaded.catch((error) => this.#stop(error));
    }
    return this.#loaded;
  }

  /** Verifies in the worker. When signal aborts, the worker is ended, and the next call starts another. */
  async verify(proof, options, { signal } = {}) {
    signal?.throwIfAborted();
    const abort = () => this.#stop(signal.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      await this.ready();
      signal?.throwIfAborted();
      return await this.#ask({ proof, options });
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Ends the worker. Calls that wait are rejected. */
  terminate() {
    this.#stop(new Error("ixprove: the worker was terminated"));
  }

  #ask(message) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      if (this.#port === null) throw new Error("ixprove: the worker was terminated"); // by a call that ended between two steps of this one
      this.#waiting.set(id, { resolve, reject });
      this.#port.post({ id, ...message });
    });
  }

  #stop(reason) {
    this.#port?.terminate();
    this.#port = this.#loaded = null;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}
