#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what one meets in daily use: hints, counts and listings that hold'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# make_repo NAME [COMMANDS]: a repository with one commit of what COMMANDS make.
make_repo() {
	test_enter "$1" &&
	(echo a >a && eval "${2:-:}" && test_commit base)
}

test_that 'the subject of a commit counts files only if it has all of them' '
	make_repo subject &&
	test_session s1 "echo b >b" &&
	git log -1 --format=%s agent/s1 >../got &&
	test_session s2 "
		echo b >b
		echo x >.envrc" &&
	git log -1 --format=%s agent/s2 >>../got &&
	echo mine >>a &&
	test_session s3 "echo b >b; echo x >>a" &&
	git log -1 --format=%s agent/s3 >>../got &&
	printf "%s\n" "agent/s1: 1 file changed" "agent/s2: what the agent left uncommitted" \
		"agent/s3: what the agent left uncommitted" >../want &&
	test_cmp ../want ../got
'

test_that 'a relative link lands without a verdict, and ignored directories have no flags' '
	make_repo plain "echo build/ >.gitignore" &&
	mkdir build &&
	echo o >build/o &&
	test_session p "
		mkdir docs
		ln -s ../a docs/a
		echo n >build/n
		mkdir -p sub/build
		echo n >sub/build/n" &&
	git agent review --format=json p >../json &&
	python3 - <<-\EOF &&
	import json
	r = json.load(open("../json"))
	assert [(f["path"], f["id"]) for f in r["flags"]] == [("docs/a", "symlink-any")], r["flags"]
	assert {x["path"] for x in r["left_behind"]} == {"build", "sub/build"}, r["left_behind"]
	EOF
		git agent --complete review --accept agent/p docs/a "" | cut -f1 >../got &&
	test_prints docs/a cat ../got &&
	# a session is found by its branch as well
	git agent show agent/p | grep "^session *p$" &&
	git agent land agent/p &&
	test -L docs/a
'

test_that 'the list says which sessions changed nothing, and cuts long commands' '
	make_repo list &&
	git agent start --name n true &&
	test_session w "echo b >b" &&
	git agent start --name x -- true "αβγδεζηθικλμνξοπρστυφχψωαβγδεζηθ" &&
	git agent list >../got &&
	grep "^n  *captured .*no change  *true$" ../got &&
	grep "^w  *captured" ../got | grep -v "no change" &&
	test_must_fail grep " $" ../got &&
	grep "^x .*[.][.][.]$" ../got &&
	! grep -E "^.{81}" ../got &&
	python3 -c "open(\"../got\", encoding=\"utf-8\", errors=\"strict\").read()"
'

test_that 'the list says what lags, which sessions change the same, and what to do next' '
	make_repo cockpit &&
	test_session one "echo 1 >both; echo 1 >b" &&
	test_session two "echo 2 >both" &&
	test_empty next &&
	test_session three "echo 3 >c" &&
	git agent list >../got &&
	grep "^one  *captured .* 1 behind" ../got &&
	! grep "^three .*behind" ../got &&
	test $(wc -l <../got) = 3 &&
	"$TEST_BUILDDIR/tests/helpers/ptydrive" expect="next: git agent review one" \
		expect="one and two both change both" exit=0 -- git agent list &&
	git agent list --json >../json &&
	python3 -c "
