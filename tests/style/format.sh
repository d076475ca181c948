#!/usr/bin/env bash
# Every C++ source is formatted as .clang-format says. Releases of clang-format differ, so only one is asked.
set -euo pipefail
cd "$1"
readonly release=14
if ! clang-format --version 2>/dev/null | grep -q "version $release\."; then
  echo "SKIPPED: clang-format $release is not installed"
  exit 77
fi
find . -path ./build -prune -o \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) -print0 |
  xargs -0 clang-format --dry-run --Werror
