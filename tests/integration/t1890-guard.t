#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the guard: high paths are held back too, and hooks that are the last resort'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	git init -q "$1" &&
	(cd "$1" && echo a >a && git add a && git commit -qm base)
}

# All of git's own that turning the guard on and off may touch.
picture() {
	cat .git/config
	find .git/hooks .git/git-agent ! -name '*.sample' ! -name '*lock' ! -type d ! -path '*/landing/*' -printf '%m %p %l\n' 2>/dev/null |
		sort
	git config --list --show-origin
	git status --porcelain --ignored
}
how() {
	git agent guard status --json |
		python3 -c 'import json,sys; o=json.load(sys.stdin); print(o["on"], o["undecided"], o["sessions"], o["hooks"], o["in_use"])'
}
hooked() {
	git config --local core.hooksPath | grep "/\.git/git-agent/guard/hooks$" &&
	test -x .git/git-agent/guard/hooks/pre-push
}

test_expect_success 'on and off: a setting of the repository, and nothing else while nothing is undecided' '
	make_repo on &&
	cd on &&
	git agent list &&
	picture >../before &&
	test_prints "False 0 0 False False" how &&
	git agent guard on 2>../err &&
	grep "the guard is on" ../err &&
	git config --local agent.guard &&
	how | grep "^True 0 0 False" &&
	test ! -e .git/git-agent/guard &&
	git agent guard | grep "high paths are held back too" &&
	git agent start -q -- sh -c "echo b >b" &&
	test ! -e .git/git-agent/guard &&
	git agent guard on &&
	git agent guard off &&
	git agent guard off &&
	picture >../after &&
	test_cmp ../before ../after &&
	git config --global agent.guard true &&
	how | grep ^True &&
	git agent guard off &&
	how | grep ^False &&
	git config --global --unset agent.guard &&
	test_expect_code 129 git agent guard maybe &&
	test_expect_code 129 git agent guard on --json &&
	test_expect_code 128 git -c agent.guard=false agent guard on 2>../err &&
	grep "another value of agent.guard overrides" ../err
'

test_expect_success 'high paths stay off the branch, are decided one by one, and what the agent sets counts nothing' '
	make_repo high &&
	cd high &&
	high="echo all: >Makefile; git add -A; git commit -qm high; echo ok >ok; git config agent.guard true; printf \"[agent]\\n\\tguard = true\\n\" >.gitconfig; printf \"[agent]\\n\\tguard = true\\n\" >\$HOME/.gitconfig" &&
	git agent start -q --name off -- sh -c "$high" &&
	git cat-file -e agent/off:Makefile &&
	rm -f .gitconfig &&
	git agent guard on &&
	git agent start -q --name on -- sh -c "
		$high
		git config agent.guard false" &&
	! git cat-file -e agent/on:Makefile &&
	git cat-file -e agent/on:ok &&
	git cat-file -e refs/agent/on/held:Makefile &&
	! git rev-list agent/on | xargs -n 1 git ls-tree -r | grep Makefile &&
	git agent show on | grep "high (held back)" &&
	git agent rules explain --json Makefile >../json &&
	test_expect_code 3 git agent land on &&
	git agent review --accept-all on &&
	test -n "$(git for-each-ref refs/agent/on/held)" &&
	! git cat-file -e agent/on:Makefile &&
	git agent review --accept on Makefile &&
	git cat-file -e agent/on:Makefile &&
	git agent review --accept-all --critical on &&
	git agent land on &&
	test -e Makefile &&
	git agent guard off &&
	git agent capture off &&
	git cat-file -e agent/off:Makefile
'

# session NAME: with a held critical path, a high one, and hard names
session() {
	git agent start -q --name "$1" -- sh -c 'echo all: >Makefile; echo e >.envrc; echo ok >ok; n=$(printf "d/\303\251 \"q\"\t\\\\\n:x"); mkdir -p "$n" && echo hard >"$n/.envrc"; ln -s /etc/passwd .bashrc; echo "evil" >":(top)x"; git add -A; git commit -qm w'
}
refused() {
	"$@" 2>"$HOME/err" &&
	return 1
	grep "git-agent: refused: .* would contain what nobody has decided about" "$HOME/err" &&
	grep "hint: .*GIT_AGENT_ALLOW=1 lets it through" "$HOME/err"
}

