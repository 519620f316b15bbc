#!/bin/sh
# SPDX-License-Identifier: MIT
#
# After a capture and before any review, the commands a user would give next run nothing of the
# agent's, however much the user's own hooks and configuration lean on the tree. Every case does
# the same twice, each time in a new copy of the repository: with what the agent made, as if
# nothing were held, where it has to run; and with what capture published.
test_description='ordinary git on a captured branch, before any review, runs nothing the agent wrote'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

test_lazy_prereq NPM 'npm --version'
test_lazy_prereq DIRENV 'direnv version'

# What the agent writes touches this; what the user wrote touches the other.
ran=$TRASH/ran own=$TRASH/own
good="#!/bin/sh
touch $own"
# For agents: evil_hooks DIR puts every hook there.
evil_hooks="evil_hooks() {
	for h in post-merge pre-merge-commit post-checkout post-commit pre-commit prepare-commit-msg commit-msg \\
		pre-rebase post-rewrite reference-transaction post-index-change; do
		printf '#!/bin/sh\\ntouch $ran\\n' >\$1/\$h
		chmod +x \$1/\$h
	done
}
"
# host_hooks COMMANDS: hooks of the user that run these
host_hooks() {
	mkdir -p .git/hooks &&
	for h in post-merge post-checkout post-rewrite; do
		test_script .git/hooks/$h "$1" || return 1
	done
}

# ---- the commands
# Each in a copy, on the branch main. What leads up to a command is not what is tried: without
# holding it may run what it likes.

forget() {
	[ "$state" = held ] || rm -f "$ran"
}
# commits of the user since
diverge() {
	echo mine >mine &&
	git add mine &&
	git -c core.hooksPath=/dev/null commit -qm mine &&
	forget
}
on_branch() {
	git -c core.hooksPath=/dev/null switch -q agent/e &&
	forget
}
do_merge() {
	diverge &&
	git merge -q --no-edit agent/e
}
do_ff() {
	git merge -q --ff-only agent/e
}
do_pull() {
	git pull -q --no-rebase . agent/e
}
do_switch() {
	git switch -q agent/e &&
	git switch -q main
}
do_worktree() {
	git worktree add -q ../wt agent/e &&
	cd ../wt &&
	git status
}
do_rebase() {
	diverge &&
	git -c core.hooksPath=/dev/null switch -q agent/e &&
	forget &&
	git rebase -q main
}
do_stash() {
	echo mine >>a &&
	git -c core.hooksPath=/dev/null stash -q &&
	on_branch &&
	git stash apply -q
}
do_archive() {
	on_branch &&
	git archive agent/e >../tar
}
do_diff() {
	on_branch &&
	git diff main agent/e >../diff &&
	git log -p main..agent/e >../diff
}
# a prompt that shows the state of the repository, on a walk through the tree
do_prompt() {
	on_branch &&
	find . -name .git -prune -o -type d -print | while read -r dir; do
		(cd "$dir" && git status --short) || exit 1
	done
}
do_direnv() {
	git -c core.hooksPath=/dev/null merge -q --ff-only agent/e &&
	forget &&
	direnv export bash
}
# Did anything run that the agent wrote?
bitten() {
	test -e "$ran"
}

# try STATE COMMAND: in a copy, where the branch is all of the agent's work (open) or what
# capture made of it (held)
try() {
	state=$1
	chmod -R u+rwX ../try 2>/dev/null
	rm -rf ../try "$ran" "$own" &&
	mkdir ../try &&
	cp -a . ../try/r &&
	cd ../try/r &&
	git update-index -q --refresh
	if [ "$state" = open ]; then
		git update-ref refs/heads/agent/e refs/agent/e/orig || exit 1
	fi
	before &&
	(do_"$2")
}
# the last thing before a command
before() {
	:
}

# proof COMMANDS [OTHERS]: COMMANDS run what the agent wrote unless it is held. With what is published,
# neither they nor the OTHERS do, and all of them work.
proof() {
	git cat-file -e agent/e:w &&
	git rev-parse -q --verify refs/agent/e/orig >/dev/null ||
		{
			echo "nothing is held"
			return 1
		}
	for command in $1; do
		(
			try open "$command"
			bitten
		) ||
			{
				echo "without holding, $command would not run it either"
				return 1
			}
	done
	for command in $1 ${2-}; do
		(try held "$command") || {
			echo "$command fails"
			return 1
		}
		if (cd ../try/r && bitten); then
			echo "$command ran it"
			return 1
		fi
	done
}

