#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='recording what a session shows; git agent show --journal'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

pty=$TEST_BUILDDIR/tests/helpers/ptydrive
TERM=xterm
test_repo r &&
cd r &&
echo a >a &&
git add a &&
git commit -qm base &&
cd ..

# dir NAME: of the session
dir() {
	echo "$HOME"/.local/state/git-agent/*/sessions/"$1"
}
cat >cast.py <<'END'
import json, sys
# cast.py FILE KIND: its events of a kind as one; every line is what asciicast v2 has
lines = open(sys.argv[1], "rb").read().decode("utf-8", "strict").split("\n")
assert lines.pop() == ""
head = json.loads(lines[0])
assert head["version"] == 2 and head["timestamp"] > 1600000000, head
assert set(head) <= {"version", "width", "height", "timestamp", "title", "command", "env"}, head
last = 0
out = ""
for line in lines[1:]:
    t, kind, data = json.loads(line)
    assert last <= t and kind in "orm", line
    last = t
    if kind == sys.argv[2]:
        out += data
if sys.argv[2] == "head":
    out = "%(width)dx%(height)d %(command)s %(env)s" % head
sys.stdout.buffer.write(out.encode())
END
# cast NAME KIND [FILE]
cast() {
	python3 "$HOME/cast.py" "$(dir "$1")/${3-transcript.cast}" "$2"
}

test_that 'what a terminal shows is recorded byte for byte, for its owner alone' '
	cd r &&
	printf "\033[31mred\033[m \342\202\254 \303\244 \033[?25l\033[?25h\033]0;title\007b\134s end\n" >text &&
	git add text &&
	git commit -qm text &&
	$pty expect=end exit=0 -- git agent start -q --name one -- cat text >../out &&
	cast one o >../got &&
	test_cmp ../out ../got &&
	test "$(cast one head)" = "80x24 cat text {'\''TERM'\'': '\''xterm'\''}" &&
	test "$(stat -c %a "$(dir one)/transcript.cast")" = 600 &&
	test "$(stat -c %a "$(dir one)")" = 700
'

test_that 'the size of the window is recorded, and its changes' '
	cd r &&
	$pty resize=40x100 expect=ready resize=50x132 expect="now 50 132" exit=0 -- git agent start -q --name size \
		-- bash -c "
		trap \"echo now \\\$(stty size); exit 0\" WINCH
		echo ready
		while :; do sleep 0.1; done" &&
	case $(cast size head) in
	80x24*) test "$(cast size r)" = 100x40132x50 ;;
	*) test "$(cast size r)" = 132x50 ;;
	esac
'

test_that 'what is typed is not recorded' '
	cd r &&
	$pty expect=ready mode=raw send="hunter2\r" expect=got-7 exit=0 mode=cooked -- git agent start -q --name \
		typed -- sh -c "
		stty -echo
		echo ready
		read a
		echo got-\${#a}" >../out &&
	cast typed o >../got &&
	grep got-7 ../got &&
	! grep -r hunter2 "$(dir typed)"
'

test_that 'what goes to a pipe or a file is recorded with the line ends of a terminal' '
	cd r &&
	printf "a\033]52;c;eHh4\007b\r\nc\377\nd" >bytes &&
	git add bytes &&
	git commit -qm bytes &&
	test_session piped "
		cat bytes
		echo err >&2" 2>../err </dev/null | cat >../out &&
	test_cmp bytes ../out &&
	test_prints err cat ../err &&
	printf "ab\r\nc\357\277\275\r\nderr\r\n" >../want &&
	cast piped o >../got &&
	test_cmp ../want ../got &&
	git agent start -q --name filed -- cat bytes >../out &&
	test_cmp bytes ../out &&
	cast filed o | grep -q ab
'

test_that 'TT-03: a recording is safe to show, whatever the session let pass' '
	cd r &&
	printf "a\033]52;c;eHh4\007b\033[21tc\033[6nd\033[ce\033]11;?\007f" >attack &&
	printf "\033Pqx\033\\\\g\033_Ga=T,i=1;AAAA\033\\\\h\033[?2004hEND" >>attack &&
	git add attack &&
	git commit -qm attack &&
	$pty expect="eHh4" expect=END exit=0 -- git agent start -q --terminal-filter=off --name unsafe -- cat attack \
		>../out &&
	grep "6nd" ../out &&
	printf "abcde\033]11;-\007f\033Pqx\033\\\\gh\033[?2004hEND\033[?2004l" >../want &&
	cast unsafe o >../got &&
	test_cmp ../want ../got
'

test_that 'a recording ends at its limit, which it says, and the session continues' '
	cd r &&
	test_expect_code 3 git agent -c limits.transcript=64KiB start -q --name full -- sh -c "
		printf \"\033[?25l\"
		seq 1 100000
		echo x >x
		exit 3" >../out &&
	test "$(grep -c . ../out)" = 100000 &&
	test_holds agent/full:x x &&
	file="$(dir full)/transcript.cast" &&
	test "$(stat -c %s "$file")" -le 65536 &&
	test "$(stat -c %s "$file")" -gt 50000 &&
	cast full m | grep "reached 64KiB (limits.transcript)" &&
	cast full o | tail -c 8 | grep "?25h" &&
	git agent show --journal --json full |
		grep "\"event\":\"recording\",\"file\":\"transcript.cast\",\"stopped\":\"it reached 64KiB" &&
	git agent show --text full | tail -n 1 | grep "^---- the recording ends here"
'

test_that 'recording is switched off by the user, and not by a repository' '
	cd r &&
	git agent -c record=false start -q --name off -- echo shown &&
	test ! -e "$(dir off)/transcript.cast" &&
	test_fails 1 "nothing of session .off. was recorded" git agent show --text off &&
	grep "^hint: .*record" ../err &&
	test_settings "record: false" &&
	git agent start -q --name off2 -- echo shown &&
	test ! -e "$(dir off2)/transcript.cast" &&
	test_settings &&
	git clone -q . ../r2 &&
	cd ../r2 &&
	echo "record: false" >.agentdev.yaml &&
	test_commit conf &&
	test_fails 125 "record. is yours alone: a repository cannot set it" git agent start -- true
'

test_that STRACE 'a recording that cannot be written ends alone' '
	cd r &&
	state=$(dirname "$(dir one)") &&
	for what in write openat; do
		strace -f -qq -o /dev/null -P "$state/bad-$what/transcript.cast" -P transcript.cast \
			-e trace=$what -e inject=$what:error=ENOSPC git agent start -q --name bad-$what -- sh -c "
				seq 1 50000
				echo y >y" >../out &&
		test "$(grep -c . ../out)" = 50000 &&
		test_holds agent/bad-$what:y y &&
		git agent show --journal --json bad-$what |
			grep "\"event\":\"recording\".*could not be written: No space left" || return 1
	done
'

test_that 'each run of a session has a recording of its own' '
	cd r &&
	test_session again "echo first; echo 1 >1" &&
	git agent resume -q again -- echo second &&
	git agent resume -q again -- echo third &&
	test "$(cast again o transcript-3.cast | tr -d "\r")" = third &&
	git agent show --text again >../out &&
	test_prints "---- transcript.cast\nfirst\n---- transcript-2.cast\nsecond\n---- transcript-3.cast\nthird" \
		sed "s/ 20.*//" ../out &&
	git agent show --journal --json again | python3 -c "
import json, sys
events = [json.loads(l) for l in sys.stdin]
print(*[e[\"event\"] for e in events])
print(*[e[\"transcript\"] for e in events if e[\"event\"] == \"exit\"])" >../out &&
	test_prints "start exit captured resume exit captured resume exit captured" sed 1q ../out &&
	test_prints "transcript.cast transcript-2.cast transcript-3.cast" sed 1d ../out
'

test_that 'the log can be read while the session runs, and after its supervisor was killed' '
	cd r &&
	mkfifo ../go &&
	{
		(
			exec "$GIT_AGENT" start -q --name alive -- sh -c "echo up; read a; echo down"
		) <../go >../out &
	} &&
	pid=$! &&
	exec 9>../go &&
	test_wait_for "grep -qs up \"\$(dir alive)/transcript.cast\"" &&
	git agent show --journal alive | grep "  start$" &&
	test "$(git agent show --text alive)" = up &&
	git agent list | grep "^alive *running" &&
	kill -KILL "$pid" &&
	exec 9>&- &&
	test_wait_for "git agent show --journal alive >../log && grep \"  interrupted\" ../log" &&
	printf "[9.0, \"o\", \"cut" >>"$(dir alive)/transcript.cast" &&
	test "$(git agent show --text alive)" = up &&
	git agent list 2>../err | grep "^alive *captured" &&
	grep "interrupted; capturing" ../err &&
	git agent show --journal alive | grep "  captured"
'

# ---- the journal

test_that 'the journal tells of start, mounts, limits, exit, flags, verdicts, landings and the trash' '
	cd r &&
	mkdir -p node_modules &&
	echo node_modules/ >.gitignore &&
	echo m >node_modules/m &&
	git add .gitignore &&
	git commit -qm ignore &&
	test_session j "echo j >j; echo \"all:\" >Makefile" &&
	git agent review --accept-all j >/dev/null &&
	git agent land j >/dev/null &&
	git agent land --undo j >/dev/null &&
	git agent drop --force j >/dev/null &&
	git agent drop --restore j >/dev/null &&
	git agent show --journal --json j >../j.json &&
	python3 - "$PWD" "$HOME" ../j.json <<-\EOF
	import json, sys
	project, home, name = sys.argv[1:]
	raw = open(name, "rb").read()
	assert max(raw) < 0x80
	events = [json.loads(l) for l in raw.splitlines()]
	assert all(list(e)[:2] == ["time", "event"] for e in events)
	kinds = [e["event"] for e in events]
	assert kinds == ["start", "exit", "captured", "verdict", "landed", "undone", "dropped", "restored"], kinds
	start, exit, captured = events[:3]
	mounts = {m["path"]: (m["from"], m["mode"]) for m in start["mounts"]}
	assert mounts[home] == (home + "/aihome", "rw"), mounts
	assert mounts[project][1] == "layer" and mounts[project + "/.git"][1] == "rw", mounts
	assert mounts[project + "/node_modules"] == (project + "/node_modules", "layer"), mounts
	assert (project + "/.git/objects", "ro") in mounts.values(), mounts
	assert {"disk_free=256MiB", "limits.transcript=64MiB", "limits.capture.depth=128"} <= set(start["limits"]), \
		start
	assert start["command"][0] == "sh" and start["network"] == "host" and start["cwd"] == project
	assert start["terminal_filter"] is True
	assert exit["status"] == 0
	flagged = {f["path"]: f for f in captured["flags"]}
	assert flagged["Makefile"]["severity"] == "high" and not flagged["Makefile"]["held"], captured
	assert events[3]["accept"] is True and len(events[4]["commit"]) == 40
	EOF
'

test_that 'log shows an event a line with its fields, everything escaped' '
	cd r &&
	test_expect_code 7 git agent start -q --name esc -- sh -c "
		echo e >e
		exit 7" "$(printf "a\033]52;c;x\007\nb\342\200\256c\377")" >/dev/null &&
	test_shows "^20[0-9-]* [0-9:]* +0000  start\$" git agent show --journal esc &&
	grep "^    status  *7\$" ../out &&
	grep "^    command  *sh -c .*]52" ../out &&
	grep "u{202e}" ../out &&
	grep "^    mounts  *$HOME (from $HOME/aihome, mode rw)\$" ../out &&
	! LC_ALL=C grep "$(printf "[\033\007\377]")" ../out &&
	! grep "^b" ../out
'

test_that 'log shows a journal that is damaged or hostile' '
	cd r &&
	file="$(dir esc)/journal.jsonl" &&
	cp "$file" ../saved &&
	python3 -c "
import json, sys
items = [[1], {\"path_b64\": \"/w==\", \"n\": 1}] + [\"y\"] * 500
odd = [1, None, \"x\", {}, json.loads(\"[\" * 50 + \"]\" * 50), {\"time\": \"2026-01-01T00:00:00Z\"},
	{\"time\": 7, \"event\": [\"\\x1b\"], \"a\\x1b[2J\": {\"b\": {\"\\u202e\": 1.5}}, \"list\": items},
	{\"event\": \"e\" * 100000, \"time\": \"2026-13-45T99:00:00\\x07\"}]
with open(sys.argv[1], \"a\") as file:
	file.write(\"\".join(json.dumps(o) + chr(10) for o in odd) + chr(10) * 3 + \"{cut\")" "$file" &&
	git agent show --journal esc >../out &&
	git agent show --journal --json esc >../json &&
	! LC_ALL=C grep "$(printf "[\033\007]")" ../out &&
	grep "and 402 more" ../out &&
	grep "bytes more" ../out &&
	test "$(wc -l <../json)" -ge 6 &&
	cp ../saved "$file" &&
	rm "$file" &&
	ln -s /etc/passwd "$file" &&
	test_expect_code 128 git agent show --journal esc 2>../err &&
	rm "$file" &&
	git agent show --journal esc >../out &&
	test ! -s ../out &&
	cp ../saved "$file"
'

test_that 'log takes the only session without a name, and refuses unknown names and options' '
	test_enter few &&
	test_empty a &&
	test_session only "
		echo o >o
		echo out" &&
	test "$(git agent show --text)" = out &&
	git agent show --journal agent/only | grep "  start" &&
	test_fails 128 "did you mean .only" git agent show --journal onl &&
	for bad in "--text --json" "--replay --text" "--replay --json" "--bogus"; do
		test_expect_code 129 git agent show --journal $bad only || return 1
	done
'

# ---- again on a terminal

test_that 'a replay shows what was shown, then restores all modes' '
	cd r &&
	printf "begin \033[?1049h\033[?1000h\033[?2004h\033[>1u\033[31mshown" >modes &&
	git add modes &&
	git commit -qm modes &&
	git agent start -q --name modes -- cat modes >/dev/null &&
	$pty expect="begin \e[?1049h\e[?1000h\e[?2004h\e[>1u\e[31mshown" expect="\e[?1049l\e[m" exit=0 mode=cooked \
		-- git agent show --replay modes >../out &&
	! grep "TERM\|version" ../out &&
	test_expect_code 129 git agent show --replay modes 2>../err </dev/null | cat &&
	grep "needs a terminal" ../err &&
	grep "hint: .*--text modes" ../err
'

# a recording of hours, and with what none of ours has in it
make_cast() {
	test_session "$1" "
	echo x
	echo y >$1" >/dev/null </dev/null &&
	cat >"$(dir "$1")/transcript.cast"
}

test_that 'a replay is ended at once by Ctrl-C, q and signals' '
	cd r &&
	make_cast long <<-\EOF &&
	{"version": 2, "width": 80, "height": 24, "timestamp": 1700000000}
	[0.001, "o", "\u001b[?1049h\u001b[?25lfirst"]
	[700.0, "o", "later"]
	EOF
	for key in "\\x03" q; do
		$pty expect=first mode=raw send="echo typed\r$key" expect="\e[?25h\e[?1049l" expect=st=0 exit=0 \
			mode=cooked -- sh -c "
		git agent show --replay long
		echo st=\$?" >../out &&
		! grep "later\|typed" ../out || return 1
	done &&
	for sig in TERM HUP INT; do
		$pty expect=first mode=raw signal=$sig expect="\e[?25h\e[?1049l" mode=cooked -- "$GIT_AGENT" show \
			--replay long ||
			return 1
	done &&
	$pty expect=first mode=raw signal=TERM exit=143 -- "$GIT_AGENT" show --replay long &&
	$pty expect=first mode=raw close exit=129 -- "$GIT_AGENT" show --replay long
'

test_that 'replay and text show a hostile or damaged recording safely' '
	cd r &&
	{
		cat <<-\EOF &&
		{"version": 2, "width": 80, "height": 24}
		[0.1, "o", "a\u001b]52;c;eHh4\u0007b\u001b[6nc\u001b[21td\u0085\u009b31m"]
		not json
		[1, "o"]
		[-5, "o", "never"]
		[0.2, "i", "typed"]
		[0.2, "m", "mark\u001b[2J"]
		EOF
		python3 -c "print(\"[1, \\\"o\\\", \\\"\" + \"z\" * 2000000 + \"\\\"]\")" &&
		echo "[3, \"o\", \"after\"]"
	} >../bad &&
	make_cast bad <../bad &&
	$pty expect=abcd expect="mark" expect=after exit=0 -- git agent show --replay bad >../out &&
	! grep "eHh4\|never\|zzz\|typed\|6n\|2J.*after" ../out &&
	test_shows "^---- 4 damaged lines are left out" git agent show --text bad &&
	grep "^---- mark.e\[2J" ../out &&
	! LC_ALL=C grep "$(printf "\033")" ../out &&
	grep "^after" ../out &&
	! grep "zzz\|eHh4" ../out
'

test_that 'log --text refuses a recording that is a symlink, a FIFO or something else' '
	cd r &&
	file="$(dir bad)/transcript.cast" &&
	rm "$file" &&
	ln -s "$PWD/../bad" "$file" &&
	test_expect_code 128 git agent show --text bad &&
	rm "$file" &&
	mkfifo "$file" &&
	test_fails 128 "is not a file" git agent show --text bad &&
	rm "$file" &&
	echo hello >"$file" &&
	test_fails 128 "is not a recording" git agent show --text bad
'

test_done
