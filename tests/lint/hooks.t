#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What runs as the user's hook is POSIX sh that shellcheck has nothing to say of.
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
