#!/usr/bin/env bash
# From claims to a contract's answer in one command, under a development setup: scripts/root.sh [PROFILE [BACKEND [SYSTEM]]], with the profile root-dev (the default) or root, the proof
# system plonk (the default) or groth16, and the system fibonacci (the default) or blake3; or, in place of the system, FILE.ix CALL: a program and a call of it. It prints what each step took. Node and npm are needed for the contract.
set -euo pipefail
profile=${1:-root-dev} backend=${2:-plonk} system=${3:-fibonacci}
case $system in
*.ix) program=$(realpath "$system") call=${4:?a program needs a call} ;;
esac
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
ix=$work/ixprove
start=$SECONDS
report=()
step() {
  local name=$1 from=$SECONDS
  shift
  printf '\n== %s\n' "$*"
  "$@"
  report+=("$(printf '%5ds  %s' $((SECONDS - from)) "$name")")
}

(cd "$here" && go build -o "$ix" ./cmd/ixprove)
(cd "$here/compress/solidity/evm" && npm install --ignore-scripts --no-package-lock --no-audit --no-fund --silent)
cd "$work"
if [ "${program-}" ]; then
  mkdir folder
  what=("$program" --call "$call") expect=(--program "$program" --call "$call")
else
  "$ix" init folder --system "$system"
  what=() expect=(--claims claims.json)
fi
cd folder
step "prove a root" "$ix" prove "${what[@]}" --profile "$profile"
step "set up, once" "$ix" setup "$backend" --insecure-dev
step "compress" "$ix" compress-root "--$backend"
step "verify" "$ix" verify "root.$backend.cbor" --insecure --allow-insecure-setup "${expect[@]}"
step "export the contract" "$ix" export-solidity "root.$backend.cbor" -o verifier.sol --calldata call.hex
ask() { node "$here/compress/solidity/evm/run.mjs" "$PWD/verifier.sol" IxproveRootInsecureDevVerifier "$PWD/call.hex" | tee "$work/answer"; }
step "compile and call it" ask
grep -q '"value":"0x0*1"' "$work/answer"
printf '\nThe contract accepts the proof. What it took:\n'
printf '%s\n' "${report[@]}"
printf '%5ds  all\n' $((SECONDS - start))
