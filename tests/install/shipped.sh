#!/usr/bin/env bash
# What the shipped libraries need, export and weigh.
#   shipped.sh LIBRARY...
set -euo pipefail
failures=0
complain() { echo "FAILED: $*" >&2; failures=1; }

allowed='^(libonnxruntime\.so\.[0-9.]+|libstdc\+\+\.so\.6|libm\.so\.6|libgcc_s\.so\.1|libc\.so\.6|ld-linux.*|libort_ed_runtime\.so\.[0-9.]+)$'
public='^(ort_ed_|ort_ed::|(typeinfo|typeinfo name|vtable) for ort_ed::)'
readonly max_bytes=$((1 << 20))

for library in "$@"; do
  name=${library##*/}
  while read -r needed; do
    [[ $needed =~ $allowed ]] || complain "$name needs $needed"
  done < <(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')

  symbols=$(nm -D -C --defined-only "$library" | sed -E 's/^[0-9a-f]+ +[A-Za-z] //')
  [[ -n $symbols ]] || complain "$name exports nothing"
  strangers=$(grep -vE "$public" <<<"$symbols" || true)
  [[ -z $strangers ]] || complain "$name exports what is not its own: $strangers"

  stripped=$(mktemp)
  strip -o "$stripped" "$library"
  bytes=$(stat -c %s "$stripped")
  rm -f "$stripped"
  [[ $bytes -lt $max_bytes ]] || complain "$name has $bytes bytes stripped; the limit is $max_bytes"
  echo "$name: $bytes bytes stripped"
done
exit $failures
