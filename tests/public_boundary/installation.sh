# SPDX-License-Identifier: Apache-2.0
# To be sourced with BUILD and SOURCE in $1 and $2. Installs the build into a temporary folder, which is removed when
# the script ends.
set -euo pipefail
build="$1" source="$2"
jobs="$(env -u OMP_NUM_THREADS nproc)"  # Which nproc would take for the number of processors.
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache"
unset TRAINYARD_PLUGIN_PATH

fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
prefix="$work/prefix"
with_torch=false
if find "$prefix" -name libtrainyard_tensors.so | grep -q .; then with_torch=true; fi

# project FOLDER TEXT...: makes a CMake project that uses the installation and contains these additional lines.
project() {
  local folder="$1"; shift
  mkdir -p "$folder"
  { printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(mine LANGUAGES CXX)' 'set(CMAKE_CXX_STANDARD 20)' \
      'find_package(trainyard REQUIRED)' "$@"; } >"$folder/CMakeLists.txt"
}

# build_project FOLDER: builds the project.
build_project() {
  { cmake -S "$1" -B "$1/build" -DCMAKE_PREFIX_PATH="${2:-$prefix}" -DCMAKE_BUILD_TYPE=Debug &&
    cmake --build "$1/build" --parallel "$jobs"; } >"$1.log" 2>&1 || { tail -n 60 "$1.log"; fail "$1 does not build"; }
}

layers="trainyard::messages trainyard::checkpoints trainyard::core trainyard::collectives trainyard::datasets trainyard::transforms
  trainyard::environments trainyard::devices trainyard::testing"
if $with_torch; then layers="$layers trainyard::tensors trainyard::accelerators trainyard::models trainyard::strategies"; fi
