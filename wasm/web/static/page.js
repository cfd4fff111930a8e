// The page: takes a proof, a key and demands, has the worker check them, and shows what came of it.
import { checks, inputs, matrices, programs, statements, verdicts } from "./explain.js";
import { release } from "./release.js";
import { download, engine, hex, Refusal } from "./engine.js";
import { digest } from "./verifier/digest.js";
import { limits } from "./verifier/instance.js";

const $ = (id) => document.getElementById(id);
const result = $("result");

const state = {
  proof: null, // { name, blob } of the last proof
  keyBlob: null, // a key file that was chosen or dropped
  run: 0, // number of the current verification; answers to others are late
  reading: 0, // how long the current proof took to read, in ms
};

// --- text

const numbers = new Intl.NumberFormat("en");
const count = (n, one, many = `${one}s`) => `${numbers.format(n)} ${n === 1 ? one : many}`;
const milliseconds = (ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

function size(bytes) {
  for (const [unit, scale] of [["MiB", 1 << 20], ["KiB", 1 << 10]]) {
    if (bytes >= scale) return `${(bytes / scale).toFixed(bytes >= 10 * scale || bytes % scale === 0 ? 0 : 1)} ${unit}`;
  }
  return `${bytes} bytes`;
}

// element makes an element. Children are elements or text, never markup: all they show may come from a file.
function element(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

// list is a description list of rows [term, ...content]; rows without content are left out.
function list(...rows) {
  const dl = element("dl");
  for (const [term, ...content] of rows) {
    if (content.some((c) => c !== "" && c !== undefined)) dl.append(element("div", {}, element("dt", {}, term), element("dd", {}, ...content)));
  }
  return dl;
}

// --- stages

function stage(name, value, note = "") {
  const li = $(`stage-${name}`);
  li.dataset.state = value;
  li.querySelector(".note").textContent = note;
}

function show(verdict, announcement, ...content) {
  result.dataset.state = verdict;
  $("prompt").hidden = true;
  $("card").replaceChildren(...content);
  $("card").hidden = false;
  $("status").textContent = announcement;
  const { top } = result.getBoundingClientRect();
  if (top > innerHeight / 2) result.scrollIntoView({ block: "start" }); // a phone has the result below the inputs
}

// --- the engine

function awaitEngine() {
  stage("engine", "active", "loading");
  engine.current.then(
    () => {
      stage("engine", "done", `ready in ${milliseconds(engine.took)}, module hash checked`);
      result.dataset.engine = "ready";
    },
    (error) => {
      stage("engine", "failed", "not ready");
      const detail = error instanceof Refusal ? error.detail : { what: "the verifier could not be started", got: error.message, next: "reload the page; it needs a browser of the last few years that allows WebAssembly" };
      refuse("internal", detail);
      $("retry").hidden = false;
    },
  );
}

// --- inputs

// A proof starts with its kind, its version and the digest of its key, in the one encoding that is valid (formats/proof.cddl).
const proofHead = [0xa5, 0x00, 0x6d, ...new TextEncoder().encode("ixprove-proof"), 0x01, 0x01, 0x02, 0x58, 0x20];

// keyDigestOf is the digest that a proof names, or null for what is no proof.
function keyDigestOf(proof) {
  const bytes = new Uint8Array(proof, 0, Math.min(proof.byteLength, proofHead.length + 32));
  if (bytes.length < proofHead.length + 32 || proofHead.some((b, i) => bytes[i] !== b)) return null;
  return hex(bytes.subarray(proofHead.length));
}

// pasted decodes a key given as hexadecimal or base64.
function pasted(text) {
  const compact = text.replace(/\s+/g, "");
  if (/^([0-9a-f]{2})+$/i.test(compact)) return Uint8Array.from(compact.match(/../g), (pair) => parseInt(pair, 16)).buffer;
  try {
    return Uint8Array.from(atob(compact.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0)).buffer;
  } catch {
    throw new Refusal("malformed", { input: "key", what: "the pasted text is no key", expected: "hexadecimal or base64", next: "paste the whole key, or choose the key file" });
  }
}

// checkSize refuses a file by its size, before it is read.
function checkSize(input, bytes) {
  const limit = limits[input];
  if (bytes > limit) {
    throw new Refusal("limit", { input, check: input === "proof" ? "P-1" : "K-1", what: "the file is longer than the verifier takes; it was not read", expected: `at most ${numbers.format(limit)} bytes`, got: count(bytes, "byte") });
  }
}

const chosen = () => document.querySelector("input[name=key]:checked").value;
const pin = () => $("pin").value.trim().toLowerCase();

// chooseKey returns the key to check a proof against, with the digest that it must have, or none.
async function chooseKey(proof) {
  const pinned = pin();
  if (pinned && !/^[0-9a-f]{64}$/.test(pinned)) {
    throw new Refusal("invalid", { input: "policy", what: "the digest that the key must have is no digest", expected: "64 hexadecimal digits", got: `${count(pinned.length, "character")}` });
  }
  if (chosen() === "file") {
    const text = $("key-text").value.trim();
    if (!state.keyBlob && !text) throw new Refusal("invalid", { input: "key", what: "there is no key yet", next: "choose a key file, drop it on this page or paste it, or check against a built-in program" });
    if (!state.keyBlob) return { data: pasted(text), digest: pinned };
    checkSize("key", state.keyBlob.size);
    return { data: await state.keyBlob.arrayBuffer(), digest: pinned };
  }
  let known = release.keys[$("program").selectedIndex];
  if (chosen() === "named") {
    const wanted = pinned || keyDigestOf(proof) || release.keys[0].digest; // what is no proof is refused under any key
    known = release.keys.find((k) => k.digest === wanted);
    if (!known) {
      throw new Refusal("incompatible", { input: "key", what: "the key is none of the built-in programs'", expected: "the digest of a built-in key", got: wanted, next: "if you trust the program that this key is of, get its key file and choose “a key of mine”" });
    }
  }
  return { data: await (await download(known.file)).arrayBuffer(), digest: pinned || known.digest };
}

// demands are the options of the package's verify.
function demands(key) {
  const options = { key: key.data, policy: { minBits: Number($("bits").value) || 128, insecure: $("insecure").checked } };
  if (key.digest) options.policy.keyDigest = key.digest;
  const text = $("claims").value.trim();
  if (!text) return options;
  try {
    // A number that a double does not hold is passed on as it is written.
    options.claims = JSON.parse(text, (_, value, context) => (typeof value === "number" && !Number.isSafeInteger(value) ? (context?.source ?? value) : value));
  } catch {
    // not JSON, said below
  }
  if (!Array.isArray(options.claims)) throw new Refusal("invalid", { input: "policy", what: "the claims that you expect cannot be read", expected: "a JSON array of claims", next: "see the example in the empty field" });
  return options;
}

// --- a verification

// begin starts a verification and gives its number. One that is still under way is forgotten.
function begin(name) {
  result.dataset.state = "working";
  $("card").hidden = $("prompt").hidden = $("retry").hidden = true;
  stage("read", "active");
  stage("verify", "waiting");
  $("status").textContent = `Checking ${name}.`;
  return (result.dataset.run = ++state.run);
}

async function verify(proof = state.proof) {
  if (!proof) return;
  state.proof = proof;
  const run = begin(proof.name);
  try {
    checkSize("proof", proof.blob.size);
    const start = performance.now();
    const bytes = await proof.blob.arrayBuffer().catch((error) => {
      throw new Refusal("malformed", { input: "proof", what: "the file cannot be read", got: error.message, next: "choose it again: it may have been moved or changed" });
    });
    state.reading = performance.now() - start;
    if (run !== state.run) return;
    stage("read", "done", `${proof.name}, ${size(bytes.byteLength)}`);
    const key = await chooseKey(bytes);
    const options = demands(key);
    const verifier = await engine.current.catch(() => null); // one that does not start has said so itself
    if (run !== state.run || !verifier) return;
    stage("verify", "active");
    const begun = performance.now();
    const report = await verifier.verify(bytes, options).catch((error) => {
      throw new Refusal("internal", { what: "the verifier stopped", got: error.message, next: "try again; if it stops again, please report it with the proof and its key" });
    });
    if (run !== state.run) return;
    const ms = performance.now() - begun;
    stage("verify", report.ok ? "done" : "failed", `${report.verdict} in ${milliseconds(ms)}`);
    if (report.ok) accept(report, ms);
    else refuse(report.verdict, report, { ms, key: key.digest });
  } catch (error) {
    if (run !== state.run) return;
    const { verdict, detail } = error instanceof Refusal ? error : new Refusal("internal", { what: "the page failed", got: error.message });
    stage(detail.input === "proof" ? "read" : "verify", "failed", "not done");
    refuse(verdict, detail);
    $("retry").hidden = verdict !== "internal";
  }
}

const banner = ({ icon, title, means }) => [
  element("h3", { class: "verdict" }, element("span", { class: "icon", "aria-hidden": "true" }, icon), title),
  element("p", {}, means),
];

const SHOWN_CLAIMS = 50;

function accept(report, ms) {
  const builtIn = release.keys.some((k) => k.digest === report.key);
  const notes = [];
  if (report.provenBits < 128) notes.push(element("p", { class: "warning" }, `Insecure: accepted with ${report.provenBits} proven bits because you said so. Such a proof can be forged.`));
  if (!builtIn) notes.push(element("p", { class: "warning" }, "The key is not built in. Its names are what the key file says; make sure that its digest is that of a program you trust."));
  const claims = report.claims.slice(0, SHOWN_CLAIMS).map((claim) => claimElement(claim, builtIn && statements[report.system]));
  if (report.claims.length > SHOWN_CLAIMS) claims.push(element("li", { class: "hint" }, `and ${numbers.format(report.claims.length - SHOWN_CLAIMS)} more, in the report below`));
  show(
    "accepted",
    `Accepted: ${report.system}, ${count(report.claims.length, "claim")}, ${report.provenBits} bits proven.`,
    ...banner(verdicts.accepted),
    ...notes,
    element("h4", {}, report.claims.length === 1 ? "It proves" : `It proves ${count(report.claims.length, "claim")}`),
    element("ol", { class: "claims" }, ...claims),
    list(
      ["Program", `${report.system}, profile ${report.profile}${builtIn ? ", built in" : ""}`],
      ["Key digest", element("code", {}, report.key)],
      ["Security", element("strong", {}, `${report.provenBits} bits proven`), `, ${report.conjecturedBits} conjectured, ${report.uniqueBits} by unique decoding alone`],
      ["Tables", ...report.shards.map((s, i) => element("span", { class: "line" }, (report.shards.length > 1 ? `shard ${i}: ` : "") + s.tables.map((t) => `${t.circuit} ${numbers.format(2 ** t.logHeight)} rows`).join(", ")))],
      ["Time", `${milliseconds(ms)} to verify, ${milliseconds(state.reading)} to read`],
      ["Verifier", element("code", {}, digest)],
    ),
    element("h4", {}, `Size: ${numbers.format(report.sizes.total)} bytes`),
    sizes(report.sizes),
    raw(report),
  );
}

function claimElement(claim, statement) {
  const values = Object.fromEntries([...claim.args, ...claim.results].map((v) => [v.name, v.value]));
  const list = (parts) => parts.flatMap((v, i) => [i ? ", " : "", element("span", { class: "name" }, v.name), " = ", element("span", { class: "value", title: v.type }, v.value)]);
  return element(
    "li",
    {},
    ...(statement ? [element("p", {}, statement(values))] : []),
    element("p", { class: "call" }, element("span", { class: "entry" }, claim.entry), "(", ...list(claim.args), ")", claim.results.length ? " → " : "", ...list(claim.results)),
  );
}

// sizes is a table of the proof's parts, each with a bar.
function sizes(s) {
  const parts = [
    ...Object.entries(matrices).flatMap(([kind, name]) => [[`rows of ${name} tables`, s.rows[kind]], [`hashes of ${name} tables`, s.siblings[kind]]]),
    ["values out of domain", s.openings],
    ["low-degree test", s.layers + s.final],
    ["headers and claims", s.rest],
  ].filter(([, bytes]) => bytes > 0);
  const most = Math.max(...parts.map(([, bytes]) => bytes));
  const rows = parts.map(([name, bytes]) => {
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.inlineSize = `${(100 * bytes) / most}%`;
    return element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, bar), element("td", { class: "number" }, numbers.format(bytes)));
  });
  const head = element("thead", { class: "unseen" }, element("tr", {}, element("th", { scope: "col" }, "part"), element("td"), element("th", { scope: "col" }, "bytes")));
  return element("table", { class: "sizes" }, head, element("tbody", {}, ...rows));
}

