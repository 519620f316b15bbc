#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what one meets in daily use: hints, counts and listings that hold'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# make_repo NAME [COMMANDS]: a repository with one commit of what COMMANDS make.
make_repo() {
	git init -q "$1" &&
	(cd "$1" && echo a >a && eval "${2:-:}" && git add -A && git commit -qm base)
}

test_expect_success 'work that stands on uncommitted work alone is not called landed' '
	make_repo over &&
	cd over &&
	echo mine >>a &&
	echo u >u &&
	git agent start --name o -- sh -c "echo more >>u" &&
	git agent list >../got &&
	grep "^o  *captured" ../got &&
	test_expect_code 2 git agent drop o &&
	git agent land &&
	printf "u\nmore\n" >../want &&
	test_cmp ../want u &&
	git agent list | grep "^o  *landed" &&
	git agent drop o
'

test_expect_success 'a subject counts files only where all of them are in the commit' '
	make_repo subject &&
	cd subject &&
	git agent start --name s1 -- sh -c "echo b >b" &&
	git log -1 --format=%s agent/s1 >../got &&
	git agent start --name s2 -- sh -c "
		echo b >b
		echo x >.envrc" &&
	git log -1 --format=%s agent/s2 >>../got &&
	echo mine >>a &&
	git agent start --name s3 -- sh -c "echo b >b; echo x >>a" &&
	git log -1 --format=%s agent/s3 >>../got &&
	printf "%s\n" "agent/s1: 1 file changed" "agent/s2: what the agent left uncommitted" \
		"agent/s3: what the agent left uncommitted" >../want &&
	test_cmp ../want ../got
'

test_expect_success 'a plain link lands without a verdict; an ignored build directory has no flag' '
	make_repo plain "echo build/ >.gitignore" &&
	cd plain &&
	mkdir build &&
	echo o >build/o &&
	git agent start --name p -- sh -c "
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
	git agent land p &&
	test -L docs/a
'

test_expect_success 'the list: whether anything is there to review, no blank at the end, cut with dots' '
	make_repo list &&
	cd list &&
	git agent start --name n true &&
	git agent start --name w -- sh -c "echo b >b" &&
	git agent start --name x -- true "αβγδεζηθικλμνξοπρστυφχψωαβγδεζηθ" &&
	git agent list >../got &&
	grep "^n  *captured .*no change  *true$" ../got &&
	grep "^w  *captured" ../got | grep -v "no change" &&
	test_must_fail grep " $" ../got &&
	grep "^x .*[.][.][.]$" ../got &&
	python3 -c "open(\"../got\", encoding=\"utf-8\", errors=\"strict\").read()"
'

test_expect_success 'a verdict says what to type next' '
	make_repo next &&
	cd next &&
	git agent start --name v -- sh -c "
		echo x >.envrc
		echo all: >Makefile" &&
	git agent review --accept-all v 2>../err &&
	grep "1 open flag left" ../err &&
	grep -e "--critical" ../err &&
	git agent review --accept v .envrc 2>../err &&
	grep "next: git agent land v$" ../err &&
	git agent land v
'

test_expect_success 'branches in the way of a session'\''s are stepped over or named' '
	git init -q way &&
	cd way &&
	git commit -q --allow-empty -m a &&
	git branch agent/true-1/x &&
	git agent start -q true &&
	git agent list | grep "^true-2 " &&
	test_expect_code 125 git agent start --name true-1 true 2>../err &&
	grep "branch .agent/true-1., or one below" ../err &&
	git agent drop true-2 &&
	git branch -qD agent/true-1/x &&
	git branch agent &&
	test_expect_code 125 git agent start true 2>../err &&
	grep "branch .agent. leaves no room" ../err &&
	grep "^hint: .git branch -m agent" ../err
'

test_expect_success 'a session is found by the name of its branch' '
	cd way &&
	git branch -m agent other &&
	git agent start -q --name n sh -c "echo n >n" &&
	git agent show agent/n | grep "^session *n$" &&
	git agent land agent/n &&
	git agent drop agent/n &&
	test_must_fail git agent show n
'

