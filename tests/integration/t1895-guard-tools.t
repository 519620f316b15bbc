#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the guard beside real tools that manage hooks, and beside hooks of git'\''s configuration'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_lazy_prereq HUSKY 'husky --version || command -v husky'
test_lazy_prereq LEFTHOOK 'lefthook version'
test_lazy_prereq PRE_COMMIT 'pre-commit --version'

# All that is installed: every file and link in .git that is no object, ref or log, with what is in
# it, and all of the configuration.
picture() {
	cat .git/config
	git config --list --show-origin
	find .git .husky .hooks -path .git/objects -prune -o -path .git/refs -prune -o -path .git/logs -prune -o -path .git/lfs -prune -o ! -type d ! -name '*.sample' ! -name '*lock*' ! -name index ! -name 'COMMIT_EDITMSG' ! -name ORIG_HEAD ! -name packed-refs -printf '%m %p %l\n' 2>/dev/null |
		sort
	find .git/hooks .husky .hooks -type f -exec sha256sum {} + 2>/dev/null | sort -k 2
}
how() {
	git agent guard status --json |
		python3 -c 'import json,sys; o=json.load(sys.stdin); print(o["hooks"], o["in_use"])'
}
refused() {
	"$@" 2>"$HOME/err" &&
	return 1
	grep "git-agent: refused: .* would contain what nobody has decided about" "$HOME/err"
}
session() {
	git agent start -q --name "$1" -- sh -c 'echo all: >Makefile; echo e >.envrc; echo ok >ok'
}

# beside PREREQ NAME COMMANDS: COMMANDS install hooks that run when something is committed and
# pushed, and say so in $TRASH/log.NAME
beside() {
	test_expect_success "$1" "beside $2: with the guard on and something undecided both run, and off nothing is left" "
		git init -q --bare '$2.git' && git init -q '$2' && cd '$2' && echo a >a && git add a && git commit -qm base && git remote add origin '../$2.git' && log=\$TRASH/log.$2 && { $3; } && git add -A && git commit -q --allow-empty -m hooks && git push -q origin main && git agent list && : >\$log &&
		echo 1 >>a && git commit -qam one && git push -q origin main && test -s \$log && sort \$log >../want && picture >../before &&
		git agent guard on && session x && how | grep ' True$' && : >\$log && echo 2 >>a && git commit -qam two && git push -q origin main && sort \$log | test_cmp ../want - &&
		refused git branch foo refs/agent/x/held && refused git push -q origin refs/agent/x/held:refs/heads/x && git merge -q agent/x && git agent list && how | grep ' True$' && git reset -q --hard HEAD~1 && test -z \"\$(git status --porcelain)\" &&
		git agent drop --force x && picture >../after && sed '/guard = true/d;/agent.guard/d;/^\[agent\]/d' ../after | test_cmp ../before - && git agent guard off && picture >../after && test_cmp ../before ../after &&
		: >\$log && echo 3 >>a && git commit -qam three && git push -q origin main && sort \$log | test_cmp ../want -
	"
}

beside HUSKY husky 'husky && printf "echo \"pre-commit\" >>\"\$TRASH/log.husky\"\n" >.husky/pre-commit && printf "while read -r l o r p; do echo \"pre-push \$r\" >>\"\$TRASH/log.husky\"; done\n" >.husky/pre-push'
beside LEFTHOOK lefthook 'printf "pre-commit:\n  commands:\n    say:\n      run: echo pre-commit >>\"\$TRASH/log.lefthook\"\npre-push:\n  commands:\n    say:\n      run: echo pre-push >>\"\$TRASH/log.lefthook\"\n" >lefthook.yml && lefthook install'
beside PRE_COMMIT pre-commit 'printf "repos:\n- repo: local\n  hooks:\n  - id: say\n    name: say\n    language: system\n    entry: sh -c '"'"'echo pre-commit >>\"\$TRASH/log.pre-commit\"'"'"'\n    pass_filenames: false\n    always_run: true\n    stages: [commit]\n  - id: push\n    name: push\n    language: system\n    entry: sh -c '"'"'echo pre-push >>\"\$TRASH/log.pre-commit\"'"'"'\n    pass_filenames: false\n    always_run: true\n    stages: [push]\n" >.pre-commit-config.yaml && git add -A && pre-commit install -t pre-commit -t pre-push'

# installs PREREQ NAME COMMANDS: COMMANDS install hooks, while ours stand before those of the user
installs() {
	test_expect_success "$1" "$2 is installed while the guard is there: afterwards as well, or refused and nothing done" "
		git init -q 'i$2' && cd 'i$2' && echo a >a && printf 'repos: []\n' >.pre-commit-config.yaml && printf 'pre-push:\n  commands:\n    say:\n      run: echo run\n' >lefthook.yml && git add -A && git commit -qm base && printf '#!/bin/sh\nexit 0\n' >.git/hooks/pre-push && chmod +x .git/hooks/pre-push && git agent guard on && session x && how | grep ' True$' && picture >../before &&
		if $3; then git agent list && how | grep ' True$'; else picture | test_cmp ../before -; fi && refused git branch foo refs/agent/x/held && git agent guard off && ! git config agent.hooksPath && $3 && test ! -e .git/git-agent/guard
	"
}
installs HUSKY husky husky
installs LEFTHOOK lefthook 'lefthook install'
installs PRE_COMMIT pre-commit 'pre-commit install'