const raw = (report) => element("details", {}, element("summary", {}, "Report as JSON"), element("pre", { tabindex: "0" }, JSON.stringify(report, null, 2)));

const keyName = (digest) => {
  const known = release.keys.find((k) => k.digest === digest);
  return known && `${known.system}, ${known.profile}`;
};

// refuse shows any verdict but acceptance. call says how long the verifier took and under which key, if it was asked.
function refuse(verdict, detail, call) {
  const about = verdicts[verdict] ?? verdicts.internal;
  const sentence = checks[detail.check];
  const code = (text) => (text ? element("span", {}, element("code", {}, text), keyName(text) ? ` (${keyName(text)})` : "") : "");
  show(
    verdict in verdicts ? verdict : "internal",
    `${about.title}: ${detail.what}.`,
    ...banner(about),
    element("p", { class: "reason" }, sentence ?? `${detail.what[0].toUpperCase()}${detail.what.slice(1)}.`),
    list(
      ["Check", detail.check ? `${detail.check}: ${detail.what}` : ""],
      ["Where", [inputs[detail.input], detail.place].filter(Boolean).join(", ")],
      ["Expected", code(detail.expected)],
      ["Got", code(detail.got)],
      ["What to do", detail.next ?? ""],
      ["Checked for", call ? (keyName(call.key) ?? "the key that you gave") : ""],
      ["Time", call ? `${milliseconds(call.ms)} to verify` : ""],
      ["Verifier", call ? code(digest) : ""],
    ),
    ...(call ? [raw(detail)] : []),
  );
}

