# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of landing: a repository, a session, and what of both a landing may change. Sourced after test-lib.sh.

# line FILE NUMBER TEXT: replace that line. As text, because the command of a session has it too.
line='line() {
	sed -i "$2s/.*/$3/" "$1"
}'
eval "$line"

# make_repo NAME: a repository with one commit, in which the rest of the test runs
make_repo() {
	git init -q "$1" &&
	cd "$1" &&
	mkdir d &&
	seq 9 | tee f g d/h >old &&
	echo "*.log" >.gitignore &&
	git add -A &&
	git commit -qm base
}

# session NAME COMMANDS: a session in which the agent runs these
session() {
	git agent start -q --name "$1" -- sh -ec "$line
$2"
}

# mine: a commit of the user that touches no file of the session's, so that the branches differ
mine() {
	echo mine >mine &&
	git add mine &&
	git commit -qm mine
}

# hook NAME COMMANDS: a user hook that runs these
hook() {
	test_script "$(git rev-parse --git-path hooks)/$1" "$2"
}

# landed NAME: `list` says that it has landed
landed() {
	git agent list | grep "^$1 .*landed"
}

# picture: all that a landing or an undo may change, as text
picture() {
	git symbolic-ref -q HEAD
	git rev-parse -q --verify HEAD
	git for-each-ref refs/heads refs/tags
	git ls-files -s -v
	git status --porcelain --ignored
	find . -name .git -prune -o -printf '%m %y %p %l\n' | sort
	find . -name .git -prune -o -type f -exec sha1sum {} + | sort
	for file in index.lock HEAD.lock MERGE_HEAD SQUASH_MSG CHERRY_PICK_HEAD; do
		find "$(git rev-parse --git-path $file)" 2>/dev/null
	done
	true
}

# remember: what unchanged compares with
remember() {
	picture >"$HOME/before"
}
unchanged() {
	picture >"$HOME/after"
	test_cmp "$HOME/before" "$HOME/after"
}

# refused CODE TEXT COMMAND...: it ends with CODE, says TEXT, and changes nothing. Its messages are in ../err.
refused() {
	refused_code=$1 refused_text=$2
	shift 2
	picture >"$HOME/then"
	test_expect_code "$refused_code" "$@" 2>"$HOME/err" || return 1
	grep -e "$refused_text" "$HOME/err" &&
	picture | test_cmp "$HOME/then" -
}

# hint TEXT: the messages in ../err have a hint that says it
hint() {
	grep "^hint: .*$1" "$HOME/err"
}
