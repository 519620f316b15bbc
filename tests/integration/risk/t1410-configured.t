#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='paths that settings flag, spare, hold or refuse, wherever rules are run'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use submodules


# repo NAME [TEXT]: a repository, with that file, entered
repo() {
	rm -f "$conf" &&
	test_enter "$1" &&
	echo a >a &&
	mkdir sql &&
	echo "create" >sql/a.sql &&
	echo k >key &&
	echo "all:" >Makefile &&
	echo "*.ign" >.gitignore &&
	if test -n "$2"; then printf "$2" >.agentdev.yaml; fi &&
	test_commit base
}
# flags NAME: "severity rule path[ held][ verdict]" of each
flags() {
	git agent review --format=json "$1" >"$TRASH/report" &&
	python3 -c '
import json, sys
for f in json.load(sys.stdin)["flags"]:
    verdict = [f["verdict"]] if f["verdict"] != "open" else []
    print(f["severity"], f["id"], f["path"], *["held"] * f["held"], *verdict)' <"$TRASH/report"
}
# flagged NAME LINE...: these and no others
flagged() {
	flags "$1" >"$TRASH/raw" &&
	sort "$TRASH/raw" >"$TRASH/got" &&
	shift &&
	printf "%s\n" "$@" | sort | sed "/^$/d" >"$TRASH/want" &&
	test_cmp "$TRASH/want" "$TRASH/got"
}
on_branch() {
	git cat-file -e "agent/$1:$2" 2>/dev/null
}
work='echo b >>a; echo drop >>sql/a.sql; echo more >>Makefile; echo mine >key; echo new >new.sql'

test_that 'at capture, paths are flagged, spared, held and refused as the settings say' '
	repo lists &&
	test_settings "risk:\n  add: [sql/]\n  allow: [/Makefile]\n  hold: [new.*]\n  block: [KEY]\n" &&
	test_session l "$work" &&
	flagged l "high configured-add sql/a.sql" "high configured-hold new.sql held" \
		"critical configured-block key held" &&
	on_branch l sql/a.sql &&
	! on_branch l new.sql &&
	test_holds agent/l:key k &&
	test_holds refs/agent/l/held:key mine &&
	test_shows "your settings hold back any change to it (risk.hold): new" git agent review --stat l &&
	test_expect_code 3 git agent land l
'

test_that 'a path of risk.hold can be accepted, and one of risk.block cannot' '
	cd lists &&
	test_fails 3 "risk.block of your settings refuses key" git agent review --accept l key &&
	grep "^hint: .*review --reject l" ../err &&
	test_expect_code 3 git agent review --accept l new.sql key &&
	! on_branch l new.sql &&
	git agent review --accept l sql/a.sql &&
	git agent review --accept l new.sql &&
	on_branch l new.sql &&
	test_says "1 open flag left" git agent review --accept-all --critical l &&
	grep "^  next: git agent review l$" ../err &&
	test_holds agent/l:key k &&
	test_expect_code 3 git agent land l &&
	git agent review --reject l key &&
	git agent land l &&
	test "$(cat key)" = k &&
	test "$(cat new.sql)" = new &&
	grep more Makefile &&
	git agent drop l
'

test_that 'settings that tighten after a capture count for accepting and landing' '
	repo later &&
	test_session l "
		$work
		echo e >.envrc" &&
	flagged l "high make Makefile" "critical direnv .envrc held" &&
	git agent review --accept l .envrc Makefile &&
	test_settings "risk: {block: [.envrc], add: [a]}\n" &&
	test_fails 3 "would raise new flags" git agent land --dry-run l &&
	grep "git agent land l. stores them for .git agent review l." ../err &&
	! git agent review l | grep configured-add &&
	test_fails 3 "would raise new flags" git agent land l &&
	grep "git agent review l., then --accept" ../err &&
	flagged l "high make Makefile accepted" "critical direnv .envrc accepted" "critical configured-block .envrc" \
		"high configured-add a" &&
	test_expect_code 3 git agent review --accept l .envrc &&
	git agent review --accept l a &&
	test_expect_code 3 git agent land l &&
	git agent review --reject l .envrc &&
	git agent land l &&
	test ! -e .envrc &&
	test "$(tail -1 a)" = b
'

test_that 'settings that loosen count from the next capture, and a path of block that is gone at once' '
	repo loosen &&
	test_settings "risk: {block: [key], hold: [new.sql]}\n" &&
	test_session l "$work" &&
	test_settings "risk: {allow: [Makefile, new.sql, key]}\n" &&
	flagged l "high make Makefile" "high configured-hold new.sql held" "critical configured-block key held" &&
	test_expect_code 3 git agent land l &&
	git agent review --accept l key new.sql Makefile &&
	git agent land l &&
	test "$(cat key)" = mine &&
	test_session m "
		echo two >>Makefile
		echo 2 >key" &&
	flagged m &&
	git agent land m
