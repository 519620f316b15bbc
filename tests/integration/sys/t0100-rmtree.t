#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='removing trees does not leave them'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

rmtree=$TEST_BUILDDIR/tests/helpers/rmtree

# in_mounts COMMANDS: with private mounts
in_mounts() {
	unshare -Urm sh -ec "$1" rmtree "$rmtree"
}

test_that USERNS 'RS-07: a mount of the same file system is not entered' '
	mkdir -p precious tree/sub/mnt tree/mnt &&
	echo keep >precious/file &&
	test_must_fail in_mounts "mount --bind precious tree/sub/mnt; \$1 tree" 2>err &&
	cat err &&
	test "$(cat precious/file)" = keep &&
	mkdir -p tree/mnt &&
	test_must_fail in_mounts "mount --bind precious tree/mnt; \$1 tree" &&
	test "$(cat precious/file)" = keep &&
	mkdir -p tree &&
	test_must_fail in_mounts "mount --bind precious tree; \$1 tree" &&
	test "$(cat precious/file)" = keep
'

test_that USERNS 'a mount of another file system is not entered' '
	mkdir -p tree/mnt &&
	test_must_fail in_mounts "
		mount -t tmpfs none tree/mnt
		echo x >tree/mnt/f
		\$1 tree || { test -e tree/mnt/f && exit 1; }" &&
	"$rmtree" tree &&
	test ! -e tree
'

test_that 'a read-only directory of ours is removed' '
	mkdir tree &&
	echo x >tree/f &&
	chmod 555 tree &&
	"$rmtree" tree &&
	test ! -e tree &&
	test_expect_code 129 "$rmtree"
'

test_done
