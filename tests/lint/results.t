#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A test in shell has the exit status of its last command: that of one before it counts only if "&&" joins
# them. tests/lib/test-lib.sh sees to that when a test runs, and is tested here; within a loop it does not look,
# and a here document is where the "&&" is forgotten most easily: a failed assertion in its script goes unnoticed.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

result 'what a script in a here document says of a test counts' "$(
	awk '
		/^[ \t]*test_that .*\047$/ { body = 1; next }
		/^[ \t]*\047$/ { body = script = 0; next }
		script == 2 {
			print FILENAME ":" line ": join it with && to what follows"
			script = 0
		}
		script == 1 { t = $0; gsub(/^\t+/, "", t); if (t == tag) script = 2; next }
		body && /python3 .*<<-\\?[A-Z]+$/ { script = 1; line = FNR; tag = $0; sub(/.*<<-\\?/, "", tag) }
	' tests/integration/*/*.t
)"

result 'a test whose commands are not joined by && fails, and they are not run twice; compound ones can be joined' "$(
	d=$(mktemp -d) && mkdir "$d/tmp" || exit
	tries() { # COMMANDS...: a file with a test of each
		printf '%s\n' "test_description=tries" '. "$TEST_SRCDIR/tests/lib/test-lib.sh"'
		for t; do
			printf 'test_that name "%s"\n' "$t"
		done
		echo test_done
	}
	run() { # FILE: what it says
		GIT_AGENT_TEST_TMPDIR=$d/tmp TEST_SRCDIR=$PWD TEST_BUILDDIR=$d sh "$1" 2>"$d/err" | grep -v "^#"
	}
	set -- ":; echo ran >>$d/ran" "false
		:" ": && false || :" ": & wait" ": || exit 0" ": && : || exit 117" ": & last=\$! && wait \$last" ":
		return 117" "test_when_finished :; test 1 = 1"
	tries "$@" >"$d/broken.t"
	run "$d/broken.t" >"$d/out"
	grep -c "^not ok .* - name" "$d/out" | grep -vx $#
	grep -c "are not one && chain" "$d/err" | grep -vx $#
	echo ran | diff - "$d/ran"
	rm -f "$d/ran"
	set -- "echo ran >>$d/ran &&
		: # said" "! false" "if :; then :; fi && :" "for i in 1 2; do : || exit 1; done" \
		"f() { false; :; } && f" "{ : & } && wait \$!" \
		"{ false || :; } && (exit 0) && cat <<-EOT && :
		text
		EOT"
	tries "$@" >"$d/whole.t"
	run "$d/whole.t" | grep -vx "ok .* - name\|1..$#"
	echo ran | diff - "$d/ran"
	rm -rf "$d"
)"

result 'no test has the former name of test_that, which would not run it' "$(grep -rl "test_expect_[s]uccess" tests)"

# suite: in $d, a tree of tests/run-tests.sh without tests
suite() {
	d=$(mktemp -d) && mkdir -p "$d/tests/lib" "$d/tests/helpers" "$d/tmp" &&
	cp tests/run-tests.sh tests/run-one.sh "$d/tests" && cp tests/lib/scratch.sh "$d/tests/lib" &&
	ln -s "$TEST_BUILDDIR/tests/helpers/reaper" "$d/tests/helpers" || exit
}

# a_test NAME LINE...: a test of these lines
a_test() {
	a_file=$d/tests/$1.t && shift && printf '%s\n' "echo 1..1" "$@" >"$a_file"
}

# run_suite NAME...: run these tests
run_suite() {
	suite_of=
	for t; do suite_of="$suite_of tests/$t.t"; done
	GIT_AGENT_TEST_TMPDIR=$d/tmp TEST_SRCDIR=$d TEST_BUILDDIR=$d sh tests/run-tests.sh $suite_of >"$d/out" 2>&1
}

