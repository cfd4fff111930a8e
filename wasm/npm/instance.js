// The module's interface to its hosts, as docs/wasm.md has it.

/** Limits of the module's inputs, in bytes. */
export const limits = Object.freeze({ proof: 8 << 20, key: 1 << 20, policy: 1 << 20 });

const abi = 1;

/** An instance of the module: one call at a time. After an exception it must not be used again. */
export class Instance {
  #exports;

  /** Instantiates a compiled module. */
  static async create(module) {
    // The module imports nothing, so what is passed here cannot matter.
    return new Instance(await WebAssembly.instantiate(module, {}));
  }

  constructor(instance) {
    this.#exports = instance.exports;
    this.#exports._initialize();
    const version = this.#exports.abi_version();
    if (version !== abi) throw new Error(`ixprove: the module has interface ${version}, this package has ${abi}`);
  }

  /** The linear memory as it is now: growing it detaches older views. */
  get memory() {
    return new Uint8Array(this.#exports.memory.buffer);
  }

  /** Runs verify_with and returns its status and its result, a JSON text. Inputs are within the limits. */
  verify(proof, key, policy) {
    const e = this.#exports;
    const args = [];
    for (const data of [proof, key, policy]) {
      const at = data.length > 0 ? e.alloc(data.length) >>> 0 : 0;
      if (data.length > 0 && at === 0) throw new Error("ixprove: the module gave no memory for an input within its limits");
      this.memory.set(data, at);
      args.push(at, data.length);
    }
    const status = e.verify_with(...args);
    for (let i = 0; i < args.length; i += 2) e.free(args[i]);
    const at = e.result_ptr() >>> 0;
    const text = new TextDecoder("utf-8", { fatal: true }).decode(this.memory.slice(at, at + (e.result_len() >>> 0)));
    return { status, text };
  }
}
