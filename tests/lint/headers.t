#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every header compiles without others before it, and when it is included twice.
cd "${TEST_SRCDIR:?}" || exit 1

count=0 failed=0
for h in $(find include src -name "*.h"); do
	count=$((count + 1))
	case $h in
	include/*) name=${h#include/} ;;
	*) name=$h ;;
	esac
	# CC and flags may be several words
	if out=$(printf '#include "%s"\n#include "%s"\ntypedef int nothing;\n' "$name" "$name" |
		${CC:-cc} ${TEST_CPPFLAGS-} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wstrict-prototypes \
			-Werror -Iinclude -Isrc -I. -I"$(dirname "$h")" -fsyntax-only -x c - 2>&1); then
		echo "ok $count - $h"
	else
		failed=1
		echo "not ok $count - $h"
		echo "$out" >&2
	fi
done
echo "1..$count"
exit $failed
