#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='network: host, none, or what is allowed'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# Servers on loopback: each prints its port once it listens. "echo" gives back what it gets, and
# closes when that is over; "name WORD" says a word and closes.
cat >serve.py <<'PY'
import socket, sys, threading, os
how, where = sys.argv[1], sys.argv[2]
if where.startswith("/"):
	s = socket.socket(socket.AF_UNIX)
	s.bind(where)
else:
	s = socket.socket(socket.AF_INET6 if ":" in where else socket.AF_INET)
	s.bind((where, 0))
s.listen(700)
def echo(c):
	while True:
		try:
			d = c.recv(65536)
			if not d:
				break
			c.sendall(d)
		except OSError:
			break
	try:
		c.shutdown(socket.SHUT_WR)
	except OSError:
		pass
	c.close()
def word(c):
	while c.family != socket.AF_UNIX and c.recv(1000):
		pass
	c.sendall(sys.argv[3].encode())
	c.close()
print(0 if where.startswith("/") else s.getsockname()[1], flush=True)
while True:
	c, _ = s.accept()
	threading.Thread(target=echo if how == "echo" else word, args=(c,), daemon=True).start()
PY

# One word for each destination: what was answered to "ping", or why not
cat >try.py <<'PY'
import socket, sys, time
def go(host, port):
	c = socket.create_connection((host, int(port)), 20)
	try:
		c.sendall(b"ping")
		c.shutdown(socket.SHUT_WR)
	except OSError:
		pass
	r = b""
	while True:
		d = c.recv(65536)
		if not d:
			return r.decode()
		r += d
for to in sys.argv[1:]:
	host, port = to.rsplit(":", 1)
	begun = time.monotonic()
	try:
		said = go(host.strip("[]"), port)
	except ConnectionRefusedError:
		said = "refused"
	except ConnectionResetError:
		said = "reset"
	except socket.gaierror as e:
		said = "no such name" if e.errno == socket.EAI_NONAME else "cannot look up"
	except OSError as e:
		said = "error %s" % e
	print(to, said)
	if time.monotonic() - begun > 3:
		print("after", time.monotonic() - begun)
PY

# serve FILE HOW WHERE [WORD]: a server; its port is in FILE
serve() {
	serve_file=$1
	shift
	python3 "$HOME/serve.py" "$@" >"$serve_file" &
	serve_pids="$serve_pids $!"
	while [ ! -s "$serve_file" ]; do sleep 0.05; done
}
serve_pids=
trap 'kill $serve_pids 2>/dev/null; rm -rf "$sockets"' EXIT
serve port4 echo 127.0.0.1
serve other4 echo 127.0.0.1
serve port6 word ::1 six
serve any echo 0.0.0.0
port=$(cat port4) other=$(cat other4) port6=$(cat port6) any=$(cat any)
me=$(hostname)
test_lazy_prereq NAME 'getent ahostsv4 "$(hostname)"'
sockets=$(test_directory_in /tmp)
serve unix word "$sockets/s" "from a socket"

test_expect_success 'a repository' '
	git init -q r &&
	cp try.py r &&
	cd r &&
	git add try.py &&
	git commit -qm one
'

test_expect_success 'without settings it is the network of the host' '
	cd r &&
	git agent start -q -- python3 try.py localhost:$port 127.0.0.1:$other >../out &&
	{
		echo "localhost:$port ping"
		echo "127.0.0.1:$other ping"
	} >../want &&
	test_cmp ../want ../out
'

test_expect_success 'none: there is lo, nothing on it but a name server that knows no name, and what was tried is named' '
	cd r &&
	git agent start --name none --no-network -- sh -c "
		sed -n \"s/^ *\([a-z0-9]*\):.*/interface \1/p\" /proc/net/dev
		python3 try.py localhost:$port 192.0.2.1:80 [2001:db8::1]:443 refused.example:443 127.0.0.53:3128" >../out 2>../err &&
	cat >../want <<-EOT &&
	interface lo
	localhost:$port refused
	192.0.2.1:80 refused
	[2001:db8::1]:443 refused
	refused.example:443 refused
	127.0.0.53:3128 refused
	EOT
	test_cmp ../want ../out &&
	grep "refused 4 connections: " ../err &&
	git agent log --json none >../log &&
	for to in localhost:$port 192.0.2.1:80 "\[2001:db8::1\]:443" refused.example:443; do
		grep "refused.* $to[,;]" ../err &&
		grep "allow with .*--allow $to\b" ../err &&
		grep "\"how\":\"refused\",\"to\":\"$to\"" ../log ||
			exit 1
	done &&
	git agent start -q --network none -- python3 try.py localhost:$port >../out &&
	grep "localhost:$port refused" ../out
