#!/usr/bin/env bash
# Builds the shipped libraries and their tests where onnx, protobuf and zlib do not exist, and runs the tests: all but
# those of this folder, or it would never end.
#   without_onnx.sh SOURCE_DIR [CMAKE_ARGUMENT...]
set -euo pipefail
source_dir=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
absent=()
for package in ONNX Protobuf ZLIB spdlog Argparse nlohmann_json tomlplusplus PNG; do
  absent+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
cmake -S "$source_dir" -B "$scratch" -G Ninja -DORT_ED_BUILD_TOOLKIT=OFF -DORT_ED_BUILD_TESTS=ON "${absent[@]}" "$@"
cmake --build "$scratch"
ctest --test-dir "$scratch" --label-exclude install --no-tests=error --output-on-failure --parallel 2
