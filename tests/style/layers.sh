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

readonly front_end='argparse|spdlog|png'
readonly libraries="onnx/|google/protobuf|fmt/|nlohmann|toml|$front_end"
forbid runtime/include 'public headers include only the standard library and each other' "onnxruntime|$libraries|zlib|runtime/"
forbid sampler/include 'public headers include only the standard library and each other' "onnxruntime|$libraries|zlib|sampler/"
forbid runtime/support 'shared by all, so it uses the standard library only' "onnxruntime|$libraries|zlib|runtime/([a-rt-z]|s[a-tv-z])|models/|trainer/|sampler/|tools/"
forbid runtime/simd 'as support: the standard library only' "onnxruntime|$libraries|zlib|runtime/([a-rt-z]|s[a-hj-tv-z])|models/|trainer/|sampler/|tools/"
forbid runtime/data 'knows nothing of models' "onnxruntime|$libraries|runtime/[a-z_]+\.h|models/|trainer/|sampler/|tools/|ort_ed/energy_model"
forbid runtime 'the shipped runtime uses ONNX Runtime and nothing else' "$libraries|models/|trainer/|sampler/|tools/"
forbid sampler 'the shipped sampler uses the public runtime and support, nothing else' "onnxruntime|$libraries|zlib|models/|trainer/|tools/|runtime/data/|runtime/[a-z_]+\.h"
forbid models 'models know onnx and protobuf, not ONNX Runtime' "onnxruntime|$front_end|trainer/|sampler/|tools/|runtime/(data/|[a-z_]+\.h)"
forbid trainer 'what one step is: it may use the public sampler; no front end, no file, no clock' "sampler/|tools/|$front_end|nlohmann|toml|runtime/data/|fstream|filesystem|chrono|iostream|csignal"
forbid trainer/kernels 'kernels know nothing of graphs' 'onnx/|models/|trainer/(autodiff|graph|passes|learner|negatives|objective|optimizer|check)'
forbid trainer/graph 'rewriting keeps what a model computes; gradients come after' 'trainer/(autodiff|passes|learner|negatives|objective|optimizer|check)'
forbid trainer/autodiff 'gradients are made of standard operators; passes come after' 'trainer/(passes|learner|negatives|objective|optimizer|check)'
forbid trainer/passes 'passes change graphs, whatever they are for' 'trainer/(learner|negatives|objective|optimizer|check)'
forbid tools/jobs 'jobs are functions: no front end, no output, no signals' "$front_end|iostream|csignal|tools/cli/"
forbid tools/plot 'pictures are functions: no front end, no output, no signals' "$front_end|iostream|csignal|tools/cli/"
forbid tools/report 'pages are functions: no front end, no output, no signals' "$front_end|iostream|csignal|tools/cli/"
# refuse FOLDER REASON PATTERN: no source of FOLDER has a line that matches PATTERN.
refuse() {
  local hits
  hits=$(grep -rnE --include='*.h' --include='*.cc' "$3" "$1")
  [[ -z $hits ]] && return
  printf '%s: %s\n%s\n' "$1" "$2" "$hits"
  failed=1
}

for folder in trainer tools/jobs tools/plot tools/report; do
  refuse $folder 'only a front end prints, asks for terminals and ends programs' 'std::cout|std::cerr|printf\(std|isatty|\bexit\(|std::signal|mallopt'
done
readonly most_files=25
for folder in $(find runtime sampler models trainer tools -type d); do
  files=$(find "$folder" -maxdepth 1 -name '*.cc' -o -maxdepth 1 -name '*.h' | wc -l)
  [[ $files -le $most_files ]] && continue
  echo "$folder: $files files; a newcomer finds a thing where there are fewer"
  failed=1
done
[[ $failed -eq 0 ]] && echo "layers: as designed"
exit $failed
