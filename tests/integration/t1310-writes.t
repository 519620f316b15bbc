#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every call by which a capture writes fails, by ENOSPC, EIO, EDQUOT and EROFS (removing and
# changing modes and times by EIO and EROFS only), in git-agent and in the git it starts: it alone,
# or with all that come after it. Whatever the outcome: no ref points at a missing object,
# the layers are as they were, and doing it again gives what a capture without a fault gives.
#
# A sample of WRITES_COUNT (60) faults is taken, evenly spread from a place the seed says;
# WRITES_COUNT=0 means all of them. SEED=n does the sample of one seed again, and
# WRITES="n:errno n:errno:on ..." these and no others.
test_description='capture while every write fails in its turn'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

preload=$TEST_BUILDDIR/tests/helpers/failwrite.so
seed=${SEED:-$(date +%s)}
sample=${WRITES_COUNT-60}
state=$HOME/.local/state/git-agent
# a preloaded library comes before the sanitizer's: that is meant
ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

# What is captured: commits, another branch, a stash, something held back, converted content,
# a file too large for memory, enough small ones for a pack, what is ignored, what is gone,
# and what git has to be asked about: one it takes, one it refuses.
agent='echo 1 >one && git add one && git commit -qm one && git branch other &&
	echo s >>a && git stash -q && echo 2 >two && echo envrc >.envrc && rm b &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		mkdir -p d$((i % 4)) && echo $i >d$((i % 4))/f$i; done &&
	printf "[submodule \"x\"]\n\tpath = x\n" >.gitmodules && printf "[submodule \"x\"]\n\tpath = -x\n" >d1/.gitmodules &&
	head -c 1500000 /dev/urandom >large && echo log >x.log && printf "x\r\n" >crlf.txt'

# What overlayfs works in has no mode at all.
open_work() {
	chmod -R u+rwx "$state"/*/sessions/*/work
}

test_expect_success 'a session that was interrupted before its capture' '
	git init -q r && cd r && echo a >a && echo b >b && echo "*.log" >.gitignore &&
	echo "*.txt text" >.gitattributes && git add -A && git commit -qm base &&
	{ GIT_AGENT_FAULT=capture:begin:kill git agent start --name x -- sh -c "$agent"; test $? = 137; } &&
	upper=$(ls -d "$state"/*/sessions/x/upper) && test -e "$upper/two" &&
	open_work && mkdir ../as-it-was && cp -a . ../as-it-was/r && cp -a "$state" ../as-it-was/state
'

# Put everything back to where the session was interrupted.
restore() {
	open_work && rm -rf "$HOME/r" "$state" && cp -a "$HOME/as-it-was/r" "$HOME/r" &&
		cp -a "$HOME/as-it-was/state" "$state" && cd "$HOME/r"
}

layers() {
	(cd "$state"/*/sessions/x && find upper -printf '%p %y %m %s %l %T@\n' | sort &&
		find upper -type f -exec sha1sum {} + | sort)
}

# Refs with what they point at; the report by its tree, since its commit says when.
outcome() {
	git for-each-ref --format='%(refname) %(objectname)' | grep -v /report &&
		git rev-parse 'refs/agent/x/report^{tree}' && git agent list | sed 's, [0-9]*[smhd] ago *,,'
}

whole() {
	git fsck --connectivity-only >../fsck 2>&1 || { cat ../fsck; return 1; }
}

# with_fault N:ERRNO[:on] COMMAND...
with_fault() {
	FAILWRITE_AT=${1%%:*} FAILWRITE_ERRNO=${1#*:} FAILWRITE_STICKY=0 FAILWRITE_COUNT=$HOME/count
	case $1 in
	*:on) FAILWRITE_ERRNO=${FAILWRITE_ERRNO%:on} FAILWRITE_STICKY=1 ;;
	esac
	export FAILWRITE_AT FAILWRITE_ERRNO FAILWRITE_STICKY FAILWRITE_COUNT
	shift
	head -c 8 /dev/zero >"$HOME/count"
	LD_PRELOAD=$preload "$@"
}

test_expect_success 'a capture without a fault, its writes counted' '
	restore && layers >../layers &&
	with_fault 0:0 git agent capture x && outcome >../want && whole && layers | cmp ../layers - &&
	od -An -tu8 ../count | tr -d " " >../total && test "$(cat ../total)" -gt 100
'

test_expect_success 'and once more: it is the same each time' '
	restore && git agent capture x && outcome >../got && test_cmp ../want ../got
'

total=$(cat total 2>/dev/null || echo 0)

# A disk that takes nothing any more keeps locks: the hint names them all.
follow_hint() {
	sed -n "s/^hint: if no other git is at work in this repository: rm \(.*\); the agent.*/\1/p" ../out |
		xargs -r rm
}

no_leftovers() {
	! find .git/refs .git/objects -name "*.lock" -o -name "*.keep" -o -name "tmp_objdir*" | grep .
}

# What a capture that succeeded could not remove, the next one that has work does.
swept() {
	no_leftovers || { git agent start -q --name y -- sh -c "echo y >y" && no_leftovers; }
}

# fault N:ERRNO[:on]: what must hold when call N of a capture fails
fault() {
	restore || return 1
	with_fault "$1" git agent capture x >../out 2>&1
	rc=$?
	cat ../out
	# a signal is no answer
	[ $rc = 0 ] || [ $rc = 125 ] || [ $rc = 128 ] || { echo "status $rc"; return 1; }
	whole && layers | cmp ../layers - || return 1
	if [ $rc = 0 ]; then
		# the call was one that need not succeed
		outcome >../got && test_cmp ../want ../got || return 1
	else
		grep -q "^git-agent: " ../out && follow_hint || return 1
	fi
	git agent capture x && outcome >../got && test_cmp ../want ../got && whole &&
		layers | cmp ../layers - && swept
}

# which faults: all or a sample
faults() {
	awk -v total="$total" -v want="$sample" -v seed="$seed" 'BEGIN {
		split("28 5 122 30", e) # ENOSPC EIO EDQUOT EROFS
		all = total * 8
		if (!want || want > all) want = all
		for (i = 0; i < want; i++) {
			k = int((i + (seed % 997) / 997) * all / want)
			cell = (k + seed) % 8
			print int(k / 8) + 1 ":" e[int(cell / 2) + 1] (cell % 2 ? ":on" : "")
		}
	}'
}

echo "# $total writes, seed $seed"
for one in ${WRITES-$(faults)}; do
	test_expect_success "a write fails: $one" '
		fault '"$one"'
	'
done

test_done
