#!/usr/bin/env bash
# Who may depend on whom: no folder includes a header of a layer above it, and public headers show no foreign type.
set -uo pipefail
cd "$1"
failed=0

# forbid FOLDER REASON PATTERN: no source of FOLDER has an #include that matches PATTERN.
forbid() {
  local hits
  hits=$(grep -rnE --include='*.h' --include='*.cc' --include='*.c' "^ *#include [<\"]($3)" "$1")
  [[ -z $hits ]] && return
  printf '%s: %s\n%s\n' "$1" "$2" "$hits"
  failed=1
}

readonly foreign='onnx|google/protobuf|spdlog|fmt/|nlohmann|toml|png|argparse'
# All but what the libraries that are shipped together share: threads, and how a C function reports errors.
private_runtime=$(cd runtime && ls *.h | grep -vE '^(parallel_for|c_api_support)\.h$' | sed 's|.*|runtime/&|; s|\.|\\.|g' | paste -sd'|')
readonly private_runtime
forbid runtime/include 'public headers include only the standard library and each other' "onnxruntime|$foreign|zlib|runtime/"
forbid sampler/include 'public headers include only the standard library and each other' "onnxruntime|$foreign|zlib|sampler/"
forbid runtime/data 'knows nothing of models' 'onnxruntime|onnx/|runtime/[a-z_]+\.h|models/|trainer/|sampler/|tools/|ort_ed/energy_model'
forbid runtime 'the shipped runtime uses ONNX Runtime and nothing else' 'onnx/|google/protobuf|spdlog|fmt/|nlohmann|toml|png|argparse|models/|trainer/|sampler/|tools/'
forbid sampler 'the shipped sampler uses the public runtime and two of its private headers, nothing else' "onnxruntime|onnx/|google/protobuf|spdlog|fmt/|nlohmann|toml|png|argparse|zlib|models/|trainer/|tools/|runtime/data/|$private_runtime"
forbid models 'models know onnx and protobuf, not ONNX Runtime' 'onnxruntime|spdlog|trainer/|sampler/|tools/|runtime/[a-z_]+\.h'
forbid trainer 'trainer and sampler never meet; the command composes them' 'sampler/|ort_ed/(sampler|log_z|energy_function|diagnostics|mmd)|tools/|argparse|png'
forbid trainer/kernels 'kernels know nothing of graphs' 'onnx/|models/|trainer/(autodiff|passes|[a-z_]+\.h)'
forbid trainer/autodiff 'gradients are made of standard operators; passes come after' 'trainer/(passes|[a-z_]+\.h)'
forbid trainer/passes 'passes change graphs, whatever they are for' 'trainer/[a-z_]+\.h'
[[ $failed -eq 0 ]] && echo "layers: as designed"
exit $failed