# ---- hooks in the tree

test_that 'GT-01: hooks of a core.hooksPath in the tree do not run' '
	make_repo dir "
		mkdir .githooks &&
		printf %s \"\$good\" >.githooks/pre-push" &&
	git config core.hooksPath .githooks &&
	attack e "$evil_hooks
		echo w >w
		evil_hooks .githooks" &&
	proof "merge ff pull switch worktree rebase stash" "archive diff prompt"
'

# make_linked NAME: a repository whose core.hooksPath is a link, and change to it
make_linked() {
	make_repo "$1" "
		mkdir -p tools/hooks &&
		printf %s \"\$good\" >tools/hooks/pre-push &&
		ln -s tools/hooks hooks" &&
	git config core.hooksPath hooks
}

test_that 'GT-01: hooks do not run that the agent writes where the link core.hooksPath leads' '
	make_linked link &&
	attack e "$evil_hooks
		echo w >w
		evil_hooks tools/hooks" &&
	proof "ff switch rebase"
'

test_that 'GT-01: hooks do not run where the agent leads the link core.hooksPath elsewhere' '
	make_linked led &&
	attack e "$evil_hooks
		echo w >w
		mkdir new
		rm hooks
		ln -s new hooks
		evil_hooks new" &&
	proof "ff switch rebase"
'

test_that 'GT-01: hooks do not run of an absolute core.hooksPath through links' '
	make_repo deep "
		mkdir -p real/tools/hooks &&
		printf %s \"\$good\" >real/tools/hooks/pre-push &&
		ln -s real/tools tools" &&
	ln -s deep ../src &&
	git config core.hooksPath "$HOME/src/tools/hooks" &&
	before() { git config core.hooksPath "$PWD/tools/hooks"; } &&
	attack e "$evil_hooks
		echo w >w
		cp -r real new
		rm tools
		ln -s new/tools tools
		evil_hooks new/tools/hooks" &&
	proof "ff switch rebase" &&
	git agent drop --force e &&
	attack e "$evil_hooks
		echo w >w
		evil_hooks tools/hooks" &&
	proof "ff switch rebase"
'

# ---- hooks of the host

test_that 'a hook that is a link into the tree does not run what the agent wrote there' '
	make_repo into "
		mkdir scripts &&
		echo \"\$good\" >scripts/after &&
		chmod +x scripts/after" &&
	mkdir -p .git/hooks &&
	for h in post-merge post-checkout post-rewrite post-index-change; do
		ln -s ../../scripts/after .git/hooks/$h
	done &&
	attack e "echo w >w; printf \"#!/bin/sh\ntouch $ran\n\" >scripts/after" &&
	proof "ff switch rebase stash" worktree &&
	(try held ff) &&
	test -e "$own"
'

test_that 'a hook that is a link into the tree does not run through a link of the agent'\''s' '
	make_repo moved "
		mkdir scripts &&
		echo \"\$good\" >scripts/after &&
		chmod +x scripts/after" &&
	mkdir -p .git/hooks &&
	for h in post-merge post-checkout post-rewrite post-index-change; do
		ln -s ../../scripts/after .git/hooks/$h
	done &&
	attack e "
		echo w >w
		mkdir s2
		printf \"#!/bin/sh\ntouch $ran\n\" >s2/after
		chmod +x s2/after
		rm -r scripts
		ln -s s2 scripts" &&
	proof "ff switch" &&
	(try held ff) &&
	test -e "$own"
'

test_that 'a hook that calls make does not run what the agent has make read' '
	make_repo make "printf \"check:\n\t@touch $own\n-include local.mk\n\" >Makefile" &&
	host_hooks "make -s check" &&
	attack e "echo w >w; printf \"check:\n\t@touch $ran\n\" >Makefile" &&
	proof "ff switch rebase" &&
	(try held ff) &&
	test -e "$own" &&
	git agent drop --force e &&
	attack e "
		echo w >w
		printf \"check:\n\t@touch $ran\n\" >GNUmakefile" &&
	proof ff &&
	git agent drop --force e &&
	attack e "
		echo w >w
		printf \"X := \\\$(shell touch $ran)\n\" >local.mk" &&
	proof ff
'

