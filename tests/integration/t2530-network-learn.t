#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='start --learn: all is reached, and the list that would have sufficed does'
. "$TEST_SRCDIR/tests/lib/net-host.sh"
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use net-servers
require_sandbox

chmod 711 "$TRASH"
test_aihome
cd "$HOME" &&
test_enter p &&
echo a >a &&
test_commit base &&
cd "$TRASH" ||
	exit 1

# learn COMMAND...: what it prints is in `out`, what is said at the end in `said`.
learn() {
	git -C "$HOME/p" agent drop -f learnt >/dev/null 2>&1
	(
		cd "$HOME/p" &&
		timeout 120 git agent start --name learnt --learn -- "$@" </dev/null
	) >out 2>said &&
	grep "network: NOT restricted" said >/dev/null || {
		cat out said
		return 1
	}
}
# The lines of the list, to be pasted.
pasted() {
	sed -n '/^network:$/,/^ *next:/p' said | grep -v '^ *next:'
}
# learnt WORD...: these are in the list, and no others, for people and machines.
learnt() {
	printf '    - "%s"\n' "$@" >want &&
	{ pasted | sed 1,3d; } >got &&
	test_cmp want got &&
	git -C "$HOME/p" agent show --json learnt >json &&
	git -C "$HOME/p" agent show --journal --json learnt >log &&
	python3 - "$@" <<-\EOT
	import json, sys
	want = sys.argv[1:]
	n = json.load(open("json"))["network"]
	assert n["mode"] == "learn" and n["learnt"] == want and n["refused"] == [], n
	last = [e for e in map(json.loads, open("log")) if e["event"] == "learnt"]
	assert len(last) == 1 and last[0]["allow"] == want and last[0]["not_listable"] == [], last
	EOT
}
# suffices COMMAND...: with the list in the repository's file and trusted it says the same, and nothing
# is refused. The repository is as it was then.
suffices() {
	pasted >"$HOME/p/.agentdev.yaml" &&
	git -C "$HOME/p" add .agentdev.yaml &&
	git -C "$HOME/p" commit -qm list &&
	cp out before &&
	(
		cd "$HOME/p" &&
		git agent trust -y >/dev/null &&
		timeout 120 git agent start -q --name allowed -- "$@" </dev/null
	) >after &&
	test_cmp before after &&
	git -C "$HOME/p" agent show --json allowed >json &&
	python3 -c '
import json
n = json.load(open("json"))["network"]
assert n["mode"] == "allow" and n["refused"] == [] and n["learnt"] == [], n' &&
	git -C "$HOME/p" agent drop -f allowed >/dev/null 2>&1 &&
	git -C "$HOME/p" reset -q --hard HEAD~1
}

test_that CURL 'what curl reaches by names, IPv6 and both proxies is learnt' '
	certificates &&
	web_start 192.0.2.10 443 tls &&
	web_start 192.0.2.10 80 &&
	web_start 2001:db8::10 8080 &&
	cat >"$HOME/aihome/ways" <<-EOT &&
	set -e
	curl -sS --cacert "$HOME/ca.pem" https://web.example.org/a
	curl -sS http://git.example.org/b
	curl -sS http://six.example.org:8080/c
	curl -sS "http://[2001:db8::10]:8080/d"
	curl -sS -p -x http://127.0.0.53:3128 http://a.wild.example.net/e
	curl -sS -x socks5h://127.0.0.53:3128 http://b.c.wild.example.net/f
	EOT
	learn sh "$HOME/ways" &&
	test "$(wc -l <out)" = 6 &&
	learnt "[2001:db8::10]:8080" a.wild.example.net:80 b.c.wild.example.net:80 git.example.org:80 \
		six.example.org:8080 web.example.org:443 &&
	suffices sh "$HOME/ways"
'

# say HOST:PORT...: for each what came back of "ping", or why nothing
cat >"$HOME/p/say.py" <<'EOF_SAY'
import errno, socket, sys
for to in sys.argv[1:]:
    host, port = to.rsplit(":", 1)
    try:
        c = socket.create_connection((host.strip("[]"), int(port)), timeout=60)
        c.sendall(b"ping")
        c.shutdown(socket.SHUT_WR)
        said = c.recv(100).decode() or "nothing"
    except OSError as e:
        # what a reset is called depends on which of these calls it comes before
        said = "ConnectionResetError" if e.errno in (errno.ENOTCONN, errno.EPIPE) else type(e).__name__
    print(to, said)
EOF_SAY
git -C "$HOME/p" add say.py &&
git -C "$HOME/p" commit -qm say

test_that 'names that lead to this machine or its link are learnt with their addresses' '
	echo_start 127.0.0.1 7100 &&
	echo_start 169.254.169.254 7101 &&
	echo_start 198.51.100.5 7102 &&
	set -- python3 say.py rebound.example.org:7100 meta.example.org:7101 own.example.org:7102 &&
	learn "$@" &&
	printf "%s ping\n" rebound.example.org:7100 meta.example.org:7101 own.example.org:7102 >want &&
	test_cmp want out &&
	learnt 169.254.169.254:7101 198.51.100.5:7102 localhost:7100 meta.example.org:7101 own.example.org:7102 \
		rebound.example.org:7100 &&
	suffices "$@"
