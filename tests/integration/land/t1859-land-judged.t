#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what lands is judged as it will be, with the lines of the user that it lands beside'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

# with_tool NAME COMMANDS: a session that changes tool.sh, a line of which the user changes as well; hooks of the
# user's run it by then
with_tool() {
	make_repo "$1" &&
	printf 'echo %s >>../ran\n' a b c d e f g h >tool.sh &&
	test_commit tool &&
	session "$1" "$2" &&
	sed -i 's/echo a/echo user/' tool.sh &&
	git commit -qam mine &&
	hook post-merge 'sh ./tool.sh' &&
	hook post-commit 'sh ./tool.sh' &&
	: >../ran
}
twice='sed -i "s/echo h/echo agent1/" tool.sh; git commit -qam one
sed -i s/agent1/agent2/ tool.sh; git commit -qam two'

test_that 'what a hook of the user would run is refused whichever way, and nothing of it is run' '
	with_tool tool "$twice" &&
	for how in --merge --squash --rebase "--squash --no-commit"; do
		refused 3 ": 1 critical$" git agent land --dry-run $how tool &&
		refused 3 ": 1 critical$" git agent land $how tool || return 1
	done &&
	hint "git agent review tool" &&
	test_cmp /dev/null ../ran
'

test_that 'what was accepted lands, and is run' '
	cd tool &&
	git agent review --accept tool tool.sh &&
	git agent land --squash tool &&
	grep -x agent2 ../ran &&
	grep -x user ../ran
'

test_that 'what was rejected does not land' '
	with_tool rejected "$twice; echo n >new" &&
	refused 3 ": 1 critical$" git agent land rejected &&
	git agent review --reject rejected tool.sh &&
	git agent land --squash rejected &&
	! grep agent tool.sh &&
	test "$(cat new)" = n &&
	! grep agent ../ran
'

test_that 'a flag that only earlier commits of the branch have does not block a squash' '
	make_repo earlier &&
	session earlier "echo use evil >.envrc; git add -A; git commit -qm add; git rm -q .envrc; line f 2 agent
		git commit -qam away" &&
	refused 3 "open flags" git agent land earlier &&
	refused 3 "open flags" git agent land --rebase earlier &&
	git agent land --squash earlier &&
	! git log --format= --name-only | grep envrc &&
	git agent land --undo &&
	refused 3 "open flags" git agent land earlier
'

# package KEY NAME VALUE: a package.json
package() {
	printf '{\n "name": "x",\n "%s": {\n  "a": "1",\n  "b": "1",\n  "c": "1",\n  "%s": "%s"\n }\n}\n' "$@"
}

# with_package NAME [COMMANDS]: the line of the agent is harmless where it put it; COMMANDS come before it began
with_package() {
	make_repo "$1" &&
	package config d 1 >package.json &&
	test_commit package &&
	eval "${2-}" &&
	session "$1" "sed -i 's/\"d\".*/\"postinstall\": \"node x.js\"/' package.json; line g 2 agent" &&
	{ git agent land --dry-run "$1" || git agent review --accept "$1" package.json; } &&
	git agent land --dry-run "$1"
}
scripts() {
	sed -i 's/"config"/"scripts"/' package.json
}

test_that 'a flag that only both sides together raise blocks a landing' '
	with_package both &&
	scripts &&
	git commit -qam scripts &&
	refused 3 "agent/both would raise new flags where it lands" git agent land both &&
	for how in --merge --squash --rebase; do
		refused 3 "agent/both has open flags: 1 high" git agent land $how both || return 1
	done &&
	test_shows "scripts.postinstall" git agent review --stat both &&
	git agent review --accept both package.json &&
	git agent land both &&
	package scripts postinstall "node x.js" | test_cmp - package.json
'

test_that 'a flag of what would be on one branch does not block a landing on another' '
	with_package branch &&
	git switch -qc other &&
	scripts &&
	git commit -qam scripts &&
	refused 3 "would raise new flags where it lands" git agent land branch &&
	refused 3 "agent/branch" git agent land branch &&
	git switch -q main &&
	git agent land branch
'

test_that 'a conflict is judged as git would leave it, and what it was resolved to is flagged' '
	with_tool conflict "line f 2 agent; sed -i \"s/echo h/echo agent/\" tool.sh" &&
	line f 2 mine &&
	git commit -qam mine &&
	refused 3 "critical" git agent land conflict &&
	git agent review --accept conflict tool.sh &&
	test_expect_code 4 git agent land conflict &&
	seq 9 >f &&
	echo "use evil" >.envrc &&
	git add f .envrc &&
	test_says "flagged in the result of git or a hook: .envrc" git agent land --continue
'

test_that 'uncommitted changes of the agent are judged the same' '
	make_repo uncommitted &&
	printf "echo %s >>../ran\n" a b c d >tool.sh &&
	test_commit tool &&
	sed -i "s/echo d/echo mine/" tool.sh &&
	session uncommitted "sed -i s/mine/agent/ tool.sh; echo more >more" &&
	hook post-commit "sh ./tool.sh" &&
	: >../ran &&
	for how in --squash --merge; do
		refused 3 ": 1 critical$" git agent land $how uncommitted || return 1
	done &&
	test_cmp /dev/null ../ran &&
	git agent review --accept uncommitted tool.sh &&
	git agent land --squash uncommitted &&
	grep -x "echo agent >>../ran" tool.sh
'

test_that 'a path under another name here cannot be accepted or rejected unseen' '
	make_repo renamed &&
	session renamed "echo \"echo agent\" >>d/h" &&
	git mv d e &&
	git commit -qm moved &&
	hook post-merge "sh e/h" &&
	refused 3 "would raise new flags where it lands" git agent land renamed &&
	test_says "restores nothing: agent/renamed changes it only where it lands" \
		test_must_fail git agent review --reject renamed e/h &&
	git agent review --accept renamed e/h &&
	git agent land renamed &&
	grep agent e/h
'

test_done