// --- events

async function loadSample(tamper) {
  const name = tamper ? "tampered sample" : "sample";
  const run = begin(name);
  try {
    let blob = await (await download(release.sample)).blob();
    if (tamper) {
      const bytes = new Uint8Array(await blob.arrayBuffer());
      bytes[bytes.length >> 1] ^= 1;
      blob = new Blob([bytes]);
    }
    if (run === state.run) await verify({ name, blob });
  } catch (error) {
    if (run !== state.run) return;
    stage("read", "failed", "not done");
    refuse(error.verdict, error.detail);
  }
}

function takeKey(file) {
  state.keyBlob = file;
  $("key-text").value = "";
  document.querySelector("input[value=file]").checked = true;
  update();
  verify();
}

function update() {
  for (const more of document.querySelectorAll("[data-for]")) more.hidden = more.dataset.for !== chosen();
  const known = release.keys[$("program").selectedIndex];
  if (known) $("program-digest").textContent = known.digest;
}

for (const span of document.querySelectorAll("[data-limit]")) span.textContent = size(limits[span.dataset.limit]);
for (const system of new Set(release.keys.map((k) => k.system))) {
  const group = element("optgroup", { label: programs[system] ?? system });
  for (const k of release.keys.filter((k) => k.system === system)) {
    group.append(element("option", { value: k.digest }, `${k.system}, ${k.profile}${k.profile.endsWith("dev") ? " (insecure)" : ""}`));
  }
  $("program").append(group);
}
$("module").textContent = `SHA-256 ${digest}`;
update();
awaitEngine();

