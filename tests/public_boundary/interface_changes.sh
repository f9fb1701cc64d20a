#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# interface_changes.sh BUILD SOURCE: tests that a plugin that was built against an older interface of its kind is
# refused with an error that shows both ABI tags. A plugin whose own interface is unchanged must load, even if comments
# or the interfaces of other kinds have changed.
. "$(dirname "$0")/installation.sh"
trainyard="$prefix/bin/trainyard"

# plugins_against PREFIX NAME: builds a dataset and a transform, which do not need LibTorch, against the installation in
# PREFIX.
plugins_against() {
  cp -r "$1" "$work/$2_prefix"
  mkdir -p "$work/$2"
  cp -r "$source/datasets/synthetic" "$work/$2/tiny_dataset"
  cp -r "$source/transforms/normalize" "$work/$2/tiny_transform"
  sed -i 's#datasets/synthetic/#datasets/tiny_dataset/#; s/"synthetic"/"tiny_dataset"/' "$work/$2"/tiny_dataset/*.{h,cpp}
  sed -i 's#transforms/normalize/#transforms/tiny_transform/#; s/"normalize"/"tiny_transform"/' "$work/$2"/tiny_transform/*.{h,cpp}
  project "$work/$2" 'add_subdirectory(tiny_dataset)' 'add_subdirectory(tiny_transform)'
}
info() { TRAINYARD_PLUGIN_PATH="$work/$1/build/plugins" "$trainyard" plugin info "$2" >"$work/$1_$2.log" 2>&1; }

# Only comments and formatting have changed, so both plugins must load.
plugins_against "$prefix" commented
for header in datasets/dataset.h transforms/transform.h; do
  sed -i 's#^#  #; 1s#^#// An older comment.\n#' "$work/commented_prefix/include/trainyard/$header"
done
build_project "$work/commented" "$work/commented_prefix"
info commented tiny_dataset || { cat "$work/commented_tiny_dataset.log"; fail "refused for a comment"; }
info commented tiny_transform || { cat "$work/commented_tiny_transform.log"; fail "refused for a comment"; }

# The interface of transforms gets an additional virtual function. The transform must be refused, and the dataset must
# load.
plugins_against "$prefix" older
header="$work/older_prefix/include/trainyard/transforms/transform.h"
sed -i '0,/^ *virtual /s//  virtual void one_more() {}\n  virtual /' "$header"
grep -q one_more "$header" || fail "there is no virtual function in transform.h"
build_project "$work/older" "$work/older_prefix"
info older tiny_dataset || { cat "$work/older_tiny_dataset.log"; fail "a dataset is refused for a change of transforms"; }
if info older tiny_transform; then fail "a transform of another interface is accepted"; fi
mapfile -t tags < <(grep -oE 'transform-[0-9a-f]{12}' "$work/older_tiny_transform.log" | sort -u)
[ ${#tags[@]} -eq 2 ] || { cat "$work/older_tiny_transform.log"; fail "the refusal does not show both tags"; }
echo "refused: $(tail -n 1 "$work/older_tiny_transform.log")"

# A header is added to the interface of datasets, and the build goes on. The dataset must be refused, too.
info older tiny_dataset || fail "the dataset was refused before the header was added"
echo '#pragma once' >"$work/older_prefix/include/trainyard/datasets/added.h"
build_project "$work/older" "$work/older_prefix"
if info older tiny_dataset; then fail "an additional header of the interface was not noticed"; fi
