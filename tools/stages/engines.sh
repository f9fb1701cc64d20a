#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# engines.sh BUILD: runs the tests of environments with a real Slurm and a real mpirun, on several hosts, which are
# network namespaces of this machine. Needs root and access to Debian's archive.
#
# The packages are unpacked below BUILD and laid over /usr and /etc for these tests only. Nothing is installed, because
# installing them would start the daemons of a cluster on this machine.
set -euo pipefail
. tools/packages.sh

build="$(realpath "$1")"
root="$build/engines"
if [ ! -e "$root/complete" ]; then
  mkdir -p "$root/archives/partial" "$root/tree/usr" "$root/tree/etc"
  apt-get -qq -o Dir::Cache::archives="$root/archives" -o Debug::NoLocking=1 -y --no-install-recommends --download-only \
    install "${trainyard_engine_packages[@]}" >/dev/null
  for package in "$root"/archives/*.deb; do dpkg-deb --extract "$package" "$root/tree"; done
  touch "$root/complete"
fi

# The overlay is in a separate mount namespace, which disappears when the tests end.
engines_root="$root/tree" build="$build" exec unshare --mount bash -euo pipefail -c '
  for folder in usr etc; do mount -t overlay overlay -o "lowerdir=$engines_root/$folder:/$folder" "/$folder"; done
  ctest --test-dir "$build" --output-on-failure --no-tests=error -R "^Lab\." | tee "$build/engines/ctest.log"
  if grep -q "Skipped" "$build/engines/ctest.log"; then
    echo "an engine is missing, so its test was skipped" >&2
    exit 1
  fi'