test_expect_success 'every JSON output has the keys that are documented, and paths that are no text' '
	git init -q keys &&
	cd keys &&
	echo a >a &&
	echo "*.log" >.gitignore &&
	git add -A &&
	git commit -qm a &&
	git agent start -q --name j -- sh -c "
		echo x >\"\$(printf n\\\377m)\"
		echo x >.envrc
		echo x >x.log
		echo b >a
		git commit -qam b" &&
	git agent review --format=json j >../review.json &&
	git agent list --json >../list.json &&
	git agent show --json j >../show.json &&
	git agent doctor --json >../doctor.json &&
	git agent version --json >../version.json &&
	git agent version --build --json >../build.json &&
	git agent config --json >../config.json &&
	git agent review --accept-all --critical j &&
	git agent land --json j >../land.json &&
	python3 - <<-\EOF
	import base64, json, os, shutil, subprocess
	def load(name): return json.load(open("../%s.json" % name))
	def path(o): return {("path" if k == "path_b64" else k) for k in o}
	r = load("review")
	want = "session command base tip held commits files flags left_behind left_out notes checks limits unkept".split()
	assert list(r) == want, list(r)
	lists = {"commits": "id author date subject", "files": "path status additions deletions",
		"flags": "id also severity category path reason held left_behind verdict in_commits_only", "left_behind": "path kind count bytes flags"}
	assert all(r[n] and all(path(o) == set(k.split()) for o in r[n]) for n, k in lists.items()), r
	odd = [base64.b64decode(f["path_b64"]) for f in r["files"] if "path_b64" in f]
	assert odd == [b"n\377m"], odd
	s = set("name state branch project command onto base tip held remote landed landed_how landed_in started finished resumed resumed_with exit_status "
		"live shared submodules skipped masked limits network notes checks left_out flags flags_open "
		"flags_by_severity flags_by_verdict incomplete run".split())
	assert set(load("show")) == s and [set(o) for o in load("list")] == [s]
	assert all(set(o) - {"hint"} == {"check", "ok", "detail"} for o in load("doctor")) and list(load("version")) == ["version"]
	assert list(load("build")) == ["version", "build"] and list(load("build")["build"]) == "libgit2 libseccomp jansson nettle libyaml zlib compiler programs".split()
	# what pkg-config says, where it is there
	said = {k: subprocess.run(["pkg-config", "--modversion", {"libyaml": "yaml-0.1"}.get(k, k)], capture_output=True, text=True) for k in list(load("build")["build"])[:6]} if shutil.which("pkg-config") else {}
	assert all(p.returncode or p.stdout.strip() == load("build")["build"][k] for k, p in said.items()), said
	assert os.path.exists(load("build")["build"]["programs"] + "/git-agent-stage"), load("build")
	assert any(c in load("build")["build"]["compiler"] for c in ("gcc ", "lang ")), load("build")
	assert all(list(o) == "key value number origin file line column repository left_out description".split() for o in load("config"))
	assert set(load("land")) == set("session dry_run landed nothing uncommitted rest commit brought not_brought ignored ignored_flags".split()), load("land")
	EOF
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
    out = subprocess.run(command.split() + ["--dry-run"] * (command.split()[2] in ("gc", "land")), stdout=subprocess.PIPE, check=True).stdout
    got = json.loads(out)
    got = got if isinstance(got, list) else [got]
    assert got, command
    for o in got:
        assert [k[:-4] if k.endswith("_b64") else k for k in o] == want, (command, list(o), want)
    checked.append(command.split()[2])
print(*checked)
EOF

test_expect_success 'keys come in the order that is documented' '
	cd keys &&
	printf "TOKEN=gh%s\n" p_a8Kd0LmZq3RtYv7XwB2nC5pQ9sUeJ4hG6fTi >.env &&
	python3 ../documented.py "$TEST_SRCDIR/docs/json.md" >../checked &&
	echo review review land list gc agents home guard rules rules secrets config trust |
		test_cmp - ../checked
'

test_expect_success 'exit statuses tell what to do' '
	git init -q codes &&
	cd codes &&
	echo a >a &&
	git add a &&
	git commit -qm a &&
	test_expect_code 1 git agent show &&
	test_expect_code 129 git agent nonsense &&
	test_expect_code 128 git agent show nobody &&
	git agent start -q --name c -- sh -c "echo agent >a" &&
	echo mine >a &&
	test_expect_code 2 git agent land c &&
	test_expect_code 2 git agent drop c &&
	test "$(cat a)" = mine &&
	git commit -qam mine &&
	test_expect_code 4 git agent land --dry-run c &&
	git diff --quiet &&
	test_expect_code 4 git agent land c 2>../err &&
	grep "^hint: .*git agent land --continue c.*--abort" ../err &&
	git agent land --abort &&
	git agent start -q --name f -- sh -c "echo all: >Makefile" &&
	test_expect_code 3 git agent land f &&
	test_expect_code 125 git agent start -- nowhere-at-all &&
	test_expect_code 3 git agent start -- sh -c "exit 3"
'

test_expect_success 'whoever is no one to git is told so before the agent works' '
	git init -q who &&
	git -C who commit -q --allow-empty -m a &&
	cd who &&
	git config user.useConfigOnly true &&
	mv ../.gitconfig ../saved &&
	test_when_finished "mv \"$HOME/saved\" \"$HOME/.gitconfig\"" &&
	test_expect_code 125 git agent start --name x -- sh -c "echo ran >\$HOME/ran" 2>../err &&
	grep "does not know who you are" ../err &&
	grep "^hint: git config" ../err &&
	test ! -e ../aihome/ran &&
	test_expect_code 125 git agent start --dry-run -- true &&
	git agent list >../out &&
	test ! -s ../out
'

test_expect_success 'the branch a session stands on has its whole name' '
	git init -q slash &&
	cd slash &&
	git commit -q --allow-empty -m a &&
	git switch -qc topic/login &&
	git agent start --name s true 2>../err &&
	grep "base .* of topic/login$" ../err &&
	git switch -q --orphan new/one &&
	test_expect_code 125 git agent start true 2>../err &&
	grep "branch .new/one. has no commit" ../err
'

test_expect_success 'a name that is taken: by a session, or by a branch alone' '
	make_repo name &&
	cd name &&
	git agent start --name k -- sh -c "echo b >b" &&
	test_expect_code 125 git agent start --name k true 2>../err &&
	grep "git agent drop k" ../err &&
	git branch agent/own &&
	test_expect_code 125 git agent start --name own true 2>../err &&
	grep "delete the branch" ../err
'

test_done
