#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what the user'\''s own programs see of their environment is what they see under plain git'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# note NAME: a program that keeps the variables that it was given, as NAME, and then reads its input.
# Those of the shell and of the tests, and the name of the commit in git's words, are not compared. (Git puts the
# directory of its programs before PATH for each git below another, so git-agent is not started by git here.)
note() {
	mkdir -p "$HOME/bin"
	{
		printf '#!/bin/sh\n'
		printf 'env | grep -vE "^(_|SHLVL|OLDPWD|PWD|GIT_AGENT_TEST_[A-Z_]*)=" |\n'
		printf '\tsed "s/^\\(GIT_REFLOG_ACTION=[a-z]*\\|GITHEAD_\\).*/\\1/" | sort >%s/seen/%s\n' "$HOME" "$1"
	} >"$HOME/bin/$1"
	chmod +x "$HOME/bin/$1"
}

# keep WHO: what was seen since is what WHO saw
keep() {
	rm -rf "$HOME/by-$1"
	mv "$HOME/seen" "$HOME/by-$1"
	mkdir "$HOME/seen"
}

# same NAME...: each of these ran under plain git and under ours, and saw the same
same() {
	for n in "$@"; do
		test -s "$HOME/by-git/$n" &&
		test_cmp "$HOME/by-git/$n" "$HOME/by-agent/$n" || return 1
	done
}

# make_repo NAME: a repository with user hooks that note their environment, and a branch to merge
make_repo() {
	mkdir -p "$HOME/seen"
	git init -q "$1"
	cd "$1" || return 1
	for hook in pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit post-merge post-checkout \
		reference-transaction pre-push; do
		note $hook
		cp "$HOME/bin/$hook" .git/hooks
	done
	echo a >a
	git add -A
	git commit -qm base
}

# session NAME: a session that changes one file
session() {
	git-agent start -q --name "$1" -- sh -c "echo $1 >>a; git commit -qam \"agent: $1\""
}

# merged: what hooks see of a merge of git's and of a landing, in this working tree
merged() {
	rm -rf "$HOME"/seen/* &&
	git merge -q --no-ff --no-edit agent/s &&
	keep git &&
	git reset -q --hard HEAD~1 &&
	rm -rf "$HOME"/seen/* &&
	git-agent land s &&
	keep agent
}

test_that 'hooks of a merge see the environment of git' '
	make_repo main &&
	session s &&
	merged &&
	same pre-merge-commit prepare-commit-msg commit-msg post-merge reference-transaction &&
	none="DIR|WORK_TREE|OBJECT_DIRECTORY|CONFIG_(PARAMETERS|COUNT)|TERMINAL|NO_|AGENT" &&
	! grep -E "^GIT_($none)" "$HOME/by-agent/post-merge"
'

test_that 'a hook of a push sees the environment of git' '
	make_repo push &&
	git init -q --bare ../remote.git &&
	git remote add origin ../remote.git &&
	session s &&
	git push -q origin agent/s &&
	keep git &&
	git push -q origin --delete agent/s &&
	rm -f ../seen/* &&
	git-agent push s &&
	keep agent &&
	same pre-push
'

test_that 'an editor and a program that signs see the environment of git' '
	make_repo edit &&
	note editor &&
	note gpg &&
	printf "cat >/dev/null\nprintf sig\necho \"[GNUPG:] SIG_CREATED \" >&2\n" >>../bin/gpg &&
	git config core.editor ../bin/editor &&
	git config gpg.program ../bin/gpg &&
	git config commit.gpgSign true &&
	git config core.hooksPath /dev/null &&
	session s &&
	git merge -q --no-ff --edit agent/s &&
	keep git &&
	git reset -q --hard HEAD~1 &&
	git-agent land --edit s &&
	keep agent &&
	same editor gpg
'

# make_filter WHICH: a repository, and in it a filter that notes its environment, without hooks
make_filter() {
	make_repo "$1" &&
	note "$1" &&
	echo cat >>"../bin/$1" &&
	git config core.hooksPath /dev/null &&
	git config "filter.x.$1" "$HOME/bin/$1" &&
	echo "*.x filter=x" >.gitattributes &&
	echo x >f.x &&
	test_commit filtered
}

test_that 'a filter that writes a file sees the environment of git, also when a session starts' '
	make_filter smudge &&
	rm f.x &&
	git checkout -q -- f.x &&
	keep git &&
	session s &&
	keep agent &&
	same smudge
'

test_that 'a filter of uncommitted changes sees the environment of git when a session starts' '
	make_filter clean &&
	echo y >>f.x &&
	rm -f ../seen/clean &&
	git add f.x &&
	keep git &&
	git reset -q &&
	session t &&
	keep agent &&
	same clean
'

test_that TTY 'a pager sees the environment of git' '
	make_repo pager &&
	note pager &&
	echo "cat >/dev/null" >>../bin/pager &&
	git config core.pager "$HOME/bin/pager" &&
	session s &&
	pty=$TEST_BUILDDIR/tests/helpers/ptydrive &&
	$pty exit=0 -- git diff HEAD agent/s &&
	keep git &&
	$pty exit=0 -- git-agent diff s &&
	keep agent &&
	sed -i "/^GIT_\(PREFIX\|EXEC_PATH\)=/d; s/^\(PATH=\)[^:]*git-core:/\1/" ../by-git/pager &&
	same pager
'

# scratch WHERE: a hook like the test suite of a tool for git, which makes a repository of its own
scratch() {
	{
		printf '#!/bin/sh\nt=$(mktemp -d %s/scratch-XXXXXX)\ncd $t && git init -q && echo x >f && ' "$TRASH"
		printf 'git add f && git commit -q --no-verify -m fixture\n'
	} >"$1"
	chmod +x "$1"
}

test_that 'a repository that a hook or a filter creates is created where they say' '
	test_enter own &&
	for hook in pre-merge-commit post-merge pre-push; do scratch .git/hooks/$hook; done &&
	scratch ../bin/clean-room &&
	echo "cd - >/dev/null; cat" >>../bin/clean-room &&
	git config filter.x.smudge "$HOME/bin/clean-room" &&
	echo "*.x filter=x" >.gitattributes &&
	echo x >f.x &&
	echo a >a &&
	test_commit base &&
	git init -q --bare ../own.git &&
	git remote add origin ../own.git &&
	cp .git/config ../config.before &&
	session s &&
	git-agent push s &&
	git-agent land s &&
	test_cmp ../config.before .git/config &&
	test -z "$(git log --all --format=%s | grep fixture)" &&
	test -z "$(git status --porcelain)" &&
	test "$(ls -d "$TRASH"/scratch-*/.git | wc -l)" -ge 4
'

test_done
