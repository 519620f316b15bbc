#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='network: none, or what is allowed'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# A server on loopback: prints its port once it listens, gives back what it gets, and closes when that is over.
cat >serve.py <<'PY'
import socket, threading
s = socket.socket()
s.bind(("127.0.0.1", 0))
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
print(s.getsockname()[1], flush=True)
while True:
	c, _ = s.accept()
	threading.Thread(target=echo, args=(c,), daemon=True).start()
PY

# One word for each destination: what was answered to "ping", or why not
git init -q r
cat >r/try.py <<'PY'
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

# a port where nobody listens
cat >r/unused.py <<'PY'
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])
PY

# the same by UDP
cat >r/datagrams.py <<'PY'
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

cat >r/slow.py <<'PY'
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

cat >r/web.py <<'PY'
import socket, os
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", 3000)); s.listen(5)
open("up", "w").close()
c, _ = s.accept()
c.sendall(os.environ["GIT_AGENT_SESSION"].encode())
PY

cat >r/many.py <<'PY'
import socket, threading
s = socket.create_server(("127.0.0.1", 3000), backlog=200)
def serve(c):
	c.sendall(c.recv(100))
	c.close()
while True:
	threading.Thread(target=serve, args=(s.accept()[0],)).start()
PY

git -C r add . &&
git -C r commit -qm one || exit 1

# serve FILE: a server; its port is in FILE
serve() {
	serve_file=$1
	python3 "$HOME/serve.py" >"$serve_file" &
	serve_pids="$serve_pids $!"
	test_wait_for 'test -s "$serve_file"'
}
serve_pids=
trap 'kill $serve_pids 2>/dev/null' EXIT
serve port4
serve other4
port=$(cat port4) other=$(cat other4)

test_that 'with --network none there is only lo, and each refused connection is named' '
	cd r &&
	git agent start --name none --network none -- sh -c "
		sed -n \"s/^ *\([a-z0-9]*\):.*/interface \1/p\" /proc/net/dev
		python3 try.py localhost:$port 192.0.2.1:80 [2001:db8::1]:443 refused.example:443 127.0.0.53:3128" \
		>../out 2>../err &&
	cat >../want <<-EOT &&
	interface lo
	localhost:$port refused
	192.0.2.1:80 refused
	[2001:db8::1]:443 refused
	refused.example:443 no such name
	127.0.0.53:3128 refused
	EOT
	test_cmp ../want ../out &&
	grep "refused 4 connections: " ../err &&
	git agent show --journal --json none >../log &&
	for to in localhost:$port 192.0.2.1:80 "\[2001:db8::1\]:443" refused.example; do
		grep "refused.* $to[,;]" ../err &&
		grep "allow with .*--allow $to\b" ../err &&
		grep "\"how\":\"refused\",\"to\":\"$to\"" ../log ||
			exit 1
	done
'

test_that 'the first 50 refused connections are named, and others counted' '
	cd r &&
	all=$(seq -f "192.0.2.%.0f:80" 1 57) &&
	test_says "refused more than 50 connections: 192.0.2.1:80, .* and 52 more; allow with" \
		git agent start --name refusals --no-network -- python3 try.py $all >../out &&
	git agent show --json refusals | python3 -c "
