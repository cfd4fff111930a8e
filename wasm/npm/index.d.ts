/** The SHA-256 of verifier.wasm, in hexadecimal. load() checks it. */
export declare const digest: string;

/** The most bytes that the module takes of each input. Longer ones give the verdict "limit". */
export declare const limits: { readonly proof: number; readonly key: number; readonly policy: number };

/** Bytes of an encoded object. */
export type Bytes = Uint8Array | ArrayBuffer;

/** Where the module comes from: an address, a response, its bytes (all checked against digest), or a compiled module that the caller answers for. */
export type Source = URL | string | Response | Bytes | WebAssembly.Module;

export interface LoadOptions {
  /** Default: verifier.wasm beside this package's code. */
  wasm?: Source | Promise<Source>;
}

/** Loads and compiles the module and starts an instance. Rejects when it cannot be had or is not the one of this package. */
export declare function load(options?: LoadOptions): Promise<Verifier>;

export interface Verifier {
  /** The compiled module, for other workers. */
  readonly module: WebAssembly.Module;
  /**
   * Checks a batch proof against a key that the caller chose. Whatever the bytes, the promise resolves; it rejects with a TypeError when the arguments are not of their types.
   * The thread is busy meanwhile: pages should use "@ixprove/verifier/worker".
   */
  verify(proof: Bytes, options: VerifyOptions): Promise<Result>;
}

/** Other fields are refused with a TypeError: one that is ignored could be a demand. */
export interface VerifyOptions {
  /** The encoded verifying key. A proof says nothing about a program unless its key comes from someone you trust. */
  key: Bytes;
  /** The claims that the proof must make, in order; without them any are accepted, and reported. */
  claims?: ExpectedClaim[];
  policy?: Policy;
}

export interface Policy {
  /** The digest that the key must have: 64 hexadecimal digits or 32 bytes. */
  keyDigest?: string | Bytes;
  /** Most bytes of the proof; limits.proof without it. */
  maxProofBytes?: number;
  /** Least proven bits of security; 128 without it. */
  minBits?: number;
  /** Least bits of work for a collision of the proof's digests; 126 without it. */
  minDigestBits?: number;
  /** Accept any number of bits: for development only. */
  insecure?: boolean;
}

/** Numbers in decimal; bytes32 as 64 hexadecimal digits. Numbers beyond Number.MAX_SAFE_INTEGER must be BigInts or strings. */
export type Scalar = number | bigint | string;

export interface ExpectedClaim {
  /** Name of the key's entry, or its number. */
  entry: string | number;
  /** Values by name, or field elements in order. */
  args?: Record<string, Scalar> | Scalar[];
  results?: Record<string, Scalar> | Scalar[];
}

export type Result = Accepted | Refused;

export interface Accepted {
  ok: true;
  verdict: "accepted";
  system: string;
  /** Digest of the key, in hexadecimal. */
  key: string;
  profile: string;
  provenBits: number;
  uniqueBits: number;
  conjecturedBits: number;
  /** Work for a collision of digests, in bits. */
  digestBits: number;
  claims: Claim[];
  shards: { tables: { circuit: string; logHeight: number }[]; layers: number }[];
  /** Bytes by part. */
  sizes: {
    total: number;
    rows: Record<MatrixKind, number>;
    siblings: Record<MatrixKind, number>;
    openings: number;
    layers: number;
    final: number;
    rest: number;
  };
}

export type MatrixKind = "fixed" | "main" | "auxiliary" | "quotient";

export interface Claim {
  entry: string;
  index: number;
  args: Value[];
  results: Value[];
}

export interface Value {
  name: string;
  type: "field" | "u8" | "u32" | "u64" | "bytes32";
  /** Decimal, or hexadecimal for bytes32. */
  value: string;
}

export interface Refused {
  ok: false;
  /** "rejected": well formed, but it does not prove its claims. "incompatible": another kind, version or key. "invalid": a key or claim that makes no sense. */
  verdict: "rejected" | "malformed" | "incompatible" | "limit" | "invalid" | "internal";
  /** The input that is at fault. */
  input?: "proof" | "key" | "policy";
  /** The check of docs/protocol.md that failed, such as "P-27". */
  check?: string;
  place?: string;
  what: string;
  expected?: string;
  got?: string;
  next?: string;
  /** All of it in one line. */
  message: string;
}
