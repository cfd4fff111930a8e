// The extension starts the server, and VS Code's own protocol library talks to it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { after, before, test } from "node:test";

const require = createRequire(import.meta.url);
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-languageserver-protocol/node");
const root = fileURLToPath(new URL("../..", import.meta.url));
let folder, program;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "ixprove-"));
  program = join(folder, process.platform === "win32" ? "ixprove.exe" : "ixprove");
  execFileSync("go", ["build", "-o", program, "./cmd/ixprove"], { cwd: root, stdio: "inherit" });
});

after(() => rmSync(folder, { recursive: true, force: true }));

// activated is what the extension makes when VS Code activates it; the two modules that only VS Code has are replaced.
async function activated() {
  const made = {};
  const load = Module._load;
  Module._load = (name, ...rest) => {
    if (name === "vscode") {
      const settings = { get: (key) => ({ path: program })[key] };
      return { workspace: { getConfiguration: (section) => section === "ixprove" && settings, createFileSystemWatcher: (glob) => ({ glob }) } };
    }
    if (name === "vscode-languageclient/node") {
      return { LanguageClient: class {
        constructor(id, name, server, client) { Object.assign(made, { id, name, server, client }); }
        async start() { made.started = true; }
        async stop() { made.stopped = true; }
      } };
    }
    return load(name, ...rest);
  };
  try {
    const extension = require("../vscode/extension.js");
    await extension.activate();
    return { made, extension };
  } finally {
    Module._load = load;
  }
}

test("the extension starts and stops the server, which answers VS Code's library", async () => {
  const { made, extension } = await activated();
  assert.ok(made.started);
  assert.deepEqual(made.client.documentSelector, [{ language: "ix" }]);
  const child = spawn(made.server.command, made.server.args, { env: { ...process.env, XDG_CACHE_HOME: folder }, stdio: ["pipe", "pipe", "inherit"] });
  const left = new Promise((resolve) => child.on("exit", resolve));
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  connection.listen();
  const published = [];
  connection.onNotification("textDocument/publishDiagnostics", (p) => published.push(p));

  const uri = pathToFileURL(join(folder, "main.ix")).href;
  const text = 'import "lib";\n// f is lib\'s.\npub fn f(x: u8)->u8 { lib::twice(x) }\n';
  writeFileSync(join(folder, "lib.ix"), "pub fn twice(x: u8) -> u8 { x + x }\n");
  const { capabilities } = await connection.sendRequest("initialize", { processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities: {} });
  assert.equal(capabilities.positionEncoding, "utf-16");
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "ix", version: 1, text } });
  const at = { textDocument: { uri }, position: { line: 2, character: 29 } };
  assert.equal((await connection.sendRequest("textDocument/hover", at)).contents.value, "fn twice(x: u8) -> u8");
  const [place] = await connection.sendRequest("textDocument/definition", at);
  assert.deepEqual(place, { uri: pathToFileURL(join(folder, "lib.ix")).href, range: { start: { line: 0, character: 7 }, end: { line: 0, character: 12 } } });
  const [edit] = await connection.sendRequest("textDocument/formatting", { textDocument: { uri }, options: { tabSize: 4, insertSpaces: false } });
  assert.equal(edit.newText, "pub fn f(x: u8) -> u8 { lib::twice(x) }\n");
  assert.deepEqual((await connection.sendRequest("textDocument/documentSymbol", { textDocument: { uri } })).map((s) => s.name), ["f"]);
  await assert.rejects(connection.sendRequest("textDocument/rename", {}), { code: -32601 });
  assert.deepEqual(published, [{ uri, version: 1, diagnostics: [] }]);
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(await left, 0);
  connection.dispose();
  await extension.deactivate();
  assert.ok(made.stopped);
});
