#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='leftovers: listed file by file, and brought by name'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

sessions() {
	ls -d "$HOME"/.local/state/git-agent/*/sessions/"$1"
}

test_that 'a repository that ignores things' '
	test_enter r &&
	printf "*.log\nbuild/\n.env*\n.envrc\ngen/\n!gen/keep\nodd*\nfresh*/\n" >.gitignore &&
	echo a >a &&
	mkdir gen &&
	echo tracked >gen/keep &&
	git add -f -A &&
	git commit -qm base &&
	mkdir share &&
	echo "share/" >>.git/info/exclude &&
	echo mine >share/mine &&
	echo gone >share/gone
'

agent='mkdir -p build/sub src &&
	echo obj >build/o &&
	echo "#!/bin/sh" >build/sub/run &&
	chmod 6755 build/sub/run &&
	ln -s sub/run build/link &&
	echo l | tee one.log src/two.log >src/three.log &&
	echo code >src/code &&
	echo more >>gen/keep &&
	echo new >gen/new &&
	echo other >share/other &&
	rm share/gone &&
	mkfifo build/fifo &&
	ln -s ../../etc/passwd build/out &&
	ln -s /etc build/abs &&
	ln -s ../.git/hooks build/hooks &&
	ln build/o build/hard &&
	git init -q build/nested &&
	echo export >.envrc &&
	printf x >"$(printf "odd\nname\377\033[m.log")"'

test_that 'the review groups leftovers, and counts it' '
	cd r &&
	test_session x "$agent" &&
	test_shows "^  ignored    build (" git agent review --stat x &&
	grep "^  ignored    src (2 files, 4 bytes)" ../out &&
	grep "^  ignored    one.log (1 file, 2 bytes)" ../out &&
	grep "^  ignored    share (1 file" ../out &&
	grep "review --leftovers" ../out
'

test_that 'review --leftovers lists each leftover file, and nothing else' '
	cd r &&
	git agent review --leftovers x >../out &&
	for f in build/o build/sub/run "build/link (symlink)" "build/fifo (special)" one.log src/two.log src/three.log \
		gen/new share/other build/nested/.git/HEAD .envrc; do
		grep "bytes  $f\$" ../out || {
			echo "no $f"
			exit 1
		}
	done &&
	! grep -E "gen/keep|src/code|share/(mine|gone)" ../out &&
	grep -A1 "  .envrc\$" ../out | grep "\(critical\|high\): .*\[" &&
	! grep "$(printf "\033")" ../out &&
	grep -F "  \"odd\\nname\\xff\\e[m.log\"" ../out
'

test_that 'review --leftovers --json has them, with names of any byte' '
	cd r &&
	git agent review --leftovers --json x >../json &&
	git agent review --leftovers --format=json x | cmp ../json - &&
	python3 - ../json <<-\EOT
	import base64, json, sys
	o = json.load(open(sys.argv[1]))
	assert list(o) == ["session", "groups", "files"], list(o)
	names = {base64.b64decode(f["path_b64"]) if "path_b64" in f else f["path"].encode(): f for f in o["files"]}
	odd = names[b"odd\nname\xff\x1b[m.log"]
	assert list(odd) == ["path_b64", "kind", "type", "mode", "bytes", "flags"], odd
	assert (odd["kind"], odd["type"], odd["bytes"]) == ("ignored", "file", 1), odd
	assert names[b"build/link"]["type"] == "symlink" and names[b"build/fifo"]["kind"] == "special"
	assert names[b"build/sub/run"]["mode"].endswith("755")
	rules = lambda name: [f["id"] for f in names[name]["flags"]]
	assert rules(b"build/fifo") == ["special-file"] and "ignored-config" in rules(b".envrc"), names
	assert "setuid-caps-xattr" in rules(b"build/sub/run"), names
	# said of the place, not of each file in it
	assert rules(b"build/o") == [], names
	places = {g["path"]: {(f["id"], f["severity"]) for f in g["flags"]} for g in o["groups"] if "path" in g}
	assert ("ignored-executables", "critical") in places["build"], places
	assert ("ignored-config", "critical") in places[".envrc"] and not places["one.log"], places
	# what is counted in the groups is what is listed
	assert sum(g["count"] for g in o["groups"]) == len(o["files"]), (o["groups"], len(o["files"]))
	EOT
'

test_that 'what would run from there is flagged in every format, and blocks no landing' '
	cd r &&
	grep -A1 "^  ignored    build (" ../out | grep "critical: .*\[ignored-executables\]" &&
	git agent review --stat x >../out2 &&
	grep -A9 "^leftovers" ../out2 | grep -A1 "build (" | grep " 1 flag if it is brought" &&
	git agent review --json x >../json2 &&
	python3 - ../json2 <<-\EOT &&
	import json, sys
	o = json.load(open(sys.argv[1]))
	ids = {f["id"]: f for p in o["left_behind"] for f in p["flags"]}
	assert ids["ignored-executables"]["severity"] == "critical", ids
	assert ids["ignored-config"]["path"] == ".envrc", ids
	# one place, one severity: not among the flags of the review as well
	assert not [f for f in o["flags"] if f["left_behind"]], o["flags"]
	EOT
	! grep "(leftover)" ../out2 &&
	git agent review --format=markdown x >../md &&
	grep "^| ignored | 1 | .\.envrc. | critical .direnv., critical .ignored-config. |" ../md &&
	git agent review --format=sarif x >../sarif &&
	! grep "\"leftBehind\": true" ../sarif
'

test_that 'land --dry-run --with-ignored copies nothing' '
	cd r &&
	test_says "ignored: one.log (1 file)" git agent land --dry-run --with-ignored one.log x &&
	grep "flagged: one.log: low: ignored: no commit has it.*\[ignored-file\]" ../err &&
	test ! -e one.log &&
	test ! -e src
'

test_that 'land --with-ignored copies files and directories, without set-id bits' '
	cd r &&
	test_fails 3 "(1 critical, 0 high): build/sub\$" git agent land --with-ignored src --with-ignored build/sub x &&
	test ! -e src &&
	git agent review --stat x >../out &&
	grep -A1 "^    build/sub (leftover)" ../out | grep "\[ignored-executables\]" &&
	git agent review --accept x build/sub &&
	git agent land --with-ignored one.log --with-ignored build/sub/ --with-ignored gen \
		--with-ignored src x 2>../err &&
	grep "ignored: src (2 files)" ../err &&
	test "$(cat one.log)" = l &&
	test "$(stat -c %a build/sub/run)" = 755 &&
	test "$(cat gen/new)" = new &&
	test "$(tail -n 1 gen/keep)" = more &&
	test -e src/two.log &&
	test -e src/three.log &&
	test ! -e build/o &&
	test -z "$(git status --porcelain)" &&
	test_state x landed
'

test_that 'land --with-ignored works after the landing, without a branch, and from a subdirectory' '
	cd r &&
	git branch -D -q agent/x &&
	test_shows "\"path\": \"share\"" git agent land --json --with-ignored share x &&
	test "$(cat share/other)" = other &&
	test -e share/gone &&
	test "$(cat share/mine)" = mine &&
	cd build &&
	test_fails 3 "(3 critical, 0 high): build/hard, build/link, build/o" \
		git agent land --with-ignored o --with-ignored link --with-ignored hard x &&
	git agent review --accept x o link hard &&
	git agent land --with-ignored o --with-ignored link --with-ignored hard x &&
	test "$(cat o)" = obj &&
	test "$(readlink link)" = sub/run &&
	test "$(stat -c %h o)" = 1 &&
	test "$(stat -c %h hard)" = 1
'

test_that 'a file that is the same already is left alone' '
	cd r &&
	stat -c "%i %y" build/o >../before &&
	git agent land --with-ignored build/o x &&
	stat -c "%i %y" build/o | cmp ../before -
'

test_that 'a file that differs is not overwritten without --force' '
	cd r &&
	echo mine >one.log &&
	test_fails 2 "would be overwritten: one.log" git agent land --with-ignored src --with-ignored one.log x &&
	grep "hint: .*use --force" ../err &&
	test "$(cat one.log)" = mine &&
	git agent land --force --with-ignored one.log x &&
	test "$(cat one.log)" = l &&
	chmod +x one.log &&
	test_expect_code 2 git agent land --with-ignored one.log x &&
	chmod -x one.log &&
	rm one.log &&
	ln -s a one.log &&
	test_expect_code 2 git agent land --with-ignored one.log x &&
	test "$(cat a)" = a &&
	git agent land --force --with-ignored one.log x &&
	test ! -L one.log &&
	test "$(cat a)" = a &&
	test_expect_code 129 git agent land --force x
'

test_that 'a directory, or a link on the way, is never replaced' '
	cd r &&
	rm one.log &&
	mkdir one.log &&
	test_expect_code 2 git agent land --force --with-ignored one.log x &&
	rmdir one.log &&
	mkdir ../elsewhere &&
	rm -r src &&
	ln -s ../elsewhere src &&
	test_fails 2 "blocked by a directory, or by a file above it: src/two.log" \
		git agent land --force --with-ignored src/two.log x &&
	test -z "$(ls -A ../elsewhere)" &&
	rm src &&
	git checkout -q -- src
'

test_that 'a flagged file is blocked until it is accepted, as it is now' '
	cd r &&
	! git agent review --accept x .envrc 2>../err &&
	grep "not looked into yet: .envrc" ../err &&
	grep "land --with-ignored" ../err &&
	test_expect_code 3 git agent land --dry-run --with-ignored .envrc x &&
	test_fails 3 "open flags" git agent land --with-ignored .envrc x &&
	test ! -e .envrc &&
	git agent review --stat x | grep ".envrc (leftover)" &&
	git agent land x &&
	git agent review --accept x .envrc &&
	test_says "flagged: .envrc: " git agent land --with-ignored .envrc x &&
	test "$(cat .envrc)" = export &&
	rm .envrc &&
	echo changed >"$(sessions x)/upper/.envrc" &&
	test_expect_code 3 git agent land --with-ignored .envrc x &&
	test ! -e .envrc
'

test_that 'a file name of any byte is copied, and escaped on the terminal' '
	cd r &&
	odd=$(printf "odd\nname\377\033[m.log") &&
	test_expect_code 3 git agent land --with-ignored "$odd" x 2>../err &&
	! grep "$(printf "\033")" ../err &&
	test "$(wc -l <../err)" = 2 &&
	git agent review --accept x "$odd" &&
	git agent land --with-ignored "$odd" x &&
	test "$(cat "$odd")" = x &&
	rm "$odd"
'

# is_refused PATH TEXT: --with-ignored says TEXT, also with --force, and copies nothing
is_refused() {
	test_fails 128 "$2" git agent land --force --with-ignored "$1" x &&
	find . -path ./.git -prune -o -newer ../json -print | sort | test_cmp ../before -
}
test_that 'special files, links that lead out, and repositories are refused' '
	cd r &&
	find . -path ./.git -prune -o -newer ../json -print | sort >../before &&
	is_refused build/fifo fifo &&
	is_refused build/out "out of the project" &&
	is_refused build/abs absolute &&
	is_refused build/hooks "git dir" &&
	is_refused build/nested "git would" &&
	is_refused build "cannot be brought"
'

test_that 'a path that is no leftover is refused' '
	cd r &&
	for p in nothing a src/code ../r/one.log /etc/passwd "" gen/keep; do
		test_expect_code 128 git agent land --with-ignored "$p" x || exit 1
	done
'

test_that 'a link of the agent that leads out through a link of the user is refused' '
	cd r &&
	test_session y "
		mkdir fresh-y &&
		ln -s ../way/passwd fresh-y/y &&
		ln -s ../way fresh-y/z &&
		ln -s b/../../x fresh-y/w" &&
	ln -s /etc way &&
	for f in y z w; do
		test_fails 128 "out of the project" git agent land --with-ignored fresh-y/$f y ||
			exit 1
	done &&
	rm way &&
	git agent land --with-ignored fresh-y/y y &&
	test -L fresh-y/y &&
	rm fresh-y/y
'

test_that 'a link that is swapped into the layer is not followed' '
	cd r &&
	test_session s "
		mkdir -p fresh/d &&
		echo s >fresh/d/f" &&
	dir=$(sessions s)/upper &&
	mkdir ../secret &&
	echo secret >../secret/f &&
	mv "$dir/fresh/d" "$dir/fresh/was" &&
	ln -s "$HOME/secret" "$dir/fresh/d" &&
	test_must_fail git agent land --with-ignored fresh/d/f s 2>../err &&
	test ! -e fresh/d &&
	test_shows "fresh/d (symlink)" git agent review --leftovers s &&
	! grep "fresh/d/f" ../out &&
	mv "$dir/fresh" "$dir/was" &&
	mkdir ../secret/d &&
	echo secret >../secret/d/f &&
	ln -s "$HOME/secret" "$dir/fresh" &&
	test_must_fail git agent land --with-ignored fresh/d/f s &&
	test_must_fail git agent land --with-ignored fresh s &&
	test ! -e fresh/d &&
	rm "$dir/fresh" "$dir/was/d" &&
	mv "$dir/was/was" "$dir/was/d" &&
	mv "$dir/was" "$dir/fresh" &&
	git agent land --with-ignored fresh/d/f s &&
	test "$(cat fresh/d/f)" = s
'

test_that NOT_ROOT 'a file that nobody may read is listed, and not copied' '
	cd r &&
	test_session m "
		mkdir -p build/closed &&
		echo c >build/closed/f &&
		echo n >build/none &&
		chmod 0 build/closed build/none" &&
	test_shows "  build/closed/f" git agent review --leftovers m &&
	grep "  build/none" ../out &&
	test_fails 128 "cannot be read" git agent land --with-ignored build/none m &&
	test ! -e build/none
'

test_that 'one verdict on a directory covers each flag of many in it' '
	cd r &&
	test_session flags "
		for i in \$(seq 2000); do
			mkdir -p fresh-f/\$i
			echo \"pickle.loads(x)\" >fresh-f/\$i/x.py
		done" &&
	test_fails 3 "2000 high" git agent land --with-ignored fresh-f flags &&
	test ! -e fresh-f &&
	git agent review --accept flags fresh-f &&
	test_says "flagged: .* more" git agent land --with-ignored fresh-f flags &&
	test "$(find fresh-f -type f | wc -l)" = 2000
'

test_that 'setuid bits, hard links and new ignore rules of the session are flagged' '
	test_enter odd a &&
	test_session odd "
		echo x >s
		chmod 4644 s
		echo y >h
		ln h h2
		echo new/ >.gitignore
		mkdir new
		echo z >new/z" &&
	git agent review --json odd >../json &&
	python3 - ../json <<-\EOT &&
	import json, sys
	o = json.load(open(sys.argv[1]))
	flags = {(f["id"], f["path"]): f for f in o["flags"]}
	assert flags["setuid-caps-xattr", "s"]["severity"] == "medium", flags
	assert flags["hardlink", "h"]["severity"] == flags["hardlink", "h2"]["severity"] == "medium", flags
	assert ("hardlink", "s") not in flags and ("setuid-caps-xattr", "h") not in flags, flags
	EOT
	git agent review --leftovers odd >../out &&
	grep -A1 "^  ignored    new" ../out | grep "high: .*by .new/. of ..gitignore. \[ignore-rules-source\]"
'

test_that 'every format names the ignore rule of the session that hides a file' '
	test_enter hide &&
	mkdir d &&
	echo "*.tmp" >.gitignore &&
	printf "!keep.tmp\n" >d/.gitignore &&
	test_commit base &&
	test_session hide "
		echo f >>d/.gitignore
		sed -i /keep/d d/.gitignore
		echo x >d/f
		echo x >d/keep.tmp
		echo x >d/old.tmp
		mkdir e
		echo \"/g*\" >e/.gitignore
		echo x >e/g1
		echo x >e/g2" &&
	git agent review --leftovers hide >../out &&
	git agent review --leftovers --json hide >../json &&
	git agent review --format=markdown hide |
		grep "^| ignored | 3 | .d. | high .ignore-rules-source. |" &&
	grep -A1 "bytes  e/g2\$" ../out |
		grep "high: .* by ./g\*. of .e/.gitignore. \[ignore-rules-source\]" &&
	python3 - ../json <<-\EOT &&
	import json, sys
	o = json.load(open(sys.argv[1]))
	by = lambda rule, file: "by \x27%s\x27 of \x27%s\x27" % (rule, file)
	want = {"d/f": by("f", "d/.gitignore"), "e/g1": by("/g*", "e/.gitignore"), "e/g2": by("/g*", "e/.gitignore"),
	        "d/keep.tmp": by("*.tmp", ".gitignore") + ", and not " + by("!keep.tmp", "d/.gitignore") + " any more",
	        "d/old.tmp": None}
	for f in o["files"]:
	    got = [(x["severity"], x["reason"].split(": ")[-1]) for x in f["flags"] if x["id"] == "ignore-rules-source"]
	    assert got == ([("high", want[f["path"]])] if want[f["path"]] else []), f
	assert {f["path"] for f in o["files"]} == set(want)
	EOT
	test_fails 3 "(0 critical, 2 high): e/g1, e/g2\$" \
		git agent land --with-ignored e --with-ignored d/old.tmp hide &&
	git agent review --stat hide |
		grep -A1 "e/g1 (leftover)" |
			grep "by ./g\*. of .e/.gitignore." &&
	git agent review --accept hide e &&
	git agent land --with-ignored e --with-ignored d/old.tmp hide &&
	test -e e/g2 &&
	test -e d/old.tmp &&
	test ! -e d/f
'

test_that 'a file that is critical where it lies is critical when it is copied, for exactly what is copied' '
	test_enter place &&
	printf "node_modules/\n.env\nMakefile.local\n" >.gitignore &&
	test_commit base &&
	test_session p "
		mkdir -p a/node_modules/x &&
		echo 1 >a/node_modules/x/i.js &&
		echo 2 >a/node_modules/j.js &&
		echo A=b >.env &&
		echo all: >Makefile.local" &&
	git agent review --leftovers p >../out &&
	grep -A9 "bytes  .env\$" ../out | grep "critical: .*\[ignored-config\]" &&
	test_fails 3 "(2 critical, 2 high): .env, Makefile.local\$" \
		git agent land --with-ignored .env --with-ignored Makefile.local p &&
	test_fails 3 "(1 critical, .*: a/node_modules, " git agent land --with-ignored a p &&
	git agent review --accept p a/node_modules &&
	git agent land --dry-run --with-ignored a p &&
	test_expect_code 3 git agent land --dry-run --with-ignored a/node_modules/x p &&
	echo evil >>"$(sessions p)/upper/a/node_modules/j.js" &&
	test_expect_code 3 git agent land --with-ignored a p &&
	test ! -e a
'

test_done
