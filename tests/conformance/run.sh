#!/usr/bin/env bash
# run.sh ORT_ED: node_tests.py in the Python that `tools/setup.sh --conformance` brings.
set -euo pipefail
python="${ORT_ED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ort-ed}/conformance/bin/python"
[[ -x $python ]] || { echo "SKIPPED: no $python; \`tools/setup.sh --conformance\` brings it"; exit 77; }
exec "$python" "$(dirname "$0")/node_tests.py" "$1"