'

test_expect_success 'of many refusals the first are named, and the others counted' '
	cd r &&
	git agent start --name refusals --no-network -- python3 try.py $(seq -f "192.0.2.%.0f:80" 1 57) >../out 2>../err &&
	grep "refused more than 50 connections: 192.0.2.1:80, .* and 52 more; allow with" ../err &&
	git agent show --json refusals >../json &&
	python3 -c "import json; n = json.load(open(\"../json\"))[\"network\"]; assert len(n[\"refused\"]) == 50 and n[\"unlisted\"] == 7, n"
'

cat >datagrams.py <<'PY'
import socket, sys
for to in sys.argv[1:]:
	host, port = to.rsplit(":", 1)
	s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
	s.settimeout(60)
	s.connect((host.strip("[]"), int(port)))
	try:
		s.send(b"x" * 500)
		print(to, s.recv(100))
	except ConnectionRefusedError:
		print(to, "refused")
PY

test_expect_success 'datagrams are refused at once and named; nothing is said of how to allow them' '
	cp datagrams.py r &&
	cd r &&
	git add datagrams.py &&
	git commit -qm datagrams &&
	for mode in none allow; do
		git agent start --name udp-$mode --network $mode -- python3 datagrams.py 8.8.8.8:53 [2001:db8::1]:123 refused.example:443 127.0.0.1:$port >../out 2>../err &&
		cat >../want <<-EOT &&
		8.8.8.8:53 refused
		[2001:db8::1]:123 refused
		refused.example:443 refused
		127.0.0.1:$port refused
		EOT
		test_cmp ../want ../out &&
		grep "refused 3 connections: .*; only TCP can be allowed\$" ../err &&
		git agent log --json udp-$mode >../log || exit 1
		for to in 8.8.8.8:53/udp "\[2001:db8::1\]:123/udp" refused.example:443/udp; do
			grep "refused.* $to[,;]" ../err &&
			grep "\"how\":\"refused\",\"to\":\"$to\"" ../log ||
				exit 1
		done
	done &&
	git agent start --name udp-tcp --network allow -- sh -c "
		python3 datagrams.py 8.8.8.8:53
		python3 try.py 192.0.2.1:80" >../out 2>../err &&
	grep "refused 2 connections: .*8.8.8.8:53/udp.*; allow with --allow 192.0.2.1:80\$" ../err
'

test_expect_success 'NW-03: what is allowed is reached, and all else refused at once' '
	cd r &&
	git agent start -q --name a --allow localhost:$port -- python3 try.py \
		localhost:$port 127.0.0.1:$port [::1]:$port localhost:$other 127.0.0.1:$other \
		192.0.2.1:80 169.254.169.254:80 [2001:db8::1]:443 refused.example:443 >../out &&
	cat >../want <<-EOT &&
	localhost:$port ping
	127.0.0.1:$port ping
	[::1]:$port ping
	localhost:$other refused
	127.0.0.1:$other refused
	192.0.2.1:80 refused
	169.254.169.254:80 refused
	[2001:db8::1]:443 refused
	refused.example:443 refused
	EOT
	test_cmp ../want ../out
'

