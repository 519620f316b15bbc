#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gates.sh [GATE...]: what compilers, analyzers and checkers say of the source; without names, all of
# them. One is passed when there is nothing to say; a tool that is missing is a failure. Each works in a
# directory of its own, build/gates/GATE, and leaves a log beside it. Two run at a time, and what
# one has to say is said when it ends. `make gates` runs this.
#
#     shell        shellcheck over every script that is no test (those have their commands in strings)
#     cppcheck     src, but for what tests/gates/cppcheck.txt says
#     clang-tidy   src, by the checks of .clang-tidy
#     analyzer     src, compiled with gcc's -fanalyzer, warnings being errors
#     clang        everything, compiled by clang, warnings being errors; replays of the fuzzers' corpora
#     valgrind     unit tests: reads and writes that are not theirs, leaks
#     sanitizers   unit tests, replays and SANITIZED_TESTS (or SANITIZER_TESTS) with those of addresses and of
#                  undefined behaviour, and which lines outside src/cli they reach
#     packages     a Debian package that lintian finds no error in, and an RPM spec that parses
set -u
: "${TEST_SRCDIR:?run by make gates}" "${TEST_BUILDDIR:?}"
# The one that takes longest, and beside it the others, those first that are soonest done
all='sanitizers shell cppcheck clang-tidy packages analyzer clang valgrind'
# Those that take longest under valgrind: begun first, so that none is left over at the end
slow='capture/test-rewrite repo/test-import risk/test-risk-known risk/test-risk-host run/test-termfilter
repo/test-pack repo/test-tree'
jobs=${TEST_JOBS:-2}
work=$TEST_BUILDDIR/build/gates
MAKEFLAGS= # of the make that runs this: each build here is one of its own
# what is skipped would have said nothing
GIT_AGENT_TEST_REQUIRE="SANDBOX USERNS ${GIT_AGENT_TEST_REQUIRE-}"
export MAKEFLAGS GIT_AGENT_TEST_REQUIRE

need() {
	for tool; do
		command -v "$tool" >/dev/null || { echo "$tool is not installed" && return 1; }
	done
}

# build GATE OPTION...: configured and built in its directory, to the end whatever fails
build() {
	mkdir -p "$work/$1" && cd "$work/$1" || return 1
	shift
	../src/configure -q --enable-developer "$@" && make -k -s "-j$jobs" all
}

names() { # VARIABLE of Makefile.am: the names in its list
	sed -n "/^$1 = /,/[^\\\\]\$/p" "$TEST_SRCDIR/Makefile.am" | grep -o 'tests/[a-z/A-Z0-9._-]*'
}
# Sessions wait for half of their time.
check() { make -k -s "-j$jobs" check TEST_JOBS="$((2 * jobs))" T="$*"; }

