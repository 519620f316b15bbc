#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the agents'\'' home: shared, of a project, of a session; notes in it; git agent home'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

mkdir -p "$HOME/bin"
PATH=$HOME/bin:$PATH
printf '#!/bin/sh\nsh -c "$DO"\n' >"$HOME/bin/claude"
sed 's/DO/OD/' "$HOME/bin/claude" >"$HOME/bin/codex"
chmod +x "$HOME/bin/claude" "$HOME/bin/codex"

# project NAME: a repository, entered
project() {
	test_enter "$HOME/$1" &&
	{ test -e a || { echo a >a && git add a && git commit -qm a; }; }
}
# mode WORD: configured; and no home of before
mode() {
	test_settings "home_mode: $1" &&
	{ test ! -e "$HOME/aihome" || chmod -R u+rwx "$HOME/aihome"; } &&
	rm -rf "$HOME/aihome" &&
	find "$HOME/.local/state/git-agent" -mindepth 2 -maxdepth 2 -name home -exec rm -rf {} + 2>/dev/null
	:
}
run() {
	test_inside "$1"
}

# ---- notes

test_that 'every command is told that it is in a sandbox, in which session, and where to read more' '
	mode shared &&
	project n &&
	test_session one "
		test \$IS_SANDBOX = 1 &&
		test \$GIT_AGENT_SESSION = one &&
		cat \$GIT_AGENT_NOTES" >out &&
	grep "^You run in a sandbox" out &&
	test_cmp out "$HOME/aihome/.git-agent-notes.md" &&
	test ! -e "$HOME/aihome/.claude"
'

test_that 'notes are written once into the file that an agent reads, and never over another text' '
	mode shared &&
	project n &&
	git agent start -q -- claude &&
	cmp "$HOME/aihome/.git-agent-notes.md" "$HOME/aihome/.claude/CLAUDE.md" &&
	test ! -e "$HOME/aihome/.codex" &&
	before=$(stat -c "%i %z" "$HOME/aihome/.claude/CLAUDE.md" "$HOME/aihome/.git-agent-notes.md") &&
	git agent start -q -- claude &&
	test "$(stat -c "%i %z" "$HOME/aihome/.claude/CLAUDE.md" "$HOME/aihome/.git-agent-notes.md")" = "$before" &&
	sed -i "s/sandbox/SANDBOX/" "$HOME/aihome/.claude/CLAUDE.md" &&
	git agent start -q -- claude &&
	cmp "$HOME/aihome/.git-agent-notes.md" "$HOME/aihome/.claude/CLAUDE.md" &&
	for text in "my own" ""; do
		printf "$text" >"$HOME/aihome/.claude/CLAUDE.md" &&
		git agent start -q -- claude &&
		test "$(cat "$HOME/aihome/.claude/CLAUDE.md")" = "$text" ||
			return 1
	done &&
	git agent start -q -- codex &&
	test -s "$HOME/aihome/.codex/AGENTS.md"
'

test_that 'PS-02: nothing in place of a note leads a write elsewhere, or blocks a start' '
	mode shared &&
	project n &&
	mkdir victim &&
	echo mine >victim/f &&
	echo victim >.git/info/exclude &&
	for how in \
		"cd; ln -s $PWD/victim/f .git-agent-notes.md; mkdir .claude; ln -s $PWD/victim/new .claude/CLAUDE.md" \
		"mkfifo ~/.git-agent-notes.md" "mkdir ~/.claude; chmod 000 ~/.claude" \
		"mkdir ~/.claude; mkfifo ~/.claude/CLAUDE.md; mkdir ~/.git-agent-notes.md"; do
		mode shared &&
		run "rm -f ~/.git-agent-notes.md; mv ~/.claude ~/x; $how" &&
		timeout 180 git agent start -- claude 2>err &&
		test "$(ls victim)" = f &&
		test "$(cat victim/f)" = mine || return 1
	done &&
	grep "notes for the agent: cannot write .\.git-agent-notes.md" err &&
	mode shared &&
	run "rm ~/.git-agent-notes.md; ln -s $PWD/victim/f ~/.git-agent-notes.md" &&
	run : &&
	test ! -L "$HOME/aihome/.git-agent-notes.md" &&
	test "$(cat victim/f)" = mine
'

# ---- modes

test_that 'a shared home is that of all repositories' '
	mode shared &&
	project a1 &&
	run "echo x >~/left" &&
	project a2 &&
	run "cat ~/left" >out &&
	grep x out &&
	test -e "$HOME/aihome/left"
'

