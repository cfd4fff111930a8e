import type { LoadOptions, Verifier } from "./index.js" with { "resolution-mode": "import" };
export type * from "./index.js" with { "resolution-mode": "import" };
export declare function load(options?: LoadOptions): Promise<Verifier>;
