#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='flags, and what is held back from the branch'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_expect_success 'make a repository' '
	git init -q r &&
	cd r &&
	echo a >a &&
	mkdir scripts &&
	echo "echo host" >scripts/check.sh &&
	echo "*.ign" >.gitignore &&
	git add -A &&
	git commit -qm base
'

test_expect_success 'a critical path is on held, not on the branch' '
	cd r &&
	git agent start --name env -- sh -c "
		echo \"touch PWNED\" >.envrc
		echo ok >ok
		echo \"all:\" >Makefile" 2>../err &&
	grep "flagged: 1 critical (held back), 1 high: .envrc, Makefile$" ../err &&
	! git cat-file -e agent/env:.envrc 2>/dev/null &&
	git cat-file -e agent/env:ok &&
	git cat-file -e agent/env:Makefile &&
	git cat-file -e refs/agent/env/held:.envrc &&
	test "$(git rev-parse refs/agent/env/held~1)" = "$(git rev-parse agent/env)" &&
	git agent review --format=json env >../json &&
	python3 - <<-\EOF
	import json
	r = json.load(open("../json"))
	assert set(r) >= {"base", "command", "commits", "files", "flags", "held", "left_behind", "session", "tip"}, sorted(r)
	f = {x["path"]: x for x in r["flags"]}
	assert f[".envrc"]["severity"] == "critical" and f[".envrc"]["held"] is True, f
	assert f["Makefile"]["severity"] == "high" and f["Makefile"]["held"] is False, f
	assert {x["path"] for x in r["files"]} == {"ok", "Makefile"}, r["files"]
	EOF
'

test_expect_success 'flags and verdicts: in the report, in trailers, in review, show and list' '
	cd r &&
	git agent start --name told -- sh -c "
		echo e >.envrc
		mkdir \"a b\"
		echo e >\"a b/.envrc\"
		echo \"all:\" >Makefile
		echo ok >ok" &&
	git agent list | grep "^told  *captured .* 3 open flags" &&
	git agent show told | grep "flagged: 2 critical (held back), 1 high: " &&
	git log -1 --format="%(trailers:key=Agent-Flagged,valueonly)" refs/agent/told/held |
		grep . >../got &&
	printf "%s\n" "critical direnv .envrc" "critical direnv \"a b/.envrc\"" | sort >../want &&
	sort ../got | test_cmp ../want - &&
	test "$(git rev-list --count refs/agent/told/report)" = 1 &&
	git agent review --accept told "a b/.envrc" &&
	git agent review --reject told Makefile &&
	git agent review --reject told .envrc &&
	test "$(git rev-list --count refs/agent/told/report)" = 4 &&
	git log -1 --format="%(trailers:key=Agent-Accepted,valueonly)" agent/told~1 | grep . >../got &&
	echo "critical direnv \"a b/.envrc\" 100644 $(git rev-parse "agent/told:a b/.envrc")" >../want &&
	test_cmp ../want ../got &&
	git log -1 --format="%(trailers:key=Agent-Rejected,valueonly)" agent/told |
		grep "^high make Makefile 100644 $(echo all: | git hash-object --stdin)$" &&
	git show refs/agent/told/report:report.json |
		python3 -c "
