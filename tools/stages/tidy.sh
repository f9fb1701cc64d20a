#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the sources, or over those changed since the commit TRAINYARD_CHECK_SINCE. Run by tools/check.sh.
set -euo pipefail
build=build/tidy
mkdir -p "$build"
# Without precompiled headers, which only the compiler that made them can read.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$build/configure.log" 2>&1 || { tail -n 30 "$build/configure.log" >&2; exit 1; }

if [ -n "${TRAINYARD_CHECK_SINCE:-}" ]; then
  files="$(git diff --name-only --diff-filter=d "$TRAINYARD_CHECK_SINCE" -- '*.cpp')"
else
  files="$(git ls-files '*.cpp')"
fi
# What is left out of this build, such as the plugins of other devices, has no entry.
known="$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" | sed "s#^$PWD/##" | sort -u)"
files="$(comm -12 <(sort -u <<<"$files") - <<<"$known")"
[ -n "$files" ] || { echo "no source has changed"; exit 0; }
echo "$(wc -l <<<"$files") sources"
xargs -P "$TRAINYARD_JOBS" -n 4 clang-tidy --quiet -p "$build" <<<"$files" 2> >(grep -v 'warnings generated\|^Suppressed\|^Use -' >&2)
