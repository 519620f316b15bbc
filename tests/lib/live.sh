# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of running sessions, seen from outside.

# shellcheck disable=SC2034 # used by the tests
pty=$TEST_BUILDDIR/tests/helpers/ptydrive

# dir_of NAME: the directory of a session of the current repository
dir_of() {
	echo "$HOME/.local/state/git-agent/$(head -1 "$(git rev-parse --git-common-dir)/git-agent/id")/sessions/$1"
}
# running NAME PYTHON-EXPRESSION: print the expression's value, with `run` as `list --json` has it
running() {
	git agent list --json | python3 -c 'import json, sys
for s in json.load(sys.stdin):
    run = s["run"]
    if s["name"] == sys.argv[1]: print(run and eval(sys.argv[2]))' "$@"
}
# list the processes that run the programs of own_programs
ours() {
	stat -L -c ':%d-%i: %n' /proc/[0-9]*/exe 2>/dev/null | grep -F -f "$TRASH/ids"
}
# run copies of the programs from now on, to tell their processes from those of other tests
own_programs() {
	mkdir "$TRASH/bin" &&
	cp "$TEST_BUILDDIR"/git-agent "$TEST_BUILDDIR"/git-agent-* "$TRASH/bin" 2>/dev/null
	stat -c ':%d-%i:' "$TRASH"/bin/* >"$TRASH/ids"
	PATH=$TRASH/bin:$PATH
}
# stop the sessions that tests left running, in all repositories of $HOME
end_ours() {
	cd "$HOME" || return
	for d in */.git; do
		# shellcheck disable=SC2046
		(
			cd "${d%/.git}" &&
			git agent stop -qf $(git agent list | awk '$2 == "running" { print $1 }')
		) >/dev/null 2>&1
	done
}
