#!/usr/bin/env bash
# Sets up, builds and runs every test. Arguments go to ctest, e.g. tools/test.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${ORT_ED_PRESET:-dev}
tools/setup.sh
[[ -f build/$preset/build.ninja ]] || cmake --preset "$preset" >&2
cmake --build --preset "$preset"
ctest --preset "$preset" "$@"