gate_shell() {
	need shellcheck && cd "$TEST_SRCDIR" &&
		shellcheck -x -S warning autogen.sh .ci/run hooks/* tests/*.sh tests/*/*.sh docs/*/*.sh
}

# The unit tests that a package runs have been run by the others, and what optimizing warns of was said by them.
gate_packages() {
	need dpkg-buildpackage dh lintian rpmspec && cd "$TEST_BUILDDIR" &&
		DEB_BUILD_OPTIONS="nocheck noopt parallel=$jobs" make -s deb &&
		sed 's/@VERSION@/1/' "$TEST_SRCDIR/docs/packaging/git-agent.spec" >"$work/git-agent.spec" &&
		rpmspec -P "$work/git-agent.spec"
}

gate_cppcheck() {
	need cppcheck && cd "$TEST_SRCDIR" &&
		cppcheck -q -j"$jobs" --error-exitcode=1 --inline-suppr --std=c11 \
			--enable=warning,performance,portability \
			--suppressions-list=tests/gates/cppcheck.txt --library=tests/gates/cppcheck.xml \
			-Iinclude -Isrc src
}

# With what Makefile.am gives the compiler; config.h and the rest are of the build it is run in.
gate_clang_tidy() {
	need clang-tidy pkg-config && cd "$TEST_SRCDIR" || return 1
	# what pkg-config says is meant to be split
	# shellcheck disable=SC2046
	set -- -std=gnu11 -O2 -D_GNU_SOURCE -DHAVE_CONFIG_H -DGA_LIBEXECDIR='""' -include "$TEST_BUILDDIR/config.h" \
		-Iinclude -Isrc -I"$TEST_BUILDDIR/src" -I"$TEST_BUILDDIR/src/land/guard" \
		$(pkg-config --cflags libgit2 jansson libutf8proc nettle yaml-0.1 zlib libseccomp)
	find src -name '*.c' -print0 | xargs -0 -P"$jobs" -I{} clang-tidy --quiet {} -- "$@"
}

gate_analyzer() {
	need gcc && build analyzer CC=gcc CFLAGS='-O2 -fanalyzer'
}

gate_clang() {
	# shellcheck disable=SC2046
	need clang && build clang CC=clang CFLAGS=-O1 && check $(names FUZZ_TESTS)
}

gate_valgrind() {
	need valgrind cc && cd "$TEST_BUILDDIR" &&
		cc -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -fPIC -shared -pthread -o "$work/pidfd.so" \
			"$TEST_SRCDIR/tests/gates/pidfd.c" || return 1
	# shellcheck disable=SC2086
	{ printf 'tests/unit/%s\n' $slow && names UNIT_TESTS; } | awk '!seen[$0]++' |
		xargs -P"$jobs" -n1 sh "$TEST_SRCDIR/tests/gates/valgrind.sh"
}

# Of a file that several programs are made of, the one that reached most of it. Not of src/init: it is
# process 1 of a sandbox, where there is nothing to write counts to.
count_lines() {
	find src -name '*.gcno' ! -path 'src/cli/*' ! -path 'src/init/*' | sort | xargs gcov -n 2>/dev/null |
		awk -v bar="$1" '
		/^File / { f = $2; gsub(/\047/, "", f); sub(/^.*\/src\//, "src/", f) }
		/^Lines executed:/ {
			split($2, a, ":"); n = $4; h = n * (a[2] + 0) / 100
			# behind the last file comes a sum of all
			name = f; f = ""
			if (name !~ /^src\/.*\.c$/ || name ~ /^src\/(cli|init)\//) next
			if (n > all[name]) all[name] = n
			if (h > hit[name]) hit[name] = h
		}
		END {
			for (f in all) {
				d = f; sub(/\/[^\/]*$/, "", d)
				n_all[d] += all[f]; n_hit[d] += hit[f]; lines += all[f]; reached += hit[f]
			}
			for (d in n_all)
				printf "%-14s %6d of %6d lines, %5.1f %%\n", d, n_hit[d] + .5, n_all[d],
					100 * n_hit[d] / n_all[d] | "sort"
			close("sort")
			share = lines ? 100 * reached / lines : 0
			printf "coverage: %.1f %% of %d lines outside src/cli", share, lines
			print share < bar ? ", and " bar " % is the bar" : ""
			exit share < bar
		}'
}

# Both in one build: what is run once tells of faults and of lines. Those that wait most come first: unit
# tests, which wait least, fill in at the end.
gate_sanitizers() {
	need gcov && build sanitizers --enable-sanitizers --enable-coverage CFLAGS='-g -O1' || return 1
	# shellcheck disable=SC2086,SC2046
	check ${SANITIZER_TESTS:-$(names SANITIZED_TESTS) $(names UNIT_TESTS) $(names FUZZ_TESTS)}
	status=$?
	count_lines "${COVERAGE_BAR:-87}" && return "$status"
}

# one GATE: what it says, when it has ended
one() {
	began=$(date +%s)
	rm -rf "${work:?}/$1" "$work/$1.log"
	if (case $1 in
	shell | packages | cppcheck | clang-tidy | analyzer | clang | valgrind | sanitizers)
		"gate_$(echo "$1" | tr - _)" ;;
	*) echo "there is no gate '$1'" && false ;;
	esac) >"$work/$1.log" 2>&1; then
		echo "$1: passed, $(($(date +%s) - began)) s"
		# what it measured, and what it did not look at
		grep '^coverage: \|^src/.* of .* lines\|^valgrind: \|^lintian: ' "$work/$1.log"
		return 0
	fi
	echo "$1" >>"$work/failed"
	grep -vE '^(  |make)|^[^:]*\.\.+ ok$' "$work/$1.log" | tail -60
	echo "$1: failed, $(($(date +%s) - began)) s ($work/$1.log)"
	return 1
}

# of a run with several, what it runs for each
if [ "${1-}" = --one ]; then
	said=$(one "$2")
	status=$?
	printf '%s\n' "$said"
	exit "$status"
fi

# The source as it is distributed: one that has been built in cannot be built from elsewhere.
mkdir -p "$work" && rm -rf "$work/src" "$work/failed" && cd "$TEST_BUILDDIR" &&
	make -s distdir distdir=build/gates/src || exit 2
# shellcheck disable=SC2086 # names of gates have no blanks
[ $# != 0 ] || set -- $all
printf '%s\n' "$@" | xargs -P2 -n1 sh "$TEST_SRCDIR/tests/gates.sh" --one && exit
[ ! -e "$work/failed" ] || echo "failed: $(xargs <"$work/failed")"
exit 1