import json, sys
n = json.load(sys.stdin)[\"network\"]
assert len(n[\"refused\"]) == 50 and n[\"unlisted\"] == 7, n"
'

test_that 'UDP is refused at once and named, without a hint to allow it' '
	cd r &&
	git agent start --name udp --network allow -- sh -c "
		python3 datagrams.py 8.8.8.8:53 [2001:db8::1]:123 refused.example:443 127.0.0.1:$port
		python3 try.py 192.0.2.1:80" >../out 2>../err &&
	cat >../want <<-EOT &&
	8.8.8.8:53 refused
	[2001:db8::1]:123 refused
	refused.example:443 refused
	127.0.0.1:$port refused
	192.0.2.1:80 refused
	EOT
	test_cmp ../want ../out &&
	grep "refused 4 connections: .*; allow with --allow 192.0.2.1:80\$" ../err &&
	git agent show --journal --json udp >../log &&
	for to in 8.8.8.8:53/udp "\[2001:db8::1\]:123/udp" refused.example:443/udp; do
		grep "refused.* $to[,;]" ../err &&
		grep "\"how\":\"refused\",\"to\":\"$to\"" ../log ||
			exit 1
	done &&
	git agent start --no-network -- python3 datagrams.py 8.8.8.8:53 >../out 2>../err &&
	test_prints "8.8.8.8:53 refused" cat ../out &&
	grep "refused 1 connection: .*; only TCP can be allowed\$" ../err
'

test_that 'refused connections are named at the end, in the state and in the log' '
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
	git agent show --journal --json named >../log &&
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

test_that 'a service that is told to end has its network until it has ended' '
	cd r &&
	test_when_finished test_settings &&
	test_settings <<-EOT &&
	services:
	  last:
	    command: |
	      trap "python3 try.py localhost:$port >after; exit 0" TERM
	      touch up
	      while :; do sleep 0.1; done
	    ready: test -e up
	EOT
	git agent start -q --name service --allow localhost:$port -- true &&
	test_prints "localhost:$port ping" git show agent/service:after
'

test_that 'a local port where nobody listens is no refused connection, one of the host is one' '
	cd r &&
	free=$(python3 unused.py) &&
	git agent start --name probes --allow name.example:1 -- \
		python3 try.py localhost:$free 127.0.0.1:$free name.example:2 localhost:$port 2>../err >../out &&
	[ "$(grep -c refused ../out)" = 4 ] &&
	grep "refused 2 connections: name.example:2, localhost:$port; allow with" ../err
'

test_that 'an allowed connection that nobody answers is reset, and is no refused connection' '
	cd r &&
	nobody=$(python3 unused.py) &&
	test_prints "localhost:$nobody reset" \
		git agent start -q --name nobody --allow localhost:$nobody -- python3 try.py localhost:$nobody &&
	git agent show --journal --json nobody | grep "\"how\":\"failed\"" &&
	git agent show --json nobody | grep "\"refused\": \[\]"
'

test_that 'a server that does not read yet makes the client wait' '
	cd r &&
	test_prints "True True" git agent start -q --allow localhost:$port -- python3 slow.py $port
'

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

test_that 'sessions listen on the same port, and each is published at a port of its own' '
	cd r &&
	for n in one two; do
		git agent -c network.publish=auto:3000 start -q -d --name $n --network allow -- python3 web.py || exit 1
	done &&
	git agent list --json >../json &&
	git agent list >../list &&
	python3 ../published.py ../json &&
	[ "$(grep -c "published at 127.0.0.1:.*:3000" ../list)" = 2 ] &&
	git agent wait one &&
	git agent wait two
'

test_that 'a published port takes more connections at once than it keeps sockets for' '
	cd r &&
	git agent -c network.publish=auto:3000 start -q -d --name many --network allow -- python3 many.py &&
	at=$(git agent list --json | sed -n "s/.*\"127.0.0.1:\([0-9]*\):3000\".*/\1/p") &&
	test_wait_for "python3 -c \"
import socket
c = socket.create_connection((\\\"127.0.0.1\\\", $at))
c.sendall(b\\\"up\\\")
assert c.recv(100) == b\\\"up\\\"\"" &&
	python3 -c "
import socket
conns = [socket.create_connection((\"127.0.0.1\", $at)) for _ in range(100)]
for i, c in enumerate(conns):
    c.sendall(b\"%d\" % i)
assert [int(c.recv(100)) for c in conns] == list(range(100))" &&
	git agent stop -q many
'

test_that 'a port that inside leads to the host cannot be published' '
	cd r &&
	test_fails 129 "cannot publish port $port: inside, localhost:$port is the host" \
		git agent -c network.publish=$port start -q --allow localhost:$port -- true &&
	git agent -c network.publish=auto:$port start -q --allow localhost:$other -- true
'

test_that 'a session that did not start, or was killed, publishes nothing' '
	cd r &&
	git agent start -q --name pub --network allow -- sh -c "echo 1 >pub" &&
	for how in fail:128 kill:137; do
		test_expect_code ${how#*:} env GIT_AGENT_FAULT=start:running:${how%:*} \
			git agent -c network.publish=auto:3000 resume -q pub -- true &&
		git agent show --json pub | grep "\"published\": \[\]" ||
			exit 1
	done
'

test_that 'a start that cannot publish a port names it and leaves no session' '
	cd r &&
	git agent list --json >../before &&
	test_fails 125 "cannot publish port 3000 at .127.0.0.1:$port.: Address already in use" \
		git agent -c network.publish=$port:3000 start --network allow -- true &&
	grep "auto:3000" ../err &&
	git agent list --json >../after &&
	test_cmp ../before ../after
'

test_that 'resume keeps the network of the session, or takes the one it is given' '
	cd r &&
	git agent start -q --name again --no-network -- sh -c "echo 1 >f" &&
	git agent resume -q again -- python3 try.py localhost:$port >../out &&
	test_prints "localhost:$port refused" cat ../out &&
	printf "localhost:$port ping\n127.0.0.1:$other refused\n" >../want &&
	for option in "--allow localhost:$port" ""; do
		git agent resume -q $option again -- python3 try.py localhost:$port 127.0.0.1:$other >../out &&
		test_cmp ../want ../out ||
			exit 1
	done
'

test_that 'PS-01: a repository can take the network away, but needs trust to allow anything' '
	cp -r r strict &&
	cd strict &&
	printf "network: {mode: none}\n" >.agentdev.yaml &&
	test_commit none &&
	for i in 1 2; do
		test_shows "localhost:$port refused" git agent start -q -- python3 try.py localhost:$port ||
			exit 1
	done &&
	test_shows "localhost:$port ping" git agent start -q --network host -- python3 try.py localhost:$port &&
	printf "network: {mode: allow, allow: [\"localhost:$port\"]}\n" >.agentdev.yaml &&
	git commit -qam allow &&
	test_fails 125 "network.allow. needs trust" git agent start -q -- true &&
	git rm -q .agentdev.yaml &&
	git commit -qm host &&
	test_shows "localhost:$port ping" git agent start -q -- python3 try.py localhost:$port &&
	! ls "$HOME"/.local/state/git-agent/*/network
'

test_that 'an agent reaches the hosts that it needs without a list, and other commands do not' '
	cd r &&
	mkdir -p "$HOME/.local/bin" &&
	test_when_finished "rm -r $HOME/.local/bin $conf" &&
	test_script "$HOME/.local/bin/claude" "cat /etc/hosts" &&
	test_script "$HOME/.local/bin/mine" "python3 try.py localhost:$port localhost:$other" &&
	test_settings "agents: {mine: {hosts: \"localhost:$port\"}}" &&
	PATH=$HOME/.local/bin:$PATH &&
	git agent start --name need --network allow -- mine >../out 2>../err &&
	test_prints "localhost:$port ping\nlocalhost:$other refused" cat ../out &&
	grep "network: and what .mine. needs: localhost:$port\$" ../err &&
	git agent show --journal --json need | grep "\"allow\": *\[\"localhost:$port\"\]" &&
	test_shows "localhost:$port refused" \
		git agent start -q --network allow -- sh -c "python3 try.py localhost:$port" &&
	test_shows "localhost:$port refused" git agent start -q --no-network -- mine &&
	test_shows "api.anthropic.com" git agent start -q --allow localhost:$port -- claude &&
	git agent start -q --allow localhost:$port -- cat /etc/hosts >../out &&
	! grep anthropic ../out
'

test_that 'options that contradict each other are refused' '
	cd r &&
	test_expect_code 129 git agent start --no-network --network host -- true &&
	test_expect_code 129 git agent start --no-network --allow localhost:1 -- true &&
	test_fails 129 "network.allow. takes host:port" git agent start --allow localhost -- true
'

test_done