test_expect_success 'what was refused is named at the end, in the state and in the journal' '
	cd r &&
	git agent start --name named --allow localhost:$port -- python3 try.py localhost:$port \
		192.0.2.1:80 192.0.2.1:80 refused.example:443 2>../err &&
	grep "refused 3 connections: " ../err &&
	grep "[:,] 192.0.2.1:80 (2 times)[,;]" ../err &&
	grep "[:,] refused.example:443[,;]" ../err &&
	for to in 192.0.2.1:80 refused.example:443; do
		grep "allow with .*--allow $to\b" ../err || exit 1
	done &&
	git agent show --json named >../json &&
	git agent log --json named >../log &&
	python3 - ../json ../log "$port" <<-\EOT
	import json, sys
	port = sys.argv[3]
	n = json.load(open(sys.argv[1]))["network"]
	assert n["mode"] == "allow" and n["published"] == [], n
	assert {"to": "192.0.2.1:80", "count": 2} in n["refused"], n
	events = [json.loads(l) for l in open(sys.argv[2])]
	first = [(e["how"], e["to"]) for e in events if e["event"] == "connection"]
	assert sorted(first) == [("allowed", "localhost:" + port), ("looked up", "refused.example"),
		("refused", "192.0.2.1:80"), ("refused", "refused.example:443")], first
	last = [e for e in events if e["event"] == "network"]
	assert len(last) == 1
	used = [c for c in last[0]["connections"] if c["how"] == "allowed"]
	assert [(c["to"], c["count"], c["in"], c["out"]) for c in used] == [("localhost:" + port, 1, 4, 4)], used
	EOT
'

test_expect_success 'a name that was looked up alone is in the journal, and no refused connection' '
	cd r &&
	git agent start --name looked --network allow -- python3 -c "
import socket
assert socket.gethostbyname(\"refused.example\").startswith(\"127.64.\")
assert socket.gethostbyname(\"refused.example\") != socket.gethostbyname(\"other.example\")" 2>../err &&
	! grep refused ../err &&
	git agent log --json looked >../log &&
	grep "\"how\":\"looked up\",\"to\":\"refused.example\"" ../log &&
	grep "\"how\":\"looked up\",\"to\":\"other.example\"" ../log
'

test_expect_success 'a service that is asked to end has its network until it has' '
	cd r &&
	mkdir -p "$HOME/.config/git-agent" &&
	test_when_finished "rm $HOME/.config/git-agent/config.yaml" &&
	printf "services:\n  last: {command: \"trap \x27python3 try.py localhost:$port >after; exit 0\x27 TERM; touch up; while :; do sleep 0.1; done\", ready: test -e up}\n" >"$HOME/.config/git-agent/config.yaml" &&
	git agent start -q --name service --allow localhost:$port -- true &&
	test_prints "localhost:$port ping" git show agent/service:after
'

test_expect_success 'a port of its own that is looked for is no refusal, one of the host is, once for both families' '
	cd r &&
	free=$(python3 -c "
import socket
s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])") &&
	git agent start --name probes --allow name.example:1 -- python3 try.py localhost:$free 127.0.0.1:$free name.example:2 localhost:$port 2>../err >../out &&
	[ "$(grep -c refused ../out)" = 4 ] &&
	grep "refused 2 connections: name.example:2, localhost:$port; allow with" ../err
'

test_expect_success 'a service on ::1 alone is localhost as well' '
	cd r &&
	git agent start -q --allow localhost:$port6 -- python3 try.py localhost:$port6 127.0.0.1:$port6 >../out &&
	{
		echo "localhost:$port6 six"
		echo "127.0.0.1:$port6 six"
	} >../want &&
	test_cmp ../want ../out
'

test_expect_success 'a listed address literal is reached, and its other ports are not' '
	cd r &&
	git agent start -q --allow 127.0.0.7:$any -- python3 try.py 127.0.0.7:$any 127.0.0.8:$any >../out &&
	{
		echo "127.0.0.7:$any ping"
		echo "127.0.0.8:$any refused"
	} >../want &&
	test_cmp ../want ../out
'

test_expect_success NAME 'a listed name is looked up on the host, and may lead to this machine only where that is listed' '
	cd r &&
	at=$(getent ahostsv4 $me | sed "s/ .*//;q") &&
	test_prints "$me:$any ping" git agent start -q --allow $me:$any --allow $at:$any -- python3 try.py $me:$any &&
	test_prints "$me:$any reset" git agent start -q --allow $me:$any -- python3 try.py $me:$any
'

test_expect_success 'where nobody answers the connection is reset, and that is no refusal' '
	cd r &&
	kill=$(python3 -c "
import socket
s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])") &&
	test_prints "localhost:$kill reset" git agent start -q --name nobody --allow localhost:$kill -- python3 try.py localhost:$kill &&
	git agent log --json nobody | grep "\"how\":\"failed\"" &&
	git agent show --json nobody | grep "\"refused\": \[\]"
