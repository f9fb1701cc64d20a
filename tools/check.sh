#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the checks that every commit must pass. Installs the Debian packages that it needs.
#
#   tools/check.sh                    # format, spelling, layers, build, libraries, tests: from a clean clone on Debian 12 or 13
#   tools/check.sh --fast             # the same without installing anything and without the slow tests
#   tools/check.sh --stage NAME...    # only these stages, in this order
#   tools/check.sh --changed REF ...  # clang-tidy looks only at what has changed since the commit REF
#   TRAINYARD_TORCH=pypi tools/check.sh ...   # with LibTorch 2.11 of PyPI instead of Debian's (tools/libtorch.sh)
#
# Stages of every commit:  format spelling layers build libraries tests
# Heavier ones:            dev tidy asan tsan fuzz debian12 debian13 pypi package engines
# From PyPI and npm:       clients page readers
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '3,13s/^# \{0,1\}//p' tools/check.sh; }

. tools/packages.sh
export TRAINYARD_CHECK_INSTALL=true TRAINYARD_CHECK_SLOW=true TRAINYARD_CHECK_SINCE=""
stages=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help) usage; exit 0 ;;
    --fast) TRAINYARD_CHECK_INSTALL=false TRAINYARD_CHECK_SLOW=false; shift ;;
    --changed) TRAINYARD_CHECK_SINCE="$2"; shift 2 ;;
    --stage) shift; while [ $# -gt 0 ] && [[ "$1" != --* ]]; do stages+=("$1"); shift; done ;;
    *) usage; exit 2 ;;
  esac
done
[ ${#stages[@]} -gt 0 ] || stages=(format spelling layers build libraries tests)

. tools/libtorch.sh
choose_torch
build="${TRAINYARD_BUILD_DIR:-build/check$trainyard_torch_build}"
# The number of processors is determined with OMP_NUM_THREADS unset, because nproc would otherwise print the value of
# this variable.
export TRAINYARD_JOBS="${TRAINYARD_JOBS:-$(env -u OMP_NUM_THREADS nproc)}"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

need() { ! $TRAINYARD_CHECK_INSTALL || install_missing "$@"; }
sources() { git ls-files '*.h' '*.cpp'; }

# configure FOLDER OPTION...: quietly, unless it fails.
configure() {
  local folder="$1"; shift
  mkdir -p "$folder"
  cmake -S . -B "$folder" -G Ninja "$@" >"$folder/configure.log" 2>&1 || { tail -n 30 "$folder/configure.log" >&2; exit 1; }
}

# run_tests FOLDER OPTION...
run_tests() {
  local folder="$1"; shift
  ctest --test-dir "$folder" --output-on-failure --parallel "$TRAINYARD_JOBS" "$@"
}

stage_format() {
  # Other versions of clang-format format the same code differently. Debian 13 does not have this version.
  if apt-cache show clang-format-14 >/dev/null 2>&1; then need clang-format-14; fi
  if command -v clang-format-14 >/dev/null; then
    sources | xargs clang-format-14 --dry-run -Werror
  else
    echo "clang-format 14 is not here: not checked"
  fi
}

stage_spelling() {
  need codespell
  # These files are not checked: the built page contains libraries, and the lock file contains hashes.
  git ls-files | grep -vE '\.(svg|png|jpg)$|^LICENSE$|^viewer/page/(dist/|package-lock\.json$)' | xargs codespell
}

stage_layers() {
  need python3
  python3 tools/check_layers.py
  python3 tools/check_licences.py
  python3 tools/check_docs.py
}

stage_build() {
  need "${trainyard_build_packages[@]}" "${trainyard_test_packages[@]}"
  # A unity build compiles several source files together, except for tests. A build from scratch then takes two thirds
  # of the time.
  configure "$build" -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=ON -DCMAKE_UNITY_BUILD=ON \
    "${trainyard_torch_options[@]}"
  cmake --build "$build" --parallel "$TRAINYARD_JOBS"
}

# Compiles each file separately, because in a unity build one file can hide missing includes and warnings of another
# file.
stage_dev() {
  need "${trainyard_build_packages[@]}" "${trainyard_test_packages[@]}"
  cmake --preset dev >/dev/null
  cmake --build --preset dev --parallel "$TRAINYARD_JOBS"
}

stage_libraries() {
  need python3 binutils
  python3 tools/check_layers.py --libraries "$build"
}

stage_tests() {
  local slow=()
  $TRAINYARD_CHECK_SLOW || slow=(--label-exclude slow)
  run_tests "$build" "${slow[@]}"
}

stage_tidy() {
  need "${trainyard_build_packages[@]}" "${trainyard_test_packages[@]}" clang-tidy-19 python3
  tools/stages/tidy.sh
}

# sanitized PRESET: everything but whole trainings, whose processes would take hours.
sanitized() {
  need "${trainyard_build_packages[@]}" "${trainyard_test_packages[@]}"
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" --parallel "$TRAINYARD_JOBS"
  ctest --preset "$1" --parallel "$TRAINYARD_JOBS"
}
stage_asan() { sanitized asan; }
stage_tsan() { sanitized tsan; }

stage_fuzz() {
  need "${trainyard_build_packages[@]}" "${trainyard_test_packages[@]}" clang libclang-rt-dev
  cmake --preset fuzz >/dev/null
  cmake --build --preset fuzz --parallel "$TRAINYARD_JOBS"
  build/fuzz/bin/trainyard_fuzz_corpus build/fuzz/corpus
  build/fuzz/bin/trainyard_fuzz_messages -max_total_time="${TRAINYARD_FUZZ_SECONDS:-120}" -timeout=10 build/fuzz/corpus
}

# The whole check in freshly installed Debian systems, each in a folder.
stage_debian12() { tools/stages/fresh_debian.sh bookworm; }
stage_debian13() { tools/stages/fresh_debian.sh trixie; }
# Builds and tests with the LibTorch of PyPI, in a separate build folder.
stage_pypi() {
  local options=()
  $TRAINYARD_CHECK_INSTALL || options+=(--fast)
  env -u TRAINYARD_BUILD_DIR TRAINYARD_TORCH=pypi tools/check.sh "${options[@]}" --stage build libraries tests
}

# Libraries from PyPI and npm read the files that Trainyard writes. Needs a build, and access to PyPI and npm.
stage_readers() {
  need python3-venv
  command -v npm >/dev/null || need nodejs npm
  tools/stages/readers.sh "$build"
}
stage_package() {
  need "${trainyard_build_packages[@]}" dpkg-dev file
  tools/stages/package.sh
}

# Runs with real engines, such as Slurm, on several hosts, which are network namespaces of this machine; needs root.
stage_engines() {
  [ -x "$build/bin/trainyard" ] || stage_build
  tools/stages/engines.sh "$build"
}

# Tests the clients after installing them in the same way as users do.
stage_clients() {
  need python3-venv python3-zmq
  command -v npm >/dev/null || need nodejs npm
  [ -x "$build/bin/trainyard_client_samples" ] || stage_build
  tools/stages/clients.sh "$build"
}

# Node.js 20 itself is not among them: Debian 12 has version 18.
stage_page() {
  need chromium
  viewer/page/check.sh "$build"
}

for stage in "${stages[@]}"; do
  declare -F "stage_$stage" >/dev/null || { echo "no stage '$stage'" >&2; usage >&2; exit 2; }
  echo "== $stage"
  SECONDS=0
  "stage_$stage"
  echo "== $stage took $SECONDS s"
done