test_that 'the home of a project is that of a repository and its working trees' '
	mode project &&
	project b1 &&
	run "echo x >~/left; mkdir -p ~/b1" &&
	git worktree add -q ../b1w 2>/dev/null &&
	cd ../b1w &&
	run "cat ~/left" >out &&
	grep x out &&
	project b2 &&
	run "test ! -e ~/left" &&
	test ! -e "$HOME/aihome/left" &&
	git agent home | grep "^mode  project" &&
	cd ../b1 &&
	git agent home >out &&
	home=$(sed -n "s/^home  //p" out) &&
	test "$(cat "$home/left")" = x &&
	test "$(stat -c %a "$home")" = 700
'

test_that 'homes of projects share logins, the one written last, and nothing else' '
	mode project &&
	project c1 &&
	run "mkdir -p ~/.claude ~/.codex && echo one >~/.claude/.credentials.json && echo c >~/.codex/auth.json
		echo m >~/.claude.json && echo s >~/.claude/settings.json" &&
	test "$(cat "$HOME/aihome/.claude/.credentials.json")" = one &&
	test "$(stat -c %a "$HOME/aihome/.claude/.credentials.json")" = 600 &&
	test "$(cd "$HOME/aihome" && find . -type f | sort | tr "\n" " ")" = \
		"./.claude/.credentials.json ./.codex/auth.json " &&
	project c2 &&
	run "cd ~/.claude; cat .credentials.json; echo two >.credentials.json; touch -d 2001-01-01 .cred*" >out &&
	grep -x one out &&
	cd ../c1 &&
	test_prints "two\ns" run "cat ~/.claude/.credentials.json ~/.claude/settings.json"
'

test_that 'PS-02: a login that is no plain file is not shared, and nothing is followed' '
	mode project &&
	project d1 &&
	run "mkdir ~/.claude; echo good >~/.claude/.credentials.json" &&
	echo secret >"$HOME/secret" &&
	mkdir -p victim &&
	echo victim >.git/info/exclude &&
	project d2 &&
	for how in "ln -s $HOME/secret .credentials.json" "mkfifo .credentials.json" "mkdir .credentials.json" \
		"truncate -s 9999999 .credentials.json" "cd ..; rm -r .claude; ln -s $HOME/d1/victim .claude"; do
		timeout 180 git agent start -q -- sh -c "
			chmod -R u+rwx ~/.claude
			rm -rf ~/.claude
			mkdir ~/.claude
			cd ~/.claude
			$how" &&
		timeout 180 git agent start -q -- true &&
		test "$(cat "$HOME/aihome/.claude/.credentials.json")" = good &&
		test -z "$(ls -A ../d1/victim)" || return 1
	done &&
	cd ../d1 &&
	run "cat ~/.claude/.credentials.json" | grep -x good
'

test_that 'an overlay keeps the home unchanged, is there when the session is resumed, and goes with it' '
	mode shared &&
	project e &&
	run "echo below >~/f; echo gone >~/g; mkdir ~/d; echo 1 >~/d/1" &&
	(cd "$HOME/aihome" && find . -type f -exec md5sum {} + | sort) >before &&
	test_settings "home_mode: overlay" &&
	test_session o "
		cat ~/f
		echo new >~/f
		rm ~/g
		rm -r ~/d
		mkdir ~/d
		echo 2 >~/d/2
		echo x >~/new
		pwd" >out &&
	test_prints "below\n$HOME/e" cat out &&
	(cd "$HOME/aihome" && find . -type f -exec md5sum {} + | sort) | test_cmp before - &&
	test_resume o "
		cat ~/f ~/new
		ls ~/d
		test ! -e ~/g" >out &&
	test_prints "new\nx\n2" cat out &&
	run "cat ~/f; test ! -e ~/new" >out &&
	grep below out &&
	git agent home diff o >out &&
	printf "M f\nD g\nA d/2\nA new\n" | sort -k2 >want &&
	grep -v "^[AM] \.bash\|a-git" out | sort -k2 >got &&
	test_cmp want got &&
	git agent drop --force o &&
	test_expect_code 129 git agent home diff o
'

test_that 'a repository can ask for less sharing, and not for more' '
	mode shared &&
	project g &&
	echo "home_mode: project" >.agentdev.yaml &&
	test_commit c &&
	run "echo x >~/left" &&
	test ! -e "$HOME/aihome/left" &&
	mode overlay &&
	run "test ! -e ~/left; echo y >~/mine" &&
	git agent home | grep "^mode  overlay" &&
	echo "home_mode: shared" >.agentdev.yaml &&
	test_commit c &&
	git agent home | grep "^mode  overlay" &&
	mode shared &&
	git agent home | grep "^mode  shared"
'

# ---- git agent home

test_that 'home show says where the home is, whose, and how much is of which agent' '
	mode shared &&
	project h &&
	test_shows "^home  $HOME/aihome (made by the first start)" git agent home &&
	run "mkdir -p ~/.claude ~/.npm/_cacache; head -c 100000 /dev/zero >~/.claude/big
		echo x >~/.npm/_cacache/x; mkdir ~/shut; chmod 0 ~/shut" &&
	git agent home --json >json &&
	python3 -c "
