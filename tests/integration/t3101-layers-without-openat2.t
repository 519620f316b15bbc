#!/bin/sh
# SPDX-License-Identifier: MIT
#
# t3100-layers.t once more where openat2() fails: what is opened beneath a directory is
# opened one component at a time then (src/sys/fd.c).
no=${TEST_BUILDDIR:?}/tests/helpers/deny
if ! "$no" openat2=EPERM -- "$no" openat2=EPERM; then
	echo "1..1"
	echo "not ok 1 - openat2() fails under the filter"
	exit 1
fi
exec "$no" openat2=EPERM -- /bin/sh "${TEST_SRCDIR:?}/tests/integration/t3100-layers.t"