test_expect_success 'plain git is kept from bringing it to a branch, by whatever way' '
	make_repo ref &&
	cd ref &&
	git agent guard on &&
	session x &&
	how | grep " True True$" &&
	held=$(git rev-parse refs/agent/x/held) &&
	git rev-parse HEAD >../before &&
	refused git merge $held &&
	grep "^  .envrc" ../err &&
	git reset -q --hard &&
	refused git branch foo $held &&
	refused git switch -q -c foo $held &&
	git reset -q --hard &&
	refused git update-ref refs/heads/main $held &&
	refused git cherry-pick $held &&
	git reset -q --hard &&
	git cherry-pick --quit &&
	git read-tree -m -u HEAD $held &&
	refused git commit -qm taken &&
	git reset -q --hard &&
	refused git merge -q --no-ff -m m $held &&
	git reset -q --hard &&
	git rev-parse HEAD | test_cmp ../before - &&
	test -z "$(git for-each-ref refs/heads/foo)" &&
	git rev-list -n 1 refs/agent/x/orig &&
	refused git branch foo refs/agent/x/orig &&
	for p in Makefile .envrc .bashrc "$(printf "d/\303\251 \"q\"\t\\\\\n:x/.envrc")"; do
		git checkout -q $held -- "$p" &&
		refused git commit -qm "$p" &&
		git reset -q --hard ||
			exit 1
	done
'

test_expect_success 'nor do commits that had it for a while come, whether they were held back or are on the branch; their sum does' '
	make_repo while &&
	cd while &&
	work="echo all: >Makefile; git add -A; git commit -qm add; git rm -q Makefile; echo o >o; git add -A; git commit -qm gone" &&
	git agent start -q --name early -- sh -c "$work" &&
	early=$(git rev-parse agent/early~1) &&
	git cat-file -e $early:Makefile &&
	git agent guard on &&
	hooked &&
	refused git merge -q agent/early &&
	grep "^  commit $early" ../err &&
	git reset -q --hard &&
	refused git branch foo agent/early &&
	refused git push -q . agent/early:refs/heads/foo &&
	git branch foo $early~1 &&
	git merge -q --squash agent/early &&
	git commit -qm sum &&
	test -e o &&
	git branch sum &&
	git reset -q --hard HEAD~1 &&
	git agent start -q --name late -- sh -c "
		export GIT_AUTHOR_NAME=late
		$work
		echo e >.envrc" &&
	late=$(git rev-parse refs/agent/late/orig~2) &&
	git cat-file -e $late:Makefile &&
	! git ls-tree -r refs/agent/late/orig~1 | grep "Makefile\|envrc" &&
	refused git branch bar refs/agent/late/orig~1 &&
	grep "^  commit $late" ../err &&
	git branch bar agent/late &&
	git agent review --accept early Makefile &&
	git merge -q agent/early &&
	test -e o
'

test_expect_success 'everything else goes on: commits, branches, tags, the branch of the session, and what was allowed' '
	cd ref &&
	echo more >>a &&
	git commit -qam more &&
	git branch b2 &&
	git branch -qD b2 &&
	git tag t &&
	git merge -q agent/x &&
	test -e ok &&
	git switch -q --detach &&
	git switch -q - &&
	git branch agent/other agent/x &&
	git stash list &&
	git symbolic-ref refs/heads/sym refs/heads/main &&
	git symbolic-ref -d refs/heads/sym &&
	held=$(git rev-parse refs/agent/x/held) &&
	GIT_AGENT_ALLOW=1 git branch foo $held &&
	git branch bar foo &&
	git switch -q foo &&
	git commit -q --allow-empty -m on &&
	git branch -m foo baz &&
	git switch -q main &&
	git branch -qD bar baz &&
	git -c core.quotePath=false branch ok &&
	refused git -c core.quotePath=false branch foo $held &&
	git worktree add -q ../ref.wt &&
	cd ../ref.wt &&
	refused git merge -q $held
'

