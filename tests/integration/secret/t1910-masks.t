#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='secrets of the project: kept out of sessions'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use secrets

# What an agent can do to get at them; prints what it found.
cat >attack <<'EOT'
T="gh""p_a8Kd0LmZq3RtYv7XwB2nC5pQ9sUeJ4hG6fTi"
exec 2>&1
grep -rsl "$T" . && echo LEAK files
for d in /proc/self/root$PWD /proc/1/root$PWD /proc/self/cwd/. "$HOME" /run /tmp /var/tmp /dev/shm; do
	grep -rsl --exclude-dir=proc "$T" "$d" && echo "LEAK $d"
done
git cat-file --batch-all-objects --batch-check="%(objectname)" 2>/dev/null | while read -r o; do
	git cat-file -p $o 2>/dev/null | grep "$T" && echo "LEAK object $o"
done
git show HEAD:.env; git stash list
cat .env server.key cache/deep/.env.bak
mv cache/deep cache/deep2; mv cache cache2; mv config config2
cat cache/deep2/.env.bak cache2/deep/.env.bak config2/database.yml
ln cache/deep/.env.bak hard; ln .env hard; cp -a cache copied
umount cache; umount .env; umount "$PWD"; unshare -Urm true
rm -f .env; echo mine >.env; rm .env; cat .env
mkdir -p cache/deep; rm -f cache/deep/.env.bak; cat cache/deep/.env.bak
python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for p in (b".env", b"cache/deep/.env.bak", b"server.key"):
    h = ctypes.create_string_buffer(136); h[0:4] = (128).to_bytes(4, "little"); m = ctypes.c_int()
    print(p, libc.name_to_handle_at(-100, p, h, ctypes.byref(m), 0))'
cat /proc/self/mountinfo | grep -E "env|server.key"
EOT

# may_fail COMMAND...: its status is that of the agent, which finds nothing
may_fail() {
	"$@" || :
}
# looks NAME COMMANDS [OPTION...]: a session in which sh runs these; the output is in ../out and ../err
looks() {
	looks_name=$1 looks_for=$2
	shift 2
	git agent start --name "$looks_name" "$@" -- sh -c "$looks_for" >../out 2>../err || :
}
# list_secrets OPTION...: in ../out, with messages in ../err
list_secrets() {
	git agent secrets "$@" >../out 2>../err || :
}

test_that 'SB-03: what is masked cannot be had inside by any way, and the start says what is kept out' '
	project s &&
	looks x "$(cat "$HOME/attack")" &&
	! grep -E "LEAK|$T|MIIE" ../out ../err &&
	test "$(grep -c " -1\$" ../out)" = 3 &&
	kept=".env, cache/deep/.env.bak, cache/deep/.git/config, config/database.yml, server.key" &&
	grep "^agent/x: secrets kept out (--expose PATH shows one): $kept\$" ../err &&
	grep "^agent/x: 2 files with secrets can be read inside, 1 of them committed: .git agent secrets.\$" ../err &&
	git agent show x | grep -A4 "^kept out *.env\$" | grep " server.key\$"
'

test_that 'no state, journal, recording, snapshot or object has the value of a secret' '
	cd s &&
	! grep -rlaE "$T|MIIE" "$HOME/.local/state/git-agent" &&
	! in_objects . &&
	git agent show --json x |
		python3 -c "import json,sys; assert \".env\" in json.load(sys.stdin)[\"masked\"]"
'

test_that 'everything else is shown as it is, and masks are no change' '
	project t &&
	before=$(git status --porcelain) &&
	git agent start --name x -- sh -c "
		cat cache/deep/kept .env.local a config/database.yml
		git status --porcelain
		ls -A cache/deep
		stat -c %a:%Y cache/deep" >../out 2>../err &&
	test_prints "kept\nLEVEL=debug,verbose\na\nproduction: {}\n.git\nkept\n$(stat -c %a:%Y cache/deep)" cat \
		../out &&
	test_missing agent/x &&
	test "$(git status --porcelain)" = "$before" &&
	test_session y "
		echo b >>a
		git add -A
		git commit -qm mine
		echo c >>a" &&
	test_prints a git diff --name-only main agent/y &&
	git stash -q -- config/application.yml config/database.yml &&
	git agent land y &&
	git stash pop -q &&
	test "$(git status --porcelain)" = "$before" &&
	grep -q "$T" .env server.key config/database.yml cache/deep/.env.bak
'

