# SPDX-License-Identifier: Apache-2.0
# Chooses the LibTorch with which Trainyard is built. Source this file after packages.sh, from the root of the source
# tree. The variable TRAINYARD_TORCH has one of these values:
#
#   debian    that of Debian's package libtorch-dev (the default)
#   pypi      that of the package `torch` of PyPI, for the processor; it is downloaded once, into a folder of the build
#   FOLDER    one that is there: a folder with include/ and lib/, such as site-packages/torch of a Python
#
# Afterwards, trainyard_torch_options contains options for CMake, trainyard_torch_build the part of a build folder's
# name that identifies the LibTorch, and trainyard_build_packages the Debian packages that are needed.

trainyard_torch_options=()
trainyard_torch_build=""
trainyard_pypi_torch=build/libtorch-2.11.0

# The files in the wheels that LibTorch needs without a GPU. libtorch_cpu.so is linked to two CUDA libraries, even
# though it does not use them without a GPU.
unpack_torch() {
  python3 - "$1" "$2" <<'PYTHON'
import pathlib, re, shutil, sys, zipfile

wheels, target = map(pathlib.Path, sys.argv[1:])
wanted = re.compile(r"torch/(lib/(libtorch_cpu|libc10|libgomp[^/]*)\.so[^/]*|include/(ATen|c10|caffe2|torch)/.*)"
                    r"|nvidia/cu13/lib/lib(cudart|cupti)\.so\.13|.*\.dist-info/licenses/.*")
for wheel in wheels.glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in filter(wanted.fullmatch, archive.namelist()):
            archive.extract(name, target)
    wheel.unlink()
PYTHON
}

fetch_torch() {
  [ ! -e "$trainyard_pypi_torch/complete" ] || return 0
  if [ "$(uname -m)" != x86_64 ]; then
    echo "TRAINYARD_TORCH=pypi: only for x86_64, and this machine is $(uname -m); debian, or a folder, can be chosen" >&2
    return 1
  fi
  install_missing python3 python3-pip
  echo "Downloading LibTorch 2.11.0 from PyPI into $trainyard_pypi_torch (540 MB)."
  rm -rf "$trainyard_pypi_torch"
  mkdir -p "$trainyard_pypi_torch/wheels"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: \
    --python-version 3.12 --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux_2_17_x86_64 \
    --dest "$trainyard_pypi_torch/wheels" --requirement tools/libtorch_requirements.txt
  unpack_torch "$trainyard_pypi_torch/wheels" "$trainyard_pypi_torch"
  rmdir "$trainyard_pypi_torch/wheels"
  touch "$trainyard_pypi_torch/complete"
}

# With another LibTorch, Debian's LibTorch, BLAS and Gloo are not needed.
without_debians_torch() {
  local package kept=()
  for package in "${trainyard_build_packages[@]}"; do
    case "$package" in libtorch-dev | libopenblas0-pthread | libgloo-dev) ;; *) kept+=("$package") ;; esac
  done
  trainyard_build_packages=("${kept[@]}")
}

# choose_torch: chooses the LibTorch according to TRAINYARD_TORCH.
choose_torch() {
  case "${TRAINYARD_TORCH:-debian}" in
    debian) return 0 ;;
    pypi)
      fetch_torch
      trainyard_torch_build="-torch-2.11"
      trainyard_torch_options=(-DTORCH_ROOT="$PWD/$trainyard_pypi_torch/torch")
      ;;
    */*)
      if [ ! -e "$TRAINYARD_TORCH/lib/libtorch_cpu.so" ] || [ ! -d "$TRAINYARD_TORCH/include/ATen" ]; then
        echo "TRAINYARD_TORCH=$TRAINYARD_TORCH: no LibTorch: a folder with lib/libtorch_cpu.so and include/ATen is needed" >&2
        return 1
      fi
      trainyard_torch_build="-torch"
      trainyard_torch_options=(-DTORCH_ROOT="$(realpath "$TRAINYARD_TORCH")")
      ;;
    *)
      echo "TRAINYARD_TORCH=$TRAINYARD_TORCH: unknown; 'debian', 'pypi' or the path of a folder can be chosen" >&2
      return 1
      ;;
  esac
  without_debians_torch
}
