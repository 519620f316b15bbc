#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='ssh inside: the configuration of the system, and what the user has for the hosts of his remotes'

# Root has a system with files that others include, as Fedora's. Everybody else has what there is.
if [ -z "${GA_SSH_HOST-}" ] && [ "$(id -u)" = 0 ]; then
	# shellcheck disable=SC2016
	GA_SSH_HOST=yes exec unshare -m sh -c '
		export GA_SSH_HOST
		etc=$(mktemp -d) && mount -t tmpfs none "$etc" && cp -a /etc/. "$etc" && mount --move "$etc" /etc &&
		rmdir "$etc" && mount -t tmpfs -o mode=755 none /run && mkdir -m 755 /run/sshd &&
		mkdir -p /etc/ssh/ssh_config.d /etc/crypto/back /etc/crypto/closed && cd /etc/crypto &&
		printf "Match final all\n\tinclude = \"/etc/crypto/back/*.config\" absent/*\n" >redhat.conf &&
		ln -s ../../crypto/redhat.conf /etc/ssh/ssh_config.d/50-redhat.conf &&
		printf "Ciphers aes256-ctr\nInclude /etc/crypto/closed/*\n" >policy &&
		ln -s ../policy back/openssh.config && echo "# not for all" >closed/conf && chmod 700 closed
		exec sh "$0"' "$0"
fi
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use net-servers
require_sandbox

test_lazy_prereq INCLUDED 'for f in /etc/ssh/ssh_config.d/*.conf; do test -r "$f" || exit 1; done'
test_lazy_prereq SSH 'ssh -V'
me=$(id -un)
ssh_of_home .ssh/bin
git init -q r &&
git -C r commit -q --allow-empty -m one &&
git clone -q --bare r remote.git
mkdir -p .config/git-agent

# ssh_start: an sshd on a port of localhost; its user has the remotes "named" and "aliased" on it
ssh_start() {
	start_sshd main &&
	cat >.ssh/config <<-EOF &&
	Host forge
		HostName localhost
		Port $port
		User $me
		HostKeyAlias forge-key
		IdentityFile ~/.ssh/secret-name
	Host other
		HostName other.example.org
	Host *
		UserKnownHostsFile $HOME/.ssh/known_hosts
	EOF
	key=$(cut -d" " -f1,2 host.pub) &&
	{
		echo "[localhost]:$port,home.example.org $key my machine"
		echo "other.example.org $key"
		echo "forge-key $key"
	} >.ssh/known_hosts &&
	ssh-keygen -q -H -f .ssh/known_hosts &&
	echo "@revoked forge-key,work.example.org $key-x" >>.ssh/known_hosts &&
	rm .ssh/known_hosts.old &&
	git -C r remote add named "ssh://$me@localhost:$port$HOME/remote.git" &&
	git -C r remote add aliased "forge:remote.git" &&
	git -C r config remote.aliased.pushurl "forge:$HOME/remote.git" &&
	git -C r config remote.odd.url "ssh://-oProxyCommand=touch%20ran/x" &&
	git -C r config -f .gitmodules submodule.x.url ssh://other/x &&
	git -C r add .gitmodules &&
	git -C r commit -qm modules &&
	ssh-agent -a "$HOME/.ssh/agent.sock" >agent &&
	. ./agent &&
	ssh-add -q .ssh/key
}
test_lazy_prereq SSHSERVER 'test_have_prereq SSHD && cd "$HOME" && ssh_start'
end_server() {
	[ ! -e "$HOME/agent" ] || (. "$HOME/agent" && kill "$SSH_AGENT_PID") >/dev/null
	[ ! -e "$HOME/sshd_main.pid" ] || kill "$(cat "$HOME/sshd_main.pid")"
}
trap end_server EXIT

push="git ls-remote -q named && git push -q aliased HEAD:refs/heads"

test_that SSH 'ssh takes what the system has for it, as outside' '
	"$ssh" -G host.example.org >want &&
	for network in host none; do
		git -C r agent start -q --network $network -- sh -c "ssh -G host.example.org" >out &&
		test_cmp want out || exit 1
	done
'

test_that INCLUDED 'the files of the system are copies, which others cannot read if they cannot outside' '
	git -C r agent start -q -- sh -c "
		stat -L -c %U /etc/ssh/ssh_config.d/*.conf
		! cat /etc/crypto/closed/*" >out 2>&1 &&
	head -n 1 out | grep -x "$me" &&
	! grep "not for all" out
'

test_that SSHSERVER 'git fetches and pushes by host name and by an alias, with an ssh-agent that is passed' '
	. ./agent &&
	git -C r agent -c network.sockets=$SSH_AUTH_SOCK -c env.pass=SSH_AUTH_SOCK start -n once -- sh -c "
		git commit -q --allow-empty -m more
		$push/once" 2>err &&
	grep "ssh inside knows: forge, localhost" err &&
	git -C remote.git rev-parse once &&
	git -C r agent -c network.sockets=$SSH_AUTH_SOCK -c env.pass=SSH_AUTH_SOCK resume -q once -- \
		sh -c "$push/again" &&
	printf "network:\n  sockets: [~/.ssh/agent.sock]\nenv:\n  set:\n    SSH_AUTH_SOCK: $HOME/.ssh/agent.sock\n" |
		test_settings &&
	port=$(sed -n "s/^ListenAddress.*://p" sshd_main) &&
	git -C r agent start -q --allow "localhost:$port" -- sh -c "$push/always" &&
	test ! -e r/ran
'

test_that SSHSERVER 'SB-12: known hosts of the remotes are there, and nothing else of ~/.ssh' '
	port=$(sed -n "s/^ListenAddress.*://p" sshd_main) &&
	key=$(cut -d" " -f1,2 host.pub) &&
	git -C r agent start -q -- sh -c "
		cat /run/git-agent-ssh/known_hosts
		sed \"/^Host \*/q\" /etc/ssh/ssh_config
		ls ~/.ssh
		! grep -rs \"secret-name\|other\|work.example\" /etc/ssh ~/.ssh" >out &&
	known="/run/git-agent-ssh/known_hosts /etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2" &&
	cat >want <<-EOF &&
	[localhost]:$port $key
	forge-key $key
	@revoked forge-key $key-x
	Host localhost
	    HostName localhost
	    GlobalKnownHostsFile $known
	Host forge
	    HostName localhost
	    Port $port
	    User $me
	    HostKeyAlias forge-key
	    GlobalKnownHostsFile $known
	Host *
	agent.sock
	EOF
	test_cmp want out
'

test_that SSHSERVER 'without the socket of an agent nothing of the user is asked' '
	: >"$conf" &&
	printf "#!/bin/sh\n: >\"$HOME/asked\"\n" >.ssh/bin/ssh &&
	git -C r agent start -q -- sh -c "! ls /run/git-agent-ssh; ! grep forge /etc/ssh/ssh_config" &&
	git -C r agent -c env.set=SSH_AUTH_SOCK=/tmp/s start -q -- true &&
	test ! -e asked
'

trap - EXIT
end_server
test_done
