# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016,SC2030,SC2031,SC2034,SC2181
#
# For tests in POSIX shell: TAP output, a frozen world, a scratch directory.
#
#     test_description='what is tested'
#     . "$TEST_SRCDIR/tests/lib/test-lib.sh"
#     test_that 'name' 'commands && joined && by && and'
#     test_done
#
# A test whose commands are not one && chain fails: nothing asserts what a command before a break comes to.
# The chain may have compound commands in it; within those nobody looks.
#
# The commands of each test run in a subshell, in the directory $HOME below the scratch directory
# $TRASH: the next test sees the files that they make, but not the variables. Their output goes to the
# log in tests/results. The scratch directory is kept if a test failed.

: "${TEST_SRCDIR:?run tests by make check}" "${TEST_BUILDDIR:?}" "${TEST_RESULTS:=$TEST_BUILDDIR/tests/results}"

# ---- the world

unset CDPATH XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
unset PAGER EDITOR VISUAL LESS NO_COLOR
for test_var in $(env | sed -n 's/^\(GIT_[A-Za-z0-9_]*\)=.*/\1/p'); do
	case $test_var in
	GIT_AGENT_TEST_*) ;;
	*) unset "$test_var" ;;
	esac
done

# shellcheck source=tests/lib/scratch.sh
. "$TEST_SRCDIR/tests/lib/scratch.sh"
TRASH=${TEST_DIR:-$(mktemp -d "$(scratch_base)/ga-XXXXXX")} || exit 1
TRASH=$(cd "$TRASH" && pwd -P)
HOME=$TRASH/home
LC_ALL=C
TZ=UTC
TERM=dumb
PATH=$TEST_BUILDDIR:$PATH
GIT_CONFIG_NOSYSTEM=1
GIT_AGENT=$TEST_BUILDDIR/git-agent # not exported: tests run `git agent`, from PATH
# In builds with sanitizers a finding ends the program by a signal, which no test takes for an exit
# status that was meant. The leak checker is off: it traces the process, which fails in a sandbox and
# under strace. Limits on core dumps are left to the programs. tests/run-one.sh has set where findings
# are kept.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}abort_on_error=1:detect_leaks=0:disable_coredump=0
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}abort_on_error=1:print_stacktrace=1
export TRASH HOME LC_ALL TZ TERM PATH GIT_CONFIG_NOSYSTEM ASAN_OPTIONS UBSAN_OPTIONS
mkdir "$HOME" || exit 1
git config --global user.name 'A U Thor'
git config --global user.email author@example.com
git config --global init.defaultBranch main
git config --global advice.detachedHead false
umask 022
cd "$HOME" || exit 1

test_count=0
test_waiting= # set by test_wait_for, whose failed attempts print nothing
test_failed=0
test_log=$TRASH/log

# ---- tests

# test_that [PREREQ] NAME COMMANDS
test_that() {
	if [ $# = 3 ]; then
		test_prereq=$1
		shift
	else
		test_prereq=
	fi
	test_count=$((test_count + 1))
	if [ -n "$test_prereq" ] && ! test_have_prereq "$test_prereq"; then
		case " ${GIT_AGENT_TEST_REQUIRE-} " in
		*" $test_prereq "*)
			test_failed=$((test_failed + 1))
			echo "not ok $test_count - $1 (needs $test_prereq, which is required here)"
			;;
		*) echo "ok $test_count - $1 # SKIP needs $test_prereq" ;;
		esac
		return
	fi
	: >"$TRASH/began"
	(
		test_cleanup=: test_last=$! test_joined=
		trap 'test_rc=$?; trap - EXIT; test_is_joined || test_rc=1; eval "$test_cleanup"; exit $test_rc' EXIT
		# Behind one that fails, none of the commands runs if && joins them all, and what all end with is
		# what it failed with, none in the background. If any runs, the test has failed: they are not run again.
		eval "test_fails_first && $2"
		[ $? = 117 ] && [ "$test_last" = "$!" ] && test_joined=yes && eval "$2"
	) >"$test_log" 2>&1 </dev/null
	if [ $? = 0 ]; then
		echo "ok $test_count - $1"
	else
		test_failed=$((test_failed + 1))
		echo "not ok $test_count - $1"
		{
			echo "FAILED: $1"
			echo "$2"
			cat "$test_log"
			test_show_err
		} >&2
	fi
}

# What a test that failed had sent to the file err, as most do that look into messages: what it did not
# find there says why it failed.
test_show_err() {
	find "$HOME/err" "$TRASH/err" -size +0 -newer "$TRASH/began" 2>/dev/null |
		while read -r test_err; do
			echo "the last of ${test_err#"$TRASH/"}:"
			tail -n 20 "$test_err"
		done
}

# What test_that puts before the commands of a test to see that && joins them.
test_fails_first() {
	return 117
}
test_is_joined() {
	[ -n "$test_joined" ] || {
		echo "the commands are not one && chain: some ran though one before them had failed"
		return 1
	}
}

