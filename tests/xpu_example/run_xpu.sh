#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_xpu.sh BUILD SOURCE [EPOCHS]: installs BUILD, checks that accelerator=xpu is refused, builds the example against
# the installation, runs the tests of its device, trains on cpu and on xpu, and compares the results. Uses MNIST if
# TRAINYARD_TEST_DATA or SOURCE/../shared/data contains it, otherwise generated samples.
set -euo pipefail
build="$1" source="$2" epochs="${3:-2}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache"
unset TRAINYARD_PLUGIN_PATH

fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
trainyard="$work/prefix/bin/trainyard"
installed="$(find "$work/prefix" -type f -exec sha256sum {} + | sort | sha256sum)"

data="${TRAINYARD_TEST_DATA:-$source/../shared/data}/mnist"
if [ -d "$data" ]; then
  launch=("$source/launch/files/mnist.toml" "folder=$data" "epochs=$epochs")
else
  echo "no digits at $data: training on made-up samples"
  launch=("$source/launch/files/mlp.toml" run.max_steps=300 run.validate_every_steps=100)
fi

# Without the example, the accelerator does not exist, and the error lists the existing accelerators.
if "$trainyard" check "${launch[@]}" accelerator=xpu >"$work/refused.log" 2>&1; then fail "xpu exists already"; fi
grep -q "topology.accelerator: no accelerator named 'xpu'.*known: cpu, " "$work/refused.log" ||
  { cat "$work/refused.log"; fail "the refusal does not name what is known"; }

cp -r "$source/examples/xpu_accelerator" "$work/xpu"
cmake -S "$work/xpu" -B "$work/xpu/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release -DXPU_TESTS=ON \
  >"$work/build.log" && cmake --build "$work/xpu/build" -j2 >>"$work/build.log" 2>&1 ||
  { cat "$work/build.log"; fail "the example does not build"; }
"$work/xpu/build/xpu_test" >"$work/test.log" 2>&1 || { cat "$work/test.log"; fail "the tests of the device"; }

export TRAINYARD_PLUGIN_PATH="$work/xpu/build/plugins"
"$trainyard" plugin list accelerators | tee "$work/list.log"
grep -Eq '^xpu +yes +2 ' "$work/list.log" || fail "the list does not show two xpus"

# Prints the last validation accuracy of a run on accelerator $1, with the arguments that follow.
train() {
  rm -rf "$work/run_$1"
  "$trainyard" launch "${launch[@]}" "accelerator=$1" "run.directory=$work/run_$1" "${@:2}" >"$work/$1.log" 2>&1 ||
    { cat "$work/$1.log"; fail "training on $1"; }
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i ~ /^accuracy/) column = i } { last = $column }
           END { sub(/\r/, "", last); print last }' "$(find "$work/run_$1" -name metrics_validate.csv)"
}
on_cpu="$(train cpu)"
on_xpu="$(train xpu)"
echo "validation accuracy: cpu $on_cpu, xpu $on_xpu"
awk -v a="$on_cpu" -v b="$on_xpu" 'BEGIN { exit !(a > 0 && a - b <= 0.003 && b - a <= 0.003) }' ||
  fail "the accuracies differ by more than 0.3 points"

# counter NAME: prints a counter that the device has logged in the last run.
counter() { grep -o 'xpu:0: allocations.*' "$work/xpu.log" | tail -n 1 | grep -oE "$1 [0-9]+" | cut -d ' ' -f 2; }

# Batches were copied to the memory of the device, and the device computed. The optimizer also worked there, so the
# blocks with parameters and gradients were copied only at the start and for checkpoints.
for name in batch_tensors kernels; do
  [ "$(counter $name)" -gt 100 ] || fail "$name = $(counter $name): more than 100 were expected of such a run"
done
for name in blocks_in blocks_out; do
  [ "$(counter $name)" -lt 100 ] || fail "$name = $(counter $name): fewer than 100 were expected of such a run"
done

# An optimizer in a separate process works in host memory, so every step copies blocks. The results must be the same.
apart="$(train xpu placement=processes)"
[ "$apart" = "$on_xpu" ] || fail "the accuracy is $apart with the optimizer on the host and $on_xpu on the device"
for name in blocks_in blocks_out; do
  [ "$(counter $name)" -gt 100 ] || fail "$name = $(counter $name): more than 100 were expected of such a run"
done
[ "$(find "$work/prefix" -type f -exec sha256sum {} + | sort | sha256sum)" = "$installed" ] || fail "the installation changed"
