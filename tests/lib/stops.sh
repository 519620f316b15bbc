# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of landings, and of undoing them, that somebody ends, with the files of work.sh.

# accepted NAME: that filters would run where it lands
accepted() {
	git agent land --dry-run $1 2>/dev/null || { test_expect_code 3 git agent land $1 2>/dev/null && git agent review --accept-all --critical $1; }
}

# ended SIGNAL WORD...: land, and send that to all processes of it, as a terminal does, when git has written half of it
ended() {
	rm -f ../at && : >../hold && printf "#!/bin/sh\n: >$PWD/../at\n[ ! -e $PWD/../hold ] || { rm $PWD/../hold; sleep 1000; }\ncat\n" >../slow && chmod +x ../slow && python3 -c "import os, signal, subprocess, sys, time
p = subprocess.Popen([\"git-agent\", \"land\"] + sys.argv[2:], start_new_session=True)
while not os.path.exists(\"../at\") and p.poll() is None:
	time.sleep(0.02)
os.killpg(p.pid, getattr(signal, sys.argv[1]))
sys.exit(p.wait() == 0)" "$@" && rm -f ../hold
}

# alone WAY SESSION: git-agent is killed when git has written half of it, and waits until ../hold is gone
alone() {
	rm -f ../at && : >../hold && printf "#!/bin/sh\n: >$PWD/../at\nwhile [ -e $PWD/../hold ]; do sleep 0.05; done\ncat\n" >../slow && chmod +x ../slow && { git-agent land "$@" & } && pid=$! && test_wait_for "test -e ../at" && kill -9 $pid && { wait $pid || :; }
}

# pending WORD...: git-agent is killed when the git that moves the branch waits in a hook, until ../hold is gone
pending() {
	rm -f ../at && : >../hold && printf "#!/bin/sh\ntest \$1 = prepared && grep -q $(git symbolic-ref HEAD) || exit 0\n: >$PWD/../at\nwhile [ -e $PWD/../hold ]; do sleep 0.05; done\n" >.git/hooks/reference-transaction && chmod +x .git/hooks/reference-transaction && { git-agent land "$@" & } && pid=$! && test_wait_for "test -e ../at" && kill -9 $pid && { wait $pid || :; }
}

# working SESSION [undoing begun]: git is said to be at work still, whatever is tried; then it goes on, and ends
working() {
	note=$(echo "$HOME"/.local/state/git-agent/*/sessions/"$1"/undo/1/"${3:-record}") &&
	for c in land "land --abort" "land --undo"; do
		test_expect_code 128 git agent $c $1 2>../err && cat ../err && grep "the ${2:-landing} of agent/$1 was killed, and git is still at work on it" ../err && grep -F "fuser -v $note" ../err || return 1
	done && rm ../hold && test_wait_for "flock -n $note true" && rm -f .git/hooks/reference-transaction
}