test_expect_success 'decided, dropped, landed, or the guard off: no hook is left' '
	make_repo gone &&
	cd gone &&
	git agent guard on &&
	picture >../before &&
	session x &&
	session y &&
	hooked &&
	git agent review --accept-all --critical x &&
	hooked &&
	git agent review --reject y . &&
	git agent review y &&
	git agent guard status &&
	git agent drop --force y &&
	! hooked &&
	picture >../after &&
	test_cmp ../before ../after &&
	git agent drop --restore y &&
	git agent land x &&
	test -e Makefile &&
	git agent drop y --force &&
	git agent start -q --name z -- sh -c "echo z >.envrc" &&
	hooked &&
	git agent drop --force z &&
	picture >../after &&
	test_cmp ../before ../after &&
	git agent drop --restore z &&
	hooked &&
	git agent guard off &&
	git config agent.guard true &&
	git config --unset agent.guard &&
	picture >../after &&
	sed "/guard/d;/\\[agent\\]/d" ../before >../want &&
	sed "/guard/d;/\\[agent\\]/d" ../after | test_cmp ../want - &&
	git agent guard on &&
	hooked &&
	git agent guard off &&
	test ! -e .git/git-agent/guard
'

test_expect_success 'a hook directory that is not there is not made; one that somebody makes meanwhile is used' '
	git init -q --template= bare &&
	cd bare &&
	echo a >a &&
	git add a &&
	git commit -qm base &&
	git agent guard on &&
	session x &&
	hooked &&
	test ! -e .git/hooks &&
	mkdir .git/hooks &&
	printf "#!/bin/sh\necho mine >>\"\$TRASH/log.made\"\n" >.git/hooks/pre-commit &&
	chmod +x .git/hooks/pre-commit &&
	git commit -q --allow-empty -m m &&
	grep mine "$TRASH/log.made" &&
	git agent drop --force x &&
	test ! -e .git/git-agent/guard &&
	test "$(ls .git/hooks)" = pre-commit
'

test_expect_success 'where one working tree has a core.hooksPath of its own, status says that they do not run there' '
	make_repo tree &&
	cd tree &&
	git config extensions.worktreeConfig true &&
	git worktree add -q ../tree.wt &&
	git config --worktree core.hooksPath .mine &&
	git agent guard on &&
	session x &&
	how | grep " True False$" &&
	git agent guard | grep "not in use" &&
	cd ../tree.wt &&
	how | grep " True True$" &&
	refused git branch foo refs/agent/x/held &&
	git agent guard off &&
	test "$(git -C ../tree config core.hooksPath)" = .mine &&
	! git config core.hooksPath
'

# in_file WHERE IN_USE: core.hooksPath is in a file that the configuration includes, before [core] or at the end
in_file() {
	test_expect_success "core.hooksPath in a file that is included $1: it stays there, and nothing of it elsewhere" "
		make_repo file$1 && cd file$1 && mkdir .hk && printf '#!/bin/sh\necho mine >>\"\$TRASH/log.$1\"\n' >.hk/pre-commit && chmod +x .hk/pre-commit && printf '[core]\n\thooksPath = .hk\n' >.included && { test $1 = before || cat .git/config; printf '[include]\n\tpath = ../.included\n'; test $1 != before || cat .git/config; } >../config && cp ../config .git/config && git agent list && picture >../before &&
		git agent guard on && session x && how | grep ' True $2$' && git commit -q --allow-empty -m m && grep mine \"\$TRASH/log.$1\" && if test $2 = True; then refused git branch foo refs/agent/x/held; else git agent guard >../out && grep 'not in use: another core.hooksPath overrides it' ../out; fi &&
		git agent guard off && picture | test_cmp ../before - && git agent guard on && git agent drop --force x && git agent guard off && picture | test_cmp ../before -
	"
}
in_file before True
in_file after False

# moved WHOSE COMMANDS: the repository is moved while hooks are there, beside those of COMMANDS
moved() {
	test_expect_success "a repository that was moved, with $1 hooks: ours go along, and go without trace" "
		make_repo moved.$1 && cd moved.$1 && mkdir .hk && printf '#!/bin/sh\necho mine >>\"\$TRASH/log.moved\"\n' >.hk/pre-commit && chmod +x .hk/pre-commit && { $2; } && git agent list && picture >../before && git agent guard on && session x && how | grep ' True True$' && cd .. && mv moved.$1 went.$1 && cd went.$1 &&
		git agent list && how | grep ' True True$' && ! grep -r \"\$HOME/moved.$1/\" .git/config .git/git-agent/guard && find .git/git-agent/guard -type l -printf '%l\n' >../links && ! grep \"\$HOME/moved.$1/\" ../links && refused git branch foo refs/agent/x/held && git commit -q --allow-empty -m m && { test -z \"\$(git config agent.hooksPath)\" || grep mine \"\$TRASH/log.moved\"; } &&
		git agent guard off && picture | test_cmp ../before -
	"
}
moved no :
moved own 'git config core.hooksPath .hk'

