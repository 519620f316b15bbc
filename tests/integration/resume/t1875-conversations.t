#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='each session has its own conversations; with a pretended agent, make check-agents has the real ones'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use live
require_sandbox

# Agents that keep a conversation in a file, begin the next or continue the last, and say all of it. What each
# process is has a file too, of its number.
mkdir -p "$HOME/bin"
PATH=$HOME/bin:$PATH
pretend() {
	test_script "$HOME/bin/$1" <<-EOF
	d=$2
	mkdir -p \$d || exit
	n=\$(ls \$d | wc -l)
	case " \$* " in *" --continue "* | *" resume --last "*) ;; *) n=\$((n + 1)) ;; esac
	echo "\$GIT_AGENT_SESSION: \$*" >>\$d/\$n
	cat \$d/\$n
	EOF
}
pretend claude "\$HOME/.claude/projects/p"
pretend codex "\$CODEX_SQLITE_HOME/p"
pretend opencode "\${OPENCODE_DB%/*}/p"
pretend mine "\$HOME/.mine/talk"
test_enter r &&
echo a >a &&
test_commit a || exit 1
sb=--dangerously-skip-permissions

test_that 'sessions that take turns continue each its own conversation, and are not told again what to do' '
	git agent start -q -n a claude -p "task of a" >out &&
	git agent start -q -n b claude -p "task of b" >out &&
	git agent start -q -n c claude --session-id 1 >out &&
	test_prints "a: $sb -p task of a\na: --continue $sb" git agent resume -q a &&
	test_prints "b: $sb -p task of b\nb: --continue $sb" git agent resume -q b &&
	test_prints "a: $sb -p task of a\na: --continue $sb\na: $sb --continue -p more" \
		git agent resume -q a -- claude --continue -p more &&
	test_prints "c: $sb --session-id 1\nc: --continue $sb" git agent resume -q c &&
	git agent start -q -n e codex exec "task of e" >out &&
	test_shows "^e: resume --last --include-non-interactive --dangerously[a-z-]*\$" git agent resume -q e
'

test_that 'the remark of a rejection is the first prompt of the resume, once' '
	git agent start -q -n f claude >out &&
	printf "#!/bin/sh\necho x >b\n" >"$HOME/bin/writer" &&
	chmod +x "$HOME/bin/writer" &&
	git agent resume -q f -- writer &&
	git agent review --reject --remark "no b, please" f b &&
	test ! -e b &&
	git agent resume -q f >out &&
	grep "^f: --continue $sb This was rejected in the review of session f" out &&
	grep "^> no b, please" out &&
	grep "^+x" out &&
	test "$(git agent resume -q f | tail -n 1)" = "f: --continue $sb" &&
	git agent resume -q f -- writer &&
	git agent review --reject --remark "not again" f b &&
	git agent resume -q f -- cat /run/git-agent/odb/feedback >out &&
	grep "^> not again" out
'

test_that 'the last line of the summary resumes the agent; other commands have none' '
	git agent start -n d claude 2>../err >out &&
	tail -n 1 ../err | grep "^  to continue with claude: git agent resume d\$" &&
	grep "^  with a prompt: git agent resume d -- claude --continue -p PROMPT\$" ../err &&
	git agent start -- true 2>../err &&
	! grep "to continue" ../err
'

test_that 'it goes to the trash with its session, and is restored with it' '
	dir=$(dir_of a)/conversations &&
	test -d "$dir/.claude:projects/p" &&
	git agent drop --force a &&
	test ! -e "$dir" &&
	git agent start -q -n a claude -p other >out &&
	test_prints "a: $sb -p other" cat out &&
	git agent drop --force a &&
	git agent drop --restore "$(ls "${dir%/sessions/*}/trash" | grep "^a-" | sort | head -n 1)" &&
	git agent resume -q a >out &&
	test_prints "a: $sb -p task of a" head -n 1 out &&
	test "$(grep -c continue out)" = 3
'

test_that 'in every session, of whatever home: codex and opencode are led there, and a command can run any' '
	echo "agents: {mine: {resume: --continue, conversations: [~/.mine/talk]}}" >all &&
	for mode in shared project overlay; do
		{ cat all && echo "home_mode: $mode"; } | test_settings &&
		for agent in codex opencode mine; do
			git agent start -q -n $mode-$agent $agent exec x >out &&
			test_session $mode-$agent-2 "$agent exec y" >out &&
			grep "2: exec y\$" out &&
			git agent resume -q $mode-$agent >out &&
			test "$(wc -l <out)" = 2 &&
			git agent resume -q $mode-$agent-2 >out &&
			test_prints "$mode-$agent-2: exec y" cat out || return 1
		done ||
			return 1
	done &&
	rm "$conf" all out
'

test_that 'two that run at once write no file of each other, and leave no mount point in the home' '
	for s in x y; do
		git agent start -qd -n $s -- sh -c "cd ~/.claude/sessions && echo $s >3.json && sleep 1000" || return 1
	done &&
	test_when_finished "git agent stop -qf x y" &&
	for s in x y; do
		test_wait_for "test -s $(dir_of $s)/conversations/.claude:sessions/3.json" &&
		test_prints $s git agent shell -q $s -- sh -c "cat ~/.claude/sessions/3.json" || return 1
	done &&
	test -e "$HOME/aihome/.claude/projects/.git-agent-mount-point" &&
	git agent stop -qf x y &&
	! find "$HOME/aihome" -name .git-agent-mount-point -o -name sessions | grep .
'

test_that 'PS-11: what an agent puts there is refused, and nothing is followed' '
	mkdir "$TRASH/victim" &&
	for how in "touch ~/.claude" "mkfifo ~/.claude" "ln -s $TRASH/victim ~/.claude" \
		"mkdir ~/.claude; ln -s $TRASH/victim ~/.claude/projects" \
		"mkdir ~/.claude; mkfifo ~/.claude/projects"; do
		test_inside "mv ~/.claude ~/moved; $how" &&
		test_fails 125 "blocks the mount point .home/.claude" git agent start -q -- true &&
		test -z "$(ls "$TRASH/victim")" &&
		chmod -R u+rwx "$HOME/aihome" &&
		rm -r "$HOME/aihome" || return 1
	done &&
	test_session links "cd ~/.claude/projects && ln -s $TRASH/victim p && mkfifo q" &&
	test_must_fail git agent resume -q links -- claude &&
	git agent drop --force links &&
	test -z "$(ls "$TRASH/victim")"
'

test_that 'where the settings show a directory, that is what is there' '
	mkdir -p "$HOME/.claude/projects" &&
	echo mine >"$HOME/.claude/projects/own" &&
	test_settings "mounts: {ro: [~/.claude/projects]}" &&
	test_session shown "cat ~/.claude/projects/own; test -d ~/.claude/sessions" >out &&
	test_prints mine cat out
'

test_done