'

cat >big.py <<'PY'
import socket, sys, threading, hashlib
port, n = int(sys.argv[1]), int(sys.argv[2])
def one(i, size, out):
	c = socket.create_connection(("localhost", port))
	data = (b"%08d" % i) * (size // 8)
	def send():
		c.sendall(data)
		c.shutdown(socket.SHUT_WR)
	t = threading.Thread(target=send)
	t.start()
	h = hashlib.sha256()
	got = 0
	while True:
		d = c.recv(1 << 16)
		if not d:
			break
		h.update(d)
		got += len(d)
	t.join()
	out[i] = got == size and h.digest() == hashlib.sha256(data).digest()
out = {}
one(0, 32 << 20, out)
threads = [threading.Thread(target=one, args=(i, 1 << 16, out)) for i in range(1, n)]
for t in threads: t.start()
for t in threads: t.join()
print(len(out), all(out.values()))
PY

test_expect_success 'much at a time, and many at once, arrive whole' '
	cp big.py r &&
	cd r &&
	git add big.py &&
	git commit -qm big &&
	test_prints "200 True" git agent start -q --allow localhost:$port -- python3 big.py $port 200
'

cat >slow.py <<'PY'
import socket, sys, time
c = socket.create_connection(("localhost", int(sys.argv[1])))
c.setblocking(False)
sent = idle = 0
while idle < 20:
	try:
		sent += c.send(b"x" * 65536)
		idle = 0
	except BlockingIOError:
		idle += 1
		time.sleep(0.05)
c.setblocking(True)
c.shutdown(socket.SHUT_WR)
got = 0
while True:
	d = c.recv(1 << 20)
	if not d:
		break
	got += len(d)
print(got == sent, sent < 256 << 20)
PY

test_expect_success 'who does not read is waited for, and holds up who writes' '
	cp slow.py r &&
	cd r &&
	git add slow.py &&
	git commit -qm slow &&
	test_prints "True True" git agent start -q --allow localhost:$port -- python3 slow.py $port
'

cat >proxy.py <<'PY'
import os, socket, sys
from urllib.parse import urlsplit
p = urlsplit(os.environ["https_proxy"])
def ask(to, more):
	c = socket.create_connection((p.hostname, p.port))
	c.sendall(("CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n%s" % (to, more)).encode())
	c.shutdown(socket.SHUT_WR)
	r = b""
	while True:
		d = c.recv(1000)
		if not d:
			return r.decode()
		r += d
for to in sys.argv[1:]:
	r = ask(to, "ping")
	print(to, r.split()[1], r.endswith("ping"))
PY

test_expect_success 'NW-04: through the proxy is what is allowed, and nothing else' '
	cp proxy.py r &&
	cd r &&
	git add proxy.py &&
	git commit -qm proxy &&
	git agent start -q --name proxy --allow localhost:$port --allow "*.example.test:443" -- \
		python3 proxy.py localhost:$port localhost:$other 192.0.2.1:443 >../out &&
	cat >../want <<-EOT &&
	localhost:$port 200 True
	localhost:$other 403 False
	192.0.2.1:443 403 False
	EOT
	test_cmp ../want ../out &&
	git agent log --json proxy >../log &&
	grep "\"how\":\"refused\",\"to\":\"localhost:$other\"" ../log
'

cat >dns.py <<'PY'
import socket, struct
def query(name, type):
	q = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0)
	for l in name.split("."):
		q += bytes([len(l)]) + l.encode()
	return q + b"\0" + struct.pack(">2H", type, 1)
def udp(name):
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.settimeout(5)
	s.connect(("127.0.0.53", 53))
	s.send(query(name, 1))
	return s.recv(1000)
def tcp(name):
	s = socket.create_connection(("127.0.0.53", 53))
	q = query(name, 1)
	s.sendall(struct.pack(">H", len(q)) + q)
	return s.recv(1000)[2:]
