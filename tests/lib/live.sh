# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of sessions that others look at while they run.

# shellcheck disable=SC2034 # for the tests that read this
pty=$TEST_BUILDDIR/tests/helpers/ptydrive

# the directory of session NAME of the repository around
dir_of() {
	echo "$HOME/.local/state/git-agent/$(head -1 "$(git rev-parse --git-common-dir)/git-agent/id")/sessions/$1"
}
# running NAME PYTHON-EXPRESSION of `run` in list --json, printed
running() {
	git agent list --json | python3 -c 'import json, sys
for s in json.load(sys.stdin):
    run = s["run"]
    if s["name"] == sys.argv[1]: print(run and eval(sys.argv[2]))' "$@"
}
# processes of ours that are not dead: those of copies in $TRASH/bin
ours() {
	stat -L -c ':%d-%i: %n' /proc/[0-9]*/exe 2>/dev/null | grep -F -f "$TRASH/ids"
}
# from now on all that is run is a copy, and told from what other tests run
own_programs() {
	mkdir "$TRASH/bin" && cp "$TEST_BUILDDIR"/git-agent "$TEST_BUILDDIR"/git-agent-* "$TRASH/bin" 2>/dev/null
	stat -c ':%d-%i:' "$TRASH"/bin/* >"$TRASH/ids"
	PATH=$TRASH/bin:$PATH
}
# at the end: whatever a test left
end_ours() {
	cd "$HOME" || return
	for d in */.git; do
		# shellcheck disable=SC2046
		(cd "${d%/.git}" && git agent stop -qf $(git agent list | awk '$2 == "running" { print $1 }')) >/dev/null 2>&1
	done
}
