#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headers_compile.sh BUILD SOURCE: tests that every installed header can be compiled on its own, that is, that it
# includes all headers that it needs and that these are installed.
. "$(dirname "$0")/installation.sh"
mkdir "$work/headers"
headers="$(cd "$prefix/include/trainyard" && find . -name '*.h' | sed 's#^\./##' | sort)"
[ -n "$headers" ] || fail "no header is installed"
while read -r header; do
  printf '#include "%s"\n' "$header" >"$work/headers/${header//\//_}.cpp"
done <<<"$headers"
project "$work/headers" 'file(GLOB sources *.cpp)' 'add_library(headers OBJECT ${sources})' \
  "target_link_libraries(headers PRIVATE $layers)" 'target_compile_options(headers PRIVATE -fsyntax-only -Wall -Wextra -Werror)'
# With -fsyntax-only, the compiler writes no object files, which a build tool would miss. Therefore CMake only writes
# the commands to a file, and they are run directly.
cmake -S "$work/headers" -B "$work/headers/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; fail "find_package(trainyard)"; }
sed -n 's/^ *"command": "\(.*\)",$/\1/p' "$work/headers/build/compile_commands.json" | sed 's/\\"/"/g; s/\\\\/\\/g' >"$work/commands"
[ "$(wc -l <"$work/commands")" -eq "$(wc -l <<<"$headers")" ] || fail "a header has no command"

# Most of the time would be spent on LibTorch's class Tensor. Headers that include it anyway, directly or through other
# headers of the project, read it from a precompiled header. This hides no missing include, because all includes of a
# header are at its top.
tensor='ATen/core/Tensor.h'
precompiled="$work/headers/tensor.h"
python3 "$(dirname "$0")/including.py" "$prefix/include/trainyard" "$tensor" | sed 's#/#_#g' >"$work/with_tensor"
if [ -s "$work/with_tensor" ]; then
  printf '#include <%s>\n' "$tensor" >"$precompiled"
  any="$(grep -F "/$(head -n 1 "$work/with_tensor").cpp" "$work/commands")"
  options="${any%% -o *}"
  sh -c "${options/-fsyntax-only/} -x c++-header -o '$precompiled.gch' '$precompiled'" 2>"$work/precompile.log" ||
    { cat "$work/precompile.log"; fail "$tensor cannot be precompiled"; }
  while read -r header; do echo "\|/$header\.cpp\$|s|\$| -include $precompiled -Winvalid-pch|"; done <"$work/with_tensor" >"$work/edit.sed"
  sed -i -f "$work/edit.sed" "$work/commands"
fi
tr '\n' '\0' <"$work/commands" | xargs -0 -P "$jobs" -I{} sh -c '{}' || fail "a header does not compile by itself"
echo "$(wc -l <<<"$headers") headers compile by themselves"
