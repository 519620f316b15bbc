# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of the guard: a repository, a session with undecided work, and what of the repository the guard may change.
# Sourced after test-lib.sh.

make_repo() {
	git init -q "$1" &&
	(cd "$1" && echo a >a && git add a && git commit -qm base)
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

# user_hook FILE [LOG]: a hook of the user's, which writes its name to that file
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
