#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The scripts that run as the user's hooks are POSIX sh without a warning from shellcheck.
cd "${TEST_SRCDIR:?}" || exit 1
. tests/lib/lint.sh

if ! command -v shellcheck >/dev/null; then
	echo "1..0 # SKIP no shellcheck"
	exit 0
fi
for hook in hooks/*; do
	result "$hook" "$(shellcheck -s sh -f gcc "$hook" 2>&1)"
done
echo "1..$count"
exit $failed
