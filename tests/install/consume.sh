#!/usr/bin/env bash
# Installs into a scratch prefix, moves it, and builds and runs a C++ and a C program against it, once by CMake's
# find_package and once by pkg-config.
#   consume.sh BUILD_DIR MODEL SANITIZER_FLAGS
set -euo pipefail
build=$1 model=$2 flags=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
expect_energies() {
  local output
  output=$("$@") || fail "$* ended with code $?"
  [[ $output == "4 0" ]] || fail "$* printed '$output', not '4 0'"
  echo "ok: ${1##*/}"
}

cmake --install "$build" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log"; fail "installing"; }
prefix=$scratch/moved
mv "$scratch/first" "$prefix"

cmake -S "$here/consumer" -B "$scratch/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" >"$scratch/log" || { cat "$scratch/log"; fail "find_package"; }
cmake --build "$scratch/consumer" >"$scratch/log" || { cat "$scratch/log"; fail "building with CMake"; }
expect_energies "$scratch/consumer/consumer_cc" "$model"
expect_energies "$scratch/consumer/consumer_c" "$model"
# log Z of independent variables with fields 1, ..., 12: sum of log(1 + exp(-i)) = 0.518.
[[ $("$scratch/consumer/sampling" "$model") =~ log\ Z\ between\ 0\.(4[89]|5)[0-9]+\ and\ 0\.(4[89]|5[0-5])[0-9] ]] || fail "the sampling example"
echo "ok: sampling"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ort_ed_runtime.pc)")
export PKG_CONFIG_PATH
rpath=-Wl,-rpath,$(pkg-config --variable=libdir ort_ed_runtime)
# shellcheck disable=SC2046,SC2086
c++ -std=c++20 $flags "$here/consumer/main.cc" $(pkg-config --cflags --libs ort_ed_sampler) "$rpath" -o "$scratch/pc_cc"
# shellcheck disable=SC2046,SC2086
cc -std=c99 $flags "$here/consumer/main.c" $(pkg-config --cflags --libs ort_ed_runtime) "$rpath" -o "$scratch/pc_c"
expect_energies "$scratch/pc_cc" "$model"
expect_energies "$scratch/pc_c" "$model"

"$prefix/bin/ort-ed" --version || fail "the installed command does not run"