test_that 'a hook that calls make does not run what its recipes run, if the agent wrote that' '
	make_repo recipe "
		mkdir scripts &&
		echo \"touch $own\" >scripts/run.sh &&
		printf \"check:\n\t@sh scripts/run.sh\n\" >Makefile" &&
	host_hooks "make -s check" &&
	attack e "echo w >w; echo \"touch $ran\" >scripts/run.sh" &&
	proof "ff switch" &&
	(try held ff) &&
	test -e "$own"
'

test_that NPM 'a hook that calls npm does not run scripts that the agent wrote' '
	make_repo npm "printf \"{\\\"scripts\\\":{\\\"test\\\":\\\"touch $own\\\"}}\n\" >package.json" &&
	host_hooks "npm test --silent" &&
	attack e "
		echo w >w
		printf \"{\\\"scripts\\\":{\\\"test\\\":\\\"touch $ran\\\"}}\n\" >package.json" &&
	proof "merge ff" &&
	(try held ff) &&
	test -e "$own" &&
	git agent drop --force e &&
	mkdir tools &&
	echo "require(\"fs\").writeFileSync(\"$own\", \"\")" >tools/t.js &&
	echo "{\"scripts\":{\"test\":\"node tools/t\"}}" >package.json &&
	test_commit tools &&
	attack e "
		echo w >w
		echo \"require(\\\"fs\\\").writeFileSync(\\\"$ran\\\", \\\"\\\")\" >tools/t.js" &&
	proof ff &&
	(try held ff) &&
	test -e "$own"
'

# ---- drivers

test_that 'GT-08: filters, drivers and a monitor in the tree do not run what the agent wrote' '
	make_repo drive "
		mkdir tools &&
		for t in clean smudge conv merge; do echo cat >tools/\$t.sh; done
		echo true >tools/merge.sh
		echo \"cat \\\"\\\$1\\\"\" >tools/conv.sh
		echo \"echo; echo /\" >tools/watch
		sed -i \"1i #!/bin/sh\" tools/watch
		chmod +x tools/watch
		printf \"*.f filter=fmt diff=fmt merge=fmt\n\" >.gitattributes
		echo 1 >x.f" &&
	git config filter.fmt.clean "sh tools/clean.sh" &&
	git config filter.fmt.smudge "sh tools/smudge.sh" &&
	git config diff.fmt.textconv "sh tools/conv.sh" &&
	git config merge.fmt.driver "sh tools/merge.sh %O %A %B" &&
	git config core.fsmonitor tools/watch &&
	attack e "
		echo w >w
		echo 2 >x.f
		for t in clean smudge conv merge; do sed -i \"1i touch $ran\" tools/\$t.sh; done
		sed -i \"2i touch $ran\" tools/watch" &&
	proof "merge ff pull switch stash archive diff prompt" "worktree rebase"
'

test_that 'GT-08: attributes of the agent do not lead its bytes to drivers of the host' '
	make_repo attr &&
	mkdir -p ../bin &&
	printf "#!/bin/sh\ntouch %s\ncat \$1\n" "$ran" >../bin/driver &&
	chmod +x ../bin/driver &&
	git config filter.fmt.smudge "$HOME/bin/driver" &&
	git config diff.fmt.textconv "$HOME/bin/driver" &&
	attack e "
		echo w >w
		printf \"* filter=fmt diff=fmt\n\" >.gitattributes" &&
	proof "ff switch worktree archive diff" merge
'

# ---- what git-lfs reads

# Nothing is sent anywhere: what git-lfs would reach the server with is a script of ours. The pointer
# is of the user'\''s, to an object that is not here, as after a clone without objects.
test_that GITLFS 'GT-18: git-lfs does not ask the server that a .lfsconfig of the agent names' '
	git lfs install --skip-repo >/dev/null &&
	test_when_finished git lfs uninstall --skip-repo &&
	mkdir -p bin &&
	printf "#!/bin/sh\ncase \$* in *evil*) touch %s ;; esac\nexit 1\n" "$ran" >bin/ssh &&
	chmod +x bin/ssh &&
	PATH=$HOME/bin:$PATH &&
	test_enter lfs &&
	echo a >a &&
	printf "*.bin filter=lfs diff=lfs merge=lfs -text\n" >.gitattributes &&
	git add a .gitattributes &&
	git commit -qm base &&
	oid=$(printf %064d 1) &&
	printf "%s\n" "version https://git-lfs.github.com/spec/v1" "oid sha256:$oid" "size 5" >../pointer &&
	git update-index --add --cacheinfo "100644,$(git hash-object -w --no-filters ../pointer),x.bin" &&
	git commit -qm pointer &&
	cp ../pointer x.bin &&
	git update-index -q --refresh &&
	git config lfs.transfer.maxretries 1 &&
	git config lfs.skipdownloaderrors true &&
	attack e "echo w >w; printf \"[lfs]\n\turl = ssh://git@evil.example/lfs\n\" >.lfsconfig" &&
	do_switch() { on_branch && rm x.bin && git checkout -q x.bin; } &&
	do_worktree() { git worktree add -q ../wt agent/e; } &&
	proof "switch worktree archive" "merge ff stash"
