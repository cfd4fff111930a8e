// The grammar by VS Code's tokeniser and regular expressions.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { before, test } from "node:test";
import textmate from "vscode-textmate";
import oniguruma from "vscode-oniguruma";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("../..", import.meta.url));
const path = join(root, "editors/textmate/ix.tmLanguage.json");
let grammar;

before(async () => {
  await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(readFileSync(path, "utf8"), path),
  });
  grammar = await registry.loadGrammar("source.ix");
});

// tokens are the tokens of a text, each with its innermost scope and all of them.
function tokens(text) {
  const out = [];
  let state = textmate.INITIAL;
  text.split(/\r?\n/).forEach((line, i) => {
    const result = grammar.tokenizeLine(line, state);
    assert.equal(result.stoppedEarly, false);
    state = result.ruleStack;
    for (const t of result.tokens) {
      out.push({ line: i + 1, text: line.slice(t.startIndex, t.endIndex), scope: t.scopes.at(-1), scopes: t.scopes });
    }
  });
  return out;
}

const sample = `// A comment, b"no string" fn.
import "std/list" as l (List);
#[inline(never)]
pub fn f<T, const N: u32>(x: &T, private y: [field; N]) -> u64 {
	let (a, _) = unconstrained g::<T>(x) where a == 0xff_u && l::sum(y) != 12u64;
	match a { Shape::Dot(b'\\'') | LIMIT => fail "a // b \\" c", _ => b"\\x41\\q"[0] as u64 }
}
const LIMIT: u8 = 0b1010_u8; // 7 \u{1D11E} end
type Pair = (u8, bool); struct S { pubx: u8 }
`;

test("the words and marks of a program have their scopes", () => {
  const list = tokens(sample);
  for (const [line, text, scope] of [
    [1, ' A comment, b"no string" fn.', "comment.line.double-slash.ix"],
    [2, "import", "keyword.control.import.ix"],
    [2, "std/list", "string.quoted.double.ix"],
    [2, "as", "keyword.operator.as.ix"],
    [2, "List", "entity.name.type.ix"],
    [3, "inline", "entity.other.attribute-name.ix"],
    [4, "pub", "storage.modifier.ix"],
    [4, "fn", "storage.type.function.ix"],
    [4, "f", "entity.name.function.ix"],
    [4, "const", "storage.type.constant.ix"],
    [4, "N", "variable.other.constant.ix"],
    [4, "u32", "support.type.primitive.ix"],
    [4, "private", "storage.modifier.ix"],
    [4, "field", "support.type.primitive.ix"],
    [4, "->", "keyword.operator.arrow.ix"],
    [5, "let", "storage.type.ix"],
    [5, "_", "variable.language.wildcard.ix"],
    [5, "unconstrained", "storage.modifier.ix"],
    [5, "g", "entity.name.function.ix"],
    [5, "where", "keyword.control.ix"],
    [5, "l", "entity.name.namespace.ix"],
    [5, "sum", "entity.name.function.ix"],
    [5, "12", "constant.numeric.decimal.ix"],
    [5, "u64", "support.type.primitive.ix"],
    [6, "match", "keyword.control.ix"],
    [6, "Shape", "entity.name.type.ix"],
    [6, "Dot", "entity.name.type.ix"],
    [6, "\\'", "constant.character.escape.ix"],
    [6, "LIMIT", "variable.other.constant.ix"],
    [6, "fail", "keyword.control.ix"],
    [6, "a // b ", "string.quoted.double.ix"],
    [6, '\\"', "constant.character.escape.ix"],
    [6, "\\x41", "constant.character.escape.ix"],
    [6, "\\q", "invalid.illegal.escape.ix"],
    [6, "as", "keyword.operator.as.ix"],
    [8, "0b1010_", "constant.numeric.binary.ix"],
    [8, " 7 \u{1D11E} end", "comment.line.double-slash.ix"],
    [9, "type", "storage.type.ix"],
    [9, "Pair", "entity.name.type.ix"],
    [9, "bool", "support.type.primitive.ix"],
    [9, "S", "entity.name.type.ix"],
    [9, "pubx", "variable.other.ix"],
  ]) {
    const found = list.filter((t) => t.line === line && t.text === text);
    assert.ok(found.some((t) => t.scope === scope), `${line}: ${text} is ${JSON.stringify(found)}, not ${scope}`);
  }
});

test("a literal without an end ends with its line", () => {
  const list = tokens('fail "no end\nfn f() {}');
  assert.equal(list.find((t) => t.text === "fn").scope, "storage.type.function.ix");
});

// programs are all programs of the repository.
function* programs(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name.startsWith(".")) continue;
    const inner = join(folder, entry.name);
    if (entry.isDirectory()) yield* programs(inner);
    else if (entry.name.endsWith(".ix")) yield inner;
  }
}

test("every program of the repository, and every snippet of its reference, is coloured to the last mark", () => {
  const texts = [...programs(root)].map((file) => [file, readFileSync(file, "utf8")]);
  for (const entry of readdirSync(join(root, "docs"))) {
    if (!entry.endsWith(".md")) continue;
    const text = readFileSync(join(root, "docs", entry), "utf8");
    for (const m of text.matchAll(/^```ix\n(.*?)^```/gms)) texts.push([entry, m[1]]);
  }
  assert.ok(texts.length >= 3);
  for (const [file, text] of texts) {
    for (const t of tokens(text)) {
      assert.ok(t.scopes.length > 1 || t.text.trim() === "", `${file}:${t.line}: ${t.text} has no scope`);
      assert.ok(!t.scopes.some((s) => s.startsWith("invalid")), `${file}:${t.line}: ${t.text} is invalid`);
    }
  }
});
