#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a trained character GPT: installs what is missing, builds a release, trains for a minute or two on
# the licence texts that every Debian carries, and prints text written by the trained model.
#
#   tools/quickstart.sh                   # learn from /usr/share/common-licenses
#   tools/quickstart.sh text=PATH         # from any file or folder; further name=value go to the launch file
#   TRAINYARD_TORCH=pypi tools/quickstart.sh   # with LibTorch 2.11 of PyPI instead of Debian's
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = "--help" ] || [ "${1:-}" = "-h" ]; then
  sed -n '3,8s/^# \{0,1\}//p' tools/quickstart.sh
  exit 0
fi

. tools/packages.sh
. tools/libtorch.sh
choose_torch
build="build/release$trainyard_torch_build"
install_missing "${trainyard_build_packages[@]}"

echo "Building a release in $build (a few minutes the first time)."
# A unity build compiles several source files together, which halves the time of the first build.
mkdir -p "$build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=OFF -DCMAKE_UNITY_BUILD=ON \
  "${trainyard_torch_options[@]}" >"$build/configure.log" 2>&1 || { tail -n 20 "$build/configure.log" >&2; exit 1; }
cmake --build "$build" --target trainyard_quickstart

"$build/bin/trainyard" launch launch/files/quickstart.toml "$@"

echo "Building what the quick start did not need (other models, datasets, accelerators)."
cmake --build "$build"
echo "Everything is in $build; try: $build/bin/trainyard --help"