import json
d = json.load(open(\"json\")); p = {x[\"name\"]: x for x in d[\"parts\"]}
assert d[\"path\"].endswith(\"/aihome\") and d[\"mode\"] == \"shared\" and d[\"there\"] and not d[\"in_use\"], d
assert p[\"claude\"][\"files\"] == p[\"caches\"][\"files\"] == 1 and p[\"claude\"][\"bytes\"] >= 100000, p
" &&
	git agent home show | grep "claude .*KiB  1 file" &&
	(cd / && git agent home | grep "^mode  shared") &&
	test_expect_code 129 git agent home shw &&
	test_expect_code 129 git agent home show x
'

test_that 'home diff shows what changed since a session began, though times were set back' '
	mode shared &&
	project i &&
	run "echo 1 >~/before" &&
	test_wait_for "test \$(date +%s) -gt \$(stat -c %Z $HOME/aihome/before)" &&
	test_session i2 "
		echo 2 >~/after
		touch -d 2001-01-01 ~/after
		printf x >\"\$HOME/\$(printf \"a\033[31mb\")\"" &&
	git agent home diff i2 >out &&
	grep -x "M after" out &&
	! grep before out &&
	! grep "$(printf "\033")" out &&
	git agent home diff >again &&
	test_cmp out again &&
	git agent home diff --json |
		python3 -c \
			"import json, sys; assert {\"path\": \"after\", \"status\": \"M\"} in json.load(sys.stdin)" &&
	test_expect_code 129 git agent home diff none
'

test_that 'home reset moves the home away, or deletes it, whatever its modes' '
	mode shared &&
	project j &&
	run "mkdir -p ~/x/y; echo 1 >~/x/y/z; chmod 0 ~/x/y ~/x" &&
	git agent home reset --dry-run | grep "would put aside" &&
	test -e "$HOME/aihome/.git-agent-notes.md" &&
	test_says "^moved to " git agent home reset &&
	test ! -e "$HOME/aihome" &&
	test -e "$(echo "$HOME"/aihome.2*Z)/x" &&
	run "test ! -e ~/x; mkdir -p ~/d/e; touch ~/d/e/f; chmod 0 ~/d/e ~/d" &&
	git agent home reset --delete &&
	test ! -e "$HOME/aihome" &&
	test "$(echo "$HOME"/aihome*)" = "$(echo "$HOME"/aihome.2*Z)" &&
	test_says "nothing to do" git agent home reset &&
	ln -s "$HOME/j" "$HOME/aihome" &&
	git agent home reset --delete &&
	test -e "$HOME/j/a" &&
	test ! -L "$HOME/aihome" &&
	chmod -R u+rwx "$HOME"/aihome.2* &&
	rm -r "$HOME"/aihome.2*
'

test_that 'home reset is refused while a session runs, of whatever repository' '
	mode shared &&
	project k &&
	test_when_finished "touch \"$HOME/aihome/stop\"; wait" &&
	{
		test_inside "
		echo up >~/up
		while test ! -e ~/stop; do sleep 0.05; done" &
	} &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/up" &&
	cd "$HOME/j" &&
	test_fails 2 "a session is running" git agent home reset &&
	test_expect_code 2 git agent home reset --delete &&
	git agent home | grep "^used  by a session" &&
	test -e "$HOME/aihome/up" &&
	touch "$HOME/aihome/stop" &&
	wait $pid &&
	git agent home reset --delete &&
	test ! -e "$HOME/aihome"
'

test_that 'a start waits for the lock of all homes' '
	mode shared &&
	project m &&
	run : &&
	mkfifo hold &&
	echo hold >.git/info/exclude &&
	{
		flock "$HOME/.local/state/git-agent" sh -c "
		touch held
		read x <hold" &
	} &&
	test_wait_for "test -e held" &&
	rm held &&
	{ git agent start -q --name waits -- true & } &&
	p=$! &&
	state=$(stat -c %i "$HOME/.local/state/git-agent") &&
	test_wait_for "grep -q -- \"-> FLOCK.*:$state \" /proc/locks" &&
	echo go >hold &&
	wait $p &&
	git agent list | grep "^waits "
'

test_that 'home reset of a project leaves the other homes, and the logins' '
	mode project &&
	project l1 &&
	run "mkdir ~/.claude; echo login >~/.claude/.credentials.json; echo x >~/x" &&
	project l2 &&
	run "echo y >~/y" &&
	git agent home reset --delete &&
	run "test ! -e ~/y; cat ~/.claude/.credentials.json" >out &&
	grep -x login out &&
	cd ../l1 &&
	run "cat ~/x" | grep x
'

test_done
