#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='an ssh-agent or a gpg-agent that is named to a session, and other sockets in home'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

uid=$(id -u)
mkdir -p "$HOME/.config/git-agent" &&
mkdir -m 700 "$HOME/.gnupg" "$HOME/.ssh" &&
mkdir -m 755 "$HOME/open"
cat >serve.py <<'PY'
import os, socket, sys
os.umask(0o77)
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(9)
print("up", flush=True)
while True:
	c, _ = s.accept()
	c.sendall(b"said\n")
	c.close()
PY
git init -q r &&
cat >r/ask.py <<'PY'
import os, socket, sys
for at in sys.argv[1:]:
	s = socket.socket(socket.AF_UNIX)
	s.connect(os.path.expanduser(at))
	sys.stdout.write(s.recv(9).decode())
PY
git -C r add ask.py &&
git -C r commit -qm one
mkfifo up &&
{ python3 serve.py "$HOME/open/s" >up & } &&
server=$! &&
read -r _ <up
# while there is a home in which they are named
end_agents() {
	kill "$server"
	gpgconf --kill gpg-agent 2>/dev/null
	[ ! -e "$HOME/agent" ] || (. "$HOME/agent" && kill "$SSH_AGENT_PID") >/dev/null
}
trap end_agents EXIT

test_lazy_prereq GPG '
	gpg --batch --quiet --passphrase "" --quick-gen-key "C O Mitter <signer@example.com>" ed25519 sign never &&
	gpg --export >r/public &&
	git -C r add -A &&
	git -C r commit -qm key'
test_lazy_prereq SSH '
	ssh-keygen -q -t ed25519 -N "" -f key &&
	ssh-agent -a "$HOME/.ssh/agent.sock" >agent &&
	. ./agent &&
	ssh-add -q key'

