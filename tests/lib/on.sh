# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016,SC2034
#
# For tests of sessions on another machine, which is an sshd of this one with a home of its own. Sourced in place of
# test-lib.sh.

# root's sshd wants a directory in /run
[ -n "${GA_ON-}" ] || [ "$(id -u)" != 0 ] || GA_ON=yes exec unshare -m sh -c '
	export GA_ON
	mount -t tmpfs -o mode=755 none /run && mkdir -m 755 /run/sshd && exec sh "$0"' "$0"
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
. "$TEST_SRCDIR/tests/lib/net-servers.sh"
. "$TEST_SRCDIR/tests/lib/live.sh"
. "$TEST_SRCDIR/tests/lib/landing.sh"

far=$HOME/far
ssh_of_home bin
# where the scratch directory's path is too long for a socket, no connection would be kept
XDG_RUNTIME_DIR=$(test_directory_in /tmp)
export XDG_RUNTIME_DIR

# far_server NAME [LINE...]: an sshd whose sessions have $far as their home, and the alias NAME for it
far_server() {
	name=$1
	shift
	mkdir -p "$far" &&
	git config -f "$far/.gitconfig" user.name Far &&
	git config -f "$far/.gitconfig" user.email far@example.org &&
	sanitizers=$(env | grep "^[ALU]*SAN_OPTIONS=" | xargs) &&
	start_sshd "$name" "SetEnv HOME=$far PATH=$PATH GIT_CONFIG_NOSYSTEM=1 ${far_env-} $sanitizers" "$@" &&
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
# far_kept COMMAND HOST: what ssh says to it (-O) of the connection that is kept
far_kept() {
	ssh -o ControlPath="$XDG_RUNTIME_DIR/git-agent/%C" -O "$1" "$2" 2>&1
}
# far_master HOST: the number of the process that keeps it, or nothing
far_master() {
	far_kept check "$1" | sed -n "s/.*(pid=\([0-9]*\)).*/\1/p"
}
# far_heard: in this test, each call of ssh is a line of $HOME/calls, and what it sends in $HOME/sent
far_heard() {
	rm -f "$HOME/calls" "$HOME/sent" &&
	mv "$HOME/bin/ssh" "$HOME/bin/ssh.real" &&
	test_when_finished "mv $HOME/bin/ssh.real $HOME/bin/ssh" &&
	test_script "$HOME/bin/ssh" "
		echo >>$HOME/calls
		tee -a $HOME/sent | $HOME/bin/ssh.real \"\$@\""
}
# end the connections that are kept
far_hang_up() {
	for name in $(sed -n 's/^Host //p' "$HOME/.ssh/config"); do
		far_kept exit "$name" || :
	done >/dev/null
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
# far_restart CONFIG: the server of "build" again, by that configuration
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
trap far_end EXIT
