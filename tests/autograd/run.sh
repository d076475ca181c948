#!/usr/bin/env bash
# run.sh MODEL_GRADIENTS: autograd_test.py in the Python that `tools/setup.sh --torch` brings.
set -euo pipefail
python="${ORT_ED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ort-ed}/exporter/bin/python"
[[ -x $python ]] || { echo "SKIPPED: no $python; \`tools/setup.sh --torch\` brings it"; exit 77; }
exec "$python" "$(dirname "$0")/autograd_test.py" "$@"