'

test_that 'PS-01: the settings of the base commit count, and no edit of them by the agent' '
	repo theirs "risk: {hold: [key], block: [sql/], add: [a]}\n" &&
	test_session t "
		printf \"risk: {allow: [\\\"**\\\"]}\n\" >.agentdev.yaml
		git commit -qam mine
		$work" &&
	flagged t "critical gitagent-config .agentdev.yaml held" "high configured-add a" \
		"high configured-hold key held" "critical configured-block sql/a.sql held" "high make Makefile" &&
	test_expect_code 3 git agent review --accept t sql/a.sql &&
	test_resume t "
		echo more >>sql/a.sql
		echo more >>key" &&
	flags t >../got &&
	grep "configured-block sql/a.sql held" ../got &&
	grep "configured-hold key held" ../got &&
	git agent review --accept t .agentdev.yaml &&
	git agent review --accept t key &&
	git agent review --accept t a Makefile &&
	test_expect_code 3 git agent review --accept t sql/a.sql &&
	git agent review --reject t sql/a.sql &&
	git agent land t &&
	test "$(git show HEAD:.agentdev.yaml)" = "risk: {allow: [\"**\"]}" &&
	git agent start -q --untrusted --name after -- sh -c "echo again >>Makefile" &&
	flagged after "high make Makefile"
'

test_that 'risk.allow of a repository needs trust' '
	repo trusted "risk: {allow: [Makefile]}\n" &&
	test_says "1:16: .risk.allow. needs trust" test_must_fail git agent start -q --name no -- true </dev/null &&
	git agent start -q --untrusted --name un -- sh -c "$work" &&
	flagged un "high make Makefile" &&
	test_shows "change files that match Makefile without a flag, unless that is critical" git agent trust -y &&
	test_session yes "echo yes >>Makefile" &&
	flagged yes &&
	git agent land yes &&
	git agent trust --revoke &&
	test_expect_code 3 git agent land un &&
	git agent -c "risk.hold=key" start -q --untrusted --name c -- sh -c "echo z >key" &&
	flagged c "high configured-hold key held"
'

test_that 'the settings count for leftovers' '
	repo left &&
	test_settings "risk: {block: [secret.ign], hold: [x.ign]}\n" &&
	test_session l "
		echo s >secret.ign
		echo x >x.ign
		echo y >y.ign
		echo b >b" &&
	test_shows "configured-block" git agent review --json l &&
	grep "configured-hold" ../out &&
	git agent land l
'

test_that 'the settings here count for a session that is fetched' '
	repo seed "risk: {hold: [key]}\n" &&
	cd .. &&
	git clone -q --bare seed origin.git &&
	git clone -q origin.git here &&
	git clone -q origin.git there &&
	cd here &&
	test_session f "$work" &&
	git agent review --accept f key Makefile &&
	git agent push f &&
	cd ../there &&
	test_settings "risk: {block: [sql/], allow: [Makefile]}\n" &&
	git agent fetch origin f &&
	flagged f "high configured-hold key held" "critical configured-block sql/a.sql held" &&
	test_expect_code 3 git agent review --accept f sql/a.sql
'

test_that 'in a submodule the settings of the user count, at capture and in a review' '
	rm -f "$conf" &&
	make_repo lib &&
	make_super sub lib &&
	cd sub &&
	printf "risk: {hold: [s], add: [d/b]}\n" >.agentdev.yaml &&
	test_commit file &&
	test_settings "risk: {block: [a]}\n" &&
	test_session s "
		echo x >>$L/a
		echo y >>$L/d/b
		echo z >$L/s
		echo z >s" &&
	flags s | grep "configured-hold s held" &&
	cd $L &&
	flagged s "critical configured-block a held" &&
	test_expect_code 3 git agent review --accept s a &&
	test_settings "risk: {}\n" &&
	git agent review --accept s a
'

test_that 'with flags.strict, what builds and tests execute is held' '
	test_enter strict &&
	echo "flags: {strict: true}" >.agentdev.yaml &&
	test_commit base &&
	test_session s "echo all: >Makefile; echo x >conftest.py; echo on: push >y; echo z >z" &&
	test_prints "y
z" git diff --name-only HEAD agent/s &&
	test_shows "\"held\": true" git agent -c flags.strict=true rules --json explain Makefile
'

test_done
