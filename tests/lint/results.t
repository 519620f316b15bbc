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
		/^[ \t]*test_expect_success .*\047$/ { body = 1; next }
		/^[ \t]*\047$/ { body = script = 0; next }
		script == 2 {
			print FILENAME ":" line ": join it with && to what follows"
			script = 0
		}
		script == 1 { t = $0; gsub(/^\t+/, "", t); if (t == tag) script = 2; next }
		body && /python3 .*<<-\\?[A-Z]+$/ { script = 1; line = FNR; tag = $0; sub(/.*<<-\\?/, "", tag) }
	' tests/integration/*.t
)"

result 'a test whose commands are not joined by && fails, and they are not run twice; compound ones can be joined' "$(
	d=$(mktemp -d) && mkdir "$d/tmp" || exit
	tries() { # COMMANDS...: a file with a test of each
		printf '%s\n' "test_description=tries" '. "$TEST_SRCDIR/tests/lib/test-lib.sh"'
		for t; do
			printf 'test_expect_success name "%s"\n' "$t"
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
		: # said" "! false" "if :; then :; fi && :" "for i in 1 2; do : || exit 1; done" "f() { false; :; } && f" "{ : & } && wait \$!" \
		"{ false || :; } && (exit 0) && cat <<-EOT && :
		text
		EOT"
	tries "$@" >"$d/whole.t"
	run "$d/whole.t" | grep -vx "ok .* - name\|1..$#"
	echo ran | diff - "$d/ran"
	rm -rf "$d"
)"

result 'what a test that failed said is at the end of a run, its beginning and its end, and the sums are last' "$(
	d=$(mktemp -d) && mkdir "$d/tests" && cp tests/run-tests.sh tests/run-one.sh "$d/tests" || exit
	printf "%s\n" "echo 1..1" "echo not ok 1 - bad" "seq 1 500 | sed s/^/said-/ >&2" "exit 1" >"$d/tests/bad.t"
	! TEST_SRCDIR=$d TEST_BUILDDIR=$d sh tests/run-tests.sh tests/bad.t >"$d/out" 2>/dev/null || echo "it passed"
	for line in "not ok 1 - bad" said-1 said-100 "\[\.\.\. 300 lines \.\.\.\]" said-401 said-500; do
		grep -qx "$line" "$d/out" || echo "not in it: $line"
	done
	! grep -x "said-\(101\|400\)" "$d/out"
	tail -n 1 "$d/out" | grep -vx "0 passed, 1 failed, 0 skipped"
	rm -rf "$d"
)"

# By the flags of configure.ac, where the compiler has them: clang has one runtime, with one log.
result 'what either sanitizer finds in a process that nobody watches fails the run' "$(
	d=$(mktemp -d) && mkdir "$d/tests" && cp tests/run-tests.sh tests/run-one.sh "$d/tests" || exit
	flags='-fsanitize=address,undefined -fno-sanitize-recover=all'
	echo 'int main(void) { return 0; }' >"$d/none.c"
	case $("${CC:-cc}" --version) in
	*clang*) more= ;;
	*) more=-static-libubsan ;;
	esac
	"${CC:-cc}" $flags $more -o "$d/none" "$d/none.c" 2>/dev/null || more=none
	if [ "$more" != none ]; then
		echo '#include <limits.h>
		int main(int n, char **v) { char b[8]; (void)v; b[n * 7] = 1; return (b[n * 7] + INT_MAX) < n; }' >"$d/undefined.c"
		echo '#include <stdlib.h>
		int main(int n, char **v) { char *b = malloc((size_t)n * 8); (void)v; free(b); return b[n]; }' >"$d/address.c"
		for kind in address undefined; do
			"${CC:-cc}" -w $flags $more -o "$d/$kind" "$d/$kind.c" || echo "cannot be compiled: $kind"
			printf "%s\n" "echo 1..1" "$d/$kind 2>/dev/null; echo ok 1 - nobody watched" >"$d/tests/$kind.t"
			! TEST_SRCDIR=$d TEST_BUILDDIR=$d sh tests/run-tests.sh tests/$kind.t >"$d/out" 2>&1 || echo "it passed: $kind"
			tail -n 1 "$d/out" | grep -vx "1 passed, 1 failed, 0 skipped"
			grep -q "runtime error\|AddressSanitizer" "$d/out" || echo "not in it: what it found, $kind"
		done
	fi
	rm -rf "$d"
)"

result 'two halves are all that is run, what is to be run by both is in both, and what takes long is begun first' "$(
	d=$(mktemp -d) && mkdir "$d/tests" && cp tests/run-tests.sh tests/run-one.sh "$d/tests" || exit
	for t in a b c d e f; do
		printf "%s\n" "echo 1..1" "echo ok 1 - $t" >"$d/tests/$t.t"
	done
	run() { # HALF: what is run, in this order
		TEST_HALF=$1 TEST_FIRST='tests/e.t tests/none.t tests/b.t' TEST_EITHER='tests/b.t tests/c.t tests/e.t tests/f.t' \
			TEST_JOBS=1 TEST_SRCDIR=$d TEST_BUILDDIR=$d sh tests/run-tests.sh tests/a.t tests/b.t tests/c.t tests/d.t tests/e.t tests/f.t >"$d/out" 2>&1
		echo "$? $(sed -n 's,^tests/\(.\)\.t \.\.* ok$,\1,p' "$d/out" | xargs) $(cat "$d/tests/results/seconds" | wc -l)"
	}
	{ run '' && run 0 && run 1 && run 2 | cut -d' ' -f1; } >"$d/ran" 2>/dev/null
	printf '0 %s\n' 'e b a c d f 6' 'e a c d 4' 'b a d f 4' | sed '$a2' | diff - "$d/ran"
	rm -rf "$d"
)"

echo "1..$count"
exit $failed
