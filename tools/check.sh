#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks what must hold before a commit lands. It installs the Debian packages that it needs.
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
# Counted here, because nproc prints 1 if OMP_NUM_THREADS is 1.
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
  # Other versions of clang-format lay the same code out differently; Debian 13 does not have this one.
  if apt-cache show clang-format-14 >/dev/null 2>&1; then need clang-format-14; fi
  if command -v clang-format-14 >/dev/null; then
    sources | xargs clang-format-14 --dry-run -Werror
  else
    echo "clang-format 14 is not here: not checked"
  fi
}

stage_spelling() {
  need codespell
  # The built page contains libraries, and the lock file hashes.
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
  # Several files at a time where they allow it (tests do not): a build from nothing takes two thirds of the time.
  configure "$build" -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=ON -DCMAKE_UNITY_BUILD=ON \
    "${trainyard_torch_options[@]}"
  cmake --build "$build" --parallel "$TRAINYARD_JOBS"
}

# Each file by itself, without the includes and the warnings that the files compiled with it may hide.
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

# Fresh machines, each a Debian in a folder.
stage_debian12() { tools/stages/fresh_debian.sh bookworm; }
stage_debian13() { tools/stages/fresh_debian.sh trixie; }
# With the LibTorch of PyPI, in a build folder of its own.
stage_pypi() {
  local options=()
  $TRAINYARD_CHECK_INSTALL || options+=(--fast)
  env -u TRAINYARD_BUILD_DIR TRAINYARD_TORCH=pypi tools/check.sh "${options[@]}" --stage build libraries tests
}

# Libraries that are not in Debian read recordings. Needs a build, and the registries PyPI and npm.
stage_readers() {
  need python3-venv
  command -v npm >/dev/null || need nodejs npm
  tools/stages/readers.sh "$build"
}
stage_package() {
  need "${trainyard_build_packages[@]}" dpkg-dev file
  tools/stages/package.sh
}

# Real engines on hosts that are namespaces of this machine; needs root.
stage_engines() {
  [ -x "$build/bin/trainyard" ] || stage_build
  tools/stages/engines.sh "$build"
}

# The clients as their users install them.
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