for ask in (udp, tcp):
	for name in ("db.example", "data-in-a-name.evil.example", "_data.evil.example"):
		r = ask(name)
		assert not r[7] or r[-4:-2] == b"\x7f\x40", r
		print(ask.__name__, name, r[3] & 15, struct.unpack(">H", r[6:8])[0])
PY

test_expect_success 'NW-05: the resolver answers with addresses of its own, by UDP and TCP' '
	cp dns.py r &&
	cd r &&
	git add dns.py &&
	git commit -qm dns &&
	git agent start -q --allow db.example:5432 -- python3 dns.py >../out &&
	cat >../want <<-EOT &&
	udp db.example 0 1
	udp data-in-a-name.evil.example 0 1
	udp _data.evil.example 3 0
	tcp db.example 0 1
	tcp data-in-a-name.evil.example 0 1
	tcp _data.evil.example 3 0
	EOT
	test_cmp ../want ../out
'

cat >web.py <<'PY'
import socket, os, sys, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", 3000)); s.listen(5)
open("up", "w").close()
for i in range(int(sys.argv[1])):
	c, _ = s.accept()
	c.sendall(os.environ["GIT_AGENT_SESSION"].encode()); c.close()
PY

cat >published.py <<'PY'
import json, socket, sys, time
ports = {}
for s in json.load(open(sys.argv[1])):
	for p in s["network"]["published"]:
		addr, port, inside = p.split(":")
		assert addr == "127.0.0.1" and inside == "3000", p
		ports[s["name"]] = int(port)
assert sorted(ports) == ["one", "two"] and ports["one"] != ports["two"], ports
for name, port in ports.items():
	for i in range(200):
		try:
			c = socket.create_connection(("127.0.0.1", port)); got = c.recv(100).decode()
			if got:
				break
		except ConnectionResetError:
			pass
		time.sleep(0.05)
	assert got == name, (got, name)
PY

test_expect_success 'what a session listens on is its own, and published where that is asked for' '
	cp web.py r &&
	cd r &&
	git add web.py &&
	git commit -qm web &&
	for n in one two; do
		git agent -c network.publish=auto:3000 start -q -d --name $n --network allow -- python3 web.py 1 ||
			exit 1
	done &&
	git agent list --json >../json &&
	git agent list >../list &&
	python3 ../published.py ../json &&
	[ "$(grep -c "published at 127.0.0.1:.*:3000" ../list)" = 2 ] &&
	git agent wait one &&
	git agent wait two
'

test_expect_success 'sessions beside each other have ports to listen on and an id, which no two share; who goes on keeps the id' '
	cd r &&
	say="echo \$GIT_AGENT_PORT_BASE \$GIT_AGENT_SESSION_ID >env; touch said" &&
	for mode in host none allow; do
		git agent start -q -d --name at-$mode --network $mode -- sh -c "
		$say
		exec sleep 1000" &&
		test_wait_for "git agent shell at-$mode -- test -e said" || exit 1
	done &&
	for mode in host none allow; do git agent shell at-$mode -- cat env || exit 1; done >../envs &&
	python3 - ../envs <<-\EOT &&
	import sys
	lines = [l.split() for l in open(sys.argv[1])]
	ports, ids = sorted(int(l[0]) for l in lines), [l[1] for l in lines]
	assert len(lines) == 3 and len(set(ids)) == 3 and all(len(i) == 12 for i in ids), lines
	assert 1024 < ports[0] and ports[2] <= 65536 - 16 and all(b - a >= 16 for a, b in zip(ports, ports[1:])), lines
	EOT
	git agent stop -q at-host &&
	git agent stop -q at-none &&
	git agent stop -q at-allow &&
	git agent resume -q at-none -- sh -c "
		cut -d\" \" -f2 env
		echo \$GIT_AGENT_SESSION_ID" >../out &&
	test "$(uniq ../out | wc -l)" = 1 &&
	test "$(wc -l <../out)" = 2
'

cat >many.py <<'PY'
import socket, threading
s = socket.create_server(("127.0.0.1", 3000), backlog=200)
def serve(c):
	c.sendall(c.recv(100))
	c.close()
for i in range(101):
	threading.Thread(target=serve, args=(s.accept()[0],)).start()
PY

