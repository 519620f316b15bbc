#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Make ./configure and run it. With --deps, first install what is missing with
# the system's package manager; with --servers as well, what tests of the network
# talk to, which are skipped without. Other arguments go to ./configure.
set -eu
PATH=$PATH:/usr/bin/core_perl # where Arch has prove

cd "$(dirname "$0")"

deps=no servers=
if [ "${1-}" = --deps ]; then
	deps=yes
	shift
	if [ "${1-}" = --servers ]; then
		PATH=$PATH:/usr/sbin:/sbin
		servers='sshd curl openssl musl-gcc ip'
		shift
	fi
fi

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	else
		echo "autogen.sh: root is needed for: $*" >&2
		exit 1
	fi
}

# What is missing, by the test that tells whether it is there: first of what the build cannot do without.
missing_to_build() {
	for prog in cc make autoconf automake pkg-config git bwrap prove python3; do
		command -v "$prog" >/dev/null 2>&1 || echo "$prog"
	done
	for lib in libgit2 yaml-0.1 libseccomp jansson libutf8proc nettle zlib cmocka; do
		pkg-config --exists "$lib" 2>/dev/null || echo "$lib"
	done
	echo 'int main(void){return 0;}' >conftest-$$.c
	cc -static -o conftest-$$ conftest-$$.c 2>/dev/null || echo static-libc
	rm -f conftest-$$.c conftest-$$
}
missing() {
	missing_to_build
	for prog in strace pgrep pre-commit $servers; do
		command -v "$prog" >/dev/null 2>&1 || echo "$prog"
	done
	# a python3 of the user's own may come before the system's
	for mod in jsonschema yaml; do
		python3 -c "import $mod" 2>/dev/null || /usr/bin/python3 -c "import $mod" 2>/dev/null || echo "python3-$mod"
	done
}

# The package that brings it: NAME:apt:dnf:pacman
packages='
cc:gcc:gcc:gcc
make:make:make:make
autoconf:autoconf:autoconf:autoconf
automake:automake:automake:automake
pkg-config:pkg-config:pkgconf-pkg-config:pkgconf
git:git:git:git
bwrap:bubblewrap:bubblewrap:bubblewrap
prove:perl:perl-Test-Harness:perl
python3:python3:python3:python
python3-jsonschema:python3-jsonschema:python3-jsonschema:python-jsonschema
python3-yaml:python3-yaml:python3-pyyaml:python-yaml
strace:strace:strace:strace
pgrep:procps:procps-ng:procps-ng
pre-commit:pre-commit:pre-commit:pre-commit
sshd:openssh-server:openssh-server:openssh
curl:curl:curl:curl
openssl:openssl:openssl:openssl
musl-gcc:musl-tools:musl-gcc:musl
ip:iproute2:iproute:iproute2
libgit2:libgit2-dev:libgit2-devel:libgit2
yaml-0.1:libyaml-dev:libyaml-devel:libyaml
libseccomp:libseccomp-dev:libseccomp-devel:libseccomp
jansson:libjansson-dev:jansson-devel:jansson
nettle:nettle-dev:nettle-devel:nettle
libutf8proc:libutf8proc-dev:utf8proc-devel:libutf8proc
zlib:zlib1g-dev:zlib-devel:zlib
cmocka:libcmocka-dev:libcmocka-devel:cmocka
static-libc:libc6-dev:glibc-static:glibc
'

install_deps() {
	need=$(missing)
	[ -n "$need" ] || return 0
	if command -v apt-get >/dev/null 2>&1; then
		column=2
	elif command -v dnf >/dev/null 2>&1; then
		column=3
	elif command -v pacman >/dev/null 2>&1; then
		column=4
	else
		echo "autogen.sh: no apt-get, dnf or pacman here; install by hand: $(echo "$need" | tr "\n" " ")" >&2
		exit 1
	fi
	list=
	for name in $need; do
		list="$list $(echo "$packages" | awk -F: -v n="$name" -v c="$column" '$1 == n { print $c }')"
	done
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
		if [ -n "$(missing_to_build)" ]; then
			echo "autogen.sh: root is needed to install:$list" >&2
			exit 1
		fi
		echo "autogen.sh: not installed, for lack of root; tests that need it are skipped:$list"
		return 0
	fi
	echo "installing:$list"
	# the lists of names are meant to be split
	# shellcheck disable=SC2086
	case $column in
	2)
		as_root apt-get update -q
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $list
		;;
	3) as_root dnf install -y $list ;;
	4) as_root pacman -S --needed --noconfirm $list ;;
	esac
	need=$(missing)
	if [ -n "$need" ]; then
		echo "autogen.sh: still missing after the installation: $(echo "$need" | tr "\n" " ")" >&2
		exit 1
	fi
}

# Where AppArmor grants user namespaces to named programs only, name ours.
allow_user_namespaces() {
	[ "$(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2>/dev/null)" = 1 ] || return 0
	profile=/etc/apparmor.d/git-agent
	dir=$(pwd -P)
	new=$(sh docs/apparmor/install.sh docs/apparmor/git-agent /etc/apparmor.d "$dir") || return 0
	if [ "$(cat "$profile" 2>/dev/null)" != "$new" ]; then
		echo "allowing user namespaces to git-agent: $profile"
		echo "$new" | as_root tee "$profile" >/dev/null
		as_root apparmor_parser -r "$profile"
	fi
}

if [ $deps = yes ]; then
	install_deps
	allow_user_namespaces
fi
mkdir -p build-aux
autoreconf -fi
./configure "$@"