result 'what a test that failed said is at the end of a run, its beginning and its end, and the sums are last' "$(
	suite
	a_test bad "echo not ok 1 - bad" "seq 1 500 | sed s/^/said-/ >&2" "exit 1"
	! run_suite bad || echo "it passed"
	for line in "not ok 1 - bad" said-1 said-100 "\[\.\.\. 300 lines \.\.\.\]" said-401 said-500; do
		grep -qx "$line" "$d/out" || echo "not in it: $line"
	done
	! grep -x "said-\(101\|400\)" "$d/out"
	tail -n 1 "$d/out" | grep -vx "0 passed, 1 failed, 0 skipped"
	rm -rf "$d"
)"

# By the flags of configure.ac, where the compiler has them: clang has one runtime, with one log.
result 'what either sanitizer finds in a process that nobody watches fails the run' "$(
	suite
	flags='-fsanitize=address,undefined -fno-sanitize-recover=all'
	echo 'int main(void) { return 0; }' >"$d/none.c"
	case $("${CC:-cc}" --version) in
	*clang*) more= ;;
	*) more=-static-libubsan ;;
	esac
	"${CC:-cc}" $flags $more -o "$d/none" "$d/none.c" 2>/dev/null || more=none
	if [ "$more" != none ]; then
		echo '#include <limits.h>
		int main(int n, char **v) { char b[8]; (void)v; b[n * 7] = 1; return (b[n * 7] + INT_MAX) < n; }' \
			>"$d/undefined.c"
		echo '#include <stdlib.h>
		int main(int n, char **v) { char *b = malloc((size_t)n * 8); (void)v; free(b); return b[n]; }' \
			>"$d/address.c"
		for kind in address undefined; do
			"${CC:-cc}" -w $flags $more -o "$d/$kind" "$d/$kind.c" || echo "cannot be compiled: $kind"
			a_test $kind "$d/$kind 2>/dev/null; echo ok 1 - nobody watched"
			! run_suite $kind || echo "it passed: $kind"
			tail -n 1 "$d/out" | grep -vx "1 passed, 1 failed, 0 skipped"
			grep -q "runtime error\|AddressSanitizer" "$d/out" || echo "not in it: what it found, $kind"
		done
	fi
	rm -rf "$d"
)"

result 'what takes long is begun first, and what was skipped is named with what it needs' "$(
	suite
	for t in a b c; do a_test $t "echo ok 1 - $t"; done
	a_test t9-s "echo 'ok 1 - s # SKIP needs THIS'"
	TEST_FIRST='tests/c.t tests/none.t tests/b.t' TEST_JOBS=1 run_suite a b c t9-s || cat "$d/out"
	sed -n 's,^tests/\(.\)\.t \.\.* ok$,\1,p' "$d/out" | xargs | grep -vx "c b a"
	tail -n 2 "$d/out" | sed 's/$/;/' | xargs |
		grep -vx "skipped, needs THIS: 1 (t9.1); 3 passed, 0 failed, 1 skipped;"
	rm -rf "$d"
)"

# A daemon, a file elsewhere, and a program that ignores signals; ended by Ctrl-C's signal, by kill, and by the time.
result 'nothing is left of a run, however it ends: no process, no directory' "$(
	suite
	a_test stays 'cp /bin/sleep "$TEST_DIR/mine"; setsid "$TEST_DIR/mine" 600 &' \
		': >"/tmp/$TEST_BESIDE-x"; echo "$TEST_DIR $TEST_BESIDE" >'"$d/dir" \
		'trap "" TERM INT && "$TEST_DIR/mine" 600'
	for how in TERM INT HUP time; do
		rm -f "$d/dir"
		if [ $how = time ]; then
			TEST_TIMEOUT=1 run_suite stays
			rm -rf "$d/tmp"/*
		else
			run_suite stays &
			n=0
			until [ -s "$d/dir" ] || [ $n = 300 ]; do n=$((n + 1)) && sleep 0.1; done
			pkill -$how -o -f "reaper $d/tmp"
			wait $!
		fi
		read -r dir beside <"$d/dir"
		! pgrep -f "^$dir/mine" || echo "$how: a process is left"
		! ls -d "$d"/tmp/* 2>/dev/null || echo "$how: a directory is left"
		[ $how = time ] || ! ls "/tmp/$beside"-* 2>/dev/null
		rm -f "/tmp/$beside"-*
	done
	rm -rf "$d"
	[ "$beside" ] || echo "the tests did not run"
)"

echo "1..$count"
exit $failed
