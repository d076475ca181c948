#!/usr/bin/env bash
# Builds the fuzz targets of tests/fuzz with clang, address and undefined-behaviour sanitizers, and runs all of them for
# MINUTES together (10), one after the other. Prints executions and findings; what was found lies in build/fuzz/findings.
#
#   tools/fuzz.sh [MINUTES]
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-10}
targets=(gate rows table metadata toml checkpoint annealing_state c_api)
command -v clang++-14 >/dev/null || command -v clang++ >/dev/null || { echo "fuzz: install clang (Debian: apt-get install clang)" >&2; exit 1; }
compiler=$(command -v clang++-14 || command -v clang++)
cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${compiler/clang++/clang}" -DORT_ED_FUZZ=ON \
  -DORT_ED_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
cmake --build build/fuzz --target "${targets[@]/#/fuzz_}" >&2
mkdir -p build/fuzz/findings
status=0
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  log=build/fuzz/$target.log
  "build/fuzz/tests/fuzz/fuzz_$target" -max_total_time=$((minutes * 60 / ${#targets[@]})) -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/findings/$target-" "$corpus" "tests/fuzz/corpus/$target" >"$log" 2>&1 || status=1
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, $(find build/fuzz/findings -name "$target-*" | wc -l) findings"
done
exit $status
