#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landings are signed as the user signs, whichever way'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

test_lazy_prereq GPG '
	GNUPGHOME=$HOME/try &&
	export GNUPGHOME &&
	mkdir -m 700 "$GNUPGHOME" &&
	gpg --batch --quiet --passphrase "" --quick-gen-key "Try <try@example.com>" ed25519 sign never &&
	gpgconf --kill gpg-agent
'
test_lazy_prereq SSHKEY 'ssh-keygen -q -t ed25519 -N "" -f try-key'

# ready NAME: a session whose branch and the user's differ, in a repository of that name
ready() {
	make_repo "$1" &&
	session "$1" "line f 2 agent; git commit -qam one; line d/h 2 agent; git commit -qam two" &&
	test_empty meanwhile &&
	git config commit.gpgSign true
}

# signed OPTION...: this landing makes commits, each with a good signature; then it is undone
signed() {
	was=$(git rev-parse HEAD)
	git agent land "$@" &&
	test "$(git rev-parse HEAD)" != "$was" &&
	git rev-list --first-parent "$was.." | xargs -n 1 git verify-commit &&
	git agent land --undo
}

# every_way NAME: each way to land, with and without the merge of git, and a conflict
every_way() {
	ready "$1" &&
	signed --rebase "$1" &&
	signed "$1" -- f &&
	line g 8 staged &&
	git add g &&
	signed "$1" &&
	signed --squash "$1" &&
	git reset -q --hard &&
	hook commit-msg true &&
	signed "$1" &&
	signed --squash "$1" &&
	git -c commit.gpgSign=false agent land "$1" &&
	test_must_fail git verify-commit HEAD &&
	git agent land --undo &&
	line f 2 mine &&
	git commit -qam conflict &&
	test_expect_code 4 git agent land "$1" &&
	seq 9 >f &&
	git add f &&
	git agent land --continue "$1" &&
	git rev-parse -q --verify HEAD^2 &&
	git verify-commit HEAD &&
	test_must_fail git verify-commit HEAD^2
}

# unsigned NAME KEY: with a key that there is not nothing lands
unsigned() {
	ready "$1" &&
	git config user.signingKey "$2" &&
	for how in --merge --squash --rebase; do
		refused 128 . git agent land $how "$1" || return 1
	done &&
	hook commit-msg true &&
	test_fails 4 "agent/$1 is merged, but not committed" git agent land "$1" &&
	git agent land --abort "$1" &&
	test -z "$(git status --porcelain)"
}

test_that GPG 'landings are signed by gpg with the key of the user, whichever way' '
	GNUPGHOME=$HOME/.gnupg &&
	export GNUPGHOME &&
	mkdir -m 700 "$GNUPGHOME" &&
	test_when_finished "gpgconf --kill gpg-agent" &&
	gpg --batch --quiet --passphrase "" --quick-gen-key "C O Mitter <signer@example.com>" ed25519 sign never &&
	key=$(gpg --list-secret-keys --with-colons | sed -n "s/^fpr:*\([0-9A-F]*\):/\1/p") &&
	test -n "$key" &&
	git config --global gpg.format openpgp &&
	git config --global user.signingKey "$key" &&
	every_way gpg &&
	git log -1 --format=%GF | grep -x "$key" &&
	cd .. &&
	unsigned nogpg 0123456789ABCDEF
'

test_that SSHKEY 'landings are signed by ssh with the key of the user' '
	ssh-keygen -q -t ed25519 -N "" -f key &&
	echo "author@example.com,committer@example.com $(cat key.pub)" >allowed &&
	git config --global gpg.format ssh &&
	git config --global user.signingkey "$PWD/key.pub" &&
	git config --global gpg.ssh.allowedSignersFile "$PWD/allowed" &&
	ready ssh &&
	signed ssh &&
	hook commit-msg true &&
	git agent land --squash ssh &&
	test "$(git log -1 --format=%G?)" = G &&
	cd .. &&
	unsigned nossh "$PWD/none.pub"
'

test_that 'with merge.verifySignatures nothing lands' '
	make_repo verify &&
	session v "line f 2 agent" &&
	git config merge.verifySignatures true &&
	for how in --merge --ff-only; do
		refused 2 "merge.verifySignatures is set" git agent land $how v &&
		hint "git config --unset merge.verifySignatures" || return 1
	done &&
	git -c merge.verifySignatures=false agent land v
'

test_done
