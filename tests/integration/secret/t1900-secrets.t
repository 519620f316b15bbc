#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='secrets of the project: found, and named without a value'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use secrets

test_that 'secrets are listed with their state in git and the rule, and without their value' '
	project r &&
	test_expect_code 1 git agent secrets >../out 2>../err &&
	line .env | grep "^T1  masked  ignored .*: environment file: a GitHub token (sec-dotenv)\$" &&
	line .env.local | grep "^T2  seen    ignored " &&
	line cache/deep/.env.bak | grep "^T1  masked  ignored .*, in a copy" &&
	line cache/deep/.git/config | grep "^T1  masked" &&
	line server.key | grep "^T1  masked  untracked .*: a private key (sec-pem)\$" &&
	line config/database.yml | grep "^T1  masked  modified " &&
	line config/application.yml | grep "^T1  seen    committed " &&
	test "$(grep -c application.yml ../out)" = 1 &&
	! grep -E "node_modules|env.example|new.sql" ../out &&
	! grep -E "$T|$K|MIIE" ../out ../err &&
	grep "note: 1 more that may hold one" ../err &&
	grep "committed" ../err &&
	test_expect_code 1 git agent secrets --all >../out &&
	line new.sql | grep "^T3  seen    untracked" &&
	line cache/node_modules/x/.env | grep "^T1  seen" &&
	line .env | grep "^T1  masked" &&
	git agent secrets server.key cache >../out &&
	test "$(wc -l <../out)" = 3 &&
	cd cache &&
	git agent secrets deep/.env.bak >../../out &&
	test "$(wc -l <../../out)" = 1 &&
	test_expect_code 1 git agent secrets .env.local &&
	git agent secrets ../a
'

test_that 'secrets are listed as JSON, with names of any bytes' '
	cd r &&
	odd=$(printf "cache/odd\n\377\033[m.env") &&
	echo "TOKEN=$T" >"$odd" &&
	test_expect_code 1 git agent secrets --json --all >../json &&
	! grep -E "$T|$K" ../json &&
	python3 - ../json <<-\EOT &&
	import base64, json, sys
	l = json.load(open(sys.argv[1]))
	assert all(list(o)[1:] == ["tier", "rule", "reason", "state", "session"] for o in l), l
	names = {base64.b64decode(o["path_b64"]) if "path_b64" in o else o["path"].encode(): o for o in l}
	assert names[b"cache/odd\n\xff\x1b[m.env"]["session"] == "masked", names
	assert names[b".env"]["tier"] == 1 and names[b".env"]["state"] == "ignored"
	assert [o["tier"] for o in l] == sorted(o["tier"] for o in l)
	assert names[b"cache/node_modules/x/.env"]["session"] == "seen"
	assert {o["state"] for o in l} == {"ignored", "modified", "committed", "untracked"}, l
	EOT
	test_expect_code 1 git agent secrets >../out &&
	! grep "$(printf "\033")" ../out &&
	grep -F "\"cache/odd\\n\\xff\\e[m.env\"" ../out &&
	rm "$odd"
'

