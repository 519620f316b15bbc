#!/bin/sh
# SPDX-License-Identifier: MIT
#
# t4000-cases.t once more where openat2() fails: what is opened beneath a directory is
# opened one component at a time then (src/sys/fd.c).
no=${TEST_BUILDDIR:?}/tests/helpers/deny
if ! "$no" openat2=ENOSYS -- "$no" openat2=ENOSYS; then
	echo "1..1"
	echo "not ok 1 - openat2() fails under the filter"
	exit 1
fi
NO_OPENAT2=1
export NO_OPENAT2
exec "$no" openat2=ENOSYS -- /bin/sh "${TEST_SRCDIR:?}/tests/integration/t4000-cases.t"