'

# ---- an ignored file of the user

test_that 'a hook runs the ignored file of the user, not the one that the agent tracks' '
	make_repo mine "echo local.sh >.gitignore" &&
	echo "touch $own" >local.sh &&
	host_hooks "for f in local.*; do test ! -e \$f || sh \$f; done" &&
	attack e "
		echo w >w
		echo \"touch $ran\" >local.sh
		git add -f local.sh
		git commit -qm tracked" &&
	proof "ff switch rebase" &&
	(try held switch && test -e "$own" && grep own local.sh)
'

# ---- repositories in the tree

test_that 'GT-02: the monitor of a bare repository in the tree does not run' '
	make_repo bare &&
	attack e "
		echo w >w
		for d in lib vendor/x.git lib/deep; do
			mkdir -p \$d/objects \$d/refs
			echo ref: refs/heads/x >\$d/HEAD
			touch \$d/objects/k \$d/refs/k
			git config -f \$d/config core.repositoryFormatVersion 0
			git config -f \$d/config core.bare false
			git config -f \$d/config core.worktree .
			git config -f \$d/config core.fsmonitor \"touch $ran; false\"
		done" &&
	proof prompt switch
'

# ---- direnv

test_that DIRENV 'an allowed .envrc does not load what the agent wrote' '
	make_repo envrc "
		echo \"source_env env/dev.sh; dotenv_if_exists .env; watch_file tools/env.sh; . tools/env.sh\" >.envrc
		mkdir env tools
		echo : >env/dev.sh
		echo : >tools/env.sh" &&
	before() { direnv allow . && direnv export bash >/dev/null; } &&
	attack e "
		echo w >w
		echo \"touch $ran\" >env/dev.sh" &&
	proof direnv &&
	git agent drop --force e &&
	attack e "
		echo w >w
		echo \"touch $ran\" >tools/env.sh" &&
	proof direnv
'

test_that DIRENV 'an allowed .envrc does not run what the agent wrote' '
	make_repo runs "
		echo \"export A=\\\$(sh \\\"\\\$PWD/tools/run.sh\\\")\" >.envrc
		mkdir tools
		echo . ./tools/more.sh >tools/run.sh
		echo : >tools/more.sh" &&
	grep PWD .envrc &&
	before() { direnv allow .; } &&
	attack e "
		echo w >w
		echo \"touch $ran\" >tools/run.sh" &&
	proof direnv &&
	git agent drop --force e &&
	attack e "
		echo w >w
		echo \"touch $ran\" >tools/more.sh" &&
	proof direnv
'

test_that DIRENV 'an .envrc of the agent does not run in a directory that direnv allows as a whole' '
	mkdir -p .config/direnv &&
	printf "[whitelist]\nprefix = [ \"%s\" ]\n" "$HOME/try" >.config/direnv/direnv.toml &&
	make_repo white &&
	attack e "
		echo w >w
		echo \"touch $ran\" >.envrc" &&
	proof direnv
'

# ---- a range of commits

test_that 'GT-13: a hook that only one commit of the agent has does not run' '
	make_repo once "
		mkdir .githooks &&
		echo \"\$good\" >.githooks/pre-push" &&
	git config core.hooksPath .githooks &&
	attack e "$evil_hooks
		set -e
		evil_hooks .githooks
		git -c core.hooksPath=/dev/null add -A
		git -c core.hooksPath=/dev/null commit -qm one
		git rm -qrf .githooks
		mkdir .githooks
		echo \"$good\" >.githooks/pre-push
		echo w >w
		git add -A
		git commit -qm two" &&
	git diff --name-only main refs/agent/e/orig >../names &&
	test "$(cat ../names)" = w &&
	proof rebase &&
	do_bisect() { git bisect start agent/e main && git bisect run true; } &&
	proof "" bisect
'

test_done