import json, sys
f = {x[\"path\"]: (x[\"verdict\"], x[\"mode\"], x[\"oid\"]) for x in json.load(sys.stdin)[\"flags\"]}
assert f[\"a b/.envrc\"][0] == \"accepted\" and f[\"Makefile\"][0] == f[\".envrc\"][0] == \"rejected\" and f[\".envrc\"][1] == 0o100644, f" &&
	git agent list | grep "^told  *captured .* 3 flags " &&
	git agent show told | grep "decided: 1 accepted, 2 rejected" &&
	git agent review --stat told | grep "(accepted)" &&
	git agent list --json |
		python3 -c "
import json, sys
s = [x for x in json.load(sys.stdin) if x[\"name\"] == \"told\"][0]
assert s[\"flags\"] == 3 and s[\"flags_open\"] == 0 and s[\"flags_by_severity\"][\"critical\"] == 2, s
assert s[\"flags_by_verdict\"] == {\"open\": 0, \"accepted\": 1, \"rejected\": 2}, s" &&
	git agent land told &&
	git agent show told | grep "^flags  *2 critical, 1 high; 1 accepted, 2 rejected$" &&
	git agent drop told
'

test_expect_success 'PS-09: a verdict is about one mode and one content' '
	cd r &&
	git agent start --name bound -- sh -c "echo \"all:\" >Makefile" &&
	git agent review --accept bound Makefile &&
	git agent land --dry-run bound &&
	git switch -q agent/bound &&
	chmod +x Makefile &&
	git commit -qam mode &&
	git switch -q main &&
	test_expect_code 3 git agent land bound &&
	git agent review --accept bound Makefile &&
	git agent land --dry-run bound &&
	git switch -q agent/bound &&
	echo "more:" >>Makefile &&
	git commit -qam content &&
	git switch -q main &&
	test_expect_code 3 git agent land bound &&
	git agent drop --force bound
'

test_expect_success 'landing is refused until every flag has a verdict' '
	cd r &&
	test_expect_code 3 git agent land env 2>../err &&
	grep -i "flag" ../err &&
	git agent review --accept-all env &&
	test_expect_code 3 git agent land env &&
	git agent review --reject env .envrc &&
	git agent land env &&
	test -e ok &&
	test -e Makefile &&
	test ! -e .envrc &&
	git agent drop env
'

test_expect_success 'an accepted path is brought by a commit on the branch' '
	cd r &&
	git agent start --name acc -- sh -c "echo \"echo hi\" >.envrc; echo b >b" &&
	test_expect_code 3 git agent land acc &&
	git agent review --accept acc .envrc &&
	git cat-file -e agent/acc:.envrc &&
	test_must_fail git rev-parse --verify -q refs/agent/acc/held &&
	git agent land acc &&
	test "$(cat .envrc)" = "echo hi"
'

test_expect_success 'paths are taken from the top or from the current directory' '
	cd r &&
	mkdir -p sub &&
	echo s >sub/s &&
	git add sub &&
	git commit -qm sub &&
	git agent start --name rel -- sh -c "
		echo e >sub/.envrc
		echo e >.envrc.local
		echo k >sub/k" &&
	cd sub &&
	git agent review --accept rel .envrc &&
	git cat-file -e agent/rel:sub/.envrc &&
	git agent review --reject rel .envrc.local &&
	git agent land rel &&
	test -e .envrc &&
	test ! -e ../.envrc.local
'

test_expect_success 'GT-13: a hook added and removed again is in no commit of the branch' '
	cd r &&
	git agent start --name flip -- sh -c "
		set -e; mkdir .husky; echo evil >.husky/pre-commit; git add -A; git commit -qm one
		git rm -qr .husky; echo fine >fine; git add -A; git commit -qm two" 2>../err &&
	for c in $(git rev-list HEAD..agent/flip); do
		! git cat-file -e $c:.husky/pre-commit 2>/dev/null || exit 1
	done &&
	git cat-file -e agent/flip:fine &&
	test "$(git log -1 --format=%s agent/flip)" = two &&
	git rev-parse --verify refs/agent/flip/orig &&
	git agent review flip | grep husky
'

test_expect_success 'what the host'\''s own configuration and hooks reach is critical' '
	cd r &&
	git config core.hooksPath tools/hooks &&
	printf "#!/bin/sh\nsh scripts/check.sh\n" >.git/hooks/pre-push &&
	chmod +x .git/hooks/pre-push &&
	git config filter.fmt.clean "sh scripts/check.sh" &&
	git agent start --name hooks -- sh -c "
		mkdir -p tools/hooks
		echo x >tools/hooks/post-merge
		echo evil >scripts/check.sh
		echo plain >plain" &&
	git diff --name-only HEAD agent/hooks >../names &&
	test "$(cat ../names)" = plain &&
	git config --unset core.hooksPath &&
	git config --remove-section filter.fmt
'

test_expect_success 'a path the user ignores and the agent tracks is held back' '
	cd r &&
	echo mine >local.ign &&
	git agent start --name ign -- sh -c "
		echo theirs >local.ign
		git add -f local.ign
		git commit -qm tracked
		echo z >z" &&
	! git cat-file -e agent/ign:local.ign 2>/dev/null &&
	git cat-file -e refs/agent/ign/held:local.ign &&
	git agent review --reject ign local.ign &&
	git agent land ign &&
	test "$(cat local.ign)" = mine
'

test_expect_success 'PS-10: symlinks that leave the tree, editor and agent configuration, CI, attributes, submodules' '
	cd r &&
	git agent start --name many -- sh -c "
		ln -s /etc/passwd abs
		ln -s ../../outside up
		mkdir -p .vscode .claude .github/workflows
		echo {} >.vscode/tasks.json
		echo {} >.claude/settings.json
		echo \"on: push\" >.github/workflows/x.yml
		echo \"* text\" >.gitattributes
		printf \"[submodule \\\"x\\\"]\n\tpath=x\n\turl=https://example.com/x\n\" >.gitmodules
		echo \"# do\" >AGENTS.md
		echo \"[net]\" >.agentdev.yaml" &&
	git agent review --format=json many >../json &&
	python3 - <<-\EOF &&
	import json
	f = {}
	order = ["low", "medium", "high", "critical"]
	for x in json.load(open("../json"))["flags"]:
	    f[x["path"]] = max(f.get(x["path"], "low"), x["severity"], key=order.index)
	want = {"abs": "high", "up": "critical", ".vscode/tasks.json": "critical", ".claude/settings.json": "critical",
	        ".github/workflows/x.yml": "medium", ".gitattributes": "high", ".gitmodules": "high", "AGENTS.md": "high",
	        ".agentdev.yaml": "critical"}
	for p, s in want.items():
	    assert order.index(f[p]) >= order.index(s), (p, f.get(p), s)
	EOF
	for p in .vscode/tasks.json .claude/settings.json .agentdev.yaml up; do
		! git cat-file -e agent/many:$p 2>/dev/null || exit 1
	done
'

test_expect_success 'RV-02: what a link of the user gives a severe name is as severe as that, wherever it lies' '
	git init -q alias &&
	cd alias &&
	mkdir -p tools/vscode conf shared/more .claude &&
	echo "{}" >tools/vscode/tasks.json &&
	ln -s tools/vscode .vscode &&
	echo x >conf/rc &&
	ln -s rc conf/second &&
	ln -s conf/second .envrc &&
	echo "{}" >shared/s.json &&
	ln -s ../shared/s.json .claude/settings.json &&
	ln -s ../shared/more .claude/skills &&
	ln -s loop .zed &&
	ln -s .zed loop &&
	ln -s ../out .husky &&
	echo a >a &&
	ln -s a b &&
	git add -A &&
	git commit -qm base &&
	git agent start --name al -- sh -c "
		echo 1 >tools/vscode/tasks.json
		echo 1 >conf/rc
		echo 1 >shared/s.json
		mkdir -p shared/more/x
		echo 1 >shared/more/x/SKILL.txt
		echo 1 >tools/plain
		echo 1 >a
		mkdir mine
		echo 1 >mine/config.toml
		ln -s mine .helix
		git add -A
		git commit -qm w" &&
	git diff --name-only main agent/al >../out &&
	printf "a\ntools/plain\n" | test_cmp - ../out &&
	git diff --name-only main refs/agent/al/held >../out &&
	grep -c . ../out &&
	git agent review --stat al >../out &&
	cat ../out &&
	for f in "tools/vscode/tasks.json.*vscode-tasks" "conf/rc.*direnv" "shared/s.json.*claude-settings" "shared/more/x/SKILL.txt.*claude-code-dirs" "mine/config.toml.*helix"; do
		grep -A1 "^    ${f%%.\**} (held back)" ../out |
			grep "a link makes it .*\[${f##*\*}\]" ||
			{
				echo "no $f"
				exit 1
			}
	done &&
	git agent drop --force al
'

test_expect_success 'names and messages of the agent reach the terminal escaped' '
	cd r &&
	git agent start --name esc -- sh -c "
		n=\$(printf \"a\033[31mb\nc\")
		echo x >\"\$n\"
		git add -A
		git commit -qm \"\$(printf \"msg\033]0;title\007\")\"" &&
	git agent review esc >../out 2>&1 &&
	git agent list >>../out &&
	git agent show esc >>../out &&
	git agent diff esc >>../out &&
	! LC_ALL=C grep -q "$(printf "\033")" ../out &&
	! LC_ALL=C grep -q "$(printf "\007")" ../out &&
	git agent review --format=json esc | python3 -c "import json,sys; json.load(sys.stdin)"
'

test_expect_success 'GT-01: nothing the agent wrote runs on the host before it is accepted' '
	cd r &&
	git config core.hooksPath .githooks &&
	git agent start --name run -- sh -c "
		mkdir .githooks
		for h in post-merge post-checkout reference-transaction pre-commit post-commit; do
			printf \"#!/bin/sh\ntouch $HOME/PWNED\n\" >.githooks/\$h
			chmod +x .githooks/\$h
		done
		echo t >t" &&
	git merge -q --no-edit agent/run &&
	git switch -q agent/run &&
	git switch -q main &&
	git worktree add -q ../wtr agent/run &&
	git agent list &&
	git agent review run >/dev/null &&
	test ! -e "$HOME/PWNED" &&
	git config --unset core.hooksPath
'

test_done
