#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lets the MCAP libraries of PyPI and npm read recordings: readers.sh BUILD. They are installed into the build folder.
set -euo pipefail
build="$(cd "$1" && pwd)"
python3 -m venv "$build/readers/venv"
"$build/readers/venv/bin/pip" install --quiet "mcap==1.6.0"
npm install --prefix "$build/readers" --no-audit --no-fund --silent "@mcap/core@2.2.2" "fzstd@0.1.1"
export TRAINYARD_MCAP_PYTHON="$build/readers/venv/bin/python"
export TRAINYARD_MCAP_NODE_MODULES="$build/readers/node_modules"
export TRAINYARD_MCAP_REQUIRED=1  # Here, a reader that is missing is an error.
ctest --test-dir "$build/tests/recordings_readers" --output-on-failure --no-tests=error
