#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy 19, which both Debian 12 and 13 contain, on all source files, or on those that have changed since the
# commit TRAINYARD_CHECK_SINCE. tools/check.sh runs this script.
set -euo pipefail
build=build/tidy
mkdir -p "$build"
# There are no precompiled headers, because only the compiler that made them can read them. A unity build is used,
# because clang-tidy spends most of its time on headers, which are then read only once for several source files.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=ON -DCMAKE_UNITY_BUILD=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  >"$build/configure.log" 2>&1 || { tail -n 30 "$build/configure.log" >&2; exit 1; }

if [ -n "${TRAINYARD_CHECK_SINCE:-}" ]; then
  sources="$(git diff --name-only --diff-filter=d "$TRAINYARD_CHECK_SINCE" -- '*.cpp')"
else
  sources="$(git ls-files '*.cpp')"
fi
[ -n "$sources" ] || { echo "no source has changed"; exit 0; }

# files yes|no: prints the files to check: with `yes` those of targets that use LibTorch, with `no` the others. Files
# that are not part of this build, such as plugins for other devices, are left out.
files() {
  SOURCES="$sources" python3 - "$build" "$1" <<'PYTHON'
import json, os, pathlib, sys
build, with_libtorch = sys.argv[1:]
wanted = {os.path.realpath(source) for source in os.environ["SOURCES"].split()}
for command in json.load(open(f"{build}/compile_commands.json")):
    file = command["file"]
    members = {file}
    if "/Unity/unity_" in file:
        lines = pathlib.Path(file).read_text().splitlines()
        members = {line.split('"')[1] for line in lines if line.startswith("#include")}
    if members & wanted and ("torch/csrc/api/include" in command["command"]) == (with_libtorch == "yes"):
        print(file)
PYTHON
}
# tidy FILES OPTION...
tidy() {
  local files="$1"; shift
  [ -n "$files" ] || return 0
  echo "$(wc -l <<<"$files") files to compile"
  xargs -P "$TRAINYARD_JOBS" -n 4 clang-tidy-19 --quiet -p "$build" "$@" <<<"$files" \
    2> >(grep -v 'warnings generated\|^Suppressed\|^Use -' >&2)
}
failed=false
tidy "$(files no)" || failed=true
# clang cannot compile <ATen/core/List.h> of LibTorch 1.13 as C++20 unless the type IValue has been completely defined
# before.
tidy "$(files yes)" --extra-arg-before=-include --extra-arg-before=ATen/core/ivalue.h || failed=true
! $failed
