#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='where sandboxes cannot run: the cause, and what to do, from start and doctor alike'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

deny=$TEST_BUILDDIR/tests/helpers/deny
export deny

git init -q r &&
git -C r commit -q --allow-empty -m base

# says CAUSE REMEDY COMMAND...: before `git agent`, it fails with these, on a line each
says() {
	says_cause=$1 says_remedy=$2 says_bre=$(echo "$2" | sed "s,|,\\\\|,g")
	shift 2
	(cd r && test_expect_code 125 "$@" git agent start -q --name s -- touch ran) 2>err &&
	cat err &&
	test "$(wc -l <err)" = 2 &&
	grep "^git-agent: .*$says_cause" err &&
	grep "^hint: .*\($says_bre\)" err &&
	! git -C r rev-parse -q --verify refs/agent/s/base || return 1
	test_expect_code 1 "$@" git agent doctor --json >json &&
	python3 - "$says_cause" "$says_remedy" <<-\END
	import json, re, sys
	cause, remedy = (a.replace("(", "[(]").replace(")", "[)]") for a in sys.argv[1:])
	failed = [c for c in json.load(open("json")) if not c["ok"]]
	assert len(failed) == 1, failed
	assert re.search(cause, failed[0]["detail"]) and re.search(remedy, failed[0]["hint"]), failed
	END
}

test_that 'a seccomp filter that refuses namespaces or mounts is named as the cause' '
	says "cannot create a user namespace: .*seccomp" . $deny unshare=EPERM -- &&
	says "cannot create a user namespace: .*seccomp" . $deny clone:USER=EPERM -- &&
	says "cannot mount in a user namespace: .*seccomp" . $deny mount=EPERM -- &&
	says "cannot mount .root/usr.: .*seccomp" . $deny open_tree=EPERM --
'

test_that 'a kernel without a needed system call is named as the cause' '
	says "no user namespaces" . $deny unshare=ENOSYS -- &&
	for call in close_range mount_setattr; do
		says "system call that sandboxes need is not there" . $deny $call=ENOSYS -- ||
			exit 1
	done
'

test_that 'in a sandbox without further namespaces, starting outside of it is suggested' '
	says "cannot create a user namespace: No space left" "start git agent outside of it" $deny unshare=ENOSPC --
'

test_lazy_prereq UNAME26 'setarch --uname-2.6 uname -r | grep "^2.6"'
test_that UNAME26 'a kernel that is too old is named with the version needed' '
	for fails in mount_setattr=ENOSYS unshare=EPERM; do
		says "this kernel (2.6.*) is too old: Linux 5.12 or newer is needed" \
			"install a newer kernel|wsl --update" \
			setarch --uname-2.6 $deny $fails -- || exit 1
	done
'

# in_place OPTION... -- COMMAND...: in a root of its own, which is the user's all through, with what
# marks a kind of container. The build is writable: one for gcov leaves its counts there, or says that it cannot.
cat >in_place <<'END'
args=
while [ "$1" != -- ]; do args="$args $1"; shift; done
shift
for d in bin sbin lib lib32 lib64; do [ ! -e /$d ] || args="$args --ro-bind /$d /$d"; done
exec bwrap --unshare-user --tmpfs / --ro-bind /usr /usr --ro-bind /etc /etc --proc /proc --dev /dev $args \
	--tmpfs /tmp --bind "$HOME" "$HOME" --bind "$TEST_BUILDDIR" "$TEST_BUILDDIR" --bind "$TRASH" "$TRASH" \
	--chdir "$PWD" "$@"
END

test_that USERNS 'with user.max_user_namespaces=0 the sysctl that helps is named' '
	cat >none <<-\END &&
	echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"
	END
	says "user namespaces are switched off on this machine" "sudo sysctl -w user.max_user_namespaces=15000" \
		sh "$PWD/in_place" -- unshare -Ur sh "$PWD/none"
'

# faked FILE VALUE: a command that sees it so in /proc/sys/kernel, and is refused a namespace
cat >faked <<'END'
mount -t tmpfs none /proc/sys/kernel &&
echo "$2" >"/proc/sys/kernel/$1" &&
shift 2 &&
exec "$deny" unshare=EPERM -- "$@"
END
test_that USERNS 'with kernel.unprivileged_userns_clone=0 the sysctl that helps is named' '
	says "ordinary users may not create user namespaces here" "sudo sysctl -w kernel.unprivileged_userns_clone=1" \
		sh "$PWD/in_place" -- unshare -Urm sh "$PWD/faked" unprivileged_userns_clone 0
'

test_that USERNS 'where AppArmor restricts user namespaces the profile is suggested' '
	says "AppArmor keeps git-agent-stage from using a user namespace" \
		"sudo make install .*/etc/apparmor.d|sudo apparmor_parser -r /etc/apparmor.d/git-agent" \
		sh "$PWD/in_place" -- unshare -Urm sh "$PWD/faked" apparmor_restrict_unprivileged_userns 1
'

