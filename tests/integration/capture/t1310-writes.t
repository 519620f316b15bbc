#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every call by which a capture writes fails, by ENOSPC, EIO, EDQUOT and EROFS (removing and
# changing modes and times by EIO and EROFS only), in git-agent and in the git it starts: it alone,
# or with all that come after it. Whatever the outcome: no ref points at a missing object, nor
# at a pointer whose LFS object is missing, the layers are as they were, and doing it again gives what
# a capture without a fault gives. Of three kinds of sessions: one with a bit of everything,
# one with LFS files, one with a submodule.
#
# A sample of 12 faults is taken of each kind, evenly spread from a place the seed says; TIMES=n takes n times as many,
# or all there are. SEED=n does the sample of one seed again, and
# WRITES="kind:n:errno kind:n:errno:on ..." these and no others.
test_description='capture while every write fails in its turn'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use submodules

preload=$TEST_BUILDDIR/tests/helpers/failwrite.so
seed=${SEED:-$(date +%s)}
sample=$((12 * ${TIMES:-1}))
# a preloaded library comes before the sanitizer's: that is meant
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0

# ---- what is captured: base_KIND makes the repository r, agent_KIND works in it, and full_KIND
# ---- looks whether some of that has arrived

# Commits, another branch, a stash, something held, converted content,
# a file too large for memory, enough small ones for a pack, what is ignored, what is gone,
# and what git has to be asked about: one it takes, one it refuses.
base_plain() {
	test_enter r &&
	echo a >a &&
	echo b >b &&
	echo "*.log" >.gitignore &&
	echo "*.txt text" >.gitattributes &&
	test_commit base
}
agent_plain='echo 1 >one && git add one && git commit -qm one && git branch other &&
	echo s >>a && git stash -q && echo 2 >two && echo envrc >.envrc && rm b &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		mkdir -p d$((i % 4)) && echo $i >d$((i % 4))/f$i; done &&
	printf "[submodule \"x\"]\n\tpath = x\n" >.gitmodules &&
	printf "[submodule \"x\"]\n\tpath = -x\n" >d1/.gitmodules &&
	head -c 1500000 /dev/urandom >large && echo log >x.log && printf "x\r\n" >crlf.txt'

full_plain() {
	git cat-file -e agent/x:d3/f3 &&
	git cat-file -e refs/agent/x/held:.envrc
}

# Objects of files that are new and changed, in commits and in none, of one that is gone again,
# and of one that takes many writes.
base_lfs() {
	git lfs install --skip-repo &&
	test_enter r &&
	git lfs track "*.bin" &&
	echo one >changed.bin &&
	echo one >committed.bin &&
	test_commit base
}
agent_lfs='echo new >new.bin && echo two >committed.bin && git add -A && git commit -qm objects &&
	echo gone >gone.bin && git add -A && git commit -qm more && git rm -q gone.bin && git commit -qm less &&
	echo two >changed.bin && mkdir d && head -c 300000 /dev/urandom >d/left.bin'

full_lfs() {
	test "$(find .git/lfs/objects -type f | wc -l)" = 5 &&
	git lfs ls-files agent/x | grep d/left.bin
}

# Commits in a submodule, and what is in none, with enough for a pack; one commit names it.
base_submodule() {
	make_repo lib &&
	make_super r lib &&
	cd r
}
agent_submodule='(cd vendor/lib && echo one >one && git add one && git commit -qm one && git branch other) &&
	git commit -qam bump && echo rest >rest && cd vendor/lib && rm d/b && echo log >>a &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir -p d$i && echo $i >d$i/f; done &&
	head -c 1500000 /dev/urandom >large'

full_submodule() {
	test "$(git rev-parse agent/x:vendor/lib)" = "$(git -C vendor/lib rev-parse agent/x)" &&
	git -C vendor/lib cat-file -e agent/x:d12/f &&
	git -C vendor/lib cat-file -e agent/x~1:one
}

# ---- what it comes to

# What overlayfs works in has no mode at all.
open_work() {
	chmod -R u+rwx "$state"/*/sessions/*/work
}

# Put everything back to where the session was interrupted.
restore() {
	open_work &&
	rm -rf "$HOME/r" "$state" &&
	cp -a "$HOME/as-it-was/r" "$HOME/r" &&
	cp -a "$HOME/as-it-was/state" "$state" &&
	cd "$HOME/r"
}

# Of the session, and of the one in the submodule.
layers() {
	(
		cd "$state" &&
		find ./*/sessions/x/upper -printf '%p %y %m %s %l %T@\n' | sort &&
		find ./*/sessions/x/upper -type f -exec sha1sum {} + | sort
	)
}

# The repository, and the one of the submodule.
repositories() {
	echo .
	[ ! -e vendor/lib/.git ] || echo vendor/lib
}

