#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Trainyard for an NVIDIA GPU and runs the tests that need a GPU. No network is needed: LibTorch is taken from
# the installed PyTorch, and all other libraries from an archive that was packed on another machine.
#
#   tools/check_gpu.sh --pack               # on Debian 12: writes build/gpu/dependencies.tar.xz
#   tools/check_gpu.sh                      # on the machine with the GPU: build, tests, benchmarks
#   tools/check_gpu.sh --stage build tests  # only these stages
#
# The machine needs CMake, g++, nvcc or the headers of the CUDA toolkit, and a Python with a PyTorch for CUDA. The
# variable PYTHON names this Python; the default is python3. Without a GPU, everything is built, and the tests report
# that they are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '3,11s/^# \{0,1\}//p' tools/check_gpu.sh; }

work=build/gpu
archive="$work/dependencies.tar.xz"
python="${PYTHON:-python3}"
stages=(build tests benchmarks)
case "${1:-}" in
  "") ;;
  --help) usage; exit 0 ;;
  --pack) exec tools/stages/pack_dependencies.sh "$archive" ;;
  --stage) shift; stages=("$@") ;;
  *) usage >&2; exit 2 ;;
esac
jobs="${TRAINYARD_JOBS:-$(env -u OMP_NUM_THREADS nproc)}"

fail() { echo "check_gpu: $1" >&2; exit 1; }

# Sets the variables torch (the folder of LibTorch) and cuda (a folder with include/ and lib/ of the CUDA runtime and of
# NCCL). The latter come from the packages on which PyTorch depends, so their versions match, whatever toolkit is
# installed on the machine.
find_libraries() {
  local found
  found="$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__), torch.__version__, torch.version.cuda)')" ||
    fail "$python has no PyTorch; PYTHON can name another Python"
  echo "PyTorch: $found"
  read -r torch _ version <<<"$found"
  [ "$version" != None ] || fail "this PyTorch was built without CUDA"
  cuda="$work/cuda"
  rm -rf "$cuda"
  mkdir -p "$cuda/include" "$cuda/lib"
  local folder headers library name
  for folder in "${CUDA_HOME:-/usr/local/cuda}" "$(dirname "$torch")"/nvidia/cuda_runtime \
                "$(dirname "$torch")"/nvidia/cu[0-9]* "$(dirname "$torch")"/nvidia/nccl; do
    for headers in "$folder/include" "$folder/include/cccl"; do
      # If several folders contain a header, the first one is used.
      [ ! -d "$headers" ] || cp -rsn "$(realpath "$headers")/." "$cuda/include/"
    done
    for library in "$folder"/lib*/libcudart.so* "$folder"/lib*/libnccl.so*; do
      [ -e "$library" ] || continue
      name="$(basename "$library")"
      ln -sf "$(realpath "$library")" "$cuda/lib/$name"
      ln -sf "$(realpath "$library")" "$cuda/lib/${name%%.so*}.so"
    done
  done
  local header
  for header in cuda_runtime_api.h crt/host_config.h nv/target nccl.h; do  # Of the runtime, nvcc, CCCL and NCCL.
    [ -e "$cuda/include/$header" ] || fail "no $header of CUDA $version; CUDA_HOME can name the folder of the toolkit"
  done
}

stage_build() {
  [ -e "$archive" ] || fail "$archive is missing; 'tools/check_gpu.sh --pack' makes it on a Debian 12 with a network"
  local deps="$PWD/$work/root/usr"
  if [ ! -e "$work/root/complete" ]; then
    rm -rf "$work/root" && mkdir -p "$work/root"
    tar --extract --file "$archive" --directory "$work/root"
    touch "$work/root/complete"
  fi
  find_libraries
  local libraries="$deps/lib/x86_64-linux-gnu"
  export PKG_CONFIG_SYSROOT_DIR="$PWD/$work/root" PKG_CONFIG_LIBDIR="$libraries/pkgconfig:$deps/share/pkgconfig"
  export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export LDFLAGS="-Wl,-rpath-link,$libraries -Wl,-rpath,$libraries"
  local generator=(-G Ninja)
  command -v ninja >/dev/null || generator=()
  local pkg_config
  pkg_config="$(command -v pkg-config || echo "$deps/bin/pkgconf")"
  mkdir -p "$work/build"
  cmake -S . -B "$work/build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_TESTS=ON -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_PREFIX_PATH="$deps" -DPKG_CONFIG_EXECUTABLE="$pkg_config" -DTORCH_ROOT="$torch" \
    -DCUDAToolkit_ROOT="$PWD/$cuda" >"$work/build/configure.log" 2>&1 ||
    { tail -n 30 "$work/build/configure.log" >&2; exit 1; }
  grep -E 'LibTorch|cuda|nccl' "$work/build/configure.log" || true
  ! grep -q 'accelerator cuda: left out' "$work/build/configure.log" || fail "the accelerator cuda would be left out"
  # shellcheck disable=SC2086  # Several targets may be named.
  cmake --build "$work/build" --parallel "$jobs" ${TRAINYARD_GPU_TARGETS:+--target $TRAINYARD_GPU_TARGETS}
}

# Also runs the tests of numerics, because the GPU tests alone do not show that all sources work with this LibTorch.
stage_tests() {
  export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,uuid,driver_version,memory.total --format=csv,noheader || true
  else
    echo "nvidia-smi is not here: no driver, so the tests of the GPU are skipped"
  fi
  ctest --test-dir "$work/build" --output-on-failure --no-tests=error --label-regex 'gpu|numerics' --parallel 4
}

# Trainyard beside a loop written with LibTorch alone, and beside PyTorch.
stage_benchmarks() {
  if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
    echo "no GPU: the benchmarks are skipped"
    return 0
  fi
  "$python" tests/gpu/benchmarks/run.py --build "$work/build" --python "$python" --rounds "${TRAINYARD_ROUNDS:-3}"
}

for stage in "${stages[@]}"; do
  declare -F "stage_$stage" >/dev/null || fail "unknown stage '$stage'; there are: build, tests, benchmarks"
  SECONDS=0
  "stage_$stage"
  echo "== $stage took $SECONDS s"
done
