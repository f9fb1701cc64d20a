#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the whole of tools/check.sh on a clean clone, in a freshly installed Debian system in a folder. tools/check.sh
# runs this script; it needs root. The argument is the release: bookworm (Debian 12) or trixie (Debian 13).
set -euo pipefail
release="$1"
. tools/packages.sh
. tools/stages/debian.sh
debian_in "${TMPDIR:-/tmp}/trainyard-$release" "$release"
in_debian apt-get update -qq
in_debian env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends git python3 ca-certificates >/dev/null
git bundle create "$debian_root/root/trainyard.bundle" HEAD 2>/dev/null
in_debian sh -c 'cd /root && git clone -q -c advice.detachedHead=false trainyard.bundle trainyard && cd trainyard && tools/check.sh'
