# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For the lint tests: TAP by one function. `failed` is what to exit with.
count=0 failed=0

# result NAME MESSAGES: passed if there are no messages
result() {
	count=$((count + 1))
	if [ -z "$2" ]; then
		echo "ok $count - $1"
	else
		failed=1
		echo "not ok $count - $1"
		echo "$2" | sed 's/^/# /'
		echo "$2" >&2
	fi
}
