#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='where sessions work, and where they are refused'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# A repository at PATH with two commits.
make_repo() {
	test_enter "$1" &&
	echo one >a &&
	mkdir d &&
	echo two >d/b &&
	echo "*.o" >.gitignore &&
	test_commit first &&
	echo three >>a &&
	git commit -qam second
}

# One session in the current directory: sees the tree, changes it, comes back.
one_session() {
	git agent start --name "$1" -- sh -c '
		set -e; test "$(pwd)" = "$2"; test -z "$(git status --porcelain)"
		git log -1 >/dev/null; echo $1 >>a; echo new >new-$1' sh "$1" "$(pwd)" &&
	git cat-file blob "agent/$1:new-$1" | grep new &&
	git cat-file blob "agent/$1:a" | grep "^$1$" &&
	test "$(git rev-parse "agent/$1~1")" = "$(git rev-parse HEAD)" &&
	git fsck --connectivity-only
}

# in_repo PATH: a session in a repository there
in_repo() {
	make_repo "$1" &&
	one_session s
}
test_that 'a session runs below the home directory, outside, and in /tmp' '
	(in_repo src/deep/below) &&
	(in_repo "$TRASH/outside") &&
	dir=$(test_directory_in /tmp) &&
	test_when_finished "rm -rf $dir" &&
	in_repo "$dir/r"
'

test_that 'a session on a detached HEAD lands there' '
	make_repo det &&
	git checkout -q --detach HEAD~1 &&
	one_session s &&
	git agent land s &&
	git log --oneline -1 | grep -i merge
'

test_that 'without a commit a session begins with an empty one, and landing it makes the branch' '
	test_enter unborn &&
	echo x >x &&
	git agent start --dry-run -- true &&
	test -z "$(git for-each-ref)" &&
	test_session one "cat x; echo 1 >one; git add one; git commit -qm one" &&
	test_session two "echo 2 >two" &&
	test "$(git agent resume -q one cat one)" = 1 &&
	test "$(git ls-tree agent/one~1)" = "" &&
	test_missing HEAD &&
	git agent land one &&
	test "$(git log --format=%s main)" = "$(printf "one\nInitial commit")" &&
	test_prints "?? x" git status --porcelain &&
	test_says "your branch has no commits" git agent land --undo &&
	test_missing HEAD &&
	test_prints "?? x" git status --porcelain &&
	git agent land one &&
	git agent land two &&
	test "$(git ls-files | xargs)" = "one two"
'

test_that 'a first commit of your own has nothing in common with such a session, which lands by rebasing' '
	test_enter first &&
	test_session s "echo 1 >one" &&
	echo x >x &&
	test_commit mine &&
	test_fails 128 "unrelated histories" git agent land s &&
	grep "hint: .git agent land --rebase" ../err &&
	git agent land --rebase s &&
	test "$(git ls-files | xargs)" = "one x"
'

test_that 'a session runs in a linked worktree, and is listed in the others' '
	make_repo main &&
	git worktree add -q ../linked -b topic &&
	cd ../linked &&
	one_session s &&
	(cd ../main && git agent list | grep s && git agent start --name other -- sh -c "echo y >y") &&
	git agent list | grep other
'

test_that 'a session is a locked worktree while it runs, and git protects its branch' '
	make_repo wt &&
	test_when_finished "touch \"$HOME/aihome/go-wt\"; wait" &&
	{
		test_session run "
		touch \$HOME/up-wt
		while ! test -e \$HOME/go-wt; do sleep 0.05; done
		echo x >x" &
	} &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/up-wt" &&
	git worktree list >../list &&
	git worktree list --porcelain >>../list &&
	test_says "agent/run" test_must_fail git branch -D agent/run &&
	test_says "agent/run" test_must_fail git checkout agent/run &&
	git worktree prune &&
	touch "$HOME/aihome/go-wt" &&
	wait $pid &&
	grep "agent/run" ../list &&
	grep locked ../list &&
	git cat-file -e agent/run:x &&
	! git worktree list | grep agent/run &&
	git switch -q agent/run &&
	git switch -q main
'

test_that 'a session runs in a shallow clone' '
	(make_repo full) &&
	git clone -q --depth 1 "file://$(pwd)/full" shallow &&
	cd shallow &&
	one_session s &&
	git rev-list --count agent/s | grep "^2$"
'

