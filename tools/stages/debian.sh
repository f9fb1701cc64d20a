# SPDX-License-Identifier: Apache-2.0
# Functions that make a Debian system in a folder, for the stages that need a freshly installed system. To be sourced;
# needs root.

# debian_in FOLDER RELEASE: makes a minimal Debian system, which has just what apt needs. It is removed when the script
# ends.
debian_in() {
  debian_root="$1"
  [ "$(id -u)" -eq 0 ] || { echo "this stage makes a Debian in a folder, which only root may do" >&2; exit 1; }
  command -v debootstrap >/dev/null || install_missing debootstrap
  mkdir -p "$debian_root"
  trap debian_away EXIT
  debootstrap --variant=minbase "$2" "$debian_root" "${TRAINYARD_DEBIAN_MIRROR:-http://deb.debian.org/debian}" \
    >"$debian_root.log" 2>&1 || { tail -n 20 "$debian_root.log" >&2; exit 1; }
  mount -t proc proc "$debian_root/proc"
  mount --bind /dev "$debian_root/dev"
  mount --bind /dev/pts "$debian_root/dev/pts"  # Tests of the console open pseudo-terminals.
  mount -t tmpfs tmpfs "$debian_root/tmp"
  cp /etc/resolv.conf "$debian_root/etc/resolv.conf"
}

debian_away() {
  umount "$debian_root/tmp" "$debian_root/dev/pts" "$debian_root/dev" "$debian_root/proc" 2>/dev/null || true
  # This must not delete anything through a mount that still exists.
  mountpoint -q "$debian_root/dev" || mountpoint -q "$debian_root/proc" || rm -rf "$debian_root" "$debian_root.log"
}

# in_debian COMMAND...
in_debian() { chroot "$debian_root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"; }