# signs PLACE: with the settings on standard input gpg of a session signs by the agent outside, whose
# socket it finds at that place, and has no key itself
signs() {
	test_settings &&
	git -C r agent start -q -- sh -ec "
	gpg --batch -q --import public &&
	test ! -e ~/.gnupg/private-keys-v1.d/*.key
	echo text | gpg --batch --no-autostart --clearsign
	stat -c '%a %F' $1 \$(dirname $1) >&2" >signed 2>err &&
	gpg --verify signed &&
	test_prints "600 socket\n700 directory" tail -n 2 err
}

test_that GPG 'gpg and git sign by a socket in a directory of the system' '
	gpgconf --launch gpg-agent &&
	extra=$(gpgconf --list-dirs agent-extra-socket) &&
	printf "network:\n  mode: allow\n  sockets: [\"%s:/run/user/$uid/gnupg/S.gpg-agent\"]\n" "$extra" |
		signs "/run/user/$uid/gnupg/S.gpg-agent" &&
	git -C r agent start -q -n commits -- sh -ec "
		echo two >f &&
		git add f &&
		git commit -qSsigner@example.com -m signed" &&
	git -C r log -1 --format=%GS agent/commits | grep "C O Mitter"
'

test_that SSH 'ssh-add in a session lists the keys of the agent outside, if its socket and name are given' '
	. ./agent &&
	ssh-add -l >want &&
	test_settings "network:\n  sockets: [~/.ssh/agent.sock]\nenv:\n  pass: [SSH_AUTH_SOCK]\n" &&
	git -C r agent start -q -n ssh -- sh -c "
		echo 1 >g
		ssh-add -l" >out &&
	test_cmp want out &&
	git -C r agent resume -q ssh -- ssh-add -l >out &&
	test_cmp want out &&
	: >"$conf" &&
	test_says "Could not open a connection" test_must_fail git -C r agent start -q -- ssh-add -l &&
	test_must_fail git -C r agent -c env.pass=SSH_AUTH_SOCK start -q -- ssh-add -l
'

test_that 'a socket is reached with a network, and its parents have the host'\''s modes, or 0700 where new' '
	test_settings "network: {sockets: [~/open/s, ~/open/s:~/none/deep/s, ~/open/s:/run/none/s, ~/open/s:~/top]}" &&
	git -C r agent start -q -- sh -ec "
		python3 ask.py ~/open/s ~/none/deep/s /run/none/s ~/top
		stat -c %a ~/open ~/none ~/none/deep /run/none
		ls ~/open" >out &&
	printf "said\nsaid\nsaid\nsaid\n755\n700\n700\n700\ns\n" >want &&
	test_cmp want out &&
	: >"$conf" &&
	test_says FileNotFoundError test_must_fail git -C r agent start -q -- python3 ask.py "~/open/s" &&
	test_must_fail git -C r agent -c "network.sockets=~/open/s" start -q --no-network -- python3 ask.py "~/open/s"
'

test_that 'a link that an agent leaves in place of a socket is refused' '
	git -C r agent start -q -- sh -c "
		rm -r ~/open
		ln -s /etc ~/open
		mkdir ~/other
		ln -s /etc/passwd ~/other/s" &&
	test_fails 125 "a symlink blocks the mount point .home/open" \
		git -C r agent -c network.sockets="~/open/s" start -q -- true &&
	test_fails 125 "a symlink blocks the mount point .home/other/s" \
		git -C r agent -c "network.sockets=~/open/s:~/other/s" start -q -- true &&
	rm "$HOME/aihome/open"
'

test_that 'a socket is neither taken from where agents write, nor put into the project' '
	test_expect_code 125 git -C r agent -c "network.sockets=~/aihome/s" start -q -- true 2>err &&
	grep "the socket .*aihome/s. cannot be shown inside" err &&
	grep "^hint: agents can write to its directory" err &&
	test_fails 125 "hint: agents can write" git -C r agent -c "network.sockets=~/r/s:~/s" start -q -- true &&
	test_fails 125 "r/s. cannot be shown inside" \
		git -C r agent -c "network.sockets=~/open/s:~/r/s" start -q -- true
'

# kept CONFIG...: a session with these settings is not begun, since agents write above it
kept() {
	test_expect_code 125 git -C r agent "$@" start -q -- true 2>kept &&
	grep "cannot be shown inside" kept &&
	grep "^hint: agents can write to its directory" kept
}

test_that 'SB-08: links of the user that lead where agents write are refused' '
	w=$(mktemp -d "$TRASH/s-XXXXXX") &&
	test_when_finished "rm -r $w" &&
	ln -s "$HOME/open/s" "$w/s" &&
	git -C r agent start -q -- sh -c "
		mkdir ~/d
		ln -s \"$HOME/open/s\" ~/d/s
		ln -s \"$HOME/open\" ~/d/on" &&
	for to in "$HOME/aihome" aihome/d "$w" "$HOME/r" aihome/d/on/../open; do
		ln -s "$to" "$HOME/way" &&
		for s in way/s way/none/s; do
			kept -c mounts.rw="$w" -c "network.sockets=~/$s" || exit 1
		done &&
		rm "$HOME/way" ||
			exit 1
	done &&
	for to in "$HOME/aihome/d/on/s" aihome/later "$w/s" "$HOME/r/ask.py"; do
		ln -s "$to" "$HOME/end" &&
		ln -s end "$HOME/first" &&
		kept -c mounts.rw="$w" -c "network.sockets=~/first" &&
		rm "$HOME/end" "$HOME/first" ||
			exit 1
	done &&
	state=${XDG_STATE_HOME:-$HOME/.local/state}/git-agent &&
	test -d "$state" &&
	kept -c "network.sockets=$state/x/s"
'

test_that 'SB-08: a link that is made while the session runs is not followed where agents write' '
	rm -f "$HOME/way" &&
	test_when_finished "rm -f $HOME/way $HOME/aihome/up; : >$HOME/aihome/go" &&
	{
		git -C r agent -c "network.sockets=~/way/s" start -q --keep -n later -- sh -c "
		echo 1 >~/up
		until test -e ~/go; do sleep 0.05; done
		python3 ask.py ~/way/s" >out 2>err &
	} &&
	session=$! &&
	test_wait_for "test -e $HOME/aihome/up" &&
	ln -s aihome/d "$HOME/way" &&
	: >"$HOME/aihome/go" &&
	{ wait $session || :; } &&
	! grep said out &&
	test_shows "home/way/s, how forbidden" git -C r agent log later
'

test_that 'links of the user that lead elsewhere are followed to sockets only' '
	ln -s open/s "$HOME/one" &&
	ln -s "$HOME/open/../open" "$HOME/dir" &&
	ln -s loop "$HOME/loop" &&
	test_when_finished "rm -f $HOME/one $HOME/dir $HOME/loop" &&
	test_settings "network:\n  sockets: [~/one, ~/dir/s, ~/loop, ~/serve.py]\n" &&
	git -C r agent start -q -- sh -ec "
		python3 ask.py ~/one ~/dir/s
		! python3 ask.py ~/loop || python3 ask.py ~/serve.py" >out 2>err &&
	printf "said\nsaid\n" >want &&
	test_cmp want out &&
	: >"$conf"
'

test_that 'a socket that does not exist is named at the start, once' '
	git -C r agent -c "network.sockets=~/later/s" -c "network.sockets=~/open/s" start -- true 2>err &&
	test "$(grep -c "network.sockets: there is no .$HOME/later/s. now" err)" = 1 &&
	! grep "open/s" err
'

test_that 'PS-01: a socket named by a repository needs trust, which says what it allows' '
	git clone -q r untrusted &&
	printf "network:\n  sockets: [\"~/open/s\"]\n" >untrusted/.agentdev.yaml &&
	git -C untrusted add -A &&
	git -C untrusted commit -qm socket &&
	test_fails 125 "network.sockets. needs trust" git -C untrusted agent start -q -- true &&
	test_shows "talk to what listens at ~/open/s on your machine" \
		test_expect_code 1 git -C untrusted agent trust --show &&
	test_must_fail git -C untrusted agent start -q --untrusted -- python3 ask.py "~/open/s" &&
	git -C untrusted agent trust --yes >/dev/null &&
	test_shows said git -C untrusted agent start -q -- python3 ask.py "~/open/s"
'

trap - EXIT
end_agents
test_done
