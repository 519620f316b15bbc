#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='leftovers: counted, flagged, and landed as commits only'
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
	grep "git status --ignored lists them in git agent shell" ../out
'

test_that 'what would run from there is flagged in every format, and blocks no landing' '
	cd r &&
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
	git agent review --json odd | grep "by .new/. of ..gitignore."
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
	git agent review --json hide >../json &&
	git agent review --format=markdown hide |
		grep "^| ignored | 3 | .d. | high .ignore-rules-source. |" &&
	python3 - ../json <<-\EOT
	import json, sys
	o = json.load(open(sys.argv[1]))
	by = lambda rule, file: "by \x27%s\x27 of \x27%s\x27" % (rule, file)
	want = {"d/f": by("f", "d/.gitignore"), "e/g1": by("/g*", "e/.gitignore"), "e/g2": by("/g*", "e/.gitignore"),
	        "d/keep.tmp": by("*.tmp", ".gitignore") + ", and not " + by("!keep.tmp", "d/.gitignore") + " any more",
	        "d/old.tmp": None}
	flags = {x["path"]: x for p in o["left_behind"] for x in p["flags"] if x["id"] == "ignore-rules-source"}
	got = {p: (x["severity"], x["reason"].split(": ")[-1]) for p, x in flags.items()}
	assert got == {p: ("high", w) for p, w in want.items() if w}, got
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
