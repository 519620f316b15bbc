# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# Part of bench.sh: a start on another machine, which is an sshd of this one, over a connection that is kept. It is
# held to what is done there without git-agent's calls: git's push, and a start in a working tree that git makes,
# with two round trips for that and two more.

# elsewhere ROUNDS: each round starts on the commit next%. Runs in the repository; nothing where there is no sshd.
elsewhere() (
	: "${scratch:?}" "${agent:?}" "${n:?}"
	ssh=$(command -v ssh) && sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || exit 0
	rm -rf "$scratch/on" && mkdir -p "$scratch/on/far" "$scratch/on/bin" && cd "$scratch/on" || exit
	# the path of a socket is short
	XDG_RUNTIME_DIR=$(mktemp -d /tmp/ga-XXXXXX)
	server=
	kept="-F $scratch/on/config -o ControlPath=$XDG_RUNTIME_DIR/git-agent/%C"
	trap 'ssh $kept -O exit bench >/dev/null 2>&1; kill "$server"; rm -rf "$XDG_RUNTIME_DIR"' EXIT
	printf '#!/bin/sh\nexec "%s" -F "%s/on/config" "$@"\n' "$ssh" "$scratch" >bin/ssh
	chmod +x bin/ssh
	PATH=$scratch/on/bin:$PATH
	export PATH XDG_RUNTIME_DIR
	for key in host key; do
		ssh-keygen -q -t ed25519 -N '' -f $key
	done
	port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
	cat >server <<-EOF_SERVER
	ListenAddress 127.0.0.1:$port
	HostKey $PWD/host
	AuthorizedKeysFile $PWD/key.pub
	PidFile none
	StrictModes no
	UsePAM no
	PermitRootLogin yes
	SetEnv HOME=$PWD/far PATH=$TEST_BUILDDIR:$PATH GIT_CONFIG_NOSYSTEM=1
	EOF_SERVER
	cat >config <<-EOF_CONFIG
	Host bench
		HostName 127.0.0.1
		Port $port
		User $(id -un)
		IdentityFile $PWD/key
		StrictHostKeyChecking no
		UserKnownHostsFile $PWD/known
	EOF_CONFIG
	cp "$HOME/.gitconfig" far
	# root's wants a directory in /run
	case $(id -u) in
	0) unshare -m sh -c 'mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"' sh \
		"$sshd" -D -f "$PWD/server" -E "$PWD/log" & ;;
	*) "$sshd" -D -f "$PWD/server" -E "$PWD/log" & ;;
	esac
	server=$!
	until grep -q listening log 2>/dev/null; do
		kill -0 "$server" || exit 0
		sleep 0.1
	done
	cat >ours <<-EOF_OURS
	exec "$agent" start -q -d --on bench --base "next\$1" --name "far\$1" -- true
	EOF_OURS
	cat >parts <<-EOF_PARTS
	export GIT_SSH_COMMAND="ssh $kept"
	git push -q bench:$PWD/far/plain.git "next\$1:refs/base/\$1" && ssh $kept bench true && ssh $kept bench "
		cd $PWD/far && git -C plain.git worktree add -q --detach ../tree/\$1 refs/base/\$1 && cd tree/\$1 &&
		git agent start -q -d --keep -n t\$1 -- true"
	EOF_PARTS
	cat >ended <<-EOF_ENDED
	"$agent" wait "far\$1" && "$agent" drop "far\$1" &&
		ssh $kept bench "cd $PWD/far/tree/\$1 && git agent wait t\$1 && git agent drop t\$1 &&
			git worktree remove --force ."
	EOF_ENDED
	cd "$HOME/$n" || exit
	for state in "$HOME"/.local/state/git-agent/*/; do
		echo bench >"$state/on-hosts"
	done
	# warm: the connection, the history, a base tree
	git push -q "$scratch/on/far/plain.git" 2>/dev/null || git clone -q --bare . "$scratch/on/far/plain.git"
	git branch -f next-warm main
	for step in ours parts ended; do
		sh "$scratch/on/$step" -warm >/dev/null 2>&1
	done
	compare "$n" 'start --on, the next' 'push, worktree and start' "$1" sh "$scratch/on/ours" % \
		--against sh "$scratch/on/parts" % --after sh "$scratch/on/ended" %
)
