#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='leftovers: listed file by file, and landed as commits only'
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
	grep -A9 "^leftovers" ../out2 | grep -A1 "build (" | grep " 1 flag\$" &&
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
	grep "^| ignored | 1 | .\.envrc. | critical .direnv., critical .ignored-config. |" ../md
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
	test_shows "fresh/d (symlink)" git agent review --leftovers s &&
	! grep "fresh/d/f" ../out &&
	mv "$dir/fresh" "$dir/was" &&
	mkdir ../secret/d &&
	echo secret >../secret/d/f &&
	ln -s "$HOME/secret" "$dir/fresh" &&
	git agent review --leftovers s >../out &&
	! grep "fresh/" ../out
'

test_that NOT_ROOT 'a file that nobody may read is listed' '
	cd r &&
	test_session m "
		mkdir -p build/closed &&
		echo c >build/closed/f &&
		echo n >build/none &&
		chmod 0 build/closed build/none" &&
	test_shows "  build/closed/f" git agent review --leftovers m &&
	grep "  build/none" ../out
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
	python3 - ../json <<-\EOT
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
'

test_that 'no verdict is taken on a leftover: what is committed in the session is flagged, and lands' '
	test_enter force &&
	echo .envrc >.gitignore &&
	test_commit base &&
	test_session f "echo export >.envrc" &&
	test_fails 128 "a leftover is in no commit that could land: .envrc" git agent review --accept f .envrc &&
	grep "git add -f PATH" ../err &&
	git agent resume f -- sh -c "git add -f .envrc && git commit -qm envrc" &&
	test_fails 3 "open flags: 1 critical" git agent land f &&
	git agent review --accept f .envrc &&
	git agent land f &&
	test "$(cat .envrc)" = export
'

test_done
