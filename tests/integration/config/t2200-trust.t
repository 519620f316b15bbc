#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='trust in the settings of a repository that loosen'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

pty=$TEST_BUILDDIR/tests/helpers/ptydrive

# repo NAME TEXT: a repository with that file, entered
repo() {
	rm -f "$conf" &&
	test_enter "$1" &&
	echo a >a &&
	printf "$2" >.agentdev.yaml &&
	test_commit base
}
# file TEXT: the next commit has that one
file() {
	printf "$1" >.agentdev.yaml &&
	git commit -qam file
}
# value KEY: as a session started now would have it
value() {
	git agent config --json | sed -n "/\"key\": \"$1\",/{n;s/.*\"value\": \"\(.*\)\",/\1/p;}"
}
# pins: where the contents are
pins() {
	ls -d "$HOME"/.local/state/git-agent/"$(head -1 .git/git-agent/id)"/trust/*
}
loose="secrets:\n  allow: [test/]\n"

test_that 'a setting that loosens is shown in words, and counts while it is trusted' '
	repo words "$loose" &&
	test "$(value secrets.allow)" = "" &&
	test_shows "^    show files that match test/, though they look like secrets (line 2)\$" \
		test_expect_code 1 git agent trust --show &&
	grep "not trusted" ../out &&
	test "$(value secrets.allow)" = "" &&
	test_shows "trusted now" git agent trust -y &&
	test "$(value secrets.allow)" = test/ &&
	test_shows "it is trusted" git agent trust --show &&
	git agent trust </dev/null | grep "trusted already" &&
	test_shows "^[0-9a-f]\{12\}  (HEAD)\$" git agent trust --list &&
	grep "show files that match test/" ../out &&
	git agent trust --revoke &&
	test "$(value secrets.allow)" = "" &&
	test_expect_code 1 git agent trust --revoke &&
	test -z "$(git agent trust --list)"
'

test_that 'a file that only tightens, or none, needs no trust' '
	repo strict "dirty: refuse\n" &&
	git agent trust </dev/null >../out &&
	grep "needs no trust" ../out &&
	git agent trust --show &&
	git rm -q .agentdev.yaml &&
	git commit -qm none &&
	git agent trust </dev/null | grep "there is no .agentdev.yaml" &&
	test_enter ../unborn &&
	test_says "no commit" test_must_fail git agent trust
'

test_that 'without a terminal nothing is trusted unless -y says so' '
	repo blind "$loose" &&
	test_must_fail git agent trust </dev/null >../out 2>../err &&
	grep "show files" ../out &&
	grep "no terminal to ask on" ../err &&
	test "$(value secrets.allow)" = "" &&
	for o in "--show --list" "--revoke -y" "--json" "--list HEAD" "a b"; do
		test_expect_code 129 git agent trust $o || exit 1
	done
'

test_that TTY 'on a terminal it asks, and only yes trusts' '
	repo ask "$loose" &&
	for answer in n x; do
		"$pty" expect="show files that" expect="trust it" send="$answer\r" expect="not trusted" exit=1 -- \
			git agent trust >/dev/null ||
			exit 1
	done &&
	"$pty" expect="trust it" close exit=129 -- git agent trust >/dev/null &&
	test "$(value secrets.allow)" = "" &&
	"$pty" expect="trust it" send="y\r" expect="trusted now" exit=0 -- git agent trust >/dev/null &&
	test "$(value secrets.allow)" = test/
'

test_that 'a changed file needs trust again, and shows what is new and what is gone' '
	repo changed "secrets:\n  allow: [one, two]\n" &&
	git agent trust -y &&
	file "secrets:\n  allow: [one, three]\nlimits:\n  tasks: 0\n" &&
	test "$(value secrets.allow)" = "" &&
	test_shows "^    show files that match one," test_expect_code 1 git agent trust --show &&
	grep "^  + show files that match three," ../out &&
	grep "^  + set limits.tasks to 0 instead of 8192" ../out &&
	grep "^  - show files that match two," ../out &&
	git agent trust -y &&
	test "$(value limits.tasks)" = 0 &&
	test "$(pins | wc -l)" = 2 &&
	git checkout -q HEAD~ &&
	test "$(value secrets.allow)" = "one, two" &&
	test "$(git agent trust --list | grep -c HEAD)" = 1 &&
	git checkout -q - &&
	file "# same\n$(git show HEAD:.agentdev.yaml)\n" &&
	test "$(value limits.tasks)" = 8192 &&
	test_expect_code 1 git agent trust --show >../out &&
	! grep "^  [+-]" ../out
'

test_that 'a named commit is trusted, an edit of the working tree is not' '
	repo named "$loose" &&
	git tag first &&
	file "dirty: refuse\n" &&
	test_expect_code 1 git agent trust --show first &&
	git agent trust -y first &&
	git agent trust --show first &&
	printf "$loose" >.agentdev.yaml &&
	git agent trust >../out 2>../err &&
	grep "needs no trust" ../out &&
	grep "counts when it is committed" ../err &&
	test_says "counts when" git agent trust --show &&
	test_must_fail git agent trust --show none
'

test_that 'the trusted content counts only unchanged, in a file that only its owner can read' '
	repo kept "$loose" &&
	git agent trust -y &&
	p=$(pins) &&
	dir=$(dirname "$p") &&
	test "$(stat -c %a "$p" "$dir" | tr "\n" " ")" = "600 700 " &&
	head -c "$(wc -c <.agentdev.yaml)" "$p" | cmp - .agentdev.yaml &&
	test "$(basename "$p")" = "$(sha256sum <"$p" | cut -d" " -f1)" &&
	cp "$p" ../saved &&
	for how in "echo >>$p" "chmod 666 $p" "mv $p ../elsewhere; ln -s $HOME/elsewhere $p" "rm $p; mkdir $p"; do
		eval "$how" &&
		test "$(value secrets.allow)" = "" &&
		rm -rf "$p" &&
		cp ../saved "$p" &&
		chmod 600 "$p" &&
		test "$(value secrets.allow)" = test/ || exit 1
	done &&
	chmod 777 "$dir" &&
	test_says "not yours alone" test_must_fail git agent config &&
	grep "chmod 0700" ../err &&
	chmod 700 "$dir" &&
	test "$(value secrets.allow)" = test/
'

test_that 'a value that loosens more because own settings became stricter needs trust again' '
	repo shown "${loose}limits:\n  tasks: 0\n" &&
	test_settings "limits: {tasks: 0}\n" &&
	git agent trust -y >../out &&
	test_must_fail grep tasks ../out &&
	test "$(value secrets.allow)" = test/ &&
	test_settings "limits: {tasks: 100}\n" &&
	test "$(value limits.tasks)" = 100 &&
	test "$(value secrets.allow)" = "" &&
	test_shows "set limits.tasks to 0 instead of 100" test_expect_code 1 git agent trust --show &&
	git agent trust -y &&
	test "$(value limits.tasks)" = 0 &&
	test_settings "limits: {tasks: 0}\n" &&
	test "$(value secrets.allow)" = test/
'

test_that 'trust counts in one repository and its worktrees, not in clones or copies' '
	repo mine "$loose" &&
	git agent trust -y &&
	git clone -q . ../theirs &&
	cp -a . ../copy &&
	cd ../theirs &&
	test "$(value secrets.allow)" = "" &&
	cd ../copy &&
	test "$(value secrets.allow)" = "" &&
	cd ../mine &&
	test "$(value secrets.allow)" = test/ &&
	git worktree add -q ../beside &&
	cd ../beside &&
	test "$(value secrets.allow)" = test/
'

# ---- sessions

require_sandbox

test_that 'PS-01: with untrusted settings no session starts, unless --untrusted leaves them out' '
	repo start "# x\nsecrets:\n  mode: warn\n  allow: [.env]\n" &&
	test_expect_code 125 git agent start -- touch x </dev/null 2>../err &&
	test "$(wc -l <../err)" = 2 &&
	grep "^git-agent: .agentdev.yaml:3:9: .secrets.mode. needs trust, and 1 other setting too\$" ../err &&
	grep "^hint: .git agent trust. shows what it lets agents do, and asks; .*with --untrusted\$" ../err &&
	test -z "$(git for-each-ref refs/agent)" &&
	test_expect_code 125 git agent start --dry-run -- true </dev/null &&
	test_expect_code 125 git agent start -d -- true </dev/null 2>../err &&
	test_says "left out: 2 of the settings" git agent start --untrusted -- touch x &&
	git agent trust -y &&
	git agent start -q -- touch y
'

test_that TTY 'on a terminal a start asks for trust once' '
	repo tty "$loose" &&
	"$pty" within=30 expect="trust it" send="\r" expect="needs trust" exit=125 -- \
		git agent start -q -- true >/dev/null &&
	test_must_fail pins &&
	"$pty" within=30 expect="trust it" send="y\r" expect="inside" exit=0 -- \
		git agent start -q -- echo inside >/dev/null &&
	test "$(pins | wc -l)" = 1 &&
	"$pty" within=30 expect="inside" exit=0 -- git agent start -q -- echo inside >../out &&
	! grep "trust it" ../out
'

test_that 'PS-01: settings that an agent writes are held, and widen neither resume nor start' '
	repo agent "dirty: carry\n" &&
	agent="printf \"secrets:\\n  mode: off\\n\" >.agentdev.yaml; git commit -qam wide" &&
	test_session w "
		$agent
		echo 1 >one
		git add one
		git commit -qm one" &&
	git agent review --json w | grep gitagent-config &&
	test_holds agent/w:.agentdev.yaml "dirty: carry" &&
	git cat-file -e agent/w:one &&
	test_resume w "echo 2 >two" </dev/null &&
	git agent start -q --base agent/w -- true </dev/null &&
	git agent review w >/dev/null &&
	git agent review --critical --accept-all w &&
	git show agent/w:.agentdev.yaml | grep "mode: off" &&
	git agent resume -q w -- true </dev/null &&
	test_fails 125 "secrets.mode. needs trust" git agent start --base agent/w -- true </dev/null &&
	grep "git agent trust $(git rev-parse agent/w | cut -c1-10)" ../err &&
	git agent land w &&
	git show HEAD:.agentdev.yaml | grep "mode: off" &&
	test "$(value secrets.mode)" = mask &&
	test_fails 125 "secrets.mode. needs trust" git agent start -- true </dev/null
'

test_that 'network.allow that has no effect is named with its place, unless the network is restricted' '
	repo noeffect "dirty: carry\n" &&
	mkdir -p "${conf%/*}" &&
	test_settings "network:\n  allow: [a.example:1]\n" &&
	test_says "$conf:2:[0-9]*: .network.allow. has no effect: .network.mode. is host, not allow\$" \
		git agent start -- true &&
	git agent start --network allow -- true 2>../err &&
	! grep "no effect" ../err
'

test_that 'PS-01: trusted contents and their place are not visible in a session' '
	repo inside "$loose" &&
	git agent trust -y &&
	pins >../before &&
	id=$(basename "$(cat ../before)") &&
	test -n "$id" &&
	test_inside "
		for at in \$HOME/.local/state/git-agent \$HOME/.config/git-agent; do
			! ls -A \$at 2>/dev/null || exit 9
		done
		find \$HOME /run /tmp /var/tmp -name $id
		cat /proc/self/mountinfo
		# given inside, it is in the home of agents
		PATH=\$PATH:$TEST_BUILDDIR git agent trust -y >/dev/null 2>&1 || :" >../out &&
	grep " $PWD " ../out &&
	! grep -e trust -e "$id" ../out &&
	pins >../after &&
	test_cmp ../before ../after
'

test_that 'after its trust is revoked a session can be looked at, and resumed with --untrusted' '
	repo go "$loose" &&
	git agent trust -y &&
	test_session g "echo 1 >one" &&
	git agent trust --revoke &&
	test_fails 125 "needs trust" git agent resume g -- true </dev/null &&
	git agent diff g >../out &&
	git agent show g &&
	git agent resume -q --untrusted g -- sh -c "echo 3 >three" &&
	git cat-file -e agent/g:three
'

test_done