test_that 'what was looked at is cached for the user alone, and looked at again when it changes' '
	cd r &&
	find . -name .git -prune -o -exec touch -h -d "1 hour ago" {} + &&
	test_wait_for "test \$(date +%s) -gt $(($(stat -c %Z cache/deep/.env.bak) + 2))" &&
	test_expect_code 1 git agent secrets >../first &&
	cache=$(ls "$HOME"/.local/state/git-agent/*/secrets-*) &&
	test "$(stat -c %a "$cache")" = 600 &&
	! grep -a -E "$T|$K|MIIE" "$cache" &&
	test "$(stat -c %s "$cache")" -gt 300 &&
	cp "$cache" ../cache &&
	test_expect_code 1 git agent secrets >../second &&
	test_cmp ../first ../second &&
	cmp "$cache" ../cache &&
	stamp=$(stat -c %y cache/deep/.env.bak) &&
	printf "TOKEN=your-token-goes-here-and-is-not-one-yet-ok\n" |
		head -c "$(stat -c %s cache/deep/.env.bak)" >cache/deep/.env.bak &&
	touch -d "$stamp" cache/deep/.env.bak &&
	test_expect_code 1 git agent secrets >../second &&
	grep -F "cache/deep/.env.bak" ../first &&
	! grep -F "cache/deep/.env.bak" ../second &&
	echo "TOKEN=$T" >cache/deep/.env.bak &&
	echo "TOKEN=$T" >cache/new.env &&
	test_expect_code 1 git agent secrets >../out &&
	line cache/new.env &&
	rm cache/new.env &&
	test_expect_code 1 git agent secrets >../out &&
	! line cache/new.env &&
	line cache/deep/.env.bak &&
	printf garbage >"$cache" &&
	test_expect_code 1 git agent secrets >../second &&
	test_cmp ../first ../second
'

test_that 'secrets are listed during a merge conflict, and without a commit' '
	test_enter c &&
	git agent secrets >../out &&
	test ! -s ../out &&
	echo 1 >f &&
	git add f &&
	git commit -qm 1 &&
	git checkout -qb o &&
	echo 2 >f &&
	git commit -qam 2 &&
	git checkout -q main &&
	echo 3 >f &&
	git commit -qam 3 &&
	test_must_fail git merge -q o &&
	pem >k.pem &&
	git agent secrets >../out &&
	line k.pem &&
	test_expect_code 1 git agent -c secrets.mode=warn secrets >../out &&
	line k.pem | grep "^T1  seen"
'

test_that 'secrets in other commits, stashes and logs of refs are listed' '
	test_enter h &&
	echo a >a &&
	pem >old.key &&
	test_commit 1 &&
	git rm -q old.key &&
	git commit -qm 2 &&
	echo "TOKEN=$T" >.env &&
	git add -A &&
	git stash -q &&
	git checkout -q -b side &&
	pem >lost.pem &&
	test_commit side &&
	git checkout -q main &&
	git branch -qD side &&
	git agent secrets >../out &&
	test ! -s ../out &&
	test_expect_code 1 git agent secrets --history >../out &&
	for p in old.key .env lost.pem; do line $p | grep "^T1  seen    history " || return 1; done &&
	test "$(wc -l <../out)" = 3
'

test_that 'a tree of one file under many names is looked at once' '
	test_enter bomb &&
	blob=$({
		yes "A_PASSWORD = changeme" | head -c 1000000
		echo "TOKEN=$T"
	} | git hash-object -w --stdin) &&
	tree=$(seq 200 | sed "s/.*/100644 blob $blob	&.env/" | git mktree) &&
	tree=$(seq 100 | sed "s/.*/040000 tree $tree	&/" | git mktree) &&
	git update-ref HEAD "$(git commit-tree -m 1 "$tree")" &&
	test_expect_code 1 timeout 180 git agent secrets >../out &&
	test "$(grep -c "^T1  seen    committed .*: a GitHub token" ../out)" = 20000
'

test_that 'when there is more than can be read that is said, and the worst assumed' '
	test_enter much &&
	for i in 1 2 3 4 5 6 7 8 9; do
		printf "100644 blob %s\t%d.env\n" "$({
				echo "A=bright$i"
				head -c 62000000 /dev/zero | tr "\0" "\n"
			} | git -c core.looseCompression=1 hash-object -w --stdin)" $i
	done |
		git mktree >../tree &&
	git update-ref HEAD "$(git commit-tree -m 1 "$(cat ../tree)")" &&
	test_expect_code 1 git agent secrets >../out 2>../err &&
	test "$(grep -c ^T1 ../out)" = 1 &&
	test "$(grep -c ^T2 ../out)" = 8 &&
	grep "not everything could be scanned" ../err
'

test_that 'symlinks whose targets are too long to follow are not followed, and that is said' '
	test_enter ways &&
	way=$(
		i=0
		while [ $i -lt 800 ]; do
			printf "d/../"
			i=$((i + 1))
		done | git hash-object -w --stdin
	) &&
	d=$(printf "100644 blob %s\tf\n" "$(echo x | git hash-object -w --stdin)" | git mktree) &&
	{
		seq 100001 | sed "s/.*/120000 blob $way	&.env/"
		printf "040000 tree %s\td\n" "$d"
	} |
		git mktree >../tree &&
	git update-ref HEAD "$(git commit-tree -m 1 "$(cat ../tree)")" &&
	timeout 180 git agent secrets >../out 2>../err &&
	test ! -s ../out &&
	grep "not everything could be scanned" ../err
'

test_that 'a token in .git/config is named, and no session sees it' '
	test_enter conf &&
	test_empty 1 &&
	git remote add o "https://me:$T@example.org/x" &&
	git agent secrets >../out &&
	line .git/config | grep "^T1  absent  config" &&
	! grep "$T" ../out &&
	git agent start -- sh -c "
		git config -l
		cat .git/config" >../out 2>../err &&
	! grep "$T" ../out ../err
'

test_done
