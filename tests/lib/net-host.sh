# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016
#
# A host of its own for a test of the network: runs the whole test in namespaces where only the
# addresses below can be reached, /etc/hosts has the names below, and anybody can listen on any port.
# All addresses but those of the last two lines stand for other machines: they are routed to lo, so
# that servers can listen on them, but no interface has them. Other names are asked of 192.0.2.10.
# Included before test-lib.sh, by a test that is run as `sh FILE`; net_more: what else to set up there.
#
#     192.0.2.10       web.example.org git.example.org db.example.org a.wild.example.net b.c.wild.example.net
#     2001:db8::10     six.example.org
#     10.1.2.3         private.example.org private.wild.example.net
#     127.0.0.1        rebound.example.org rebound.wild.example.net
#     169.254.169.254  meta.example.org meta.wild.example.net metadata.google.internal
#     198.51.100.5     own.example.org own.wild.example.net
#     2001:db8:5::5    own6.example.org

if [ -z "${GA_NET_HOST-}" ]; then
	# the file that will be /etc/hosts; kept, because nothing can be mounted on a removed file
	GA_NET_HOST=${TEST_RESULTS:=${TEST_BUILDDIR:?}/tests/results}/${0##*/}.hosts
	export GA_NET_HOST
	mkdir -p "$TEST_RESULTS" || exit 1
	if [ "$(id -u)" = 0 ]; then
		set -- unshare -mn
	else
		set -- unshare -Umn --map-current-user --keep-caps
	fi
	net_setup='
		PATH=$PATH:/usr/sbin:/sbin
		cat >"$GA_NET_HOST" <<-EOF_HOSTS && chmod 644 "$GA_NET_HOST" &&
			127.0.0.1 localhost rebound.example.org rebound.wild.example.net
			::1 localhost
			192.0.2.10 web.example.org git.example.org db.example.org a.wild.example.net
			192.0.2.10 b.c.wild.example.net
			2001:db8::10 six.example.org
			10.1.2.3 private.example.org private.wild.example.net
			169.254.169.254 meta.example.org meta.wild.example.net metadata.google.internal
			198.51.100.5 own.example.org own.wild.example.net
			2001:db8:5::5 own6.example.org
		EOF_HOSTS
		mount --bind "$GA_NET_HOST" /etc/hosts && ip link set lo up &&
		for addr in 192.0.2.10/32 10.1.2.3/32 169.254.169.254/32 100.100.100.200/32; do
			ip route add local $addr dev lo || exit
		done && ip -6 route add local 2001:db8::10/128 dev lo && echo 1 >/proc/sys/net/ipv6/ip_nonlocal_bind &&
		ip addr add 198.51.100.5/32 dev lo && ip -6 addr add 2001:db8:5::5/128 dev lo nodad &&
		echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start &&
		{ [ "$(id -u)" != 0 ] || { mount -t tmpfs -o mode=755 none /run && mkdir -m 755 /run/sshd; }; } &&
		echo nameserver 192.0.2.10 >"$GA_NET_HOST.resolv" && chmod 644 "$GA_NET_HOST.resolv" &&
		resolv=$(readlink -m /etc/resolv.conf) &&
		{ [ -e "$resolv" ] || { mkdir -p "${resolv%/*}" && : >"$resolv"; }; } &&
		mount --bind "$GA_NET_HOST.resolv" "$resolv" || exit'
	# In an ordinary user's namespace root's files belong to nobody, and git-agent refuses state
	# directories below them. So there the root directory and the scratch directory are the user's own.
	net_root=
	[ "$(id -u)" = 0 ] || {
		# shellcheck source=tests/lib/scratch.sh
		. "$TEST_SRCDIR/tests/lib/scratch.sh"
		net_scratch=${TEST_DIR:-$(scratch_base)/git-agent-test-host-$(id -u)}
		mkdir -p "$net_scratch" || exit 1
		export net_scratch
		net_root='
			root=$net_scratch/root && mkdir -p "$root" && mount -t tmpfs -o mode=755 none "$root" || exit
			for f in /*; do
				if [ -L "$f" ]; then cp -P "$f" "$root$f"
				elif [ -d "$f" ]; then mkdir "$root$f" && mount --rbind "$f" "$root$f"
				fi || exit
			done
			mkdir -p "$root/scratch" "$root/.old" && mount --bind "$net_scratch" "$root/scratch" &&
			cd "$root" && pivot_root . .old && umount -l /.old && rmdir /.old && cd / || exit
			GIT_AGENT_TEST_TMPDIR=/scratch TEST_DIR=${TEST_DIR:+/scratch}
			export GIT_AGENT_TEST_TMPDIR TEST_DIR'
	}
	net_setup="$net_setup
${net_more-}
$net_root"
	net_why=$("$@" sh -c "$net_setup" 2>&1) || {
		case " ${GIT_AGENT_TEST_REQUIRE-} " in
		*" NETHOST "*) printf 'not ok 1 - a network of its own can be made here\n1..1\n' &&
		exit 1 ;;
		esac
		echo "1..0 # SKIP no network of its own can be made here: $(echo "$net_why" | head -1)"
		exit 0
	}
	# the capabilities were for the setup only
	exec "$@" sh -c "$net_setup"'
		exec setpriv --ambient-caps=-all --inh-caps=-all /bin/sh "$0"' "$0"
fi