# b.bin is in the base and was never fetched
test_that 'what a partial clone has not fetched keeps no commit from being taken, reviewed, landed, dropped' '
	(make_repo sparse) &&
	(
		cd sparse &&
		seq 40 >b.bin &&
		test_commit binary &&
		git config uploadpack.allowFilter true &&
		git config uploadpack.allowAnySHA1InWant true
	) &&
	git clone -q --filter=blob:none --no-checkout "file://$PWD/sparse" unfetched &&
	cd unfetched &&
	git sparse-checkout set --no-cone "/*" "!*.bin" &&
	git checkout -q main &&
	blob=$(git rev-parse HEAD:b.bin) &&
	absent() {
		git rev-list --objects --all --missing=print | grep -qx "?$blob"
	} &&
	absent &&
	test_session one "
		for i in 1 2; do echo \$i >>a; git commit -qam \$i; done" &&
	test "$(git rev-list --count HEAD..agent/one)" = 2 &&
	git agent land one &&
	git agent drop one &&
	test_session two "
		echo new >b.bin
		git add --sparse b.bin
		git commit -qm binary" &&
	git agent show two >../out &&
	! grep -i "absent\|inspected" ../out &&
	absent &&
	mv ../sparse ../away &&
	test_shows "absent from this partial clone" git agent diff two &&
	test_shows "^+new" git agent review two &&
	absent &&
	mv ../away ../sparse &&
	git agent diff two >../out &&
	grep -x "\-40" ../out &&
	! absent &&
	git agent land two &&
	git agent drop two &&
	old=$(git rev-list --objects --missing=print HEAD | sed -n "s/^?//p") &&
	test_session three "
		tree=\$(git ls-tree HEAD | sed \"/b.bin/s/[0-9a-f]\{40\}/$old/\" | git mktree --missing)
		git update-ref HEAD \$(git commit-tree \$tree -p HEAD -m old)" &&
	git agent diff three &&
	test_shows "could not be inspected: this partial clone has not fetched it" git agent review three &&
	git rev-list --objects --missing=print agent/three | grep "^?$old"
'

test_that 'a start outside of a repository is refused' '
	mkdir plain &&
	cd plain &&
	test_expect_code 125 git agent start -- true 2>../err &&
	grep -i "not.*git repository" ../err
'

test_that 'RS-09: a bare repository is refused' '
	git init -q --bare bare.git &&
	cd bare.git &&
	test_fails 125 "bare" git agent start -- true
'

test_that 'a repository with SHA-256 objects is refused' '
	git init -q --object-format=sha256 sha256 &&
	cd sha256 &&
	test_empty x &&
	test_expect_code 125 git agent start -- true 2>../err &&
	grep -i "sha-\{0,1\}256" ../err
'

test_that 'a repository with reftable refs is refused' '
	make_repo reft &&
	git config core.repositoryFormatVersion 1 &&
	git config extensions.refStorage reftable &&
	test_fails 125 reftable git agent start -- true
'

test_that 'a home directory that is the working tree is refused' '
	git init -q "$HOME" &&
	test_when_finished "rm -rf \"$HOME/.git\"" &&
	cd "$HOME" &&
	test_empty x &&
	test_fails 125 "home directory" git agent start -- true
'

test_that 'a home directory below the working tree is refused' '
	(make_repo "$TRASH/above") &&
	mkdir "$TRASH/above/h" &&
	cd "$TRASH/above" &&
	test_fails 125 "home directory" env HOME="$TRASH/above/h" GIT_CONFIG_GLOBAL=/dev/null \
		git agent start -- true
'

test_that 'bubblewrap that is missing, set-uid or too old is refused' '
	make_repo bw &&
	mkdir ../bin &&
	ln -s "$(command -v git)" ../bin/git &&
	ln -s "$(command -v git-agent)" ../bin/ &&
	for t in sh env grep; do ln -s "$(program $t)" ../bin/; done &&
	test_expect_code 125 env PATH="$HOME/bin" git-agent start -- sh -c : 2>../err &&
	grep -i "bwrap\|bubblewrap" ../err &&
	cp "$(command -v bwrap)" ../bin/bwrap &&
	chmod u+s ../bin/bwrap &&
	test_expect_code 125 env PATH="$HOME/bin" git-agent start -- sh -c : 2>../err &&
	grep -i "set-uid\|setuid" ../err &&
	rm ../bin/bwrap &&
	test_script ../bin/bwrap "echo bubblewrap 0.4.0" &&
	test_shows "FAIL bubblewrap.*0.8" test_expect_code 1 env PATH="$HOME/bin" git-agent doctor
'

test_that 'git that is missing, tells no version or is too old fails in doctor' '
	mkdir g &&
	ln -s "$(command -v bwrap)" g/bwrap &&
	ln -s "$(command -v git-agent)" g/ &&
	for t in sh grep; do ln -s "$(program $t)" g/; done &&
	test_expect_code 1 env PATH="$HOME/g" git-agent doctor >out &&
	grep -A1 "^FAIL git " out | grep "must be installed" &&
	for v in "git version 2.37.9:is too old: 2.38 is needed" "git:prints no version"; do
		printf "#!/bin/sh\necho \"%s\"\n" "${v%%:*}" >g/git &&
		chmod +x g/git &&
		test_shows "^FAIL git .*${v#*:}" test_expect_code 1 env PATH="$HOME/g" git-agent doctor || exit 1
	done &&
	printf "#!/bin/sh\necho git version 2.38.0.rc1\n" >g/git &&
	test_shows "^ok   git " env PATH="$HOME/g" git-agent doctor
'

test_done
