// What users install, and what bundlers and compilers make of it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { digest } from "@ixprove/verifier";

const root = fileURLToPath(new URL("..", import.meta.url));
const fixtures = fileURLToPath(new URL("../../../prover/testdata/", import.meta.url));

/** A project that has installed the package. */
function project(t, files) {
  const folder = mkdtempSync(join(tmpdir(), "ixprove-npm-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [{ filename }] = JSON.parse(execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd: root, encoding: "utf8" }));
  const installed = join(folder, "node_modules", "@ixprove", "verifier");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", installed, "--strip-components=1"]);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

test("npm pack holds what the package needs and nothing else", () => {
  const [{ files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8" }));
  assert.deepEqual(files.map((f) => f.path).sort(), [
    "LICENSE", "README.md", "digest.js", "index.cjs", "index.d.cts", "index.d.ts", "index.js", "instance.js", "node-spawn.cjs", "node-spawn.js", "node-worker.js", "node.cjs", "node.js",
    "package.json", "serve.js", "spawn.cjs", "spawn.d.cts", "spawn.d.ts", "spawn.js", "verifier.wasm", "worker.js",
  ]);
});

test("the code has no top-level await, no inlined module, and asks for no shared memory", () => {
  for (const name of readdirSync(root).filter((n) => /\.c?js$/.test(n))) {
    const text = readFileSync(join(root, name), "utf8");
    assert.ok(text.length < 10_000, name);
    assert.doesNotMatch(text, /^(const .* = )?await |SharedArrayBuffer|base64|\beval\b|new Function/m, name);
  }
});

test("TypeScript knows the types, of both module systems", (t) => {
  const use = `
    const verifier = await load();
    const result = await verifier.verify(new Uint8Array(1), { key: new ArrayBuffer(1), claims: [{ entry: "e", args: { n: 1n }, results: ["2"] }], policy: { minBits: 100 } });
    if (result.ok) { const bits: number = result.provenBits; const name: string | undefined = result.claims[0]?.args[0]?.name; } else { const why: string = result.what; }
    // @ts-expect-error: a proof is checked against a key
    await verifier.verify(new Uint8Array(1), {});
    // @ts-expect-error: no such policy
    await verifier.verify(new Uint8Array(1), { key: new Uint8Array(1), policy: { bits: 1 } });
    const worker = await loadWorker({ wasm: verifier.module });
    const again: typeof result = await worker.verify(new Uint8Array(1), { key: new Uint8Array(1) }, { signal: new AbortController().signal });
    worker.terminate();`;
  const folder = project(t, {
    "esm.mts": `import { load, digest, limits } from "@ixprove/verifier";\nimport { loadWorker } from "@ixprove/verifier/worker";\n${use}\nexport const n: number = limits.proof, d: string = digest;`,
    "cjs.cts": `import { load } from "@ixprove/verifier";\nimport { loadWorker } from "@ixprove/verifier/worker";\nexport async function main() {${use}\n}`,
    "tsconfig.json": JSON.stringify({ compilerOptions: { module: "nodenext", target: "es2022", lib: ["es2022", "dom"], strict: true, noEmit: true, types: [] }, include: ["*.mts", "*.cts"] }),
  });
  execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", folder], { stdio: "inherit" });
});

const entry = `
  import { load } from "@ixprove/verifier";
  import { loadWorker } from "@ixprove/verifier/worker";
  globalThis.verifyHere = async (proof, key) => (await load()).verify(proof, { key });
  globalThis.verifyThere = async (proof, key) => (await loadWorker()).verify(proof, { key });`;

/** Runs what a bundler has made, with a fetch that reads its folder, and looks for the module among its files. */
async function runBundle(folder, script) {
  const files = readdirSync(folder, { recursive: true }).filter((n) => /\./.test(n));
  const modules = files.filter((n) => n.endsWith(".wasm"));
  assert.ok(modules.length >= 1, files.join(" "));
  for (const n of modules) assert.equal(createHash("sha256").update(readFileSync(join(folder, n))).digest("hex"), digest);
  for (const n of files.filter((n) => n.endsWith(".js"))) assert.ok(readFileSync(join(folder, n)).length < 100_000, `${n} has the module inlined`);
  assert.ok(files.some((n) => /worker/.test(n) && n.endsWith(".js")) || files.filter((n) => n.endsWith(".js")).length > 1, "no file for the worker");
  const real = globalThis.fetch;
  globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)));
  try {
    await import(pathToFileURL(join(folder, script)).href);
    const name = join(fixtures, "fibonacci-standard-v1");
    assert.equal((await globalThis.verifyHere(readFileSync(`${name}.proof`), readFileSync(`${name}.key`))).ok, true);
  } finally {
    globalThis.fetch = real;
    delete globalThis.verifyHere;
    delete globalThis.verifyThere;
  }
}

test("Vite bundles it", async (t) => {
  const folder = project(t, { "main.js": entry, "index.html": `<script type="module" src="./main.js"></script>`, "package.json": `{"type":"module"}` });
  const { build } = await import("vite");
  await build({ root: folder, base: "./", logLevel: "warn", build: { modulePreload: false, rollupOptions: { output: { entryFileNames: "assets/[name].js" } } }, worker: { format: "es" } });
  await runBundle(join(folder, "dist"), "assets/index.js");
});

test("webpack bundles it", async (t) => {
  const folder = project(t, { "main.js": entry, "package.json": `{"type":"module"}` });
  const { default: webpack } = await import("webpack");
  const stats = await new Promise((resolve, reject) => {
    webpack({
      mode: "production", context: folder, entry: "./main.js", target: ["web", "es2022"], experiments: { outputModule: true },
      output: { path: join(folder, "dist"), filename: "main.js", module: true, chunkFormat: "module", publicPath: "auto" },
    }, (error, stats) => (error ? reject(error) : resolve(stats)));
  });
  assert.equal(stats.hasErrors(), false, stats.toString({ colors: false }));
  await runBundle(join(folder, "dist"), "main.js");
});