test_that 'a file that an agent creates in place of a mask does not replace that of the user' '
	project u &&
	{
		git agent start --name x -- sh -c "
		echo AGENT=1 >.env
		echo AGENT=2 >cache/deep/.env.bak
		echo key >server.key
		git add -A
		git commit -qm key" 2>../err
		cat ../err
	} &&
	test_holds refs/agent/x/held:server.key key &&
	test_missing agent/x:server.key &&
	grep -q "$T" .env &&
	grep -q "$T" cache/deep/.env.bak &&
	grep -q MIIE server.key
'

test_that '--expose shows a secret or those in a directory, relative to the current directory' '
	project e &&
	looks x "
		cat .env cache/deep/.env.bak
		cat server.key" --expose .env --expose cache/ &&
	test "$(grep -c "$T" ../out)" = 2 &&
	! grep MIIE ../out &&
	! grep "kept out.*cache" ../err &&
	cd config &&
	git agent start --name y --expose database.yml -- cat database.yml >../../out 2>../../err &&
	grep "$T" ../../out &&
	cd .. &&
	git agent show y | grep -F server.key &&
	! git agent show y | grep "config/database.yml" &&
	test_expect_code 129 git agent start --expose nothing -- true &&
	test_expect_code 129 git agent start --expose ../s -- true &&
	test_expect_code 129 git agent start --expose . -- true
'

test_that 'secrets.mode warn names secrets and shows them, off says nothing' '
	project m &&
	test_says "7 files with secrets can be read inside" \
		git agent -c secrets.mode=warn start --name x -- grep -c "$T" .env config/database.yml &&
	! grep "kept out" ../err &&
	! in_objects . &&
	project off &&
	git agent -c secrets.mode=off start --name x -- grep -c "$T" .env 2>../err &&
	! grep secrets ../err &&
	cd .. &&
	test_shows "secrets kept out" may_fail git agent start --dry-run --name z -- true &&
	! grep "$T" ../out
'

test_that 'the user adds and allows patterns, a repository only adds' '
	test_enter pat &&
	printf "secrets:\n  add: [/conf/*.prod, vault/]\n" >.agentdev.yaml &&
	mkdir -p conf vault sub/conf &&
	echo ".env" >.gitignore &&
	test_commit base &&
	echo 1 >conf/a.prod &&
	echo 2 >vault/x &&
	echo 3 >sub/conf/a.prod &&
	echo "TOKEN=$T" >.env &&
	looks x "ls -A . conf vault sub/conf" &&
	grep "kept out.*: .env, conf/a.prod, vault/x\$" ../err &&
	list_secrets &&
	line vault/x | grep "secrets.add names it (sec-configured)" &&
	{ git agent -c secrets.allow=.env -c secrets.add="*.prod" secrets >../out || :; } &&
	! line .env &&
	line sub/conf/a.prod &&
	test_when_finished test_settings &&
	test_settings "secrets:\n  allow: [\"vault/\"]\n" &&
	list_secrets &&
	! line vault/x &&
	line conf/a.prod &&
	printf "secrets:\n  allow: [.env]\n" >.agentdev.yaml &&
	git commit -qam allow &&
	test_says ".agentdev.yaml:2:11: .secrets.allow. needs trust" test_must_fail git agent start true &&
	printf "secrets:\n  mode: off\n" >.agentdev.yaml &&
	git commit -qam off &&
	test_says ".agentdev.yaml:2:9: .secrets.mode. needs trust" test_must_fail git agent start true
'

test_that 'the object of a staged secret is hidden, unless it is in a pack, which a message names' '
	test_enter st a &&
	echo "TOKEN=$T" >.env &&
	git add .env &&
	looks x "$(cat "$HOME/attack")" &&
	! grep -E "LEAK|$T" ../out &&
	grep "kept out.*: .env\$" ../err &&
	! grep stored ../err &&
	git cat-file -p :.env | grep "$T" &&
	git repack -qadk &&
	git prune-packed &&
	git gc -q &&
	test ! -e .git/objects/$(git rev-parse :.env | sed "s,..,&/,") &&
	test_says "kept out, but git has stored it .*: .env\$" may_fail git agent start --name y -- true
'

test_that 'a staged secret that a commit has is kept out, and a warning says that git has stored it' '
	test_enter st2 &&
	pem >a.pem &&
	test_commit 1 &&
	git rm -q a.pem &&
	git commit -qm 2 &&
	pem >b.pem &&
	may_fail git agent start --name x -- git log -p 2>../err >../out &&
	grep "stored it .*: b.pem\$" ../err &&
	grep MIIE ../out
'

