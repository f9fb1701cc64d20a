#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the libraries that a build needs, except LibTorch, into one archive, for a machine that reaches no network:
# headers, shared libraries and the licences, from the packages of this Debian. Installs nothing.
#
#   tools/stages/pack_dependencies.sh ARCHIVE      # such as build/gpu/dependencies.tar.xz
set -euo pipefail
[ $# -eq 1 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0"; exit 2; }
archive="$(realpath -m "$1")"
cd "$(dirname "$0")/../.."
. tools/packages.sh

# What a machine with a compiler for GPUs has: compilers, CMake, and a LibTorch, which has its own BLAS and its own Gloo.
left_out='^(g\+\+|cmake|ninja-build|make|pkg-config|libtorch-dev|libopenblas.*|libgloo-dev)$'
# The C library and the libraries of the compiler are those of the other machine. Nothing here calls libxml2, on which
# the headers of one package depend, and which brings 40 MB of data of ICU.
foreign='^(libc6.*|libcrypt.*|libstdc\+\+.*|libgcc.*|gcc-.*|lib(a|hwa|l|t|ub)san.*|lib(gomp|itm|quadmath|atomic|cc1-)[0-9].*'
foreign+='|lib(mpfr|mpc|isl|gmp)[0-9].*|linux-libc-dev|libnsl.*|libtirpc.*|rpcsvc-proto|libicu.*|libxml2.*)$'

# libraries_of PACKAGE...: the shared libraries that they need, directly or indirectly.
libraries_of() {
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" |
    grep -E '^(lib|zlib1g)' | grep -vE '(-dev|-doc|-data)$' | grep -vE "$foreign" | sort -u
}

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mapfile -t wanted < <(printf '%s\n' "${trainyard_build_packages[@]}" libgtest-dev libgmock-dev googletest pkgconf-bin |
  grep -vE "$left_out")
# Some packages only name the one that contains the headers, such as libboost-dev.
mapfile -t headers < <(apt-cache depends --no-recommends --no-suggests "${wanted[@]}" |
  sed -n 's/^ *Depends: \(lib.*-dev\)$/\1/p' | grep -vE "$foreign" | sort -u)
mapfile -t libraries < <(libraries_of "${wanted[@]}")
mkdir -p "$folder/packages" "$folder/root" "$(dirname "$archive")"
(cd "$folder/packages" && apt-get download -qq -o APT::Sandbox::User=root "${wanted[@]}" "${headers[@]}" "${libraries[@]}")
for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/root"; done

# Merged folders as Debian 12 has them once it is installed: some packages still write to /lib.
if [ -d "$folder/root/lib" ]; then cp -a "$folder/root/lib/." "$folder/root/usr/lib/" && rm -rf "$folder/root/lib"; fi
# Links for the linker that name the place of an installed library.
find "$folder/root/usr" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(basename "$(readlink "$link")")" "$link"
done
find "$folder/root/usr" -name '*.a' ! -name 'libg*test*.a' ! -name 'libgmock*.a' -delete
find "$folder/root/usr/share/doc" -type f ! -name copyright -delete
rm -rf "$folder"/root/usr/share/{man,info,lintian,bug,locale,gcc,python3} "$folder/root/usr/lib/python3" "$folder/root/etc"
# They would make pkg-config ask for packages of which only the shared libraries are here.
find "$folder/root/usr" -type f -name '*.pc' -exec sed -i '/^Requires.private/d;/^Libs.private/d' {} +
find "$folder/root/usr" -type d -empty -delete

tar --sort=name --owner=0 --group=0 --create --directory "$folder/root" usr | xz -T0 >"$archive"
bytes="$(stat -c %s "$archive")"
echo "$archive: ${#wanted[@]} packages with ${#libraries[@]} libraries, $((bytes / 1048576)) MiB"
[ "$bytes" -le $((40 * 1048576)) ] || { echo "$archive: larger than 40 MiB" >&2; exit 1; }
