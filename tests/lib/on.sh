# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For tests of sessions on another machine, which is an sshd of this one with a home of its own. Sourced after
# test-lib.sh.

far=$HOME/far
# The user's home is the test's, not that of the user database, where ssh looks.
ssh=$(command -v ssh)
mkdir -m 700 .ssh bin &&
printf '#!/bin/sh\nexec "%s" -F "$HOME/.ssh/config" "$@"\n' "$ssh" >bin/ssh &&
chmod +x bin/ssh
PATH=$HOME/bin:$PATH
export XDG_RUNTIME_DIR="$HOME/run"
mkdir -m 700 run

# far_server NAME [LINE...]: an sshd whose sessions have $far as their home, and the alias NAME for it
far_server() {
	name=$1
	shift
	port=$(python3 -c "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1])") &&
	mkdir -p "$far" &&
	git config -f "$far/.gitconfig" user.name Far &&
	git config -f "$far/.gitconfig" user.email far@example.org &&
	{ test -e host || ssh-keygen -q -t ed25519 -N "" -f host; } &&
	{ test -e .ssh/key || ssh-keygen -q -t ed25519 -N "" -f .ssh/key; } &&
	cat >"sshd_$name" <<-EOF &&
	ListenAddress 127.0.0.1:$port
	HostKey $HOME/host
	AuthorizedKeysFile $HOME/.ssh/key.pub
	PidFile $HOME/sshd_$name.pid
	StrictModes no
	UsePAM no
	PasswordAuthentication no
	PermitRootLogin yes
	SetEnv HOME=$far PATH=$PATH GIT_CONFIG_NOSYSTEM=1 ${far_env-} $(env | grep "^[ALU]*SAN_OPTIONS=" | xargs)
	EOF
	printf '%s\n' "$@" >>"sshd_$name" &&
	"$(command -v sshd)" -f "$HOME/sshd_$name" -E "$HOME/sshd_$name.log" &&
	test_wait_for "test -s sshd_$name.pid" &&
	cat >>.ssh/config <<-EOF
	Host $name
		HostName 127.0.0.1
		Port $port
		User $(id -un)
		IdentityFile $HOME/.ssh/key
		IdentitiesOnly yes
		StrictHostKeyChecking no
		UserKnownHostsFile $HOME/.ssh/known_hosts
	EOF
}
test_lazy_prereq FARSERVER 'test_have_prereq SSHD && cd "$HOME" && far_server build'
# where /dev/pts has no group for terminals, an ordinary user's sshd can make none
test_lazy_prereq FARTTY 'test_have_prereq FARSERVER && cd "$HOME" && ssh -tt build true'
# end the connections that are kept
far_hang_up() {
	for name in $(sed -n 's/^Host //p' "$HOME/.ssh/config"); do
		ssh -o ControlPath="$XDG_RUNTIME_DIR/git-agent/%C" -O exit "$name" || :
	done >/dev/null 2>&1
}
far_end() {
	cd "$HOME" || return
	for pid in sshd_*.pid; do
		[ ! -e "$pid" ] || kill "$(cat "$pid")"
	done
	[ ! -e .ssh/config ] || far_hang_up
}
# agree HOST: as if the user had said that this repository may be sent there
agree() {
	git agent list >/dev/null &&
	echo "$1" >>"$(dirname "$(dirname "$(dir_of x)")")/on-hosts"
}
# far_agent COMMAND...: git agent there, in the working tree of the only session
far_agent() {
	(cd "$(echo "$far"/.local/share/git-agent/on/*/trees/*/*)" && HOME=$far git agent "$@")
}
# far_restart CONFIG: the server of "build" anew, by that configuration
far_restart() {
	(
		cd "$HOME" &&
		far_hang_up &&
		kill "$(cat sshd_build.pid)" &&
		test_wait_for "test ! -e sshd_build.pid" &&
		"$(command -v sshd)" -f "$HOME/sshd_$1" -E "$HOME/sshd_$1.log" &&
		test_wait_for "test -s sshd_build.pid"
	)
}
