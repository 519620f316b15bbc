#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='capture of objects that git refuses, of damaged or hostile git dirs, and beyond limits'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

# For agents: take the object of that revision away.
without='without() {
	o=$(git rev-parse $1) && rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)
}'
# For agents: a branch whose tree has an entry .git, which git refuses.
evil='evil() {
	{ printf "100644 .git\0"; git rev-parse HEAD:a | perl -ne "print pack(q(H40), \$_)"; } >/tmp/tree
	tree=$(git hash-object -w --literally -t tree /tmp/tree)
	git update-ref refs/heads/evil $(git commit-tree -p HEAD -m evil $tree)
}'
# subject REV TEXT: the subject of that commit
subject() {
	test_prints "$2" git log -1 --format=%s "$1"
}

test_that 'refs that cannot be read are named, and cost no other' '
	make_repo badrefs &&
	test_session r "
		$without
		for i in 1 2 3; do
			git switch -q -c side\$i agent/r
			echo \$i >s
			git add s
			git commit -qm side\$i
		done
		git switch -q -c gone
		git commit -q --allow-empty -m gone
		without HEAD >/dev/null
		git symbolic-ref HEAD refs/heads/agent/r
		cd .git/refs/heads
		echo garbage >garbage
		: >empty
		git rev-parse side1 >a..b
		git tag -am t t side1
		git rev-parse t >tag
		git rev-parse HEAD: >tree
		cd - >/dev/null
		git reset -q --hard
		echo h >h
		git add h
		git commit -qm head" &&
	subject agent/r head &&
	for i in 1 2 3; do subject refs/agent/r/heads/side$i side$i || exit 1; done &&
	git agent show r | grep "note: not all of the agent.s branches could be read: " >../note &&
	for n in garbage empty a..b gone tag tree; do grep " $n\(,\|$\)" ../note || exit 1; done &&
	! grep "side\|agent/r[, ]" ../note
'

test_that 'a branch that misses an object, or that git refuses, costs no other, nor HEAD' '
	make_repo holes &&
	test_session h "
		$without
		$evil
		for i in 1 2 3 4; do
			git switch -q -c side\$i agent/h
			echo \$i >s\$i
			git add s\$i
			git commit -qm side\$i
			git tag tag\$i \$(git commit-tree -p HEAD -m tag\$i HEAD:)
		done
		without side2: &&
		evil &&
		git switch -q agent/h &&
		echo h >h &&
		git add h &&
		git commit -qm head" &&
	subject agent/h head &&
	for i in 1 3 4; do
		subject refs/agent/h/heads/side$i side$i &&
		subject refs/agent/h/others/refs/tags/tag$i tag$i ||
			exit 1
	done &&
	git agent show h >../show &&
	! grep "one commit" ../show &&
	grep "note: the agent.s branch side2 was not taken, and stays in the session (" ../show &&
	grep "note: the agent.s branch evil was not taken, and stays in the session (.*hasDotgit" ../show &&
	grep "note: what the agent committed on no branch (refs/tags/tag2) was not taken" ../show &&
	git for-each-ref --format="%(objectname)" | xargs git rev-list --objects >/dev/null &&
	test_expect_code 2 git agent drop h &&
	git agent capture h &&
	git agent show h | test_cmp ../show -
'

test_that 'a HEAD that git refuses costs no branch' '
	make_repo badhead &&
	git agent start --name h -- sh -c "
		$without
		git switch -q -c side &&
		echo s >s &&
		git add s &&
		git commit -qm side &&
		git switch -q agent/h &&
		echo h >h &&
		git add h &&
		git commit -qm head &&
		without HEAD: &&
		echo w >w" 2>../err &&
	grep "note: the agent.s commits were not taken (.*: its work is one commit" ../err &&
	test "$(git rev-list --count HEAD..agent/h)" = 1 &&
	test_prints "h\nw" git show agent/h:h agent/h:w &&
	subject refs/agent/h/heads/side side
'

test_that 'broken refs beyond those that git names are counted, or said to be at least so many' '
	make_repo broken &&
	long=$(printf "%060d" 0) &&
	for n in 20 1000; do
		test_session b$n "
			for i in \$(seq $n); do echo x >.git/refs/heads/$long\$i; done" &&
		git agent show b$n >../b$n ||
			exit 1
	done &&
	grep "could be read: .* and 10 more\$" ../b20 &&
	grep "could be read: .* and [0-9]* more, and others\$" ../b1000
'

# ---- limits

