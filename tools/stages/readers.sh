#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readers.sh BUILD: checks that programs and libraries of other projects can read the files and protocols of Trainyard.
# Installs them into the build folder: the MCAP libraries from PyPI and npm for recordings, TensorBoard for the files of
# the logger, a client for the Foxglove protocol from npm, Prometheus with its tools for metrics, and the schema of
# Perfetto.
set -euo pipefail
build="$(cd "$1" && pwd)"
python3 -m venv "$build/readers/venv"
"$build/readers/venv/bin/pip" install --quiet "mcap==1.6.0" "prometheus-client==0.21.0" "tensorboard==2.20.0" "setuptools<81" "perfetto==0.59.1"
npm install --prefix "$build/readers" --no-audit --no-fund --silent "@mcap/core@2.2.2" "fzstd@0.1.1"
npm install --prefix "$build/readers" --no-audit --no-fund --silent "@foxglove/ws-protocol@0.8.0" "ws@8.18.0"
export TRAINYARD_FOXGLOVE_NODE_MODULES="$build/readers/node_modules"
export TRAINYARD_MCAP_PYTHON="$build/readers/venv/bin/python"
export TRAINYARD_MCAP_NODE_MODULES="$build/readers/node_modules"
export TRAINYARD_TENSORBOARD_PYTHON="$build/readers/venv/bin/python"
export TRAINYARD_MCAP_REQUIRED=1 TRAINYARD_TENSORBOARD_REQUIRED=1  # Here, a reader that is missing is an error.
ctest --test-dir "$build/tests/recordings_readers" --output-on-failure --no-tests=error

# The package is unpacked, not installed, because its installation would start a server.
(cd "$build/readers" && rm -f prometheus_*.deb && apt-get download --quiet prometheus && dpkg -x prometheus_*.deb prometheus)
export TRAINYARD_PROMTOOL="$build/readers/prometheus/usr/bin/promtool"
export TRAINYARD_PROMETHEUS="$build/readers/prometheus/usr/bin/prometheus"
export TRAINYARD_READERS_PYTHON="$TRAINYARD_MCAP_PYTHON" TRAINYARD_READERS_REQUIRED=1
ctest --test-dir "$build/tests/bridges" --output-on-failure --no-tests=error
ctest --test-dir "$build/tests/tensorboard_readers" --output-on-failure --no-tests=error
export TRAINYARD_PERFETTO_PYTHON="$TRAINYARD_MCAP_PYTHON" TRAINYARD_PERFETTO_REQUIRED=1
ctest --test-dir "$build/tests/perfetto_readers" --output-on-failure --no-tests=error
