#!/usr/bin/env bash
# Everything that must hold before a commit lands: packages, format, layers, build, tests.
#
#   tools/check.sh           # from a clean clone on a fresh Debian 12 or 13
#   tools/check.sh --fast    # no installation, no slow tests
set -euo pipefail
cd "$(dirname "$0")/.."

fast=false
case "${1:-}" in
  "") ;;
  --fast) fast=true ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' tools/check.sh
    [ "$1" = "--help" ] && exit 0 || exit 2
    ;;
esac

build="${TRAINYARD_BUILD_DIR:-build/check}"
if ! $fast; then
  . tools/packages.sh
  install_missing "${trainyard_build_packages[@]}" "${trainyard_test_packages[@]}"
fi

echo "== format"
if command -v clang-format-14 >/dev/null; then
  git ls-files '*.h' '*.cpp' | xargs clang-format-14 --dry-run -Werror
else
  echo "clang-format 14 is not installed: not checked"
fi

echo "== layers"
python3 tools/check_layers.py

echo "== build"
mkdir -p "$build"
# Several files at a time where they allow it (tests do not): a build from nothing takes two thirds of the time.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=ON -DCMAKE_UNITY_BUILD=ON >"$build/configure.log" 2>&1 ||
  { tail -n 30 "$build/configure.log" >&2; exit 1; }
cmake --build "$build" --parallel "$(nproc)"

echo "== tests"
export OPENBLAS_NUM_THREADS=1
if $fast; then
  ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" --label-exclude slow
else
  ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)"
fi