import json
v = {s[\"name\"]: s for s in json.load(open(\"../json\"))}
assert [v[n][\"behind\"] for n in (\"one\", \"two\", \"three\")] == [1, 1, 0]
assert v[\"one\"][\"overlaps\"] == [\"two\"] and v[\"three\"][\"overlaps\"] == []" &&
	grep "^one  *captured .*ago  *2 commits\|^one .* 1 commit, 2 files, 1 behind  sh" ../got &&
	! grep ".\{81\}" ../got &&
	git agent land one &&
	! git agent list | grep "^one .*behind" &&
	test_fails 129 "2 sessions: say which" git agent land &&
	grep -x "hint: three  *captured  *sh .*" ../err &&
	grep "^hint: two  *captured" ../err &&
	git agent drop --force three &&
	git agent start -q -n idle true &&
	test_shows "^session two" git agent review
'

test_that 'no path is completed that a shell would take for more than a name' '
	make_repo complete &&
	test_session c "
		for f in plain \"\\\$(id)\" \"a;b\" \"\\\`c\\\`\" -x \"*\" \"~d\"; do
			echo 1 >./\"\$f\"
		done" &&
	git agent review --json c >../json &&
	python3 -c "import json; assert len(json.load(open(\"../json\"))[\"files\"]) == 7" &&
	git agent --complete review c "" | cut -f1 >../got &&
	test_prints plain cat ../got
'

test_that 'branches that block the name of a session are skipped, or named' '
	test_enter way &&
	test_empty a &&
	git branch agent/true-1/x &&
	git agent start -q true &&
	git agent list | grep "^true-2 " &&
	test_fails 125 "branch .agent/true-1., or one below" git agent start --name true-1 true &&
	git agent drop true-2 &&
	git branch -qD agent/true-1/x &&
	git branch agent &&
	test_fails 125 "branch .agent. leaves no room" git agent start true &&
	grep "^hint: .git branch -m agent" ../err
'

# the first table below a heading that is a command has the keys of what that prints
cat >documented.py <<\EOF
import json, re, subprocess, sys
checked = []
for part in re.split(r"^## ", open(sys.argv[1]).read(), flags=re.M)[1:]:
    head, text = part.split("\n", 1)
    command = re.match(r"`(git agent [^`]*)`", head)[1]
    rows = re.search(r"^\| key \| type \| meaning \|\n\|---\|---\|---\|\n((?:\|.*\n)+)", text, re.M)
    table = re.search(r"^\|.*$", text, re.M)
    if not rows or table.start() != rows.start():
        continue
    want = [k for row in rows[1].splitlines() for k in re.findall(r"`([a-z_]+)`", row.split("|")[1])]
    command = command.replace(" [NAME]", " j").replace(" [PATH...]", "").replace(" PATH...", " .envrc")
    dry = ["--dry-run"] * (command.split()[2] in ("gc", "land"))
    got = json.loads(subprocess.run(command.split() + dry, stdout=subprocess.PIPE, check=True).stdout)
    got = got if isinstance(got, list) else [got]
    assert got, command
    for o in got:
        assert [k[:-4] if k.endswith("_b64") else k for k in o] == want, (command, list(o), want)
    checked.append(command.split()[2])
print(*checked)
EOF

test_that 'JSON has the documented keys in their order, and odd paths in base64' '
	test_enter keys &&
	echo a >a &&
	echo "*.log" >.gitignore &&
	test_commit a &&
	test_session j "
		echo x >\"\$(printf n\\\377m)\"
		echo x >.envrc
		echo x >x.log
		echo b >a
		git commit -qam b" &&
	printf "TOKEN=gh%s\n" p_a8Kd0LmZq3RtYv7XwB2nC5pQ9sUeJ4hG6fTi >.env &&
	git agent review --format=json j | python3 -c "
import base64, json, sys
files = json.load(sys.stdin)[\"files\"]
assert [base64.b64decode(f[\"path_b64\"]) for f in files if \"path_b64\" in f] == [b\"n\\377m\"], files" &&
	git agent review --accept-all --critical j &&
	git agent land j &&
	test_script .git/hooks/post-merge "sh x.sh" &&
	python3 ../documented.py "$TEST_SRCDIR/docs/json.md" >../checked &&
	echo review land list gc agents home guard rules rules rules secrets config trust | test_cmp - ../checked
'

test_that 'version --build names the libraries it was built with' '
	git agent --version --build --json | python3 -c "
import json, os, sys
build = json.load(sys.stdin)[\"build\"]
assert list(build) == \"libgit2 libseccomp jansson nettle libutf8proc libyaml zlib compiler programs\".split(), build
assert all(build.values()) and os.path.exists(build[\"programs\"] + \"/git-agent-stage\"), build"
'

test_that 'who has no name for git is told so before the agent runs' '
	make_repo who &&
	git config user.useConfigOnly true &&
	mv ../.gitconfig ../saved &&
	test_when_finished "mv \"$HOME/saved\" \"$HOME/.gitconfig\"" &&
	test_fails 125 "does not know who you are" git agent start -- sh -c "echo ran >\$HOME/ran" &&
	grep "^hint: git config" ../err &&
	test ! -e ../aihome/ran
'

test_that 'exit statuses say what to do next' '
	test_enter codes a &&
	test_expect_code 1 git agent show &&
	test_expect_code 129 git agent nonsense &&
	test_expect_code 128 git agent show nobody &&
	test_session c "echo agent >a" &&
	echo mine >a &&
	test_expect_code 2 git agent land c &&
	test_expect_code 2 git agent drop c &&
	test "$(cat a)" = mine &&
	git commit -qam mine &&
	test_expect_code 4 git agent land --dry-run c &&
	git diff --quiet &&
	test_fails 4 "^hint: .*git agent land --continue c.*--abort" git agent land c &&
	git agent land --abort &&
	test_session f "echo all: >Makefile" &&
	test_expect_code 3 git agent land f &&
	test_expect_code 125 git agent start -- nowhere-at-all &&
	test_expect_code 3 git agent start -- sh -c "exit 3"
'

test_done