cat >published-many.py <<'PY'
import json, socket, sys, time
at = json.load(open(sys.argv[1]))["network"]["published"][0].split(":")
def up():
	try:
		c = socket.create_connection((at[0], int(at[1])))
		c.sendall(b"up")
		return c.recv(100) == b"up"
	except ConnectionResetError:
		return False
while not up():
	time.sleep(0.05)
conns = [socket.create_connection((at[0], int(at[1]))) for _ in range(100)]
for i, c in enumerate(conns):
	c.sendall(b"%d" % i)
assert [int(c.recv(100)) for c in conns] == list(range(100))
PY

test_expect_success 'more connections to a published port than sockets are kept for' '
	cp many.py r &&
	cd r &&
	git add many.py &&
	git commit -qm many &&
	git agent -c network.publish=auto:3000 start -q -d --name many --network allow -- python3 many.py &&
	git agent show --json many >../json &&
	python3 ../published-many.py ../json &&
	git agent wait many
'

test_expect_success 'a port that is the host'\''s inside is not published' '
	cd r &&
	{
		test_expect_code 129 git agent -c network.publish=$port start -q --allow localhost:$port -- true 2>../err ||
			{
				cat ../err
				exit 1
			}
	} &&
	grep "cannot publish port $port: inside, localhost:$port is the host" ../err &&
	git agent -c network.publish=auto:$port start -q --allow localhost:$other -- true
'

