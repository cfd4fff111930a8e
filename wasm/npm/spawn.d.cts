import type { WorkerOptions, WorkerVerifier } from "./spawn.js" with { "resolution-mode": "import" };
export type * from "./spawn.js" with { "resolution-mode": "import" };
export declare function loadWorker(options?: WorkerOptions): Promise<WorkerVerifier>;