place() {
	place_name=$1 place_hint=$2
	shift 2
	says "cannot create a user namespace: .*seccomp" "this looks like $place_name: .*$place_hint" \
		sh "$PWD/in_place" "$@" -- $deny unshare=EPERM --
}
test_that USERNS 'in each kind of container the options to start it with are named' '
	opt="--security-opt" &&
	place Docker "docker run $opt seccomp=unconfined $opt apparmor=unconfined $opt systempaths=unconfined" \
		--dir /.dockerenv &&
	place Podman "podman run $opt seccomp=unconfined $opt unmask=ALL" --dir /run/.containerenv &&
	place "GitHub Codespaces" "devcontainer.json: .runArgs" --dir /.dockerenv --dir /workspaces/.codespaces &&
	place Kubernetes "procMount: Unmasked" --dir /run/secrets/kubernetes.io &&
	place "a container" "user namespaces, mounts" --dir /run/systemd/container &&
	says "cannot create a user namespace: .*seccomp" "start git agent outside of what set that filter" \
		sh "$PWD/in_place" -- $deny unshare=EPERM --
'

# What the kernel says where it cannot be asked for: text in the third of the names uname(2) gives.
uname_says() {
	printf 'uname:poke_exit=@arg1=%0260d%s' 0 "$(printf '%s\0' "$1" | od -An -tx1 | tr -d ' \n')"
}
test_lazy_prereq POKE '
	cd / &&
	strace -qq -o /dev/null -e trace=uname -e inject="$(uname_says 4.4.0-x-Microsoft)" uname -r |
		grep "^4.4.0-x-Microsoft"'
test_that POKE 'in WSL the command that helps is named' '
	while IFS=: read -r name release hint; do
		says "this kernel ($release) is too old" "this looks like $name: .*$hint" \
			sh "$PWD/in_place" -- $deny unshare=EPERM -- strace -f -qq -o /dev/null -e trace=uname \
			-e inject="$(uname_says $release)" || exit 1
	done <<-\END
	WSL 1:4.4.0-19041-Microsoft:wsl --set-version
	WSL 2:5.4.72-microsoft-standard-WSL2:wsl --update
	END
'

test_that STRACE 'a state directory on a file system that cannot hold layers is named with its kind' '
	for t in 6969:NFS 444d:FAT; do
		magic=$(printf "%-16s" "${t%:*}" | tr " " 0)
		says "is on a file system (${t#*:}) that cannot hold the writable layer" \
			"set XDG_STATE_HOME or state_dir to a directory on ext4, xfs or btrfs" \
			strace -f -qq -o /dev/null -e trace=mount,statfs -e inject=mount:error=EINVAL:when=2+ \
			-e inject=statfs:poke_exit=@arg2=$magic || exit 1
	done
'

test_that USERNS 'a state directory on an overlay is refused, with what helps in a container' '
	mkdir -p l u w ov &&
	cat >on_overlay <<-\END &&
	(cd "$HOME" && mount -t overlay none -o userxattr,lowerdir=l,upperdir=u,workdir=w ov) &&
	mkdir -p "$HOME/ov/state" &&
	chmod 700 "$HOME/ov/state" &&
	exec env XDG_STATE_HOME="$HOME/ov/state" "$@"
	END
	says "overlay" "mount a volume there (docker run -v git-agent:/|set XDG_STATE_HOME or state_dir" \
		sh "$PWD/in_place" -- unshare -Urm sh "$PWD/on_overlay"
'

test_that 'make uninstall removes all programs, pages and completions that make install installs' '
	make -s -C "$TEST_BUILDDIR" DESTDIR="$PWD/all" install >log 2>&1 &&
	cd all &&
	find . -type f >../files &&
	{
		(cd "$TEST_SRCDIR/docs" && ls man/*.[157] completion/*git-agent* completion/conf.d/*) &&
		printf "%s\n" git-agent-security.7 git-agent git-agent-main git-agent-stage git-agent-init \
			git-agent-probe
	} | sed "s,.*/,," | sort -u >../names &&
	sed "s,.*/,," ../files | sort -u | test_cmp ../names - &&
	for f in /bin/git-agent /libexec/git-agent/git-agent-init /bash-completion/completions/git-agent \
		/site-functions/_git-agent /vendor_completions.d/git-agent.fish /vendor_conf.d/git-agent.fish \
		/apparmor.d/git-agent /man1/git-agent.1 /man5/agentdev.yaml.5 /man7/git-agent-security.7; do
		grep "$f\$" ../files || exit 1
	done &&
	make -s -C "$TEST_BUILDDIR" DESTDIR="$PWD" uninstall >../log 2>&1 &&
	cd .. &&
	test "$(find all -type f -o -type l -o -name git-agent)" = ""
'

test_that 'the AppArmor profile names the directories, and bwrap only if no other profile does' '
	mkdir -p aa &&
	profile() {
		sh "$TEST_SRCDIR/docs/apparmor/install.sh" "$TEST_SRCDIR/docs/apparmor/git-agent" aa "$@"
	} &&
	profile /opt/x/bin /usr/bin /opt/x/libexec/git-agent >got &&
	grep "^@{GIT_AGENT_DIRS}=/opt/x/bin /opt/x/libexec/git-agent /usr/bin " got &&
	grep "^profile git-agent-bwrap" got &&
	grep "^profile git-agent-stage" got &&
	echo "profile bwrap /usr/bin/bwrap {" >aa/bwrap &&
	profile /opt/x >got &&
	! grep "^profile git-agent-bwrap" got &&
	grep "^profile git-agent-stage" got &&
	test_says "cannot stand in an AppArmor profile" test_must_fail profile "/a b"
'

test_done
