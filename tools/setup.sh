#!/usr/bin/env bash
# Installs everything the build needs on Debian 12 or newer. Idempotent; under a second when nothing is missing.
#
#   tools/setup.sh           what the build and the tests need
#   tools/setup.sh --bench   also the peers of bench/peers.py, pinned, each in a venv of its own (some GB): PyTorch, JAX, D-Wave's
#                            samplers and ONNX Runtime's last training release; what pip cannot bring is left out
#   tools/setup.sh --torch   of these, PyTorch and ONNX Runtime's training alone, and PyTorch's exporter: gradients and the artefacts of
#                            `ort-ed export --ort-training` are tested against them; skipped without
#   tools/setup.sh --tables  also a Python with scikit-learn, PyOD and CTGAN, the peers of bench/paper.py tables (some GB)
#   tools/setup.sh --browser also Chromium, in which a test opens the page of `ort-ed report`; it is skipped without
#   tools/setup.sh --mpi     also Open MPI, with which several processes do one job; tests of it are skipped without
#   tools/setup.sh --fuzz    also clang, with which tools/fuzz.sh builds its targets
#   tools/setup.sh --conformance also a Python with the package onnx, whose operator tests are run as energy models; skipped without
#   tools/setup.sh --webgpu  also a Vulkan renderer for machines without a GPU, on which the tests of label gpu run
#   tools/setup.sh --cuda    also the CUDA build of ONNX Runtime with NVIDIA's libraries, which `ort-ed --onnxruntime DIR` takes
#                            (2.5 GB; x86-64 only); it tells DIR at its end
#
# ONNX Runtime and argparse come from the system where it has them (argparse: Debian 13 and newer; ONNX Runtime: not
# older than tools/cmake/FindOnnxRuntime.cmake takes). Elsewhere they land in ${XDG_CACHE_HOME:-~/.cache}/ort-ed, so
# that a clean clone downloads nothing again; the system's own apt configuration is never touched.
set -euo pipefail

readonly ORT_VERSION=1.30.0
readonly OLDEST_SYSTEM_ORT=1.22
readonly DONOR_SUITE=trixie # the Debian release whose headers serve an older system
readonly CACHE="${ORT_ED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ort-ed}"
readonly PREFIX="$CACHE/onnxruntime-$ORT_VERSION"
readonly ARGPARSE_PREFIX="$CACHE/argparse-3.2"
readonly TABLES_PYTHON="$CACHE/tables"
readonly CUDA_ORT_VERSION=1.31.1
readonly CUDA_PREFIX="$CACHE/cuda-onnxruntime-$CUDA_ORT_VERSION"

packages=(
  build-essential cmake ninja-build ccache pkg-config git clang-format
  libonnx-dev libprotobuf-dev protobuf-compiler libspdlog-dev libfmt-dev
  libtomlplusplus-dev nlohmann-json3-dev libpng-dev zlib1g-dev
  libflatbuffers-dev flatbuffers-compiler
  libgtest-dev libgmock-dev libbenchmark-dev
)
bench=false torch=false tables=false conformance=false cuda=false
for option in "$@"; do
  case $option in
    --bench) bench=true packages+=(python3-numpy python3-venv python3-dev) ;; # torch.compile() compiles against Python's headers
    --torch) torch=true packages+=(python3-venv) ;;
    --tables) tables=true packages+=(python3-venv) ;;
    --browser) packages+=(chromium fonts-dejavu-core) ;;
    --mpi) packages+=(openmpi-bin libopenmpi-dev) ;;
    --fuzz) packages+=(clang libclang-rt-dev llvm) ;; # llvm: names in the stacks of findings
    --conformance) conformance=true packages+=(python3-venv) ;;
    --webgpu) packages+=(chromium libvulkan1) ;; # chromium: SwiftShader
    --cuda) cuda=true packages+=(python3-venv) ;;
    *)
      echo "setup: unknown option '$option'; there are --bench, --torch, --tables, --browser, --mpi, --fuzz, --conformance, --webgpu and --cuda" >&2
      exit 2
      ;;
  esac
done

die() { echo "setup: $*" >&2; exit 1; }
say() { echo "setup: $*" >&2; }
as_root() { if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi; }

