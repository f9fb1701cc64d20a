#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the page of the viewer: types, unit tests, that the committed folder dist is what the source builds, and that
# the built page works in a browser, against a mock server and against a real run. It needs Node.js 20.19 or later, npm,
# the npm registry, Chromium, and for the real run a build folder with trainyard.
#
#   viewer/page/check.sh [BUILD]    # everything; BUILD is build/check if it is not given
#   viewer/page/check.sh --update   # builds the folder dist anew and checks nothing
set -euo pipefail
page="$(cd "$(dirname "$0")" && pwd)"
trainyard_build="$page/../../build/check"
[ $# -eq 0 ] || [ "$1" = --update ] || trainyard_build="$(realpath -m -- "$1")"
cd "$page"

node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  { echo "viewer/page needs Node.js 20.19 or later; this is $(node --version)" >&2; exit 1; }

# node_modules/.package-lock.json is written last, so it tells whether the installation is complete and of this lock file.
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent

if [ "${1:-}" = --update ]; then
  npm run --silent build
  exit
fi

npm run --silent types
npm run --silent unit

built="$(mktemp -d)"
trap 'rm -rf "$built"' EXIT
npx --no-install vite build --logLevel warn --outDir "$built" --emptyOutDir
node scripts/third_party.js "$built"
diff -r dist "$built" >/dev/null ||
  { echo "viewer/page/dist is not what the source builds; run viewer/page/check.sh --update and commit it" >&2; exit 1; }
size=$(du --apparent-size -bs dist | cut -f1)
[ "$size" -le 307200 ] || { echo "viewer/page/dist has $size bytes; at most 307200 are wanted" >&2; exit 1; }

npm run --silent browser

if [ -x "$trainyard_build/bin/trainyard" ]; then
  TRAINYARD_PROGRAM="$trainyard_build/bin/trainyard" TRAINYARD_PLUGIN_PATH="$trainyard_build/plugins" npm run --silent live
else
  echo "SKIPPED: the page was not tested with a real run, because there is no program $trainyard_build/bin/trainyard" >&2
fi
