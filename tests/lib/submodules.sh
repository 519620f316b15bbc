# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For tests with submodules: repositories below $HOME. Sourced after test-lib.sh.

git config --global protocol.file.allow always

# make_repo NAME: a repository with two commits
make_repo() {
	git init -q "$1" &&
	(
		cd "$1" &&
		echo one >a &&
		mkdir d &&
		echo two >d/b &&
		git add -A &&
		git commit -qm first &&
		git tag v1 &&
		echo three >>a &&
		git commit -qam second
	)
}

# make_super NAME SUB: a repository with $HOME/SUB as its submodule at vendor/lib
make_super() {
	make_repo "$1" &&
	git -C "$1" submodule --quiet add "$HOME/$2" vendor/lib &&
	git -C "$1" commit -qm submodule
}

# names REV [REV]: the superproject's names what that (or the same) is in the submodule
names() {
	test "$(git rev-parse "$1:$L")" = "$(git -C $L rev-parse "${2-$1}")"
}

L=vendor/lib # where the submodule is
