#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# new_plugins.sh BUILD: installs BUILD, makes a plugin of every kind with the installed `trainyard new`, builds them all
# with their tests, runs the tests, and trains with each plugin.
set -euo pipefail
build="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache"
unset TRAINYARD_PLUGIN_PATH

fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
trainyard="$work/prefix/bin/trainyard"
kinds=(component dataset transform collective)
# The other kinds of plugins need LibTorch.
if find "$work/prefix" -name libtrainyard_tensors.so | grep -q .; then
  kinds+=(model strategy accelerator)
fi

# Builds all plugins in one CMake project, so that CMake examines the machine only once. Each folder could also be built
# as a separate project.
mkdir "$work/new"
cd "$work/new"
{
  echo 'cmake_minimum_required(VERSION 3.25)'
  echo 'project(new_plugins LANGUAGES CXX)'
  echo 'enable_testing()'
} >CMakeLists.txt
for kind in "${kinds[@]}"; do
  "$trainyard" new "$kind" "tried_$kind" >"$work/$kind.log" || { cat "$work/$kind.log"; fail "new $kind"; }
  ! grep -rniE "my_|My[A-Z]|SPDX" "tried_$kind" || fail "something of the template is left"
  echo "add_subdirectory(tried_$kind)" >>CMakeLists.txt
done
grep -q -- "-DCMAKE_PREFIX_PATH=$work/prefix" "$work/dataset.log" || fail "the advice does not name the installation"

# The code runs only for a moment, so it is compiled without optimisation.
cmake -S . -B build -DCMAKE_PREFIX_PATH="$work/prefix" -DTRAINYARD_TESTS=ON -DCMAKE_BUILD_TYPE=Debug >"$work/configure.log" 2>&1 \
  || { cat "$work/configure.log"; fail "the plugins cannot be configured"; }
cmake --build build >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail "a new plugin does not build"; }
! grep -i 'warning:' "$work/build.log" || fail "a new plugin builds with warnings"
ctest --test-dir build --output-on-failure --no-tests=error || fail "a test of a new plugin"

export TRAINYARD_PLUGIN_PATH="$PWD/build/plugins"
for kind in "${kinds[@]}"; do
  "$trainyard" launch "tried_$kind/try.toml" max_steps=60 run.directory="$work/run_$kind" >"$work/$kind.log" 2>&1 \
    || { cat "$work/$kind.log"; fail "a launch with the new $kind"; }
done
# Also checks the output of the component, because a component that does nothing would pass the other checks.
[ -s "$work/run_component/metrics_mean.csv" ] || fail "the new component has sent nothing"
if "$trainyard" new dataset tried_dataset --directory again >"$work/again.log" 2>&1; then fail "a name was taken twice"; fi
grep -q "there is a dataset 'tried_dataset' already" "$work/again.log" || fail "the refusal names no reason"
echo "built, tested and trained with: ${kinds[*]}"
