# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of the guard: a repository, a session with undecided work, and what of the repository the guard may change.
# Sourced after test-lib.sh.

make_repo() {
	test_enter "$1" &&
	echo a >a &&
	test_commit base
}

# session NAME: a session with a critical path, a high one, and critical ones with unusual names
session() {
	git agent start -q --name "$1" -- sh -c '
		echo all: >Makefile
		echo e >.envrc
		echo ok >ok
		n=$(printf "d/\303\251 \"q\"\t\\\\\n:x")
		mkdir -p "$n" && echo hard >"$n/.envrc"
		ln -s /etc/passwd .bashrc
		echo evil >":(top)x"
		git add -A
		git commit -qm w'
}

# user_hook FILE [LOG]: a user hook, which writes its name to that file
user_hook() {
	mkdir -p "$(dirname "$1")" &&
	printf '#!/bin/sh\ncat >/dev/null\necho "mine ${0##*/}" >>"%s"\n' "${2-/dev/null}" >"$1" &&
	chmod +x "$1"
}

# picture: all of git's own that turning the guard on and off may touch
picture() {
	cat .git/config
	find .git/hooks .git/git-agent ! -name '*.sample' ! -name '*lock' ! -type d ! -path '*/landing/*' \
		-printf '%m %p %l\n' 2>/dev/null | sort
	git config --list --show-origin
	git status --porcelain --ignored
}

# how: whether the guard is on, undecided paths and sessions, whether its hooks are installed and in use
how() {
	git agent guard status --json | python3 -c '
import json, sys
o = json.load(sys.stdin)
print(o["on"], o["undecided"], o["sessions"], o["hooks"], o["in_use"])'
}

# hooked: its hooks are installed in this repository
hooked() {
	git config --local core.hooksPath | grep "/\.git/git-agent/guard/hooks$" &&
	test -x .git/git-agent/guard/hooks/pre-push
}

# guard_refuses COMMAND...: a hook of the guard makes it fail, and says how to get it through
guard_refuses() {
	"$@" 2>"$HOME/err" && return 1
	grep "git-agent: refused: .* would contain what nobody has decided about" "$HOME/err" &&
	grep "hint: .*GIT_AGENT_ALLOW=1 lets it through" "$HOME/err"
}

# commit_and_push: what the hooks of the user log meanwhile
commit_and_push() {
	: >"$log"
	echo more >>a &&
	git commit -qam more &&
	git push -q origin main &&
	sort "$log"
}

# guard_works_beside TOOL: hooks that install_TOOL installs run as before beside ours, and nothing of ours is left
guard_works_beside() {
	log=$TRASH/log.$1 &&
	git init -q --bare "b $1.git" &&
	make_repo "b $1" &&
	git remote add origin "../b $1.git" &&
	"install_$1" &&
	git add -A &&
	test_empty hooks &&
	git push -q origin main &&
	git agent list &&
	commit_and_push >../want &&
	test -s ../want &&
	picture >../before &&
	git agent guard on &&
	session x &&
	how | grep ' True$' &&
	commit_and_push | test_cmp ../want - &&
	guard_refuses git branch foo refs/agent/x/held &&
	guard_refuses git push -q origin refs/agent/x/held:refs/heads/x &&
	git merge -q agent/x &&
	git agent list &&
	how | grep ' True$' &&
	git reset -q --hard HEAD~1 &&
	test -z "$(git status --porcelain)" &&
	git agent drop --force x &&
	git agent guard off &&
	picture | test_cmp ../before - &&
	commit_and_push | test_cmp ../want -
}