# In tests, `test` and `grep` say what they looked for and what there was. ([ is for conditions that may be false.)
test() {
	command test "$@" && return
	set -- $? "$@"
	[ -n "$test_waiting" ] || {
		test_status=$1
		shift
		echo "not so: test $*" >&2
		set -- "$test_status"
	}
	return "$1"
}

grep() {
	for test_last_word; do :; done
	if [ $# -lt 2 ] || [ ! -e "$test_last_word" ]; then
		tee "$TRASH/.grepped" | command grep "$@"
		set -- $? "$TRASH/.grepped" "$@"
	else
		command grep "$@"
		set -- $? "$test_last_word" "$@"
	fi
	[ "$1" != 1 ] || [ -n "$test_waiting" ] || [ -d "$2" ] || {
		shift
		test_grepped=$1
		shift
		echo "not found: grep $*, in:"
		command tail -n 20 "$test_grepped"
		set -- 1
	} >&2
	return "$1"
}

# test_use NAME: the helpers in tests/lib/NAME.sh as well
test_use() {
	# shellcheck disable=SC1090
	. "$TEST_SRCDIR/tests/lib/$1.sh"
}

# program NAME: its path, also where a function above has its name
program() {
	(unset -f test grep && command -v "$1")
}

# test_prints TEXT COMMAND...: its standard output is TEXT, where \n is a new line
test_prints() {
	printf '%b\n' "$1" >"$TRASH/.want"
	shift
	"$@" >"$TRASH/.got" || return
	diff -u "$TRASH/.want" "$TRASH/.got"
}

# test_when_finished COMMANDS: run them at the end of the current test, however it ends
test_when_finished() {
	test_cleanup="$*; $test_cleanup"
}

# test_must_fail COMMAND...: it fails by itself, not by a signal or because it cannot be run
test_must_fail() {
	"$@"
	test_rc=$?
	if [ $test_rc = 0 ]; then
		echo "should have failed: $*" >&2
		return 1
	elif [ $test_rc -gt 129 ] || [ $test_rc = 126 ] || [ $test_rc = 127 ]; then
		echo "died with $test_rc: $*" >&2
		return 1
	fi
	return 0
}

# test_expect_code STATUS COMMAND...
test_expect_code() {
	test_want=$1
	shift
	"$@"
	test_rc=$?
	[ $test_rc = "$test_want" ] && return 0
	echo "exit status $test_rc, not $test_want: $*" >&2
	return 1
}

# test_says TEXT COMMAND...: it succeeds, and its messages, which are in ../err then, have TEXT, a pattern
test_says() {
	test_text=$1
	shift
	"$@" 2>../err || return
	grep -e "$test_text" ../err >&2
}

# test_shows TEXT COMMAND...: it succeeds, and its output, which is in ../out then, has TEXT, a pattern
test_shows() {
	test_text=$1
	shift
	"$@" >../out || return
	grep -e "$test_text" ../out >&2
}

# test_fails STATUS TEXT COMMAND...: it ends with STATUS, and says TEXT
test_fails() {
	test_code=$1 test_text=$2
	shift 2
	test_says "$test_text" test_expect_code "$test_code" "$@"
}

test_cmp() {
	diff -u "$1" "$2"
}

# test_wait_for COMMANDS: wait until they succeed; fails if they do not within the deadline
test_wait_for() {
	test_n=0 test_waiting=yes
	until eval "$1"; do
		test_n=$((test_n + 1))
		[ $test_n -lt 600 ] || {
			echo "never came true: $1" >&2
			return 1
		}
		sleep 0.05
	done
	test_waiting=
}

# test_directory_in DIR: make a directory in /tmp or /dev/shm, for what must be there; it goes when the test ends
test_directory_in() {
	mktemp -d "$1/${TEST_BESIDE:-ga}-XXXXXX"
}

# test_repo NAME: an empty repository in the current directory
test_repo() {
	git init -q "$1"
}

# test_enter NAME [FILE]: a repository, with a file of that content committed, and change to it
test_enter() {
	test_repo "$1" &&
	cd "$1" || return
	[ -z "${2-}" ] || { echo "$2" >"$2" && test_commit 1; }
}

# test_commit MESSAGE: all that there is
test_commit() {
	git add -A &&
	git commit -qm "$1"
}

# test_empty MESSAGE: a commit that changes nothing
test_empty() {
	git commit -q --allow-empty -m "$1"
}

# test_aihome: the agents' home, before the first session makes it
test_aihome() {
	mkdir -p "$HOME/aihome" &&
	chmod 700 "$HOME/aihome"
}

# test_submodule URL DIR: it is added, and staged
test_submodule() {
	git -c protocol.file.allow=always submodule -q add "$@"
}

# test_script FILE [COMMANDS]: a program for sh with these, or with what standard input has
test_script() {
	{
		echo '#!/bin/sh'
		if [ $# = 2 ]; then printf '%s\n' "$2"; else cat; fi
	} >"$1" &&
	chmod +x "$1"
}

# test_settings [TEXT]: the user's own file, with \n for new lines, or what standard input has
conf=$HOME/.config/git-agent/config.yaml
test_settings() {
	mkdir -p "${conf%/*}" &&
	{
		if [ $# = 1 ]; then printf '%b' "$1"; else cat; fi
		echo
		# tests look at what sessions were, whether they changed anything or not
		echo 'keep_unchanged: true'
	} >"$conf"
}
test_settings ''

# test_holds REVISION:PATH TEXT: the file there is TEXT, but for new lines at its end
test_holds() {
	test "$(git cat-file blob "$1")" = "$2"
}

# test_same REVISION REVISION: they are the same object
test_same() {
	test "$(git rev-parse "$1")" = "$(git rev-parse "$2")"
}

# test_missing REVISION: there is none
test_missing() {
	test_must_fail git rev-parse -q --verify "$1"
}

# test_inside COMMANDS [ARG...]: sh runs these in a session whose name does not matter
test_inside() {
	git agent start -q -- sh -c "$@"
}

# test_background NAME COMMANDS [ARG...]: the same in one that runs in the background
test_background() {
	test_name=$1
	shift
	git agent start -qd --name "$test_name" -- sh -c "$@"
}

# test_dir NAME: the directory with what is kept of a session
test_dir() {
	ls -d "$HOME"/.local/state/git-agent/*/sessions/"$1"
}

# test_session NAME COMMANDS [ARG...]: a session in which sh runs these
test_session() {
	test_name=$1
	shift
	git agent start -q --name "$test_name" -- sh -c "$@"
}

# test_resume NAME COMMANDS [ARG...]: it is resumed with these
test_resume() {
	test_name=$1
	shift
	git agent resume -q "$test_name" -- sh -c "$@"
}

# test_state NAME STATE: the list says that of the session
test_state() {
	git agent list | grep "^$1 .*$2"
}

# test_random COUNT: how many random cells to try, $count, and the seed of the first, $first: COUNT of them times
# TIMES, from the time on; or the one of SEED. Each says its seed when it fails.
test_random() {
	first=${SEED:-$(date +%s)0} count=1
	[ -n "${SEED-}" ] || count=$(($1 * ${TIMES:-1}))
}

# ---- prerequisites

# test_lazy_prereq NAME COMMANDS: evaluated once, when first asked for.
test_lazy_prereq() {
	eval "test_prereq_cmd_$1=\$2"
}

test_have_prereq() {
	eval "test_answer=\${test_prereq_$1-}"
	if [ -z "$test_answer" ]; then
		eval "test_cmd=\${test_prereq_cmd_$1-}"
		[ -n "$test_cmd" ] || {
			echo "no such prerequisite: $1" >&2
			exit 1
		}
		if (eval "$test_cmd") >/dev/null 2>&1; then
			test_answer=yes
		else
			test_answer=no
		fi
		eval "test_prereq_$1=\$test_answer"
	fi
	[ "$test_answer" = yes ]
}

test_lazy_prereq SANDBOX 'git agent doctor'
test_lazy_prereq ROOT '[ "$(id -u)" = 0 ]'
test_lazy_prereq NOT_ROOT '[ "$(id -u)" != 0 ]'
test_lazy_prereq GITLFS 'git lfs version'
test_lazy_prereq STRACE 'strace -f true'
test_lazy_prereq TTY '"$TEST_BUILDDIR/tests/helpers/ptydrive" exit=0 -- tty'
test_lazy_prereq USERNS 'unshare -Urm true'
# for tests that bound the memory of a program: sanitizers take much more
test_lazy_prereq UNSANITIZED '! grep -q __asan_init "$TEST_BUILDDIR/git-agent-main"'

# For a file of tests that all need a sandbox: skip it as a whole where none can be started, or fail if
# GIT_AGENT_TEST_REQUIRE says that sandboxes must work here.
require_sandbox() {
	test_have_prereq SANDBOX && return 0
	case " ${GIT_AGENT_TEST_REQUIRE-} " in
	*" SANDBOX "*)
		echo "not ok 1 - a sandbox can be started here"
		echo "1..1"
		git agent doctor >&2
		exit 1
		;;
	esac
	echo "1..0 # SKIP no sandbox can be started here: $(git agent doctor 2>&1 | grep FAIL | head -1)"
	rm -rf "$TRASH"
	exit 0
}

test_done() {
	echo "1..$test_count"
	if [ $test_failed = 0 ]; then
		cd / && chmod -R u+rwx "$TRASH" 2>/dev/null
		rm -rf "$TRASH"
		exit 0
	fi
	echo "# kept: $TRASH"
	exit 1
}