'

test_that 'what cannot be reached is not in the list' '
	echo_start 127.0.0.1 7200 &&
	learn python3 say.py localhost:7200 localhost:7201 127.0.0.9:7201 web.example.org:7202 192.0.2.10:7203 \
		nobody.example.com:7204 &&
	cat >want <<-EOT &&
	localhost:7200 ping
	localhost:7201 ConnectionRefusedError
	127.0.0.9:7201 ConnectionRefusedError
	web.example.org:7202 ConnectionResetError
	192.0.2.10:7203 ConnectionResetError
	nobody.example.com:7204 ConnectionResetError
	EOT
	test_cmp want out &&
	learnt localhost:7200 &&
	grep "\"event\":\"learnt\"" log | grep "\"not_reached\":\[.*nobody.example.com:7204"
'

cat >"$HOME/p/own.py" <<'EOF_OWN'
import socket, sys, threading
where, port = sys.argv[1], int(sys.argv[2])
def probe():
    try:
        socket.create_connection(("127.0.0.1", port), timeout=60).close()
        return "taken"
    except ConnectionRefusedError:
        return "free"
def serve(s):
    while True:
        c, _ = s.accept()
        c.sendall(b"mine")
        c.close()
print(probe(), probe())
s = socket.create_server((where, port))
threading.Thread(target=serve, args=(s,), daemon=True).start()
for host in "127.0.0.1", "localhost", "0.0.0.0":
    print(socket.create_connection((host, port), timeout=60).recv(10).decode())
EOF_OWN
git -C "$HOME/p" add own.py &&
git -C "$HOME/p" commit -qm own

test_that 'a port of the session is free before it listens there, and its own then' '
	printf "%s\n" "free free" mine mine mine >want &&
	for where in 127.0.0.1 0.0.0.0; do
		learn python3 own.py $where 7300 &&
		test_cmp want out &&
		grep "reached nothing over the network" said ||
			exit 1
	done
'

test_that 'a port that the session publishes is not learnt as one of the host' '
	cd "$HOME/p" &&
	test_prints "localhost:7600 ConnectionRefusedError" \
		git agent -c network.publish=7600:7600 start -q --learn -- python3 say.py localhost:7600
'

test_that 'setup and finish are learnt from as well, and renames still work' '
	echo_start 192.0.2.10 7700 &&
	test_settings <<-EOT &&
	setup: ["python3 say.py web.example.org:7700"]
	finish: ["python3 say.py db.example.org:7700"]
	EOT
	test_when_finished "rm $conf" &&
	git -C "$HOME/p" reset -q --hard &&
	mkdir "$HOME/p/d" &&
	echo x >"$HOME/p/d/f" &&
	git -C "$HOME/p" add d &&
	git -C "$HOME/p" commit -qm d &&
	learn sh -c "
		mv d e &&
		cat e/f &&
		python3 say.py git.example.org:7700" &&
	printf "x\ngit.example.org:7700 ping\n" >want &&
	test_cmp want out &&
	learnt db.example.org:7700 git.example.org:7700 web.example.org:7700
'

test_that 'only --learn learns, no setting and no file of a repository' '
	cd "$HOME/p" &&
	test_expect_code 129 git agent -c network.mode=learn start -- true &&
	for other in --no-network "--network host" "--allow a:1"; do
		test_fails 129 "learn restricts nothing" git agent start --learn $other -- true ||
			exit 1
	done &&
	printf "network: {mode: learn}\n" >.agentdev.yaml &&
	git add .agentdev.yaml &&
	git commit -qm learn &&
	test_expect_code 125 git agent start -q -- true
'

test_that 'a session that learnt resumes with the network of the settings' '
	cd "$HOME/p" &&
	printf "network: {mode: none}\n" >.agentdev.yaml &&
	git commit -qam none &&
	git agent start -q --name on --learn -- sh -c "echo 1 >new" &&
	git agent show --json on | grep "\"mode\": \"learn\"" &&
	git agent resume -q on -- true &&
	git agent show --json on | grep "\"mode\": \"none\"" &&
	git agent start --dry-run --learn -- true | grep "network: NOT restricted"
'

test_that 'only a session that learns has its connections announced' '
	cat >"$HOME/aihome/filters" <<-\EOT &&
	awk "/^Seccomp/" /proc/self/status
	EOT
	cd "$HOME/p" &&
	git reset -q --hard HEAD~2 &&
	git agent start -q -- sh "$HOME/filters" >../plain &&
	git agent -c sandbox.rename=false start -q --learn -- sh "$HOME/filters" >../one &&
	git agent start -q --learn -- sh "$HOME/filters" >../both &&
	git agent -c sandbox.rename=false start -q -- sh "$HOME/filters" >../none &&
	cmp ../plain ../both &&
	cmp ../plain ../one &&
	! cmp ../plain ../none
'

test_done