# Refs with what they point at; the report by its tree, since its commit says when; LFS objects.
outcome() {
	for repo in $(repositories); do
		git -C "$repo" for-each-ref --format='%(refname) %(objectname)' | grep -v /report &&
		git -C "$repo" rev-parse 'refs/agent/x/report^{tree}' &&
		git -C "$repo" agent list | sed 's, [0-9]*[smhd] ago *,,' || return 1
	done
	[ ! -d .git/lfs ] || find .git/lfs/objects -type f | sort
}

# Each object in the LFS store is what its name says, and each that a pointer names is there.
lfs_whole() {
	find .git/lfs/objects -type f | sed 's,.*/\(.*\),\1  &,' | sha256sum --check --quiet &&
	git lfs ls-files --all --long |
		sed -n 's,^\(..\)\(..\)\([^ ]*\) .*,.git/lfs/objects/\1/\2/\1\2\3,p' >../named &&
	test -s ../named &&
	xargs ls <../named
}

whole() {
	for repo in $(repositories); do
		git -C "$repo" fsck --connectivity-only >../fsck 2>&1 || {
			cat ../fsck
			return 1
		}
	done
	[ ! -d .git/lfs ] || lfs_whole >../fsck 2>&1 || {
		cat ../fsck
		return 1
	}
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

# A disk that takes nothing any more keeps locks: the hint names them all.
follow_hint() {
	sed -n "s/^hint: if no other git is running in this repository: rm \(.*\); the agent.*/\1/p" ../out |
		xargs -r rm
}

no_leftovers() {
	! find .git -path "*/lfs/*" -prune -o \( -path "*/refs/*" -o -path "*/objects/*" \) \
		\( -name "*.lock" -o -name "*.keep" -o -name "tmp_objdir*" \) -print | grep .
}

# What a capture that succeeded could not remove, the next one that has work does.
swept() {
	no_leftovers || {
		test_session y "echo y >y; test ! -e $L/.git || echo y >$L/y" &&
		no_leftovers
	}
}

# Of a .gitmodules that git could not be asked about, the worst is assumed (docs/dependencies.md).
worst_assumed() {
	git agent review --json x | grep -q gitmodules-update-cmd
}

# fault N:ERRNO[:on]: what must hold when call N of a capture fails
fault() {
	restore || return 1
	with_fault "$1" git agent capture x >../out 2>&1
	rc=$?
	cat ../out
	# a signal is no answer
	[ $rc = 0 ] || [ $rc = 125 ] || [ $rc = 128 ] || {
		echo "status $rc"
		return 1
	}
	whole &&
	layers | cmp ../layers - || return 1
	if [ $rc = 0 ]; then
		# the call was one that need not succeed
		outcome >../got &&
		if ! cmp -s ../want ../got && worst_assumed; then return; fi &&
		test_cmp ../want ../got || return 1
	else
		grep -q "^git-agent: " ../out &&
		follow_hint || return 1
	fi
	git agent capture x &&
	outcome >../got &&
	test_cmp ../want ../got &&
	whole &&
	layers | cmp ../layers - &&
	swept
}

# which faults of $total calls: all or a sample
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

# ---- each kind, with a home of its own

# begin KIND AGENT: a session that its supervisor did not live to capture
begin() {
	mkdir -p "$HOME" &&
	cp "$TRASH/home/.gitconfig" "$HOME" &&
	cd "$HOME" &&
	"base_$1" &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --name x -- sh -c "$2"
		test $? = 137
	} &&
	for repo in $(repositories); do
		test -z "$(git -C "$repo" for-each-ref refs/agent/x/report)" || return 1
	done &&
	open_work &&
	mkdir ../as-it-was &&
	cp -a . ../as-it-was/r &&
	cp -a "$state" ../as-it-was/state
}

try() {
	kind=$1 need=$2 agent=$3
	HOME=$TRASH/$kind state=$TRASH/$kind/.local/state/git-agent
	test_that "$need" "$kind: a session that was interrupted before its capture" '
		begin "$kind" "$agent"
	'
	test_that "$need" "$kind: a capture without a fault, its writes counted" '
		restore &&
		layers >../layers &&
		test -s ../layers &&
		with_fault 0:0 git agent capture x &&
		outcome >../want &&
		whole &&
		layers | cmp ../layers - &&
		"full_$kind" &&
		od -An -tu8 ../count | tr -d " " >../total &&
		test "$(cat ../total)" -gt 100
	'
	test_that "$need" "$kind: and once more: it is the same each time" '
		restore &&
		git agent capture x &&
		outcome >../got &&
		test_cmp ../want ../got
	'
	total=$(cat "$HOME/total" 2>/dev/null || echo 0)
	echo "# $kind: $total writes, seed $seed"
	for one in ${WRITES-$(faults | sed "s/^/$kind:/")}; do
		[ "${one%%:*}" != "$kind" ] || test_that "$need" "a write fails: $one" '
			fault "${one#*:}"
		'
	done
}

try plain SANDBOX "$agent_plain"
try lfs GITLFS "$agent_lfs"
try submodule SANDBOX "$agent_submodule"

test_done
