#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb.sh TARBALL DIRECTORY: a Debian package of what `make dist` made, in a directory that is
# recreated. The tree has no debian/ at its top: it is laid out there. `make deb` runs this.
set -eu
tarball=$1 dir=$2
version=$(basename "$tarball" .tar.xz)
version=${version#git-agent-}

rm -rf "$dir"
mkdir -p "$dir"
tar -xf "$tarball" -C "$dir"
cd "$dir/git-agent-$version"
cp -R docs/packaging/debian debian

# who builds it: as dch has it, or as git knows
name=${DEBFULLNAME:-$(git config user.name || echo "$(id -un)")}
mail=${DEBEMAIL:-$(git config user.email || echo "$(id -un)@$(hostname -f)")}
sed -i -e "s/@MAINTAINER@/$name <$mail>/" -e "s/@VERSION@/$version/" -e "s/@DATE@/$(date -R)/" \
	debian/control debian/changelog
sed 's/^$/./; s/^/ /' LICENSE >>debian/copyright

dpkg-buildpackage -us -uc -b
cd ..
ls -l ./*.deb
if ! command -v lintian >/dev/null; then
	echo "lintian is not installed: nothing has looked at the package"
	exit
fi
lintian --allow-root --show-overrides --fail-on none ./*.changes >lintian
cat lintian
count() { grep -c "^$1: " lintian || :; }
echo "lintian: $(count E) errors, $(count W) warnings, $(count O) overridden"
! grep -q '^E: ' lintian
