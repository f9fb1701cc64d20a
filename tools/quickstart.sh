#!/usr/bin/env bash
# From a fresh clone to a trained character GPT: installs what is missing, builds a release, trains for a minute or two on
# the licence texts that every Debian carries, and prints text written by the trained model.
#
#   tools/quickstart.sh                   # learn from /usr/share/common-licenses
#   tools/quickstart.sh text=PATH         # from any file or folder; further name=value go to the launch file
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = "--help" ] || [ "${1:-}" = "-h" ]; then
  sed -n '2,6s/^# \{0,1\}//p' tools/quickstart.sh
  exit 0
fi

. tools/packages.sh
install_missing "${trainyard_build_packages[@]}"

echo "Building a release in build/release (a few minutes the first time)."
cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=OFF -DCMAKE_UNITY_BUILD=ON >build-release.log 2>&1 ||
  { tail -n 20 build-release.log >&2; exit 1; }
mv build-release.log build/release/configure.log
cmake --build build/release

exec build/release/bin/trainyard launch launch/files/quickstart.toml "$@"
