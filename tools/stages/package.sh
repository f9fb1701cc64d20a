#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian package, installs it in a fresh Debian 12 that has no compiler, and trains there. Run by
# tools/check.sh; needs root. Leaves the package in build/package.
set -euo pipefail
. tools/packages.sh
. tools/stages/debian.sh

build=build/package
mkdir -p "$build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DTRAINYARD_TESTS=OFF \
  -DCMAKE_UNITY_BUILD=ON >"$build/configure.log" 2>&1 || { tail -n 30 "$build/configure.log" >&2; exit 1; }
cmake --build "$build" --parallel "$TRAINYARD_JOBS"
rm -f "$build"/*.deb
(cd "$build" && cpack -G DEB >cpack.log) || { tail -n 20 "$build/cpack.log" >&2; exit 1; }
package="$(ls "$build"/trainyard_*.deb)"
dpkg-deb --info "$package" | grep -E '^ (Package|Version|Depends|Recommends)'

debian_in "${TMPDIR:-/tmp}/trainyard-debian12" bookworm
cp "$package" "$debian_root/root/trainyard.deb"
in_debian apt-get update -qq
in_debian env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /root/trainyard.deb >/dev/null
if in_debian sh -c 'command -v cc || command -v g++ || command -v clang'; then
  echo "the package brings a compiler along" >&2
  exit 1
fi
in_debian trainyard doctor || true
# The number of steps can be reduced to save time. By default, the commands of the README are used unchanged.
in_debian sh -c "cd /root && trainyard launch quickstart.toml ${TRAINYARD_QUICKSTART_ARGUMENTS:-}"
in_debian sh -c 'trainyard ckpt verify /root/runs/quickstart/checkpoints'