test_that 'the object that git made of a secret with other line ends is hidden' '
	for ends in lf crlf; do
		test_enter $ends &&
		echo .env >.gitignore &&
		test_commit base &&
		case $ends in
		lf) git config core.autocrlf true &&
		printf "A=1\r\nTOKEN=$T\r\n" >.env &&
		git add -f .env ;;
		crlf) printf "A=1\r\nTOKEN=$T\r\n" >.env &&
		git add -f .env &&
		printf "A=1\nTOKEN=$T\n" >.env ;;
		esac &&
		git rm -qf --cached .env &&
		in_objects . &&
		looks x "$(cat "$HOME/attack")" &&
			! grep -E "LEAK|$T" ../out &&
		grep "kept out.*: .env\$" ../err &&
		! grep stored ../err &&
		cd .. || return 1
	done
'

test_that 'a committed secret with other line ends is not new' '
	test_enter same &&
	pem >k.pem &&
	printf "{\"kty\": \"RSA\",\n\"d\": \"x\"}\n" >a.jwk &&
	test_commit 1 &&
	sed -i "s/\$/\r/" k.pem a.jwk &&
	test "$(git status --porcelain | wc -l)" = 2 &&
	list_secrets &&
	line k.pem | grep "^T1  seen    committed" &&
	line a.jwk | grep "^T1  seen    committed" &&
	test "$(wc -l <../out)" = 2 &&
	echo "{\"kty\": \"RSA\", \"d\": \"y\"}" >a.jwk &&
	list_secrets &&
	line a.jwk | grep "^T1  masked  modified"
'

