#!/bin/sh
# SPDX-License-Identifier: MIT
#
# rpm.sh TARBALL DIRECTORY [OPTION...]: an RPM package of what `make dist` made, in a directory that
# is made again. The options go to rpmbuild. `make rpm` runs this.
set -eu
tarball=$(realpath "$1") dir=$2
shift 2
version=$(basename "$tarball" .tar.xz)
version=${version#git-agent-}

rm -rf "$dir"
mkdir -p "$dir/SOURCES" "$dir/SPECS"
dir=$(cd "$dir" && pwd)
cp "$tarball" "$dir/SOURCES"
tar -xOf "$tarball" "git-agent-$version/docs/packaging/git-agent.spec" |
	sed "s/@VERSION@/$version/" >"$dir/SPECS/git-agent.spec"
rpmbuild --define "_topdir $dir" -bb "$@" "$dir/SPECS/git-agent.spec"
find "$dir/RPMS" -name '*.rpm'
