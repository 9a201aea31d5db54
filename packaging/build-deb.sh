#!/bin/sh
# Makes a Debian package of a program that is built: packaging/build-deb.sh [PROGRAM [FOLDER]]
#
# The package has the program (stripped), an entry for the desktop with its icon, a systemd user unit, manual pages and
# completions. Nothing is started when it is installed, and no account is made: the desktop's entry starts what an officer needs.
set -eu
cd "$(dirname "$0")/.."
program=${1:-target/release/fedirt}
out=${2:-target/debian}
most=40000000

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architecture=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022

install -D "$program" "$root/usr/bin/fedirt"
strip "$root/usr/bin/fedirt"
size=$(stat -c %s "$root/usr/bin/fedirt")
# The program that is distributed; one with debugging code is larger, and is packaged for tests alone.
if [ "$size" -ge "$most" ]; then
  echo "the stripped program has $size bytes, and $most are the most for a package" >&2
  [ "${FEDIRT_LARGE_PACKAGE:-no}" = yes ] || exit 1
fi

install -D -m 644 packaging/fedirt-site.desktop "$root/usr/share/applications/fedirt-site.desktop"
install -D -m 644 packaging/fedirt.svg "$root/usr/share/icons/hicolor/scalable/apps/fedirt.svg"
install -D -m 644 packaging/fedirt-site.service "$root/usr/lib/systemd/user/fedirt-site.service"
install -D -m 644 LICENSE "$root/usr/share/doc/fedirt/copyright"

"$root/usr/bin/fedirt" man --out "$root/usr/share/man/man1" 2>/dev/null
gzip -9 -n "$root"/usr/share/man/man1/*.1
completions() { mkdir -p "$(dirname "$root/$2")" && "$root/usr/bin/fedirt" completions "$1" > "$root/$2"; }
completions bash usr/share/bash-completion/completions/fedirt
completions zsh usr/share/zsh/vendor-completions/_fedirt
completions fish usr/share/fish/vendor_completions.d/fedirt.fish

mkdir "$root/DEBIAN"
cat > "$root/DEBIAN/control" <<CONTROL
Package: fedirt
Version: $version
Architecture: $architecture
Maintainer: fedirt <fedirt@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: libc6, libgcc-s1, xdg-utils
Section: science
Priority: optional
Description: federated item response theory
 Schools and institutes calibrate tests together, and no answer of a student
 leaves the computer on which it is.
CONTROL
chmod -R u=rwX,go=rX "$root"

mkdir -p "$out"
package="$out/fedirt_${version}_$architecture.deb"
dpkg-deb -Zgzip --root-owner-group --build "$root" "$package" > /dev/null
echo "$package"
