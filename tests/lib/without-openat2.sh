# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# without_openat2 ERRNO TEST: runs it where openat2() fails so: what is opened beneath a directory is
# opened one component at a time then (src/sys/fd.c).
without_openat2() {
	no=${TEST_BUILDDIR:?}/tests/helpers/deny
	"$no" "openat2=$1" -- "$no" "openat2=$1" &&
	exec "$no" "openat2=$1" -- /bin/sh "${TEST_SRCDIR:?}"/tests/integration/*/"$2"
	echo "1..1"
	echo "not ok 1 - openat2() fails under the filter"
	exit 1
}
