#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The whole of tools/check.sh in a fresh Debian 13, from a clean clone. Run by tools/check.sh; needs root.
set -euo pipefail
. tools/packages.sh
. tools/stages/debian.sh
debian_in "${TMPDIR:-/tmp}/trainyard-debian13" trixie
mkdir -p "$debian_root/root/trainyard"
git archive HEAD | tar -x -C "$debian_root/root/trainyard"
in_debian apt-get update -qq
in_debian env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends git python3 ca-certificates >/dev/null
in_debian sh -c 'cd /root/trainyard && git init -q && git add -A && tools/check.sh'
