#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='trust in the settings of a repository that loosen'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

pty=$TEST_BUILDDIR/tests/helpers/ptydrive
conf=$HOME/.config/git-agent/config.yaml
mkdir -p "${conf%/*}"

# repo NAME TEXT: a repository with that file, entered
repo() {
	rm -f "$conf" &&
	git init -q "$1" &&
	cd "$1" &&
	echo a >a &&
	printf "$2" >.agentdev.yaml &&
	git add -A &&
	git commit -qm base
}
# file TEXT: the next commit has that one
file() {
	printf "$1" >.agentdev.yaml &&
	git commit -qam file
}
# value KEY: as a session started now would have it
value() {
	git agent config --json |
		python3 -c 'import json, sys; print(*[k["value"] for k in json.load(sys.stdin) if k["key"] == sys.argv[1]])' "$1"
}
# pins: where the contents are
pins() {
	ls -d "$HOME"/.local/state/git-agent/"$(head -1 .git/git-agent/id)"/trust/*
}
loose="secrets:\n  allow: [test/]\n"

test_expect_success 'what loosens is shown in words, with yes trusted, then once and for all' '
	repo words "$loose" &&
	test "$(value secrets.allow)" = "" &&
	test_expect_code 1 git agent trust --show >../out &&
	grep "^    show files that match test/, though they look like secrets (line 2)\$" ../out &&
	grep "not trusted" ../out &&
	test "$(value secrets.allow)" = "" &&
	git agent trust -y >../out &&
	grep "show files that match test/" ../out &&
	grep "trusted now" ../out &&
	test "$(value secrets.allow)" = test/ &&
	git agent trust --show >../out &&
	grep "it is trusted" ../out &&
	git agent trust </dev/null | grep "trusted already" &&
	git agent trust --list >../out &&
	grep "^[0-9a-f]\{12\}  (HEAD)\$" ../out &&
	grep "show files that match test/" ../out &&
	git agent trust --revoke &&
	test "$(value secrets.allow)" = "" &&
	test_expect_code 1 git agent trust --revoke &&
	test -z "$(git agent trust --list)"
'

test_expect_success 'what only tightens needs none, and there may be no file' '
	repo strict "dirty: refuse\n" &&
	git agent trust </dev/null >../out &&
	grep "needs no trust" ../out &&
	git agent trust --show &&
	git rm -q .agentdev.yaml &&
	git commit -qm none &&
	git agent trust </dev/null | grep "there is no .agentdev.yaml" &&
	git init -q ../unborn &&
	cd ../unborn &&
	test_must_fail git agent trust 2>../err &&
	grep "no commit" ../err
'

test_expect_success 'without a terminal it does not trust, and says how; usage' '
	repo blind "$loose" &&
	test_must_fail git agent trust </dev/null >../out 2>../err &&
	grep "show files" ../out &&
	grep "no terminal to ask on" ../err &&
	test "$(value secrets.allow)" = "" &&
	for o in "--show --list" "--revoke -y" "--json" "--revoke --json" "--list HEAD" "--revoke HEAD" "a b"; do
		test_expect_code 129 git agent trust $o || exit 1
	done
'

test_expect_success TTY 'on a terminal it asks; no is the answer to everything but yes' '
	repo ask "$loose" &&
	for answer in n "" x; do
		"$pty" expect="show files that match test/" expect="trust it" send="$answer\r" expect="not trusted" exit=1 -- git agent trust >/dev/null ||
			exit 1
	done &&
	"$pty" expect="trust it" close exit=129 -- git agent trust >/dev/null &&
	test "$(value secrets.allow)" = "" &&
	"$pty" expect="trust it" send="y\r" expect="trusted now" exit=0 -- git agent trust >/dev/null &&
	test "$(value secrets.allow)" = test/
'

test_expect_success 'a changed file is asked about again, with what is new and what is gone' '
	repo changed "secrets:\n  allow: [one, two]\n" &&
	git agent trust -y &&
	file "secrets:\n  allow: [one, three]\nlimits:\n  tasks: 0\n" &&
	test "$(value secrets.allow)" = "" &&
	test_expect_code 1 git agent trust --show >../out &&
	grep "^    show files that match one," ../out &&
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

test_expect_success TTY 'where it asks, what is gone is said once, and so in start' '
	repo once "secrets:\n  allow: [one, two]\n" &&
	git agent trust -y &&
	file "secrets:\n  allow: [one]\nlimits:\n  tasks: 0\n" &&
	"$pty" expect="trust it" send="n\r" expect="not trusted" exit=1 -- git agent trust >../out &&
	grep -c "  - show files that match two," ../out | grep -x 1 &&
	grep -c "  + set limits.tasks" ../out | grep -x 1 &&
	"$pty" within=30 expect="trust it" send="n\r" expect="needs trust" exit=125 -- git agent start -q -- true >../out &&
	grep -c "  - show files that match two," ../out | grep -x 1
'

test_expect_success 'a commit can be named, and one edited in the working tree is not meant' '
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
	git agent trust --show 2>../err &&
	grep "counts when" ../err &&
	test_must_fail git agent trust --show none
'

test_expect_success 'the content is kept for its owner alone, and counts only as it was trusted' '
	repo kept "$loose" &&
	git agent trust -y &&
	p=$(pins) &&
	test "$(stat -c %a "$p" "$(dirname "$p")" | tr "\n" " ")" = "600 700 " &&
	head -c "$(wc -c <.agentdev.yaml)" "$p" | cmp - .agentdev.yaml &&
	test "$(basename "$p")" = "$(sha256sum <"$p" | cut -d" " -f1)" &&
	echo >>"$p" &&
	test "$(value secrets.allow)" = "" &&
	git agent trust -y &&
	test "$(value secrets.allow)" = test/ &&
	chmod 666 "$p" &&
	test "$(value secrets.allow)" = "" &&
	chmod 600 "$p" &&
	test "$(value secrets.allow)" = test/ &&
	mv "$p" ../elsewhere &&
	ln -s "$HOME/elsewhere" "$p" &&
	test "$(value secrets.allow)" = "" &&
	rm "$p" &&
	mkdir "$p" &&
	test "$(value secrets.allow)" = "" &&
	rmdir "$p" &&
	mv ../elsewhere "$p" &&
	test "$(value secrets.allow)" = test/ &&
	chmod 777 "$(dirname "$p")" &&
	test_must_fail git agent config 2>../err &&
	grep "not yours alone" ../err &&
	grep "chmod 0700" ../err &&
	chmod 700 "$(dirname "$p")" &&
	test "$(value secrets.allow)" = test/
'

test_expect_success 'trust is of what was shown: what loosens more since, of settings that are stricter by now, is asked about' '
	repo shown "${loose}limits:\n  tasks: 0\n" &&
	printf "limits: {tasks: 0}\n" >"$conf" &&
	git agent trust -y >../out &&
	test_must_fail grep tasks ../out &&
	test "$(value secrets.allow)" = test/ &&
	printf "limits: {tasks: 100}\n" >"$conf" &&
	test "$(value limits.tasks)" = 100 &&
	test "$(value secrets.allow)" = "" &&
	test_expect_code 1 git agent trust --show >../out &&
	grep "set limits.tasks to 0 instead of 100" ../out &&
	git agent trust -y &&
	test "$(value limits.tasks)" = 0 &&
	printf "limits: {tasks: 0}\n" >"$conf" &&
	test "$(value secrets.allow)" = test/
'

test_expect_success 'trust is of one repository: not of another with the same file, and not of a copy' '
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

test_expect_success 'JSON of both' '
	repo json "secrets: {allow: [x]}\n" &&
	git agent trust -y &&
	file "secrets: {allow: [y]}\n" &&
	test_expect_code 1 git agent trust --show --json >../show &&
	git agent trust --list --json >../list &&
	python3 - <<-\EOF
	import json
	s, l = json.load(open("../show")), json.load(open("../list"))
	assert s["state"] == "untrusted" and len(s["commit"]) == 40, s
	assert s["grants"] == [{"key": "secrets.allow", "value": "y", "grants": "show files that match y, though they look like secrets", "line": 1, "column": 19, "new": True}], s
	assert s["gone"] == ["show files that match x, though they look like secrets"], s
	assert len(l) == 1 and len(l[0]["id"]) == 64 and not l[0]["current"] and l[0]["grants"] == s["gone"] and l[0]["when"] > 1e9, l
	EOF
'

test_expect_success 'what is trusted counts over the own file where that is not stricter, and -c over both' '
	repo layers "limits: {tasks: 0, memory: 2GiB}\n" &&
	git agent trust -y &&
	test "$(value limits.tasks)" = 0 &&
	test "$(git agent -c limits.tasks=5 config | grep "  tasks")" = "  tasks: 5" &&
	printf "limits: {memory: 1GiB}\n" >"$conf" &&
	test "$(value limits.memory)" = 1GiB
'

test_expect_success 'as many as anybody needs are kept, the oldest go' '
	repo many "$loose" &&
	for i in $(seq 70); do
		file "secrets: {allow: [f$i]}\n" &&
		git agent trust -y >/dev/null || exit 1
	done &&
	test "$(pins | wc -l)" = 64 &&
	test "$(value secrets.allow)" = f70
'

# ---- sessions ---------------------------------------------------------------------------------------

require_sandbox

test_expect_success 'PS-01: untrusted, nothing starts, and nothing is left; --untrusted goes without' '
	repo start "# x\nsecrets:\n  mode: warn\n  allow: [.env]\n" &&
	test_expect_code 125 git agent start -- touch x </dev/null 2>../err &&
	test "$(wc -l <../err)" = 2 &&
	grep "^git-agent: .agentdev.yaml:3:9: .secrets.mode. needs trust, and 1 other setting too\$" ../err &&
	grep "^hint: .git agent trust. shows what it lets agents do, and asks; .start. and .resume. leave that out with --untrusted\$" ../err &&
	test -z "$(git for-each-ref refs/agent)" &&
	test_expect_code 125 git agent start --dry-run -- true </dev/null &&
	test_expect_code 125 git agent start -d -- true </dev/null 2>../err &&
	grep "git agent trust" ../err &&
	git agent start --untrusted -- touch x 2>../err &&
	grep "left out: 2 of the settings" ../err &&
	git agent trust -y &&
	git agent start -q -- touch y
'

test_expect_success TTY 'on a terminal a start asks, and goes on or not' '
	repo tty "$loose" &&
	"$pty" within=30 expect="show files that match test/" expect="trust it" send="\r" expect="needs trust" exit=125 -- git agent start -q -- true >/dev/null &&
	test_must_fail pins &&
	"$pty" within=30 expect="trust it" send="y\r" expect="inside" exit=0 -- git agent start -q -- echo inside >/dev/null &&
	test "$(pins | wc -l)" = 1 &&
	"$pty" within=30 expect="inside" exit=0 -- git agent start -q -- echo inside >../out &&
	! grep "trust it" ../out
'

test_expect_success 'PS-01: what an agent made of it is held back, flagged, and widens neither resume nor start' '
	repo agent "dirty: carry\n" &&
	agent="printf \"secrets:\\n  mode: off\\n\" >.agentdev.yaml; git commit -qam wide" &&
	git agent start -q --name w -- sh -c "
		$agent
		echo 1 >one
		git add one
		git commit -qm one" &&
	git agent review --json w | grep gitagent-config &&
	test "$(git show agent/w:.agentdev.yaml)" = "dirty: carry" &&
	git cat-file -e agent/w:one &&
	git agent resume -q w -- sh -c "echo 2 >two" </dev/null &&
	git agent start -q --base agent/w -- true </dev/null &&
	git agent review --critical --accept-all w &&
	git show agent/w:.agentdev.yaml | grep "mode: off" &&
	git agent resume -q w -- true </dev/null &&
	test_expect_code 125 git agent start --base agent/w -- true </dev/null 2>../err &&
	grep "secrets.mode. needs trust" ../err &&
	grep "git agent trust $(git rev-parse agent/w | cut -c1-10)" ../err &&
	git agent land w &&
	git show HEAD:.agentdev.yaml | grep "mode: off" &&
	test "$(value secrets.mode)" = mask &&
	test_expect_code 125 git agent start -- true </dev/null 2>../err &&
	grep "secrets.mode. needs trust" ../err
'

test_expect_success 'a port that other machines reach is said to be one, before it is trusted and when it is there' '
	repo ports "network:\n  mode: none\n  publish: [auto:3000, \"127.0.0.9:auto:3001\", \"0.0.0.0:auto:3002\", \"[::1]:auto:3003\", \"[::]:auto:3004\"]\n" &&
	test_expect_code 1 git agent trust --show >../out &&
	grep -c "listen on your machine" ../out | grep -x 5 &&
	grep "where others on the network reach it" ../out | sed "s/^[^(]*(//; s/).*//" >../open &&
	printf "0.0.0.0:auto:3002\n[::]:auto:3004\n" >../want &&
	test_cmp ../want ../open &&
	git rm -q .agentdev.yaml &&
	git commit -qm none &&
	git agent -c network.publish=auto:3000 -c network.publish=0.0.0.0:auto:3002 start --no-network -- true 2>../err &&
	grep "port 3000 is published at 127.0.0.1:[0-9]*\$" ../err &&
	grep "port 3002 is published at 0.0.0.0:[0-9]*, where others on the network reach it\$" ../err
'

test_expect_success 'a list of what is allowed where nothing is restricted by it is said to have no effect, and where it is' '
	repo noeffect "dirty: carry\n" &&
	mkdir -p "${conf%/*}" &&
	printf "network:\n  allow: [a.example:1]\n" >"$conf" &&
	git agent start -- true 2>../err &&
	grep "$conf:2:[0-9]*: .network.allow. has no effect: .network.mode. is host, not allow\$" ../err &&
	for quiet in "--network allow" --no-network "--network host" --learn -q; do
		git agent start $quiet -- true 2>../err || { test "$quiet" = --learn || exit 1; }
		test_must_fail grep "no effect" ../err || exit 1
	done &&
	git agent -c network.mode=none start -- true 2>../err &&
	test_must_fail grep "no effect" ../err &&
	rm "$conf" &&
	file "network:\n  mode: none\n  allow:\n    - a.example:1\n" &&
	git agent trust -y &&
	git agent start --dry-run -- true 2>&1 |
		grep "agentdev.yaml:4:7: .network.allow. has no effect: .network.mode. is none, not allow" &&
	file "dirty: carry\n" &&
	git agent -c network.allow=a.example:1 start -- true 2>../err &&
	grep "the command line: .network.allow. has no effect" ../err
'

test_expect_success 'PS-01: nothing of what is trusted, or of where that is kept, is there inside' '
	repo inside "$loose" &&
	git agent trust -y &&
	pins >../before &&
	id=$(basename "$(cat ../before)") &&
	test -n "$id" &&
	git agent start -q -- sh -c "
		for at in \$HOME/.local/state/git-agent \$HOME/.config/git-agent; do
			! ls -A \$at 2>/dev/null || exit 9
		done
		PATH=\$PATH:$TEST_BUILDDIR git agent trust -y >/dev/null 2>&1 &&
		exit 8
		find \$HOME /run /tmp /var/tmp -name $id
		cat /proc/self/mountinfo" >../out &&
	grep " $PWD " ../out &&
	! grep -e trust -e "$id" ../out &&
	pins >../after &&
	test_cmp ../before ../after
'

test_expect_success 'a session goes on under what it was started with, and is captured when that is revoked' '
	repo go "$loose" &&
	git agent trust -y &&
	git agent start -q --name g -- sh -c "echo 1 >one" &&
	git agent resume -q g -- sh -c "echo 2 >two" &&
	git agent trust --revoke &&
	test_expect_code 125 git agent resume g -- true </dev/null 2>../err &&
	grep "needs trust" ../err &&
	git agent diff g >../out &&
	git agent show g &&
	git agent resume -q --untrusted g -- sh -c "echo 3 >three" &&
	git cat-file -e agent/g:three
'

test_done
