#!/usr/bin/env bash
# Builds the fuzz targets of tests/fuzz with clang, address and undefined-behaviour sanitizers, and runs all of them for
# MINUTES together (10), one after the other. Prints executions and findings; what was found lies in build/fuzz/findings,
# what they have seen so far in build/fuzz/corpus, from which the next run goes on.
#
#   tools/setup.sh --fuzz      # once: clang
#   tools/fuzz.sh [MINUTES]
#
# For a long run in the background: chrt -i 0 nice -n 19 tools/fuzz.sh 120
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-10}
# Shares of the time: more where many inputs are looked at in a second and much is read.
declare -A shares=([toml]=4 [gate]=4 [metadata]=4 [rows]=3 [table]=2 [table_rows]=3 [checkpoint]=2 [events]=2
  [annealing_state]=2 [c_api]=2)
targets=(toml gate metadata rows table table_rows checkpoint events annealing_state c_api)
compiler=$(command -v clang++-14 || command -v clang++) ||
  { echo "fuzz: clang is not installed; run tools/setup.sh --fuzz" >&2; exit 1; }
cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${compiler/clang++/clang}" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
  -DORT_ED_FUZZ=ON -DORT_ED_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
cmake --build build/fuzz --target "${targets[@]/#/fuzz_}" >&2
# Less memory in quarantine and shorter stacks of allocations: twice as many executions in a second.
export ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=8
export LSAN_OPTIONS=suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0
mkdir -p build/fuzz/findings
status=0 total=0 all_shares=0
for target in "${targets[@]}"; do all_shares=$((all_shares + shares[$target])); done
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target log=build/fuzz/$target.log
  mkdir -p "$corpus"
  # The time limit of one input is generous: with what else runs on the machine it may have to wait.
  "build/fuzz/tests/fuzz/fuzz_$target" -max_total_time=$((minutes * 60 * shares[$target] / all_shares)) -timeout=120 \
    -rss_limit_mb=2048 -reload=0 -print_final_stats=1 -artifact_prefix="build/fuzz/findings/$target-" \
    "$corpus" "tests/fuzz/corpus/$target" >"$log" 2>&1 || status=1
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  total=$((total + ${executions:-0}))
  echo "$target: ${executions:-0} executions, $(find build/fuzz/findings -name "$target-*" | wc -l) findings"
done
echo "together: $total executions"
exit $status
