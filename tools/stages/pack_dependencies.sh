#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the libraries that a build needs, except LibTorch, into one archive, for a machine without a network: headers,
# shared libraries and licences from the packages of this Debian release. Installs nothing.
#
#   tools/stages/pack_dependencies.sh ARCHIVE      # such as build/gpu/dependencies.tar.xz
set -euo pipefail
[ $# -eq 1 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0"; exit 2; }
archive="$(realpath -m "$1")"
cd "$(dirname "$0")/../.."
. tools/packages.sh

# Packages that are not packed, because the other machine has their content: compilers, CMake, and a LibTorch, which
# contains a BLAS library and Gloo.
left_out='^(g\+\+|cmake|ninja-build|make|pkg-config|libtorch-dev|libopenblas.*|libgloo-dev)$'
# The other machine also has the C library and the compiler's libraries. libxml2, on which the headers of one package
# depend, is not used, and would add 40 MB of ICU data.
foreign='^(libc6.*|libcrypt.*|libstdc\+\+.*|libgcc.*|gcc-.*|lib(a|hwa|l|t|ub)san.*|lib(gomp|itm|quadmath|atomic|cc1-)[0-9].*'
foreign+='|lib(mpfr|mpc|isl|gmp)[0-9].*|linux-libc-dev|libnsl.*|libtirpc.*|rpcsvc-proto|libicu.*|libxml2.*)$'

# libraries_of PACKAGE...: prints the shared libraries that the packages need, directly or indirectly.
libraries_of() {
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" |
    grep -E '^(lib|zlib1g)' | grep -vE '(-dev|-doc|-data)$' | grep -vE "$foreign" | sort -u
}

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mapfile -t wanted < <(printf '%s\n' "${trainyard_build_packages[@]}" libgtest-dev libgmock-dev googletest pkgconf-bin |
  grep -vE "$left_out")
# Some packages, such as libboost-dev, only depend on the package that contains the headers.
mapfile -t headers < <(apt-cache depends --no-recommends --no-suggests "${wanted[@]}" |
  sed -n 's/^ *Depends: \(lib.*-dev\)$/\1/p' | grep -vE "$foreign" | sort -u)
mapfile -t libraries < <(libraries_of "${wanted[@]}")
mkdir -p "$folder/packages" "$folder/root" "$(dirname "$archive")"
(cd "$folder/packages" && apt-get download -qq -o APT::Sandbox::User=root "${wanted[@]}" "${headers[@]}" "${libraries[@]}")
for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/root"; done

# Merges /lib into /usr/lib, as on an installed Debian 12, because some packages still contain files in /lib.
if [ -d "$folder/root/lib" ]; then cp -a "$folder/root/lib/." "$folder/root/usr/lib/" && rm -rf "$folder/root/lib"; fi
# Corrects links for the linker that point to the location of an installed library.
find "$folder/root/usr" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(basename "$(readlink "$link")")" "$link"
done
find "$folder/root/usr" -name '*.a' ! -name 'libg*test*.a' ! -name 'libgmock*.a' -delete
find "$folder/root/usr/share/doc" -type f ! -name copyright -delete
rm -rf "$folder"/root/usr/share/{man,info,lintian,bug,locale,gcc,python3} "$folder/root/usr/lib/python3" "$folder/root/etc"
# These lines would make pkg-config require packages of which the archive contains only the shared libraries.
find "$folder/root/usr" -type f -name '*.pc' -exec sed -i '/^Requires.private/d;/^Libs.private/d' {} +
find "$folder/root/usr" -type d -empty -delete

tar --sort=name --owner=0 --group=0 --create --directory "$folder/root" usr | xz -T0 >"$archive"
bytes="$(stat -c %s "$archive")"
echo "$archive: ${#wanted[@]} packages with ${#libraries[@]} libraries, $((bytes / 1048576)) MiB"
[ "$bytes" -le $((40 * 1048576)) ] || { echo "$archive: larger than 40 MiB" >&2; exit 1; }
