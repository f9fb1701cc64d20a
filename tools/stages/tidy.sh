#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy 19, which both Debian 12 and 13 have, over the sources, or over those changed since the commit
# TRAINYARD_CHECK_SINCE. Run by tools/check.sh.
set -euo pipefail
build=build/tidy
mkdir -p "$build"
# Without precompiled headers, which only the compiler that made them can read. A unity build, because clang-tidy spends
# most of its time on the headers, which several sources then include only once.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=ON -DCMAKE_UNITY_BUILD=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  >"$build/configure.log" 2>&1 || { tail -n 30 "$build/configure.log" >&2; exit 1; }

if [ -n "${TRAINYARD_CHECK_SINCE:-}" ]; then
  sources="$(git diff --name-only --diff-filter=d "$TRAINYARD_CHECK_SINCE" -- '*.cpp')"
else
  sources="$(git ls-files '*.cpp')"
fi
[ -n "$sources" ] || { echo "no source has changed"; exit 0; }

# files yes|no: the files to check, of the targets that include LibTorch or of the others. What is left out of this
# build, such as the plugins of other devices, has no entry among the commands.
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
# clang cannot compile LibTorch 1.13's <ATen/core/List.h> as C++20 unless IValue is complete before it.
tidy "$(files yes)" --extra-arg-before=-include --extra-arg-before=ATen/core/ivalue.h || failed=true
! $failed