installed() { [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }

install_debian() {
  local missing=() package
  for package in "$@"; do installed "$package" || missing+=("$package"); done
  [[ ${#missing[@]} -eq 0 ]] && return
  say "installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# The machine's own Debian source, with the release name replaced: no host is named here, mirrors keep working.
donor_sources() {
  local deb822=/etc/apt/sources.list.d/debian.sources
  if [[ -r $deb822 ]]; then
    awk 'BEGIN { RS = ""; ORS = "\n\n" } !/-security/' "$deb822" | sed "s/^Suites:.*/Suites: $DONOR_SUITE/"
  else
    awk '$1 == "deb" && !/-security/ { print; exit }' /etc/apt/sources.list |
      sed -E "s/ (bookworm|bullseye|stable|oldstable) / $DONOR_SUITE /"
  fi
}

# Downloads .deb files of the newer release with an apt state of their own and unpacks them into $1.
unpack_from_donor() {
  local target=$1 state
  shift
  state=$(mktemp -d)
  chmod 755 "$state"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/deb"
  donor_sources >"$state/donor.$([[ -r /etc/apt/sources.list.d/debian.sources ]] && echo sources || echo list)"
  local isolated=(
    -qq -o Dir::Etc::SourceList="$(echo "$state"/donor.*)" -o Dir::Etc::SourceParts=-
    -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Sandbox::User="$(id -un)"
  )
  apt-get "${isolated[@]}" update || die "cannot read the package lists of Debian $DONOR_SUITE"
  (cd "$state/deb" && apt-get "${isolated[@]}" download "$@") || die "cannot download $* of Debian $DONOR_SUITE"
  local deb
  for deb in "$state"/deb/*.deb; do dpkg -x "$deb" "$target"; done
  rm -rf "$state"
}

ort_library_checksum() {
  case $1 in
    x64) echo ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23 ;;
    arm64) echo 1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76 ;;
  esac
}

# Puts a finished folder in place in one step, so that an interrupted set-up leaves nothing half-made.
publish() { mkdir -p "$CACHE" && rm -rf "$2" && mv "$1" "$2"; }

bring_onnxruntime() {
  [[ -f $PREFIX/lib/libonnxruntime.so.1 && -f $PREFIX/include/onnxruntime/onnxruntime_cxx_api.h ]] && return
  local arch
  case $(uname -m) in
    x86_64) arch=x64 ;;
    aarch64) arch=arm64 ;;
    *) die "no ONNX Runtime package for $(uname -m); build one and configure with -Donnxruntime_ROOT=..." ;;
  esac
  command -v npm >/dev/null || install_debian npm
  say "bringing ONNX Runtime $ORT_VERSION into $PREFIX"
  local work
  work=$(mktemp -d)
  (cd "$work" && npm pack --silent "onnxruntime-node@$ORT_VERSION" >/dev/null) ||
    die "npm could not bring onnxruntime-node@$ORT_VERSION"
  mkdir -p "$work/root/lib" "$work/root/include"
  tar -xzf "$work"/onnxruntime-node-*.tgz -C "$work/root/lib" --strip-components=5 \
    "package/bin/napi-v6/linux/$arch/libonnxruntime.so.1"
  echo "$(ort_library_checksum "$arch")  $work/root/lib/libonnxruntime.so.1" | sha256sum --check --quiet ||
    die "the checksum of onnxruntime-node@$ORT_VERSION is not the pinned one; nothing was installed"
  ln -s libonnxruntime.so.1 "$work/root/lib/libonnxruntime.so"
  unpack_from_donor "$work/deb" libonnxruntime-dev
  mv "$work/deb/usr/include/onnxruntime" "$work/root/include/"
  publish "$work/root" "$PREFIX"
  rm -rf "$work"
}

bring_argparse() {
  [[ -f $ARGPARSE_PREFIX/include/argparse/argparse.hpp ]] && return
  say "bringing argparse into $ARGPARSE_PREFIX"
  local work
  work=$(mktemp -d)
  unpack_from_donor "$work" libargparse-dev
  publish "$work/usr" "$ARGPARSE_PREFIX"
  rm -rf "$work"
}

# bring_python NAME PACKAGE...: a venv of that name with exactly these packages. A venv knows its own path, so that it is made in place;
# the list in it tells that it is complete.
bring_python() {
  local prefix=$CACHE/$1
  shift
  [[ -f $prefix/packages && $(<"$prefix/packages") == "$*" ]] && return
  say "bringing $* into $prefix"
  mkdir -p "$CACHE" && rm -rf "$prefix"
  if python3 -m venv "$prefix" && "$prefix/bin/pip" install --quiet "$@" >&2; then
    echo "$*" >"$prefix/packages"
  else
    say "pip could not bring $*; what needs them goes on without"
  fi
}

packages_of() { "$CACHE/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# share_torch NAME: lets a venv use the PyTorch of the one that has it.
share_torch() {
  [[ -f $CACHE/torch/packages && -f $CACHE/$1/packages ]] || return 0
  packages_of torch >"$(packages_of "$1")/torch.pth"
}

bring_torch() {
  bring_python torch torch==2.15.0 numpy==2.4.6 onnx==1.23.2 onnxscript==0.7.2 # its exporter writes by the last two
  # Newer releases of onnx write files that this one cannot read. It imports PyTorch, of which it then needs nothing here.
  bring_python ort-training onnxruntime-training-cpu==1.19.2 onnx==1.17.0 numpy==2.4.6
  share_torch ort-training
}

bring_exporter() {
  bring_python exporter onnxscript==0.7.2 onnx==1.21.0 numpy==2.4.6
  share_torch exporter
}

bring_peers() {
  bring_torch
  bring_python jax jax==0.10.2 numpy==2.4.6
  bring_python dwave dwave-samplers==1.8.0 numpy==2.4.6
}

# The packages are those of today: peers are measured as their users have them.
bring_tables() {
  [[ -f $TABLES_PYTHON/complete ]] && return
  say "bringing scikit-learn, PyOD and CTGAN into $TABLES_PYTHON"
  python3 -m venv "$TABLES_PYTHON"
  "$TABLES_PYTHON/bin/pip" install --quiet numpy scikit-learn pyod || die "pip could not bring scikit-learn and PyOD"
  "$TABLES_PYTHON/bin/pip" install --quiet ctgan || say "pip could not bring CTGAN; its rows stay empty"
  touch "$TABLES_PYTHON/complete"
}

# PyPI's package has the C library that any program can load. Its extras are NVIDIA's libraries; the driver is the machine's.
bring_cuda() {
  [[ $(uname -m) == x86_64 ]] || die "PyPI has no CUDA build of ONNX Runtime for $(uname -m)"
  if [[ ! -d $CUDA_PREFIX ]]; then
    say "bringing onnxruntime-gpu $CUDA_ORT_VERSION and NVIDIA's libraries into $CUDA_PREFIX"
    local work
    mkdir -p "$CACHE"
    work=$(mktemp -d -p "$CACHE") # not below /tmp, which may be memory
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --target "$work/root" "onnxruntime-gpu[cuda,cudnn]==$CUDA_ORT_VERSION" >&2 ||
      die "pip could not bring onnxruntime-gpu $CUDA_ORT_VERSION"
    mkdir "$work/needed" # of what pip brought, Python's part is of no use here
    mv "$work"/root/onnxruntime "$work"/root/nvidia "$work/needed/"
    rm "$work"/needed/onnxruntime/capi/onnxruntime_pybind11_state*.so
    publish "$work/needed" "$CUDA_PREFIX"
    rm -rf "$work"
  fi
  say "choose it by --onnxruntime $CUDA_PREFIX or export ORT_ED_ONNXRUNTIME=$CUDA_PREFIX; \`ort-ed devices\` tells whether it works"
}

# The version of a package that this Debian release has, nothing if it has none.
debian_version() { apt-cache policy "$1" 2>/dev/null | awk '/Candidate:/ && $2 != "(none)" { print $2 }'; }
debian_has() { [[ -n "$(debian_version "$1")" ]]; }
debian_has_onnxruntime() { dpkg --compare-versions "$(debian_version libonnxruntime-dev)" ge "$OLDEST_SYSTEM_ORT"; }

command -v apt-get >/dev/null || die "this script knows Debian only; install elsewhere what its list of packages names"
install_debian "${packages[@]}"
if $bench; then bring_peers; fi
if $torch; then bring_torch; bring_exporter; fi
if $tables; then bring_tables; fi
if $conformance; then bring_python conformance onnx==1.21.0 numpy==2.4.6; fi
if $cuda; then bring_cuda; fi
if [[ -f $PREFIX/lib/libonnxruntime.so.1 && -f $ARGPARSE_PREFIX/include/argparse/argparse.hpp ]]; then exit 0; fi
if debian_has_onnxruntime; then install_debian libonnxruntime-dev; else bring_onnxruntime; fi
if debian_has libargparse-dev; then install_debian libargparse-dev; else bring_argparse; fi