test_expect_success LEFTHOOK 'what lefthook is made to write into our directory goes to that of the user' '
	git init -q forced &&
	cd forced &&
	echo a >a &&
	printf "pre-push:\n  commands:\n    say:\n      run: echo run\npost-merge:\n  commands:\n    say:\n      run: echo run\n" >lefthook.yml &&
	git add -A &&
	git commit -qm base &&
	git config core.hooksPath .hooks &&
	git agent guard on &&
	session x &&
	how | grep "True True$" &&
	lefthook install --force &&
	git agent list &&
	git agent guard off &&
	grep lefthook .hooks/pre-push &&
	grep lefthook .hooks/post-merge
'

# ---- hooks that git's configuration defines -----------------------------------------------------

# switched_off CALLS: of these command lines of git those that switch hooks off switch them all off
switched_off() {
	grep -e "-c core.hooksPath=/dev/null" "$1" >"$HOME/forced" &&
	test "$(wc -l <"$HOME/forced")" -gt 5 &&
	for name in reference-transaction post-index-change post-checkout pre-push pre-commit mine two.words "a = b"; do
		grep -v -e "-c hook.$name.enabled=false" -e "--config-env=hook.$name.enabled=GIT_AGENT_FALSE .* false$" "$HOME/forced" &&
		return 1
	done
	:
}

test_expect_success 'git commands of the tool switch off those that configuration defines, by event and by name' '
	git init -q calls &&
	cd calls &&
	echo a >a &&
	git add a &&
	git commit -qm base &&
	git config hook.mine.event reference-transaction &&
	git config --add hook.mine.event pre-push &&
	git config hook.mine.command false &&
	git config --global hook.two.words.event post-index-change &&
	git config --global hook.two.words.command false &&
	git config "hook.a = b.event" post-merge &&
	git config "hook.a = b.command" false &&
	test_when_finished "git config --global --remove-section hook.two.words" &&
	mkdir -p ../logs &&
	printf "#!/bin/sh\necho \"\$* \$GIT_AGENT_FALSE\" >>$HOME/calls.log\nexec $(command -v git) \"\$@\"\n" >../logs/git &&
	chmod +x ../logs/git &&
	(
		PATH=$HOME/logs:$PATH &&
		"$GIT_AGENT" start -q --name c -- sh -c "
		echo e >.envrc
		echo c >c
		git add c
		git commit -qm c" &&
		"$GIT_AGENT" review --accept c .envrc &&
		"$GIT_AGENT" list &&
		"$GIT_AGENT" drop --force c &&
		"$GIT_AGENT" gc

	) &&
	switched_off ../calls.log
'

test_lazy_prereq CONFIG_HOOKS 'git init -q "$TRASH/probe" && git -C "$TRASH/probe" -c hook.t.event=pre-commit -c hook.t.command=true hook list pre-commit'
test_expect_success CONFIG_HOOKS 'such hooks run when you land, and not otherwise; ours stand beside them' '
	git init -q real &&
	cd real &&
	echo a >a &&
	git add a &&
	git commit -qm base &&
	for e in reference-transaction post-index-change post-checkout pre-commit post-merge pre-merge-commit; do
		git config --add hook.mine.event $e || exit 1
	done &&
	git config hook.mine.command "echo ran >>$HOME/mine; cat >/dev/null; :" &&
	git config "hook.x=y.event" reference-transaction &&
	git config "hook.x=y.command" "echo ran >>$HOME/mine; cat >/dev/null; :" &&
	git agent list &&
	: >../mine &&
	picture >../before &&
	session x &&
	git agent start -q --name y -- sh -c "
		echo y >y
		git add y
		git commit -qm y" &&
	git agent review x &&
	git agent diff y &&
	git agent list &&
	git agent gc &&
	test ! -s ../mine &&
	git agent land y &&
	test -s ../mine &&
	git agent drop y &&
	: >../mine &&
	git agent guard on &&
	how | grep "^True True$" &&
	git hook list reference-transaction >../got &&
	grep "^mine$" ../got &&
	grep "^x=y$" ../got &&
	refused git branch foo refs/agent/x/held &&
	test -s ../mine &&
	: >../mine &&
	git agent review --reject x .envrc &&
	test ! -s ../mine &&
	git commit -q --allow-empty -m on &&
	git agent drop --force x &&
	git agent guard off &&
	picture >../after &&
	test_cmp ../before ../after
'

test_done
