#!/usr/bin/env bash
# All checks that need a card, on a machine without Go: make cuda cuda-tests where there is Go, carry bin/ and scripts/ over, and run this. Each check prints a row, and the last lines
# are the table of all, short and broad checks first, so that a run that is cut off has those.
# CARD_PARTS chooses among: parity faults sanitizer bench big long. CARD_TOOLS are the sanitizer's tools (memcheck racecheck initcheck), CARD_TESTS a pattern of the kernels' tests that
# run under it (all but that of the tallest transforms). CARD_GPU is the device of bench and big (0). Logs are in $OUT, or a folder card/ beside bin/.
set -uo pipefail
cd "$(dirname "$0")/.."
parts=${CARD_PARTS:-parity faults sanitizer bench big long}
gpu=${CARD_GPU:-0}
out=${OUT:-$PWD/card}
long='^(TestRandomCircuits|TestTallestTransforms)$' # the kernels' long tests
mkdir -p "$out"
table=()
failed=0

# row TEXT: a row of the table.
row() {
  table+=("$1")
  printf '%s\n' "$1"
}

# run NAME COMMAND...: runs a check with its output in a log.
run() {
  local name=$1 from=$SECONDS state=ok
  shift
  "$@" >"$out/$name.log" 2>&1 || { state=FAILED failed=1; tail -30 "$out/$name.log"; }
  row "$(printf '%-12s %-7s %4ss  %s' "$name" "$state" $((SECONDS - from)) "$(grep -cE '^ *--- PASS' "$out/$name.log") passed")"
}

has() { [[ " $parts " == *" $1 "* ]]; }

bin/ixprove devices || exit 5
bin/ixprove version

# The kernels alone, but for their long tests; widths and heights up to 2^22; every system, profile and number of shards.
if has parity; then
  run kernels bin/kernels.test -test.v -test.timeout 30m -test.skip "$long"
  run shapes bin/cuda.test -test.v -test.timeout 60m -test.run 'Shapes' -long
  run parity bin/cuda.test -test.v -test.timeout 60m -test.run 'Systems|Counters|Keygen|Budget|Separate' -long
fi

# A fault and a cancellation at every call of a proof, and 200 proofs.
if has faults; then
  run faults bin/cuda.test -test.v -test.timeout 60m -test.run 'Faults|Cancelling|Repeated' -long
fi

# NVIDIA's sanitizer, with a device allocation for each buffer.
if has sanitizer; then
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
  if [[ -z $sanitizer ]]; then
    row "sanitizer    absent        compute-sanitizer is not installed"
  else
    for tool in ${CARD_TOOLS:-memcheck racecheck initcheck}; do
      run "$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 bin/kernels.test -test.v -test.timeout 60m -test.run "${CARD_TESTS:-.}" -test.skip '^TestTallestTransforms$'
      run "$tool-proof" "$sanitizer" --tool "$tool" --error-exitcode 9 bin/cuda.test -test.v -test.timeout 60m -test.run 'Separate'
    done
  fi
fi

if has bench; then
  bin/ixprove bench gpu --gpu "$gpu" --size 64KiB,4MiB | tee "$out/bench.log" || failed=1
fi

# 4 MiB on the device and on the CPU: equal bytes, times by stage, and device memory against the model. The memory is what the driver shows beyond the context.
if has big; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  head -c 4194304 /dev/urandom >"$work/file"
  echo '{"format":"ixprove-claims/1","system":"blake3","profile":"standard","claims":[{"entry":"blake3","file":"file"}]}' >"$work/claims.json"
  bin/ixprove prove --plan --gpu "$gpu" "$work/claims.json" --json >"$out/plan.json"
  model=$(grep -oE '"peak_bytes": [0-9]+' "$out/plan.json" | grep -oE '[0-9]+')
  run device bin/ixprove prove --gpu "$gpu" "$work/claims.json" -o "$work/device.cbor" --json --progress=none
  run cpu bin/ixprove prove "$work/claims.json" -o "$work/cpu.cbor" --json --progress=none
  if cmp -s "$work/device.cbor" "$work/cpu.cbor"; then row "4 MiB        equal"; else row "4 MiB        DIFFERENT"; failed=1; fi
  for which in device cpu; do
    row "$(printf '%-12s %s ms' "$which" "$(awk -F'[:,]' '/"stage"/ {s=$2} /"elapsed_ns"/ {if (s != "") {printf "%s %d, ", s, $2/1e6; s=""} else printf "all %d, ", $2/1e6}' "$out/$which.log" | tr -d '"')")"
  done
  if command -v nvidia-smi >/dev/null; then
    used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -i "$gpu"; }
    before=$(used)
    bin/ixprove prove --gpu "$gpu" "$work/claims.json" -o "$work/device.cbor" --progress=none >/dev/null &
    prover=$! most=0
    while kill -0 "$prover" 2>/dev/null; do
      now=$(used)
      ((now > most)) && most=$now
      sleep 0.02
    done
    row "$(printf '%-12s model %d MiB; the driver showed %d MiB more than before, context included' memory $((model / 1048576)) $((most - before)))"
  fi
fi

# Random circuits, each interpreted and compiled: 43 s on an H200. Transforms of 2^27 and 2^28 values.
if has long; then
  run long bin/kernels.test -test.v -test.timeout 5m -test.run "$long"
fi

printf '\n'
printf '%s\n' "${table[@]}"
exit $failed
