#!/usr/bin/env bash
# The main job end to end: sets up, builds, trains a model of the pinwheel density, exports, scores, samples,
# evaluates and draws. About three minutes on two idle cores once it is built, of which two are training; everything lands in demo-out/.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly out=demo-out
readonly steps=${ORT_ED_DEMO_STEPS:-10000}

tools/setup.sh
preset=${ORT_ED_PRESET:-dev}
[[ -f build/$preset/build.ninja ]] || cmake --preset "$preset" >&2
cmake --build --preset "$preset" --target ort-ed >&2
ort_ed() {
  printf '\n$ ort-ed %s\n' "$*" >&2
  "build/$preset/tools/ort-ed" "$@"
}

rm -rf "$out"
mkdir "$out"
ort_ed data pinwheel -n 4000 --seed 2 -o $out/test.npy
ort_ed train --data synth:pinwheel --model mlp --method bernoulli --epsilon 0.1 --steps "$steps" -o $out/run
ort_ed export $out/run --with-gradient -o $out/pinwheel.onnx
ort_ed inspect $out/pinwheel.onnx
ort_ed score $out/pinwheel.onnx $out/test.npy -o $out/energies.npy --json
ort_ed plot landscape $out/pinwheel.onnx --density pinwheel -o $out/landscape.png
ort_ed plot curves $out/run -o $out/curves.png
ort_ed logz $out/pinwheel.onnx --temperatures 200 --chains 200 --write
ort_ed sample $out/pinwheel.onnx -n 2000 --steps 60 -o $out/samples.npy
ort_ed plot planar $out/samples.npy --density pinwheel -o $out/samples.png
ort_ed eval $out/pinwheel.onnx --data $out/test.npy --density pinwheel --temperatures 200 --chains 200 \
  --samples 1000 --steps 60 --png $out/energies.png

cat >&2 <<END

Look at $out/landscape.png (learned density beside true samples), $out/samples.png, $out/energies.png and
$out/curves.png. $out/pinwheel.onnx is the deployed model.
END