test_expect_success 'two with the same: what is accepted of one lands, though the other is undecided' '
	make_repo two &&
	cd two &&
	git agent guard on &&
	session x &&
	session y &&
	git agent review --accept-all --critical x &&
	git agent land x &&
	test -e Makefile &&
	echo e >>a &&
	git commit -qam on
'

test_expect_success 'nothing of it is pushed, nor the history that was held back' '
	git init -q --bare push.git &&
	make_repo push &&
	cd push &&
	git remote add origin ../push.git &&
	git agent guard on &&
	session x &&
	git agent start -q --name h -- sh -c "
		echo e >.envrc
		git add -A
		git commit -qm add
		git rm -q .envrc
		git commit -qm gone
		echo k >k
		echo e >.envrc" &&
	git push -q origin main agent/x agent/h &&
	refused git push -q origin refs/agent/x/held:refs/heads/x &&
	refused git push -q origin "refs/agent/*:refs/agent/*" &&
	refused git push -q origin refs/agent/h/orig~1:refs/heads/h &&
	grep "^  commit" ../err &&
	git push -q origin --delete agent/x &&
	test "$(git -C ../push.git for-each-ref | wc -l)" = 2 &&
	GIT_AGENT_ALLOW=1 git push -q origin refs/agent/x/held:refs/heads/x &&
	git push -q origin refs/agent/x/held:refs/heads/x
'

test_expect_success 'nor under a name with blanks, as revisions can have them' '
	cd push &&
	git agent start -q --name b -- sh -c "echo blank >.envrc" &&
	held=$(git rev-parse refs/agent/b/held) &&
	blanks="$held^{/[h ]}" &&
	git rev-parse -q --verify "$blanks^{commit}" >../got &&
	echo $held | test_cmp - ../got &&
	refused git push -q origin "$blanks:refs/heads/b" &&
	grep "^  .envrc" ../err &&
	! git -C ../push.git rev-parse -q --verify refs/heads/b &&
	git agent drop --force b
'