test_that 'HEAD is taken where a limit keeps branches away, and a capture without it takes them' '
	make_repo parts &&
	git agent -c limits.capture.commits=5 start --name p -- sh -c "
		for i in 1 2 3 4; do
			git switch -q -c side\$i agent/p
			for k in 1 2; do git commit -q --allow-empty -m \$i.\$k; done
		done
		git switch -q agent/p
		git commit -q --allow-empty -m head" 2>../err &&
	subject agent/p head &&
	! git for-each-ref refs/agent/p/heads | grep . &&
	test "$(grep -c "branch side. was not taken, and stays in the session (.*limits.capture.commits" ../err)" = 4 &&
	git agent capture p &&
	test "$(git for-each-ref refs/agent/p/heads | wc -l)" = 4
'

# The packs of all and of HEAD take no time; from then on git is busy with one for most of the time there is.
test_that 'packs that keep git busy share one time limit: HEAD is taken, what is late is named' '
	make_repo slow &&
	test_expect_code 137 env GIT_AGENT_FAULT=capture:begin:kill git-agent start --name s -- sh -c "
		$evil
		evil
		git tag alone \$(git commit-tree -p HEAD -m alone HEAD:)
		git branch side \$(git commit-tree -p HEAD -m side HEAD:)
		echo h >h &&
		git add h &&
		git commit -qm head" &&
	mkdir ../slow-git &&
	real=$(command -v git) n=$HOME/slow-git/n &&
	test_script ../slow-git/git <<-EOT &&
	case " \$* " in
	*" index-pack "*)
		echo x >>$n
		test \$(wc -l <$n) -le 3 || sleep 15
		;;
	esac
	exec $real "\$@"
	EOT
	PATH=$HOME/slow-git:$PATH "$GIT_AGENT" -c limits.capture.git_time=2 capture s &&
	subject agent/s head &&
	! git for-each-ref refs/agent/s/heads refs/agent/s/others | grep . &&
	git agent show s >../show &&
	late="checking the commits took too long (limits.capture.git_time: 2s)" &&
	for what in "agent.s branch evil" "agent.s branch side" "no branch (refs/tags/alone)"; do
		grep "note: .*$what was not taken, and stays in the session ($late)" ../show ||
			exit 1
	done &&
	test "$(wc -l <$n)" -le 5 &&
	grep "note: for what is beyond a limit, raise limits.capture.git_time in .*git agent capture s" ../show &&
	git agent capture s &&
	subject refs/agent/s/heads/side side &&
	git agent show s | grep "branch evil was not taken.*hasDotgit"
'

# The time git inside gets is cut short; what keeps it busy would do so for ever.
test_that 'git that is kept waiting inside is ended: the work is one commit' '
	make_repo wait &&
	git agent -c limits.capture.git_time=2 start --name w -- sh -c "
		echo c >c &&
		git add c &&
		git commit -qm c
		echo w >w
		mkfifo pipe
		printf \"[include]\n\tpath = ../pipe\n\" >>.git/config" &&
	test "$(git rev-list --count HEAD..agent/w)" = 1 &&
	test_prints "w\nc" git show agent/w:w agent/w:c &&
	git agent show w |
		grep "not taken (git inside took longer than the 2 seconds .* (limits.capture.git_time: 2s))"
'

# ---- attacks

# hostile NAME COMMANDS: an agent that commits c, writes w, and does this to its git dir
hostile() {
	test_session "$1" "
		echo c >c &&
		git add c &&
		git commit -qm c
		echo w$1 >w
		$2" &&
	test_prints "w$1\nc" git show "agent/$1:w" "agent/$1:c" && return
	echo "failed: $2"
	return 1
}

test_that 'GT-03: a hostile git dir is never opened on the host, and the work is captured all the same' '
	make_repo evil &&
	hostile head "echo garbage >.git/HEAD" &&
	hostile fifo "mkfifo .git/x; rm .git/HEAD; mkfifo .git/HEAD" &&
	hostile config "
		printf \"[core]\n\tfsmonitor = touch \$HOME/pwned; false\n\thooksPath = /tmp\n[broken\" >.git/config" &&
	hostile ids "
		echo \$(git rev-parse HEAD | tr 0-9a-f f) >.git/refs/heads/bad
		echo 1111111111111111111111111111111111111111 >.git/HEAD" &&
	hostile index "rm -rf .git/index; mkdir .git/index; echo x >.git/packed-refs" &&
	test ! -e "$HOME/pwned" &&
	git fsck --connectivity-only &&
	test -z "$(git status --porcelain)"
'

test_that 'an agent that makes git report a full disk is not believed' '
	make_repo full &&
	test_session f1 "
		echo c >c &&
		git add c &&
		git commit -qm c &&
		git config pack.window \"no space left\"" &&
	git agent show f1 | grep "not taken .*no space left" &&
	test_holds agent/f1:c c &&
	test_session f2 "
		git config -f .gitmodules submodule.x.path x &&
		git config -f .gitmodules submodule.x.url \"-no space left\" &&
		git add -A &&
		git commit -qm mods
		echo w >w" &&
	git agent show f2 | grep "not taken .*no space left" &&
	test_holds agent/f2:w w
'

test_done
