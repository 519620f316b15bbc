#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landings are signed as the user signs, whichever way'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# signed COMMAND...: a landing makes commits, each with a good signature, and is undone
signed() {
	sig_was=$(git rev-parse HEAD) && git agent land "$@" && test "$(git rev-parse HEAD)" != "$sig_was" && for sig in $(git rev-list --first-parent "$sig_was"..); do
		git verify-commit "$sig" || return 1
	done && git agent land --undo "$sig_name"
}

# every_way NAME: of landing, with git and beside uncommitted work
every_way() {
	begin && sig_name=$1 && git agent start -q --name "$1" -- sh -c "$words put f@2A && git commit -qam one && put d/h@2A && git commit -qam two" &&
		git commit -q --allow-empty -m meanwhile && git config commit.gpgSign true &&
		signed "$1" && signed --squash "$1" && signed --rebase "$1" && signed "$1" -- f && signed -m words "$1" &&
		put f@8M && git add f && signed "$1" && signed --squash "$1" && signed "$1" -- f &&
		git reset -q --hard && git config commit.gpgSign false && git agent land "$1" && test_must_fail git verify-commit HEAD && git agent land --undo "$1" &&
		git config commit.gpgSign true && put f@2C && git commit -qam conflict && { test_expect_code 4 git agent land "$1"; } && put f@2X && git add f && git agent land --continue "$1" && git rev-parse -q --verify HEAD^2 && git verify-commit HEAD && test_must_fail git verify-commit HEAD^2
}

# a key that is not to be had: what git merged is left to be gone on with, what was not begun is not
refused() {
	begin && git agent start -q --name "$1" -- sh -c "$words put f@2A" && git config commit.gpgSign true && git config user.signingKey "$2" && picture >../before &&
		test_expect_code 4 git agent land "$1" 2>../err && grep "a hook or signing refused it" ../err && git agent land --abort "$1" && picture >../after && test_cmp ../before ../after &&
		test_expect_code 4 git agent land --squash "$1" && git reset -q --merge && put f@8M && picture >../before && test_expect_code 128 git agent land "$1" 2>../err && grep "hint: nothing was touched" ../err && picture >../after && test_cmp ../before ../after
}

test_lazy_prereq GPG 'GNUPGHOME=$HOME/try && export GNUPGHOME && mkdir -m 700 "$GNUPGHOME" && gpg --batch --quiet --passphrase "" --quick-gen-key "Try <try@example.com>" ed25519 sign never && gpgconf --kill gpg-agent'
test_lazy_prereq SSHKEY 'ssh-keygen -q -t ed25519 -N "" -f key'

test_expect_success GPG 'by gpg, with a key of the user'\''s' '
	GNUPGHOME=$HOME/.gnupg && export GNUPGHOME && mkdir -m 700 "$GNUPGHOME" && test_when_finished "gpgconf --kill gpg-agent" &&
	gpg --batch --quiet --passphrase "" --quick-gen-key "C O Mitter <signer@example.com>" ed25519 sign never && key=$(gpg --list-secret-keys --with-colons | sed -n "s/^fpr:*\([0-9A-F]*\):/\1/p") && test -n "$key" &&
	git config --global gpg.format openpgp && git config --global user.signingKey "$key" && every_way gpg && git log -1 --format=%GF | grep -x "$key" && cd .. && refused nogpg 0123456789ABCDEF
'

test_expect_success SSHKEY 'by ssh, with a key of the user'\''s' '
	{ test -e key || ssh-keygen -q -t ed25519 -N "" -f key; } &&
	echo "author@example.com,committer@example.com $(cat key.pub)" >allowed && git config --global gpg.format ssh && git config --global user.signingKey "$PWD/key.pub" && git config --global gpg.ssh.allowedSignersFile "$PWD/allowed" &&
	every_way ssh && test "$(git log -1 --format=%G?)" = G && cd .. && refused nossh "$PWD/none.pub"
'

# What git does not do as the user asked it to is not done without git: nobody would have looked at the signature.
test_expect_success 'with merge.verifySignatures nothing lands that has none, beside uncommitted work neither' '
	begin && put old@8M && git agent start -q --name verify -- sh -c "$words put f@2A old@2A8M" && git commit -qam old && git config merge.verifySignatures true && for how in --merge --squash; do
		picture >../before && test_expect_code 128 git agent land $how verify 2>../err && cat ../err && grep "does not have a GPG signature" ../err && picture >../after && test_cmp ../before ../after && put f@8M g@5M && git add g && picture >../before && test_expect_code 2 git agent land $how verify 2>../err && cat ../err && grep "with uncommitted changes in the way agent/verify cannot be verified (merge.verifySignatures): f, g$" ../err && picture >../after && test_cmp ../before ../after && git reset -q && put f@ g@ || return 1
	done && put f@8M && git agent land verify -- f && content f@2A8M | test_cmp - f && git agent land --undo verify && git -c merge.verifySignatures=false agent land verify && content f@2A8M | test_cmp - f && content old@2A8M | test_cmp - old
'

test_done
