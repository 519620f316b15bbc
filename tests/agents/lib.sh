# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016,SC2034,SC2094,SC2154
#
# A real agent, installed as users install it, with a model that does as it is told
# (tests/helpers/endpoint.py). What these tests need beyond the others is npm, its registry and
# Python.
. "$TEST_SRCDIR/tests/lib/live.sh"
require_sandbox

# need WORD CONDITION REASON: or skip the whole file, unless GIT_AGENT_TEST_REQUIRE has that word
need() {
	eval "$2" >/dev/null 2>&1 &&
	return
	case " ${GIT_AGENT_TEST_REQUIRE-} " in
	*" $1 "*)
		echo "not ok 1 - $3"
		echo "1..1"
		exit 1
		;;
	esac
	echo "1..0 # SKIP $3"
	rm -rf "$TRASH"
	exit 0
}

# begin AGENT PACKAGE: the model, a repository, and the agent
begin() {
	agent=$1
	# the system's, which needs nothing of a home
	need PYTHON "test -x /usr/bin/python3" "there is no /usr/bin/python3"
	need REGISTRY "npm_config_cache=$TRASH/npm timeout 60 npm view $2 version" \
		"npm or its registry cannot be reached"
	model=$TRASH/model
	mkdir "$model" &&
	echo '[]' >"$model/steps"
	/usr/bin/python3 "$TEST_SRCDIR/tests/helpers/endpoint.py" "$model" >"$model/out" 2>&1 &
	model_pid=$!
	trap 'kill $model_pid' EXIT
	test_wait_for 'test -s "$model/port"' || exit 1
	url=http://127.0.0.1:$(cat "$model/port")
	git init -q "$HOME/p" &&
	cd "$HOME/p" || exit 1
	printf 'one\ntwo\n' >file &&
	printf 'test:\n\ttrue\n' >Makefile &&
	git add . &&
	git commit -qm start
}

# The task: an edit, a new file and a commit of both; then something nobody commits, of which one
# path runs by itself, one in builds, and one conflicts with nothing.
tell() {
	cat >"$model/steps" <<-STEPS
	[
	{"read": "$PWD/file"},
	{"edit": "$PWD/file", "old": "two", "new": "2"},
	{"write": "$PWD/src/new.txt", "text": "by a tool\n"},
	{"run": "git add -A && git commit -qm 'Do as told'"},
	{"run": "printf 'test:\\n\\techo changed\\n' >Makefile && printf 'plain\\n' >plain.txt && echo x >.envrc"},
	{"run": "git config user.name; git config user.email; echo \$HOME; printenv LANG"},
	{"say": "all is done"}
	]
	STEPS
	: >"$model/log"
}

# What the agent sent back of the last command.
last_output() {
	/usr/bin/python3 -c '
import json, sys
last = [json.loads(line) for line in open(sys.argv[1])][-1]["request"]
print(json.dumps(last, indent=0).replace("\\n", "\n"))' "$model/log"
}

# The whole way of a session NAME whose agent did that.
check_session() {
	git agent show --json "$1" >show &&
	grep '"exit_status": 0' show &&
	test "$(git log --format=%s "main..agent/$1" | tail -n 1)" = "Do as told" &&
	test "$(git log --format='%an <%ae>' "main..agent/$1" | sort -u)" = "A U Thor <author@example.com>" &&
	printf 'one\n2\n' >want &&
	git show "agent/$1:file" | cmp - want &&
	printf 'by a tool\n' >want &&
	git show "agent/$1:src/new.txt" | cmp - want &&
	test "$(git show "agent/$1:plain.txt")" = plain &&
	git show "agent/$1:Makefile" | grep changed || return 1
	# what runs on entering the directory is held, what builds run is flagged
	git agent review --format=json "$1" >review.json &&
	grep '"path": "\.envrc"' review.json &&
	grep '"path": "Makefile"' review.json &&
	test_must_fail git cat-file -e "agent/$1:.envrc" &&
	git cat-file -e "refs/agent/$1/held:.envrc"
}

# Nothing of it reached the user's tree; then it does, and no more than was accepted.
check_land() {
	rm -f show want review.json &&
	test -z "$(git status --porcelain)" &&
	test_expect_code 3 git agent land "$1" &&
	git agent review --accept "$1" Makefile &&
	git agent review --reject "$1" .envrc &&
	git agent land "$1" &&
	grep -x 2 file &&
	test -f src/new.txt &&
	test -f plain.txt &&
	test ! -e .envrc &&
	test -z "$(git status --porcelain)"
}

# What the agent's commands were told of the user and of where they are.
check_inside() {
	grep '"key": true' "$model/log" >/dev/null &&
	last_output >last &&
	grep "A U Thor" last &&
	grep "author@example.com" last &&
	grep "^$HOME\$" last &&
	grep "C.UTF-8" last
}

# take_turns FIRST MORE...: two sessions, each with a conversation that FIRST begins, continue it in turns: with MORE,
# words before a prompt.
take_turns() {
	first=$1
	shift
	echo "[]" >"$model/steps"
	for s in a b; do
		git agent start -q -n $s $agent $first "prompt-of-$s" </dev/null || return 1
	done
	for s in a b; do
		: >"$model/log" &&
		git agent resume -q $s -- $agent "$@" "more-of-$s" </dev/null &&
		last_output >last &&
		grep "prompt-of-$s" last &&
		grep "more-of-$s" last &&
		! grep "prompt-of-$(echo $s | tr ab ba)" "$model/log" || return 1
	done
}

# on_terminal COMMAND...: it shows the prompt of $s and the answer to it, and is ended once it has both on disk
on_terminal() {
	until_kept="until grep -raq 'that was all' '$(dir_of $s)/conversations'; do :; done"
	TERM=xterm-256color "$TEST_BUILDDIR/tests/helpers/ptydrive" resize=50x150 within=90 expect="prompt-of-$s" \
		sh="$until_kept" sleep=2000 sh="git agent stop -qf $s" -- "$@" >"$TRASH/screen" &&
	grep -aq all "$TRASH/screen" && # in whatever order it was drawn
	test_wait_for "git agent list | grep \"^$s .*captured\""
}

# shows_own NAME...: each of these sessions continues its conversation on a terminal, without sending a prompt again
shows_own() {
	: >"$model/log"
	for s in "$@"; do
		on_terminal git agent resume -q $s &&
		! grep "prompt-of-" "$model/log" || return 1
	done
}

# What is the same for each, of the session `s`
rest_of_session() {
	test_that 'its model got the key; its commands found identity, home and locale' check_inside
	test_that 'its work is reviewed and landed' '
		rm -f list out err last &&
		check_land s
	'
}
