#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a trained character GPT: installs what is missing, builds a release, trains for a minute or two on
# the licence texts that every Debian carries, and prints text written by the trained model.
#
#   tools/quickstart.sh                   # learn from /usr/share/common-licenses
#   tools/quickstart.sh text=PATH         # from any file or folder; further name=value go to the launch file
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = "--help" ] || [ "${1:-}" = "-h" ]; then
  sed -n '3,7s/^# \{0,1\}//p' tools/quickstart.sh
  exit 0
fi

. tools/packages.sh
install_missing "${trainyard_build_packages[@]}"

echo "Building a release in build/release (a few minutes the first time)."
# Several sources are compiled together, which halves the work of a first build.
cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=OFF -DCMAKE_UNITY_BUILD=ON >build-release.log 2>&1 ||
  { tail -n 20 build-release.log >&2; exit 1; }
mv build-release.log build/release/configure.log
cmake --build build/release --target trainyard_quickstart

build/release/bin/trainyard launch launch/files/quickstart.toml "$@"

echo "Building what the quick start did not need (other models, datasets, accelerators)."
cmake --build build/release
echo "Everything is in build/release; try: build/release/bin/trainyard --help"