test_that 'files behind a symlink to a directory are kept out if they are secrets by that path' '
	test_enter ld &&
	printf "keys/\nplain/\nignored/\n.aws\nmine\n" >.gitignore &&
	mkdir -p keys/sub plain ignored/inner tracked.d &&
	ln -s keys .ssh &&
	ln -s plain .env &&
	echo x >tracked.d/x &&
	ln -s tracked.d .oci &&
	cat /dev/urandom | head -c 900 | base64 >body &&
	{
		echo "-----BEGIN OPENSSH PRIVATE KEY-----"
		cat body
		echo "-----END OPENSSH PRIVATE KEY-----"
	} >key &&
	rm body &&
	cp key tracked.d/committed &&
	git add .gitignore .ssh .env .oci tracked.d &&
	git commit -qm 1 &&
	cp key keys/work &&
	cp key keys/sub/deep &&
	echo text >keys/note &&
	echo "see docs" >plain/readme &&
	ln -s ../keys ignored/inner/.gnupg &&
	mkdir mine &&
	ln -s mine .aws &&
	printf "[default]\naws_secret_access_key = %s\n" "$K" >mine/credentials &&
	cp key tracked.d/new &&
	mv key ../key &&
	list_secrets --all &&
	for f in keys/work keys/sub/deep mine/credentials; do
		line $f | grep "^T1  masked  ignored" || return 1
	done &&
	line tracked.d/new | grep "^T1  masked  untracked" &&
	! line plain/readme &&
	! line .env &&
	test_expect_code 1 git agent secrets --all >../again &&
	test_cmp ../out ../again &&
	looks x "
		cat .ssh/* .ssh/sub/* keys/* .aws/* mine/* .oci/new tracked.d/new
		cat plain/readme" &&
	! grep -f ../key ../out &&
	! grep "$K" ../out &&
	grep "see docs" ../out &&
	grep "^text" ../out &&
	may_fail git agent start --name y --expose keys -- sh -c "cat .ssh/work" >../out &&
	cmp ../key ../out
'

test_that 'symlinks to directories that are loops, nested, huge or lead out are left alone' '
	test_enter lr &&
	printf "k/\n" >.gitignore &&
	mkdir -p k/a &&
	ln -s .. k/a/.ssh &&
	ln -s . k/.gnupg &&
	ln -s /etc k/.azure &&
	ln -s .ssh .ssh &&
	git add -A -f . &&
	git commit -qm 1 &&
	list_secrets --all &&
	mkdir k/b &&
	ln -s ../../.git k/b/.ssh &&
	git agent start --name x -- true
'

test_that 'what is at the end of committed symlinks and chains of them is kept out' '
	test_enter ch &&
	printf "conf/\nown.log\n" >.gitignore &&
	mkdir -p conf/deep &&
	ln -s conf/prod .env &&
	ln -s to/b chain.env &&
	ln -s conf/deep to &&
	ln -s ../ch/conf/up up.env &&
	ln -s "$PWD/conf/full" full.env &&
	ln -s own.log own.env &&
	ln -s round.env round2.env &&
	ln -s round2.env round.env &&
	ln -s sub/here in.env &&
	mkdir sub &&
	echo "DB_PASSWORD=hunter22" >sub/here &&
	test_commit 1 &&
	for f in prod deep/c up full; do echo "TOKEN=$W" >conf/$f; done &&
	ln -s ../deep/c conf/deep/b &&
	echo "DB_PASSWORD=${W}9" >own.log &&
	list_secrets --all &&
	for f in conf/prod conf/deep/c conf/up conf/full own.log; do
		line $f | grep "^T1  masked  ignored" || return 1
	done &&
	line sub/here | grep "^T1  seen    committed" &&
	test "$(grep -c "own.log" ../out)" = 1 &&
	test_expect_code 1 git agent secrets --all >../again &&
	test_cmp ../out ../again &&
	looks x "
		cat .env *.env conf/* conf/deep/* own.log
		grep -rs $W ." &&
	! grep "$W" ../out &&
	grep "kept out.*: conf/deep/c, conf/full, conf/prod, conf/up, own.log\$" ../err &&
	echo "DB_PASSWORD=$W" >sub/here &&
	list_secrets &&
	line sub/here | grep "^T1  masked  modified" &&
	rm .env &&
	git commit -qam 2 &&
	list_secrets &&
	! line conf/prod &&
	line conf/up
'

test_that 'other hard links of a secret are kept out, wherever they are' '
	test_enter low &&
	printf ".env\n*.log\nenvdir/\n" >.gitignore &&
	echo base >notes &&
	mkdir envdir &&
	test_commit 1 &&
	echo "TOKEN=$W" >.env &&
	ln .env app.log &&
	ln -f .env notes &&
	ln .env envdir/dump.sql &&
	git init -q nested &&
	ln .env nested/x &&
	list_secrets --all &&
	line app.log | grep "^T1  masked  ignored" &&
	line notes | grep "^T1  masked  modified" &&
	line envdir/dump.sql | grep "^T1  masked  ignored" &&
	test "$(grep -c "app.log" ../out)" = 1 &&
	looks x "
		cat .env app.log envdir/dump.sql nested/x
		cat notes" &&
	test_prints base cat ../out &&
	grep "kept out.*: .env, app.log, envdir/dump.sql, notes\$" ../err
'

test_that 'of a file that a filter decrypts sessions see what is committed' '
	test_enter cr &&
	git config filter.crypt.clean "printf \"\\0GITCRYPT\\0\"; base64" &&
	git config filter.crypt.smudge "tail -c +11 | base64 -d" &&
	git config filter.crypt.required true &&
	echo "*.env filter=crypt" >.gitattributes &&
	echo "TOKEN=$T" >prod.env &&
	echo "PORT=1" >dev.env &&
	test_commit base &&
	test -z "$(git status --porcelain)" &&
	! in_objects . &&
	list_secrets &&
	line prod.env | grep "^T1  masked  committed" &&
	! line dev.env &&
	looks x "
		cat prod.env
		echo --
		cat dev.env
		git status --porcelain prod.env
		echo b >b" &&
	! grep "$T" ../out &&
	sed -n "/^--/,\$p" ../out >../tail &&
	printf -- "--\nPORT=1\n" | test_cmp - ../tail &&
	grep "kept out.*: prod.env\$" ../err &&
	test_prints b git diff --name-only main agent/x &&
	git agent start --name y --expose prod.env -- grep -c "$T" prod.env
'

test_that 'secrets in submodules are kept out' '
	test_enter sub &&
	echo .env >.gitignore &&
	test_commit 1 &&
	cd .. &&
	test_enter super &&
	test_submodule ../sub sub &&
	git commit -qm 1 &&
	echo "TOKEN=$T" >sub/.env &&
	pem >k.pem &&
	looks x "cat sub/.env k.pem" &&
	! grep -E "$T|MIIE" ../out &&
	grep "kept out.*: k.pem, sub/.env\$" ../err &&
	{ git agent start --name y --expose sub/.env -- cat sub/.env >../out 2>../err; } &&
	grep "$T" ../out
'

test_that 'a capture after a crash keeps secrets out as well' '
	project k &&
	test_expect_code 137 env GIT_AGENT_FAULT=capture:begin:kill git agent start --name x -- sh -c "
		git config filter.f.clean \"cat .env server.key cache/deep/.env.bak; cat\" &&
		echo \"*.txt filter=f\" >.gitattributes &&
		echo t >a.txt &&
		git add -A &&
		git commit -qm t
		echo u >b.txt" 2>../err &&
	git agent capture x &&
	git log -p --all >../out &&
	! grep -E "^\+.*$T" ../out &&
	git show agent/x:b.txt &&
	! in_objects .
'

test_that 'with an explicit base the ignored files are shared, and their secrets kept out' '
	project b &&
	test_expect_code 1 git agent start --name x --base HEAD -- sh -c "cat .env cache/deep/.env.bak server.key" \
		>../out 2>../err &&
	! grep -E "$T|MIIE" ../out &&
	grep "kept out.*: .env, cache/deep/.env.bak, cache/deep/.git/config\$" ../err &&
	test_says "kept out.*: .env, cache/deep/.env.bak, cache/deep/.git/config\$" \
		may_fail git agent start --name y --dirty ignore -- true
'

# keys DIR: an ignored file, an untracked one and a changed one for each kind that only content tells
keys() {
	key=$(pem | sed "s/\$/\\\\n/" | tr -d "\n") &&
	printf "{\"type\":\"service_account\",\"private_key\":\"%s\"}" "$key" >"$1/proj-0123456789ab.json" &&
	cp "$1/proj-0123456789ab.json" "$1/sa.json" &&
	printf "{\"tls\": {\"key\": \"%s\"}}" "$key" >"$1/prod.json" &&
	{ echo notes && pem; } >"$1/notes.txt" &&
	{ echo "k = <<EOF" && pem && echo EOF; } >"$1/main.tf" &&
	printf "#!/bin/sh\nexport X=%s\n" "$T" >"$1/deploy.sh" &&
	printf "a:\n  b: %s\n" "$T" >"$1/config.yml" &&
	printf "users:\n- client-key-data: %s\n" "$(pem | base64 -w0)" >"$1/cluster" &&
	printf "\377\376" >"$1/wide.txt" &&
	echo "$T" | sed "s/./&\n/g" | tr "\n" "\0" >>"$1/wide.txt"
}

test_that 'a key or token keeps a file out whatever its name, unless the file is committed, long or binary' '
	test_enter content &&
	mkdir out changed new &&
	echo /out >.gitignore &&
	keys changed &&
	names=$(ls changed) &&
	for f in $names; do echo plain >changed/$f || return 1; done &&
	{ echo "#" && echo "$T"; } >changed/committed.sh &&
	test_commit 1 &&
	for d in out changed new; do keys $d || return 1; done &&
	{ echo "##" && echo "$T"; } >changed/committed.sh &&
	printf "\0%s" "$T" >out/binary &&
	{ head -c 1048576 /dev/zero | tr "\0" x && echo "$T"; } >out/long &&
	echo "X=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" >out/example.txt &&
	printf "kind: Config\nusers: []\n" >out/config &&
	for i in first again; do
		list_secrets &&
		for d in out changed new; do
			for f in $names; do
				line $d/$f | grep "^T1  masked .*(sec-" || return 1
			done
		done
		test "$(grep -c "" ../out)" = 27 || return 1
	done &&
	look="grep -rls -e $T -e MIIEpAIB -e TUlJRXBBSUJ . | sort" &&
	git agent start --name x -- sh -c "$look" >../seen &&
	printf "./%s\n" changed/committed.sh out/binary out/long | test_cmp - ../seen &&
	git agent start --name y --expose out/notes.txt -- grep -q MIIEpAIBAAKCAQEA out/notes.txt &&
	git agent -c secrets.allow=deploy.sh start --name z -- grep -q "$T" new/deploy.sh
'

test_that 'a git directory under another name is not shown, and what is put in it is held' '
	for way in link file ignored; do
		git init -q "inside-$way" || return 1
		case $way in
		link) at=.git.nosync ;;
		file) at=data/repository ;;
		ignored) at=cache/repository ;;
		esac
		(
			cd "inside-$way" &&
			mkdir -p data cache &&
			mv .git $at &&
			if test $way = link; then ln -s $at .git; else echo "gitdir: $at" >.git; fi &&
			echo /cache >.gitignore &&
			echo a >a &&
			echo kept >cache/kept &&
			git add a .gitignore &&
			git commit -qm 1 &&
			git config remote.o.url "https://me:$T@example.org/x" &&
			look="test ! -e $at && ! grep -r $T . && git log -1 --format=%s" &&
			for opts in "start" "start --dirty ignore" "-c secrets.mode=off start"; do
				git agent $opts --name in -- sh -c "$look" >../out 2>../err || exit 1
				grep -x 1 ../out && ! grep "$T" ../err && git agent drop --force in || exit 1
			done &&
			git agent start --name put -- sh -c "
				mkdir -p $at/hooks
				echo x >$at/hooks/post-merge" 2>../err &&
			{ test $way = ignored || grep "critical (held): $at/hooks/post-merge" ../err; } &&
			test -z "$(git ls-tree -r --name-only agent/put -- $at 2>/dev/null)"
		) || return 1
	done
'

test_done
