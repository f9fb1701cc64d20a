# SPDX-License-Identifier: Apache-2.0
# Lists the Debian packages that Trainyard needs, and defines a function that installs missing packages. To be sourced.

# The packages that are needed to build and run Trainyard.
trainyard_build_packages=(
  g++ cmake ninja-build make pkg-config
  libtorch-dev libopenblas0-pthread
  libgloo-dev libzmq3-dev libsodium-dev cppzmq-dev libcereal-dev libtomlplusplus-dev libspdlog-dev libfmt-dev
  libcli11-dev nlohmann-json3-dev zlib1g-dev libzstd-dev libssl-dev libpng-dev libjpeg62-turbo-dev
  libboost-dev
)
# Optional, and only for this architecture: encrypts faster than OpenSSL 3.0 (docs/collectives.md).
if [ "$(dpkg --print-architecture)" = amd64 ]; then trainyard_build_packages+=(libipsec-mb-dev); fi
# The packages that only the tests need: GoogleTest, the packages for the Python tests and the checks, the tools that
# set up network namespaces as hosts, the shells for which `trainyard` has completion scripts, and the program that
# shows its manual page.
trainyard_test_packages=(libgtest-dev libgmock-dev python3-torch python3-numpy python3-pil python3-yaml python3-zmq git zsh fish mandoc
  iproute2 procps)
# The engines (Slurm, mpirun) with which tests/lab starts programs. tools/stages/engines.sh unpacks these packages
# without installing them. libpmix-dev is needed because `srun --mpi=pmix` loads the library by a name that only this
# package contains.
trainyard_engine_packages=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libpmix-dev openmpi-bin)

# install_missing PACKAGE...: prints which packages are missing, and installs them as root or with sudo.
install_missing() {
  local missing=() package
  for package in "$@"; do
    if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed'; then
      missing+=("$package")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "Debian packages: all there."
    return 0
  fi
  echo "Debian packages to install: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Not root and no sudo: install them yourself, then run this again." >&2; return 1; }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
