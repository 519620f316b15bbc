#!/bin/sh
# SPDX-License-Identifier: MIT
#
# reverts.sh [FIX...]: reverts fixes of the past, each by itself, in a copy of the build, and runs the tests that the
# fix's file names: one has to fail. A FIX is a file of tests/reverts, or all are taken: what the fix undoes as a patch,
# below the subject of its commit and lines "Found-by: TEST". TESTS='...' runs those instead. `make reverts` runs this.
# shellcheck disable=SC2046,SC2086 # no name here has a blank
set -u
: "${TEST_SRCDIR:?run by make reverts}" "${TEST_BUILDDIR:?}"
work=$TEST_BUILDDIR/build/reverts
MAKEFLAGS= # of the make that runs this
GIT_CEILING_DIRECTORIES=$TEST_BUILDDIR/build # the copy is in no repository
export MAKEFLAGS GIT_CEILING_DIRECTORIES

if [ $# = 0 ]; then
	set -- "$TEST_SRCDIR"/tests/reverts/*.patch
else
	set -- $(realpath "$@")
fi
rm -rf "$work" && mkdir -p "$work" || exit 2
(cd "$TEST_BUILDDIR" && tar -c --exclude=./build --exclude=./.git .) | tar -x -C "$work" || exit 2
cd "$work" && eval "./configure -q $(./config.status --config)" && sed -i 's/ -Werror / /g' Makefile || exit 2
missed=0
for fix; do
	name=$(basename "$fix" .patch)
	subject=$(head -n 1 "$fix")
	tests=$(echo ${TESTS-$(sed -n 's/^Found-by: //p' "$fix")})
	if ! git apply "$fix" 2>"$work/said" || ! make -s all check-programs >"$work/said" 2>&1; then
		echo "$name $subject: cannot be reverted: $(grep -m 1 "error:" "$work/said")"
		missed=$((missed + 1))
	elif sum=$(
		TEST_BUILDDIR=$work TEST_SRCDIR=$work TEST_TIMEOUT="${TEST_TIMEOUT:-300}" \
			sh tests/run-tests.sh $tests 2>&1
	); then
		echo "$name $subject: NOT FOUND by $tests"
		missed=$((missed + 1))
	else
		echo "$name $subject: found, $(echo "$sum" | sed -n 's/^not ok \([0-9]*\).*/\1/p' | xargs) of $tests"
	fi
	git apply -R "$fix" 2>/dev/null
done
echo "$(($# - missed)) found, $missed not"
[ $missed = 0 ]
