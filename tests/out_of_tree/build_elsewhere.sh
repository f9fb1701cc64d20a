#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build_elsewhere.sh BUILD SOURCE: installs BUILD, copies plugin folders of SOURCE to another place, builds them there with
# find_package(trainyard), and loads them with the installed command; then shows that a wrong ABI tag is refused.
set -euo pipefail
build="$1" source="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache"

fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
trainyard="$work/prefix/bin/trainyard"

# Builds a dataset, which needs no LibTorch, and a model if LibTorch is available. They get new names, so that they are
# not confused with the installed plugins.
mkdir "$work/mine"
cp -r "$source/datasets/synthetic" "$work/mine/my_synthetic"
sed -i 's/"synthetic"/"my_synthetic"/' "$work/mine/my_synthetic/synthetic.cpp"
folders=(my_synthetic)
if [ -e "$work/prefix"/lib*/libtrainyard_tensors.so ] || ls "$work"/prefix/lib/*/libtrainyard_tensors.so >/dev/null 2>&1; then
  cp -r "$source/models/mlp" "$work/mine/my_mlp"
  sed -i 's/"mlp"/"my_mlp"/' "$work/mine/my_mlp/mlp.cpp"
  sed -i 's/models\/mlp\//models\/my_mlp\//' "$work/mine"/my_mlp/*.cpp "$work/mine"/my_mlp/*.h
  folders+=(my_mlp)
fi
sed -i 's/datasets\/synthetic\//datasets\/my_synthetic\//' "$work/mine"/my_synthetic/*.cpp "$work/mine"/my_synthetic/*.h
{
  echo 'cmake_minimum_required(VERSION 3.25)'
  echo 'project(my_plugins LANGUAGES CXX)'
  echo 'find_package(trainyard REQUIRED)'
  for folder in "${folders[@]}"; do echo "add_subdirectory($folder)"; done
} >"$work/mine/CMakeLists.txt"
cmake -S "$work/mine" -B "$work/mine/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release \
  | tee "$work/configure.log"
grep -q 'dataset my_synthetic: its tests are not built' "$work/configure.log" \
  || fail "tests are left out without a word"
cmake --build "$work/mine/build"

# A LibTorch of another version than that of the installation is refused before anything is compiled.
config=$(find "$work/prefix" -name trainyard-config.cmake)
cp "$config" "$work/config"
sed -i 's/VERSION STREQUAL "[^"]*"/VERSION STREQUAL "0.0.1"/' "$config"
if cmake -S "$work/mine" -B "$work/mine/other" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/other.log" 2>&1; then
  grep -q 'LibTorch not found' "$work/other.log" || fail "another LibTorch is accepted"
else
  grep -q 'trainyard was built with LibTorch' "$work/other.log" || { cat "$work/other.log"; fail "the reason is not given"; }
fi
cp "$work/config" "$config"

# The tests of the plugins are built, too; they include the header of the plugin in the same way.
rm "$work/mine"/my_synthetic/*_test.cpp
cat >"$work/mine/my_synthetic/my_synthetic_test.cpp" <<'TEST'
#include "datasets/my_synthetic/synthetic.h"

#include <gtest/gtest.h>

TEST(MySyntheticTest, HasTheKindOfADataset) { EXPECT_STREQ(trainyard::Synthetic::kKind, "dataset"); }
TEST
cmake -S "$work/mine" -B "$work/mine/tested" -DCMAKE_PREFIX_PATH="$work/prefix" -DTRAINYARD_TESTS=ON
cmake --build "$work/mine/tested" --target trainyard_dataset_my_synthetic_test
"$work/mine/tested/tests/trainyard_dataset_my_synthetic_test" || fail "the test of a plugin outside of the tree"

export TRAINYARD_PLUGIN_PATH="$work/mine/build/plugins"
"$trainyard" plugin info my_synthetic | grep -q 'my_synthetic' || fail "the dataset is not described"
if [ ${#folders[@]} -gt 1 ]; then
  "$trainyard" plugin info my_mlp | grep -q 'my_mlp' || fail "the model is not described"
  "$trainyard" launch "$source/launch/files/mlp.toml" run.max_steps=3 run.directory="$work/run" \
    component.accelerator_host.params.model.plugin=my_mlp component.data_loader.params.dataset.plugin=my_synthetic \
    >"$work/launch.log" 2>&1 || { cat "$work/launch.log"; fail "a launch with both plugins"; }
fi

# Builds the example in docs/adding_a_strategy.md exactly as the page shows it. The heading of each block of code is the
# name of a file.
if [ ${#folders[@]} -gt 1 ]; then
  python3 "$source/tests/out_of_tree/files_of_page.py" "$source/docs/adding_a_strategy.md" "$work/signs"
  cmake -S "$work/signs" -B "$work/signs/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release
  cmake --build "$work/signs/build"
  TRAINYARD_PLUGIN_PATH="$work/signs/build/plugins" "$trainyard" launch "$source/launch/files/mlp.toml" devices=2 \
    strategy=signs run.max_steps=3 run.directory="$work/signs_run" >"$work/signs.log" 2>&1 \
    || { cat "$work/signs.log"; fail "a launch with the strategy of the page"; }
fi

# Changes the version of Trainyard in the label of the library.
mkdir -p "$work/old/datasets"
sed 's/trainyard-[0-9]\.[0-9] cxxabi/trainyard-9.9 cxxabi/' "$work/mine/build/plugins/datasets/my_synthetic.so" \
  >"$work/old/datasets/my_synthetic.so"
export TRAINYARD_PLUGIN_PATH="$work/old"
if "$trainyard" plugin info my_synthetic >"$work/refused.log" 2>&1; then fail "a foreign ABI tag was accepted"; fi
grep -q 'trainyard-9\.9' "$work/refused.log" || { cat "$work/refused.log"; fail "the plugin's tag is not shown"; }
grep -q "this is 'trainyard-[0-9]" "$work/refused.log" || fail "the installation's tag is not shown"
echo "built elsewhere, loaded, and the foreign one refused: $(tail -n 1 "$work/refused.log")"