test_expect_success 'what did not come to run, or was killed, publishes nothing' '
	cd r &&
	git agent -c network.publish=auto:3000 start -q --name pub --network allow -- sh -c "echo 1 >pub" &&
	for how in fail:128 kill:137; do
		test_expect_code ${how#*:} env GIT_AGENT_FAULT=start:running:${how%:*} git agent -c network.publish=auto:3000 resume -q pub -- true ||
			exit 1
		git agent show --json pub >../json &&
		python3 -c "import json; n = json.load(open(\"../json\")); assert n[\"network\"][\"published\"] == [], n" ||
			exit 1
	done
'

test_expect_success 'a port that is taken is named, and nothing is left' '
	cd r &&
	git agent list --json >../before &&
	test_expect_code 125 git agent -c network.publish=$port:3000 start --network allow -- true 2>../err &&
	grep "cannot publish port 3000 at .127.0.0.1:$port.: Address already in use" ../err &&
	grep "auto:3000" ../err &&
	git agent list --json >../after &&
	test_cmp ../before ../after
'

cat >unix.py <<'PY'
import socket, os, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print(s.recv(100).decode(), os.listdir(os.path.dirname(sys.argv[1])))
PY

test_expect_success 'a unix socket of the host is reached at its path' '
	cp unix.py r &&
	cd r &&
	git add unix.py &&
	git commit -qm unix &&
	echo "from a socket ['\''s'\'']" >../want &&
	for mode in host allow; do
		git agent -c network.sockets=$sockets/s start -q --network $mode -- python3 unix.py $sockets/s >../out &&
		test_cmp ../want ../out || exit 1
	done &&
	test_must_fail git agent -c network.sockets=$sockets/s start -q --network none -- python3 unix.py $sockets/s &&
	test_expect_code 125 git agent -c network.sockets=/etc/x/y start -q -- true 2>../err &&
	grep "cannot be shown inside" ../err &&
	w=$(mktemp -d "$TRASH/s-XXXXXX") &&
	test_when_finished "rm -r $w" &&
	: >"$w/s" &&
	git agent -c mounts.rw=$w start -q -- true &&
	test_expect_code 125 git agent -c mounts.rw=$w -c network.sockets=$w/s start -q -- true 2>../err &&
	grep "$w/s. cannot be shown inside" ../err
'

test_expect_success 'a session goes on with the network it was started with' '
	cd r &&
	git agent start -q --name again --no-network -- sh -c "echo 1 >f" &&
	git agent resume -q again -- python3 try.py localhost:$port >../out &&
	grep "localhost:$port refused" ../out &&
	git agent resume -q --allow localhost:$port again -- python3 try.py localhost:$port 127.0.0.1:$other >../out &&
	grep "localhost:$port ping" ../out &&
	grep "127.0.0.1:$other refused" ../out &&
	git agent resume -q again -- python3 try.py localhost:$port 127.0.0.1:$other >../out &&
	grep "localhost:$port ping" ../out &&
	grep "127.0.0.1:$other refused" ../out
'

test_expect_success 'PS-01: a repository can make it stricter, and not list what is reached' '
	cp -r r strict &&
	cd strict &&
	printf "network: {mode: none}\n" >.agentdev.yaml &&
	git add -A &&
	git commit -qm none &&
	for i in 1 2; do
		git agent start -q -- python3 try.py localhost:$port >../out &&
		grep "localhost:$port refused" ../out ||
			exit 1
	done &&
	ls "$HOME"/.local/state/git-agent/*/network &&
	git agent start -q --network host -- python3 try.py localhost:$port >../out &&
	grep "localhost:$port ping" ../out &&
	printf "network: {mode: allow, allow: [\"localhost:$port\"]}\n" >.agentdev.yaml &&
	git commit -qam allow &&
	test_expect_code 125 git agent start -q -- true 2>../err &&
	grep "network.allow. needs trust" ../err &&
	git rm -q .agentdev.yaml &&
	git commit -qm host &&
	git agent start -q -- python3 try.py localhost:$port >../out &&
	grep "localhost:$port ping" ../out &&
	! ls "$HOME"/.local/state/git-agent/*/network
'

test_expect_success 'a dry run says what it would be' '
	cd r &&
	git agent start --dry-run --allow localhost:$port -- true >../out &&
	grep "network: only what is listed: localhost:$port\$" ../out &&
	git agent start --dry-run --network allow -- true >../out &&
	grep "network: only what is listed: nothing\$" ../out &&
	git agent start --dry-run --allow a:1 --allow b:1 --allow c:1 --allow d:1 --allow e:1 --allow f:1 -- true >../out &&
	grep "a:1, b:1, c:1, d:1 and 2 more\$" ../out &&
	git agent start --dry-run --no-network -- true >../out &&
	grep "network: none" ../out &&
	git agent start --dry-run -- true >../out &&
	! grep network: ../out
'

test_expect_success 'an agent reaches what it needs without a list, and no other command does' '
	cd r &&
	mkdir -p "$HOME/.local/bin" "$HOME/.config/git-agent" &&
	printf "#!/bin/sh\ncat /etc/hosts\n" >"$HOME/.local/bin/claude" &&
	printf "#!/bin/sh\npython3 try.py localhost:$port localhost:$other\n" >"$HOME/.local/bin/mine" &&
	chmod +x "$HOME/.local/bin/claude" "$HOME/.local/bin/mine" &&
	printf "agents:\n  mine:\n    hosts: localhost:$port\n" >"$HOME/.config/git-agent/config.yaml" &&
	test_when_finished "rm -r $HOME/.local/bin $HOME/.config/git-agent/config.yaml" &&
	PATH=$HOME/.local/bin:$PATH &&
	git agent start --name need --network allow -- mine >../out 2>../err &&
	grep "localhost:$port ping" ../out &&
	grep "localhost:$other refused" ../out &&
	grep "network: and what .mine. needs: localhost:$port\$" ../err &&
	git agent log --json need | grep "\"allow\": *\[\"localhost:$port\"\]" &&
	git agent start -q --network allow -- sh -c "python3 try.py localhost:$port" >../out &&
	grep "localhost:$port refused" ../out &&
	git agent start -q --no-network -- mine >../out &&
	grep "localhost:$port refused" ../out &&
	git agent start -q --allow localhost:$port -- claude >../out &&
	grep "api.anthropic.com" ../out &&
	git agent start -q --allow localhost:$port -- cat /etc/hosts >../out &&
	! grep anthropic ../out &&
	printf "agents:\n  mine:\n    hosts: localhost\n" >"$HOME/.config/git-agent/config.yaml" &&
	test_must_fail git agent start -- mine 2>../err &&
	grep "hosts" ../err
'

test_expect_success 'options that say nothing together are refused' '
	cd r &&
	test_expect_code 129 git agent start --no-network --network host -- true &&
	test_expect_code 129 git agent start --no-network --allow localhost:1 -- true &&
	test_expect_code 129 git agent start --allow localhost -- true 2>../err &&
	grep "network.allow. takes host:port" ../err
'

test_done