$("proof").onchange = ({ target }) => {
  const [file] = target.files;
  if (file) verify({ name: file.name, blob: file });
  target.value = ""; // the same file can be chosen again
};
$("key-file").onchange = ({ target }) => target.files[0] && takeKey(target.files[0]);
$("key-text").oninput = () => {
  state.keyBlob = null;
  $("key-file").value = "";
};
// A verdict on demands that are being changed is none: the change event, when the field is left, asks for the next.
$("inputs").oninput = ({ target }) => {
  if (target.type === "file" || !state.proof) return;
  result.dataset.run = ++state.run; // one that is under way is of the old demands, too
  result.dataset.state = "idle";
  $("card").hidden = true;
  stage("verify", "waiting", "again when you leave the field");
};
$("inputs").onsubmit = (event) => event.preventDefault();
$("inputs").onchange = ({ target }) => {
  if (target.type === "file") return;
  update();
  verify();
};
$("sample").onclick = () => loadSample(false);
$("tampered").onclick = () => loadSample(true);
$("retry").onclick = () => {
  if ($("stage-engine").dataset.state === "failed") {
    engine.start();
    awaitEngine();
  }
  if (state.proof) verify();
  else $("card").hidden = $("retry").hidden = !($("prompt").hidden = false);
};

// A file may be dropped anywhere. On the key's card, or by its name, it is a key.
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  $("drop").classList.add("over");
});
document.addEventListener("dragleave", (event) => event.relatedTarget || $("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  const [file] = event.dataTransfer.files;
  if (!file) return;
  if (event.target.closest?.("[aria-labelledby=key-title]") || file.name.endsWith(".key")) takeKey(file);
  else verify({ name: file.name, blob: file });
});

// The service worker fetches every file again, so it waits until the engine has its own. Without one, as on an insecure origin, the page works while it is open.
engine.current.finally(() => navigator.serviceWorker?.register("sw.js", { updateViaCache: "none" })).catch(() => {});
