#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run fuzz targets one after the other, FUZZ_SECONDS each (60), from their corpora on. What is
# learnt meanwhile stays in tests/fuzz/found/<target>, beside the inputs that failed; these
# belong, minimised, into tests/fuzz/corpus/<target>.
cd "${TEST_BUILDDIR:?}" || exit 2
LSAN_OPTIONS=suppressions=${TEST_SRCDIR:?}/tests/lib/lsan.supp:print_suppressions=0
export LSAN_OPTIONS
FUZZ_TMPDIR=$(mktemp -d /dev/shm/ga-fuzz-run.XXXXXX 2>/dev/null || mktemp -d) || exit 2
export FUZZ_TMPDIR
trap 'rm -rf "$FUZZ_TMPDIR"' EXIT
trap 'exit 130' INT TERM HUP
status=0 ran=0 failed=0
for program; do
	name=${program##*/fuzz-}
	found=tests/fuzz/found/$name
	mkdir -p "$found/corpus" || exit 2
	ran=$((ran + 1))
	echo "== $name"
	if ! nice -n 19 "./$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 \
		-rss_limit_mb=2048 -artifact_prefix="$found/" -print_final_stats=1 \
		"$found/corpus" "$TEST_SRCDIR/tests/fuzz/corpus/$name" 2>"$found/log"; then
		echo "$name: a finding; see $found/log"
		failed=$((failed + 1))
		status=1
	fi
	sed -n 's/^stat::number_of_executed_units: */   inputs: /p' "$found/log"
done
echo "$ran targets, $failed with findings"
exit $status
