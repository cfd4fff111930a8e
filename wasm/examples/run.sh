#!/usr/bin/env bash
# Runs the examples in languages whose tools are here: each accepts a good proof, and refuses one that is cut, with code 3. run.sh [python] [rust] [c]
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
module=$PWD/../verifier.wasm
key=$PWD/../../prover/testdata/fibonacci-standard-v1.key
proof=${key%.key}.proof
head -c 5000 "$proof" > "$work/cut.proof"

check() { # check NAME COMMAND...: the command, less key and proof
  local name=$1 code=0
  shift
  "$@" "$key" "$proof" > "$work/good.json"
  grep -q '"verdict": *"accepted"' "$work/good.json"
  "$@" "$key" "$work/cut.proof" > "$work/bad.json" || code=$?
  test "$code" = 3
  grep -q '"check": *"P-2"' "$work/bad.json"
  echo "$name: accepts and refuses as it should"
}

python() {
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q -r python/requirements.txt
  check Python "$work/venv/bin/python" python/verify.py "$module"
}

rust() {
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$work/target} cargo build -q --release --manifest-path rust/Cargo.toml
  check Rust "${CARGO_TARGET_DIR:-$work/target}/release/verify" "$module"
}

c() { # needs wabt (wasm2c and /usr/share/wabt/wasm2c) and a C compiler: two minutes
  local runtime=${WASM2C:-/usr/share/wabt/wasm2c}
  wasm2c "$module" -n verifier -o "$work/verifier.c"
  cp "$runtime"/wasm-rt*.[ch] "$work" 2>/dev/null
  cc -O1 -I "$work" -I "$runtime" -o "$work/verify" c/main.c "$work/verifier.c" "$runtime/wasm-rt-impl.c" -lm
  check C "$work/verify"
}

for example in "${@:-python}"; do "$example"; done
