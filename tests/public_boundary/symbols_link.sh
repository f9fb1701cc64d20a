#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols_link.sh BUILD SOURCE: tests that a program which refers to every function that an installed header declares
# can be linked to the installed libraries.
. "$(dirname "$0")/installation.sh"
mkdir "$work/symbols"
python3 "$source/tests/public_boundary/declared_symbols.py" "$prefix" >"$work/symbols/symbols.txt"
echo "$(wc -l <"$work/symbols/symbols.txt") functions are declared"
[ "$(wc -l <"$work/symbols/symbols.txt")" -gt 200 ] || fail "too few: the headers were not understood"
# The program refers to each function by its linker name, in assembly, without a call.
{
  echo 'int main() { return 0; }'
  echo '__asm__(".section .data.rel.ro,\"aw\"\n"'
  sed 's/.*/  ".quad &\\n"/' "$work/symbols/symbols.txt"
  echo '  ".previous\n");'
} >"$work/symbols/main.cpp"
project "$work/symbols" 'add_executable(symbols main.cpp)' "target_link_libraries(symbols PRIVATE $layers)"
build_project "$work/symbols"
"$work/symbols/build/symbols" || fail "the program does not start"
echo "all of them link"