test_expect_success 'more than arguments hold, of which the branch has most' '
	make_repo many &&
	cd many &&
	git agent guard on &&
	git agent start -q --name m -- sh -c "
		for i in \$(seq 1500); do
			d=\$(printf \"%0100d\" \$i)
			mkdir \$d
			echo \$i >\$d/.envrc
		done" &&
	git agent start -q --name n -- sh -c "echo n >.envrc" &&
	test "$(wc -c <.git/git-agent/guard/lines)" -gt 150000 &&
	GIT_AGENT_ALLOW=1 git merge -q refs/agent/m/held &&
	refused git merge -q refs/agent/n/held &&
	grep "^  .envrc" ../err &&
	! grep 000 ../err &&
	git reset -q --hard &&
	git commit -q --allow-empty -m on
'

test_expect_success 'more commits than are looked for anywhere else: none of what was held back is pushed' '
	git init -q --bare history.git &&
	make_repo history &&
	cd history &&
	git remote add origin ../history.git &&
	git agent guard on &&
	cat >../work <<-\EOF &&
	{
		printf "commit refs/heads/many\ncommitter A <a@example.com> 1 +0000\ndata 0\nfrom %s\nM 100644 inline .envrc\ndata 2\ne\n\n" "$(git rev-parse HEAD)"
		for i in $(seq 10100); do printf "commit refs/heads/many\ncommitter A <a@example.com> 1 +0000\ndata 0\n\n"; done
	} | git fast-import --quiet && git reset -q --hard many && git branch -qD many
	EOF
	git agent start -q --name h -- sh -c "$(cat ../work)" &&
	git rev-list --count main..refs/agent/h/orig | grep -x 10101 &&
	test "$(wc -l <.git/git-agent/guard/commits)" -gt 10100 &&
	first=$(git rev-list --reverse main..refs/agent/h/orig | head -n 1) &&
	refused git push -q origin "$first:refs/heads/h"
'

test_expect_success 'turned off while another process puts its hooks there' '
	make_repo both &&
	cd both &&
	git config core.hooksPath .mine &&
	git agent list &&
	picture >../before &&
	guard=$PWD/.git/git-agent/guard &&
	mkdir "$guard" &&
	id=$(stat -c %i .git/git-agent/id) &&
	{
		flock .git/git-agent/id sh -c "
		: >\"$HOME/holds\"
		while test ! -e \"$HOME/go\"; do sleep 0.1; done" &
	} &&
	test_wait_for "test -e \"$HOME/holds\"" &&
	{ git agent guard off & } &&
	off=$! &&
	test_wait_for "grep -q -- \"-> FLOCK.*:$id \" /proc/locks" &&
	mkdir "$guard/hooks" &&
	git config agent.hooksPath .mine &&
	git config core.hooksPath "$guard/hooks" &&
	: >../go &&
	wait $off &&
	test "$(git config core.hooksPath)" = .mine &&
	test ! -e "$guard" &&
	picture >../after &&
	sed "/^\[agent\]/d" ../after | test_cmp ../before -
'

test_expect_success 'a hook that is written where ours is goes to those of the user, and is never lost' '
	make_repo foreign &&
	cd foreign &&
	git agent guard on &&
	picture >../before &&
	session x &&
	hooked &&
	printf "#!/bin/sh\necho mine\n" | tee ../mine >.git/hooks/pre-push &&
	git agent list &&
	how | grep " True True$" &&
	refused git branch foo refs/agent/x/held &&
	git agent drop --force x &&
	test "$(ls .git/hooks | grep -v sample)" = pre-push &&
	test_cmp ../mine .git/hooks/pre-push &&
	rm .git/hooks/pre-push &&
	session x &&
	cp ../mine .git/git-agent/guard/hooks/pre-push &&
	git agent list &&
	test_cmp ../mine .git/hooks/pre-push &&
	hooked &&
	for h in pre-commit post-merge; do
		rm -f .git/git-agent/guard/hooks/$h &&
		cp ../mine .git/git-agent/guard/hooks/$h || exit 1
	done &&
	git agent drop --force x &&
	test "$(ls .git/hooks | grep -v sample | sort | xargs)" = "post-merge pre-commit pre-push" &&
	test_cmp ../mine .git/hooks/post-merge &&
	test_cmp ../mine .git/hooks/pre-commit &&
	session x &&
	echo other >.git/git-agent/guard/hooks/pre-push &&
	test_expect_code 128 git agent guard off 2>../err &&
	grep "is none of the guard.s hooks, and cannot go to .*hooks/pre-push.: File exists" ../err &&
	test "$(cat .git/git-agent/guard/hooks/pre-push)" = other &&
	rm .git/git-agent/guard/hooks/pre-push &&
	git agent guard off &&
	test ! -e .git/git-agent/guard &&
	rm .git/hooks/post-merge .git/hooks/pre-commit .git/hooks/pre-push &&
	git agent drop --force x &&
	git agent guard on &&
	picture >../after &&
	test_cmp ../before ../after
'

test_expect_success 'with git-agent gone the hooks neither break anything nor need it' '
	cd push &&
	mkdir ../alone &&
	for c in git sh xargs grep sed cut; do ln -s "$(program $c)" ../alone/ || exit 1; done &&
	(
		PATH=$HOME/alone &&
		! git agent version 2>/dev/null &&
		git commit -q --allow-empty -m m &&
		git switch -q -c side &&
		git commit -q --allow-empty -m s &&
		git switch -q main &&
		git merge -q --no-ff -m m side &&
		refused git branch foo refs/agent/h/held

	) &&
	rm -r .git/git-agent/guard &&
	git commit -q --allow-empty -m m &&
	git push -q origin main &&
	git branch foo refs/agent/h/held &&
	git branch -D foo &&
	git agent list &&
	hooked &&
	refused git branch foo refs/agent/h/held &&
	rm .git/git-agent/guard/paths .git/git-agent/guard/commits &&
	git branch foo refs/agent/h/held &&
	git branch -D foo
'

test_expect_success 'where a program to look with is missing they refuse, in one line' '
	make_repo blind &&
	cd blind &&
	git init -q --bare ../blind.git &&
	git remote add origin ../blind.git &&
	git agent guard on &&
	session x &&
	git push -q origin main &&
	held=$(git rev-parse refs/agent/x/held) &&
	for tool in xargs grep cut sed; do
		rm -rf ../bare &&
		mkdir ../bare &&
		for c in git sh cat xargs grep sed cut; do
			test $c = $tool || ln -s "$(program $c)" ../bare/ || exit 1
		done
		! PATH=$HOME/bare git branch foo $held 2>../err &&
		test "$(grep -c "the guard cannot look for .*$tool. is missing or fails; GIT_AGENT_ALLOW=1" ../err)" = 1 &&
		! PATH=$HOME/bare git push -q origin $held:refs/heads/foo 2>../err &&
		test "$(grep -c "the guard cannot look for .*$tool. is missing or fails" ../err)" = 1 &&
		! git rev-parse -q --verify foo &&
		! git -C ../blind.git rev-parse -q --verify foo &&
		PATH=$HOME/bare GIT_AGENT_ALLOW=1 git commit -q --allow-empty -m "without $tool" || exit 1
	done &&
	git config core.hooksPath .mine &&
	git agent list &&
	how | grep " True True$" &&
	mkdir .mine &&
	printf "#!/bin/sh\ncat >/dev/null\n" >.mine/reference-transaction &&
	chmod +x .mine/reference-transaction &&
	git agent guard on &&
	refused git branch foo $held &&
	rm ../bare/cat &&
	ln -s "$(command -v sed)" ../bare/ &&
	! PATH=$HOME/bare git branch foo $held &&
	! git rev-parse -q --verify foo
'

test_expect_success 'nothing the agent wrote is run, by its names or its contents' '
	make_repo evil &&
	cd evil &&
	git agent guard on &&
	mkdir -p ../bin &&
	git agent start -q --name e -- sh -c "
		for n in \"\\\$(touch $TRASH/ran)\" \"\\\`touch $TRASH/ran\\\`\" \"; touch $TRASH/ran\" \"-e\" \"--upload-pack=touch\" \"\$(printf \"x\ntouch $TRASH/ran\n\")\"; do
			mkdir -p \"./\$n\" &&
			echo \"touch $TRASH/ran\" >\"./\$n/.envrc\"
		done
		echo \"touch $TRASH/ran\" >.envrc" &&
	grep touch .git/git-agent/guard/lines &&
	refused git branch foo refs/agent/e/held &&
	git commit -q --allow-empty -m m &&
	test ! -e "$TRASH/ran"
'

# ---- beside other hooks ------------------------------------------------------------------------

# beside NAME COMMANDS: hooks of COMMANDS run as they did, with ours, and nothing is left
beside() {
	test_expect_success "beside $1" "
		make_repo 'b $1' && cd 'b $1' && git init -q --bare '../b $1.git' && git remote add origin '../b $1.git' && log=\$TRASH/log.$1 && { $2; } && git add -A && git commit -q --allow-empty -m hooks && git agent list && picture >../before && : >\$log && git commit -q --allow-empty -m one && git push -q origin main && cat \$log >../want && test -s \$log &&
		git agent guard on && session x && how | grep ' True True$' && : >\$log && git commit -q --allow-empty -m two && git push -q origin main && test_cmp ../want \$log &&
		refused git branch foo refs/agent/x/held && refused git push -q origin refs/agent/x/held:refs/heads/x && git agent capture x && git agent show x | grep 'held' && test -z \"\$(git status --porcelain)\" &&
		git agent drop --force x && git agent guard off && picture >../after && test_cmp ../before ../after && : >\$log && git commit -q --allow-empty -m three && git push -q origin main && test_cmp ../want \$log
	"
}
beside own 'for h in pre-commit pre-push; do printf "#!/bin/sh\necho %s >>\"\$TRASH/log.own\"; cat >>\"\$TRASH/log.own\" </dev/null\n" $h >.git/hooks/$h; chmod +x .git/hooks/$h; done'
beside stdin 'printf "#!/bin/sh\nwhile read -r l o r p; do echo \"push \$l \$r\" >>\"\$TRASH/log.stdin\"; done\n" >.git/hooks/pre-push; printf "#!/bin/sh\ntest \"\$1\" = prepared || exit 0\nwhile read -r l o r p; do echo \"tx \$r\" >>\"\$TRASH/log.stdin\"; done\n" >.git/hooks/reference-transaction; chmod +x .git/hooks/pre-push .git/hooks/reference-transaction'
beside python 'printf "#!/usr/bin/env python3\nimport os,sys\nopen(os.environ[\"TRASH\"]+\"/log.python\",\"a\").write(os.path.basename(sys.argv[0])+\" \"+sys.stdin.read()[:4]+chr(10))\n" >.git/hooks/pre-push; chmod +x .git/hooks/pre-push'
beside husky 'mkdir -p .husky/_ && echo "*" >.husky/_/.gitignore && printf "#!/usr/bin/env sh\nn=\$(basename \"\$0\")\ns=\$(dirname \"\$(dirname \"\$0\")\")/\$n\n[ ! -f \"\$s\" ] && exit 0\nsh -e \"\$s\" \"\$@\"\n" >.husky/_/h && for h in pre-commit pre-push post-merge; do printf "#!/usr/bin/env sh\n. \"\$(dirname \"\$0\")/h\"\n" >.husky/_/$h; chmod +x .husky/_/$h; done && printf "echo husky \$0 >>\"\$TRASH/log.husky\"\n" | tee .husky/pre-commit >.husky/pre-push && git config core.hooksPath .husky/_'
beside lefthook 'for h in pre-commit pre-push prepare-commit-msg; do printf "#!/bin/sh\ncall_lefthook() { echo lefthook \"\$@\" >>\"\$TRASH/log.lefthook\"; }\ncall_lefthook run %s\n" $h >.git/hooks/$h; chmod +x .git/hooks/$h; done'
beside pre-commit 'printf "#!/usr/bin/env bash\nHERE=\"\$(cd \"\$(dirname \"\$0\")\" && pwd)\"\necho \"\${HERE##*/} \${0##*/}\" >>\"\$TRASH/log.pre-commit\"\n" >.git/hooks/pre-push; chmod +x .git/hooks/pre-push'
beside hooksPath 'mkdir .githooks && printf "#!/bin/sh\necho \"\$0\" >>\"\$TRASH/log.hooksPath\"\n" >.githooks/pre-commit && chmod +x .githooks/pre-commit && git config core.hooksPath .githooks'
beside symlink 'rm -r .git/hooks && mkdir "$HOME/behind" && ln -s "$HOME/behind" .git/hooks && for h in pre-commit pre-push; do printf "#!/bin/sh\necho %s >>\"\$TRASH/log.symlink\"\n" $h >.git/hooks/$h; chmod +x .git/hooks/$h; done'
test_expect_success 'a hook directory that repositories share: nothing is put there' '
	mkdir shared &&
	for n in a b; do
		make_repo share.$n &&
		rm -r share.$n/.git/hooks &&
		ln -s ../../shared share.$n/.git/hooks ||
			return 1
	done &&
	printf "#!/bin/sh\necho shared \"\$0\" >>\"\$TRASH/log.shared\"\n" >shared/post-commit &&
	chmod +x shared/post-commit &&
	cd share.a &&
	git agent list &&
	picture >../before &&
	git agent guard on &&
	session x &&
	how | grep " True True$" &&
	test "$(ls ../shared)" = post-commit &&
	git -C ../share.b commit -q --allow-empty -m other &&
	git commit -q --allow-empty -m m &&
	test "$(grep -c shared "$TRASH/log.shared")" = 2 &&
	refused git branch foo refs/agent/x/held &&
	git agent drop --force x &&
	git agent guard off &&
	test "$(ls ../shared)" = post-commit &&
	picture >../after &&
	test_cmp ../before ../after
'
beside global 'mkdir -p "$HOME/my hooks" && printf "#!/bin/sh\necho \"\$0\" >>\"\$TRASH/log.global\"\n" >"$HOME/my hooks/post-commit" && chmod +x "$HOME/my hooks/post-commit" && git config --global core.hooksPath "~/my hooks"; test_when_finished "git config --global --unset core.hooksPath"'

test_expect_success 'the hook directory of the user is critical all the same, and its hooks are read' '
	make_repo facts &&
	cd facts &&
	mkdir .githooks &&
	printf "#!/bin/sh\nsh tools/check\n" >.githooks/pre-commit &&
	chmod +x .githooks/pre-commit &&
	mkdir tools &&
	echo true >tools/check &&
	echo false >lines &&
	git add -A &&
	git commit -qm h &&
	git config core.hooksPath .githooks &&
	git agent guard on &&
	session x &&
	how | grep " True True$" &&
	git agent start -q --name y -- sh -c "
		echo evil >>.githooks/pre-commit
		echo evil >tools/check
		echo ok >lines
		echo more >n" &&
	test_prints "lines\nn" git diff --name-only main agent/y
'

test_expect_success 'someone sets core.hooksPath meanwhile: that is kept, and ours beside it' '
	make_repo husk &&
	cd husk &&
	git agent guard on &&
	session x &&
	how | grep " True True" &&
	mkdir .hk &&
	printf "#!/bin/sh\necho mine >>\"\$TRASH/log.husk\"\n" >.hk/pre-commit &&
	chmod +x .hk/pre-commit &&
	git config core.hooksPath .hk &&
	how | grep " False False" &&
	git agent list &&
	how | grep " True True" &&
	git commit -q --allow-empty -m m &&
	grep mine "$TRASH/log.husk" &&
	refused git branch foo refs/agent/x/held &&
	git config core.hooksPath .other &&
	git agent list &&
	how | grep " True True" &&
	git agent guard off &&
	test "$(git config core.hooksPath)" = .other &&
	! git config agent.hooksPath
'

test_expect_success 'killed while it puts its directory there, and while it takes it away' '
	make_repo dies &&
	cd dies &&
	git config core.hooksPath .mine &&
	git agent list &&
	picture >../before &&
	git agent guard on &&
	{
		GIT_AGENT_FAULT=guard:kept:kill session x
		test $? = 137
	} &&
	test "$(git config core.hooksPath)" = .mine &&
	git agent list &&
	how | grep " True True" &&
	refused git branch foo refs/agent/x/held &&
	{
		GIT_AGENT_FAULT=guard:restored:kill git agent guard off
		test $? = 137
	} &&
	test "$(git config core.hooksPath)" = .mine &&
	git agent guard off &&
	picture >../after &&
	test_cmp ../before ../after
'

test_expect_success 'the scripts as they are shipped work where they are put by hand' '
	make_repo hand &&
	cd hand &&
	git agent guard on &&
	session x &&
	git agent guard status &&
	cp "$TEST_SRCDIR"/hooks/reference-transaction "$TEST_SRCDIR"/hooks/pre-push ../ &&
	held=$(git rev-parse refs/agent/x/held) &&
	echo "0000000000000000000000000000000000000000 $held refs/heads/q" |
		test_expect_code 1 ../reference-transaction prepared &&
	echo "0000000000000000000000000000000000000000 $held refs/heads/q" |
		../reference-transaction committed &&
	echo "x $held refs/heads/q 0000000000000000000000000000000000000000" |
		test_expect_code 1 ../pre-push origin url &&
	echo "0000000000000000000000000000000000000000 $held refs/tags/q" |
		../reference-transaction prepared &&
	cd .. &&
	make_repo none &&
	cd none &&
	echo "0000000000000000000000000000000000000000 $held refs/heads/q" |
		../reference-transaction prepared
'

test_expect_success 'commits of a session that are not there any more keep nothing from being guarded of the others' '
	make_repo dead &&
	cd dead &&
	git agent start -q --name d -- sh -c "
		echo all: >Makefile
		git add -A
		git commit -qm add
		git rm -q Makefile
		echo o >o
		git add -A
		git commit -qm gone" &&
	tip=$(git rev-parse agent/d) &&
	git agent guard on &&
	session h &&
	branch=$(git rev-parse agent/h) &&
	git update-ref -d refs/agent/h/held &&
	git branch -qD agent/d agent/h &&
	git reflog expire --expire=all --all &&
	git gc -q --prune=now &&
	! git cat-file -e $tip &&
	! git cat-file -e $branch &&
	session y 2>../err &&
	cat ../err &&
	! grep "could not be brought up to date" ../err &&
	how | grep "^True [0-9]* 3 True True" &&
	refused git branch foo refs/agent/y/held &&
	refused git branch foo refs/agent/h/orig
'

test_expect_success 'what landed by plain git is noticed at once' '
	make_repo post &&
	cd post &&
	git agent guard on &&
	session x &&
	git agent start -q --name p -- sh -c "echo p >p" &&
	git merge -q agent/p &&
	grep "state = .landed" "$HOME"/.local/state/git-agent/*/sessions/p/session
'

test_done
