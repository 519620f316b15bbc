#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='network: allow, with real servers, clients and resolvers'
. "$TEST_SRCDIR/tests/lib/net-host.sh"
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use net-servers
require_sandbox

chmod 711 "$TRASH"
mkdir -p "$HOME/p"
cd "$HOME/p" &&
git init -q . &&
echo a >a &&
git add a &&
git commit -qm base
cd "$TRASH" || exit 1
test_aihome

# allowed WORDS COMMAND...: run it in a session that can reach the words.
allowed() {
	allow=
	for word in $1; do
		allow="$allow --allow $word"
	done
	shift
	# the words are meant to be split
	(cd "$HOME/p" && timeout 120 git agent start -q $allow -- "$@")
}


test_that POSTGRES 'psql copies tables between PostgreSQL on localhost and on a named host' '
	postgres_start &&
	test_when_finished postgres_stop &&
	login="port=5432 user=agent password=secret dbname=postgres" &&
	rows="generate_series(1, 50000) as n, repeat(md5(random()::text), 20) as s" &&
	allowed localhost:5432 psql "host=localhost $login" -Atc "create table t as select $rows" &&
	allowed "localhost:5432 db.example.org:5432" sh -c "
		psql \"host=localhost $login\" -qAtc \"copy t to stdout\" |
			psql \"host=db.example.org $login\" -qc \"create table u (like t)\" -c \"copy u from stdin\"" &&
	for table in t u; do
		psql "host=127.0.0.1 $login" -Atc "select count(*), md5(string_agg(s, null order by n)) from $table" \
			>"sum-$table" || exit 1
	done &&
	grep "^50000|" sum-t &&
	test_cmp sum-t sum-u
'

test_that SSHD 'ssh works to a named host, and git over it' '
	mkdir -p ssh &&
	ssh-keygen -q -t ed25519 -N "" -f ssh/host &&
	mkdir -p "$HOME/aihome/keys" &&
	ssh-keygen -q -t ed25519 -N "" -f "$HOME/aihome/keys/id" &&
	cp "$HOME/aihome/keys/id.pub" ssh/authorized &&
	echo "git.example.org $(cut -d" " -f1,2 ssh/host.pub)" >"$HOME/aihome/keys/known" &&
	chmod 600 ssh/authorized &&
	cat >ssh/config <<-EOF &&
	ListenAddress 192.0.2.10:22
	HostKey $TRASH/ssh/host
	AuthorizedKeysFile $TRASH/ssh/authorized
	PidFile $TRASH/ssh/pid
	StrictModes no
	UsePAM no
	PasswordAuthentication no
	PermitRootLogin yes
	EOF
	"$(command -v sshd)" -f "$TRASH/ssh/config" -E "$TRASH/ssh/log" &&
	test_when_finished "kill \$(cat \"$TRASH/ssh/pid\")" &&
	test_wait_for "test -s ssh/pid" &&
	ssh="ssh -F none -i $HOME/keys/id -o UserKnownHostsFile=$HOME/keys/known -o StrictHostKeyChecking=yes" &&
	ssh="$ssh -o IdentitiesOnly=yes -l $(id -un)" &&
	test_prints "from the host" allowed git.example.org:22 $ssh git.example.org "
		echo from the host
		cat" </dev/null &&
	git clone -q --bare "$HOME/p" remote.git &&
	allowed git.example.org:22 sh -c "
		export GIT_SSH_COMMAND=\"$ssh\" &&
		git clone -q ssh://git.example.org$TRASH/remote.git /tmp/c &&
		cd /tmp/c &&
		echo new >new &&
		git add new &&
		git -c user.name=A -c user.email=a@example.com commit -qm new &&
		git push -q origin HEAD:pushed" &&
	test "$(git -C remote.git show pushed:new)" = new &&
	test_expect_code 255 allowed git.example.org:23 $ssh git.example.org true 2>err &&
	grep -i "refused" err
'
test_that CURL 'https to a named host has its certificate checked from end to end' '
	certificates &&
	web_start 192.0.2.10 443 tls &&
	curl="curl -sS --cacert $HOME/ca.pem" &&
	test_prints "served GET web.example.org /a 0" allowed web.example.org:443 $curl https://web.example.org/a &&
	test_expect_code 60 allowed web.example.org:443 curl -sS https://web.example.org/ &&
	allowed web.example.org:443 sh -c "
		echo |
			openssl s_client -connect web.example.org:443 -servername web.example.org -CAfile $HOME/ca.pem |
			openssl x509 -noout -fingerprint -sha256" >inside &&
	openssl x509 -in web.crt -noout -fingerprint -sha256 >outside &&
	test_cmp outside inside &&
		# a name that the certificate does not have
	test_expect_code 60 allowed db.example.org:443 $curl https://db.example.org/ &&
	head -c 3000000 /dev/urandom >"$HOME/aihome/big" &&
	test_prints "served POST web.example.org /up 3000000" \
		allowed web.example.org:443 $curl --data-binary "@$HOME/big" https://web.example.org/up
'

test_that CURL 'names under a wildcard are reached through the proxy: CONNECT, SOCKS, and http://' '
	certificates &&
	web_start 192.0.2.10 443 tls &&
	web_start 192.0.2.10 80 &&
	wild="*.wild.example.net:443 *.wild.example.net:80" &&
	cat >"$HOME/aihome/ways" <<-EOF &&
	for name in a.wild.example.net b.c.wild.example.net A.Wild.Example.NET; do
		for how in "" "--socks5-hostname 127.0.0.53:3128" "--socks4a 127.0.0.53:3128" "-p"; do
			curl -sS \$how --cacert "$HOME/ca.pem" "https://\$name/x" |
				grep -ix "served GET \$name /x 0" || exit 1
		done
	done
	EOF
	allowed "$wild" sh "$HOME/ways" &&
	test_prints "served POST a.wild.example.net /x?y 5" \
		allowed "$wild" curl -sS "http://a.wild.example.net/x?y" -H "Host: db.example.org" -d 12345 &&
		# the name is in no table inside, and so nothing leads there but the proxy
	test_expect_code 2 allowed "$wild" getent hosts a.wild.example.net &&
	test_must_fail allowed "$wild" curl -sS --noproxy "*" https://a.wild.example.net/ 2>err &&
	grep -i "resolve" err
'

cat >"$HOME/p/client.py" <<'EOF_CLIENT'
import hashlib, os, socket, sys
host, port, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
conns = [socket.create_connection((host, port), timeout=100) for _ in range(count)]
for i, c in enumerate(conns):
    data = (b"%d " % i) * (size // 4)
    c.sendall(data)
    c.shutdown(socket.SHUT_WR)
for i, c in enumerate(conns):
    want, got = (b"%d " % i) * (size // 4), bytearray()
    while True:
        some = c.recv(1 << 16)
        if not some:
            break
        got += some
    assert got == want, (i, len(got), len(want))
print("ok", len(conns))
EOF_CLIENT
git -C "$HOME/p" add client.py &&
git -C "$HOME/p" commit -qm client

test_that 'each side of a connection is closed on its own, 500 at once arrive whole' '
	echo_start 192.0.2.10 7000 &&
	to="python3 client.py web.example.org 7000" &&
	test_prints "ok 1" allowed web.example.org:7000 $to 1 5000000 &&
	test_prints "ok 500" allowed web.example.org:6990-7010 $to 500 4000 &&
	test_prints "ok 3" allowed 192.0.2.10:7000 python3 client.py 192.0.2.10 7000 3 4
'

test_that 'IPv6 is reached by name and literal, and localhost whichever family its server has' '
	echo_start 2001:db8::10 7000 &&
	echo_start ::1 7001 &&
	echo_start 127.0.0.1 7002 &&
	test_prints "ok 2" allowed six.example.org:7000 python3 client.py six.example.org 7000 2 4 &&
	test_prints "ok 2" allowed "[2001:db8::10]:7000" python3 client.py 2001:db8::10 7000 2 4 &&
	allowed localhost:7001-7002 sh -c "
		python3 client.py localhost 7001 2 4
		python3 client.py ::1 7002 2 4
		python3 client.py 127.0.0.1 7001 2 4" >out &&
	test_prints "ok 2\nok 2\nok 2" cat out
'

# prints for each name its addresses, or the error: EAI_NONAME is an answer, EAI_AGAIN would be none.
# One that is not listed has an address where nobody listens.
cat >look.c <<'EOF_C'
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		for (int flags = 0; flags <= AI_ADDRCONFIG; flags += AI_ADDRCONFIG) {
			struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags }, *a = NULL;
			int rc = getaddrinfo(argv[i], NULL, &hints, &a);
			printf("%s:%s", argv[i], rc == EAI_NONAME ? " none" : rc ? " failed" : "");
			for (; !rc && a; a = a->ai_next) {
				char text[64];
				getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
				printf(" %s", text);
			}
			printf("\n");
		}
	}
	return 0;
}
EOF_C
# looks PROGRAM: what it says of names that are listed, and not
looks() {
	cp "$1" "$HOME/aihome/look" &&
	allowed "web.example.org:80 *.wild.example.net:443" "$HOME/look" web.example.org WEB.Example.org. localhost \
		nothere.example.org a.wild.example.net single 192.0.2.77 >out &&
	cat out &&
	grep -c '^web.example.org: .*127\.64\.0\.2' out | grep -x 2 &&
	grep -c '^WEB.Example.org.: .*127\.64\.0\.2' out | grep -x 2 &&
	grep -c '^localhost: .*127\.0\.0\.1' out | grep -x 2 &&
	grep -cx "a.wild.example.net: none" out | grep -x 2 &&
	for name in nothere.example.org single; do
		grep -c "^$name: .*127\.64\." out | grep -x 2 &&
		! grep "^$name: .*127\.64\.0\.2\b" out ||
			return 1
	done &&
	grep '^192.0.2.77: 192.0.2.77$' out
}

test_that 'glibc resolves listed names, and gets an answer for others' '
	cc -o look look.c &&
	looks ./look
'

test_that MUSL 'musl, linked statically, resolves the same' '
	musl-gcc -static -o look-musl look.c &&
	looks ./look-musl
'

# proxy ADDRESS PORT: answers CONNECT to what only it can resolve, and logs that with user and password
cat >"$TRASH/proxy.py" <<'EOF_PROXY'
import base64, socket, sys, threading
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
def pump(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
def serve(c):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += c.recv(1)
    lines = head.decode().split("\r\n")
    login = [base64.b64decode(l.split()[-1]).decode() for l in lines if l.startswith("Proxy-Authorization: Basic ")]
    to = lines[0].split()[1]
    with open("proxy.log", "a") as log:
        print(to, *login, file=log)
    if "far.example.org" not in to:
        return c.sendall(b"HTTP/1.1 403 No\r\n\r\n") or c.close()
    t = socket.create_connection(("192.0.2.10", int(to.split(":")[1])))
    c.sendall(b"HTTP/1.1 200 Yes\r\nX: y\r\n\r\n")
    threading.Thread(target=pump, args=(t, c), daemon=True).start()
    pump(c, t)
open("proxy.ready", "w").close()
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
EOF_PROXY
proxy_start() {
	python3 proxy.py "$@" 2>proxy.err &
	proxy_pid=$!
	test_when_finished "kill $proxy_pid"
	test_wait_for 'test -e proxy.ready'
}
test_that CURL 'what is listed is reached through the proxy of the host, which is not reached itself' '
	web_start 192.0.2.10 8080 &&
	proxy_start 10.1.2.3 3128 &&
	export https_proxy=http://me:p%40ss@10.1.2.3:3128/ no_proxy=.wild.example.net,192.0.2.0/25 &&
	get() { allowed "$1" curl -sS --max-time 60 "http://$2/x" >out 2>err; } &&
	get far.example.org:8080 far.example.org:8080 &&
	test_prints "served GET far.example.org:8080 /x 0" cat out &&
	test_prints "far.example.org:8080 me:p@ss" cat proxy.log &&
	get "*.far.example.org:8080" b.far.example.org:8080 &&
	test_prints "served GET b.far.example.org:8080 /x 0" cat out &&
	get a.wild.example.net:8080 a.wild.example.net:8080 &&
	get 192.0.2.10:8080 192.0.2.10:8080 &&
	! grep "wild\|192" proxy.log &&
	test_must_fail get web.example.org:8080 web.example.org:8080 &&
	grep "^web.example.org:8080 me" proxy.log &&
	test_must_fail get 10.1.2.3:3128 10.1.2.3:3128 &&
	! grep "^10[.]" proxy.log &&
	allowed far.example.org:8080 env >out &&
	! grep "p%40ss\|p@ss\|10[.]1[.]2[.]3" out &&
	cd "$HOME/p" &&
	test_says "through the proxy 10.1.2.3:3128 of https_proxy$" git agent start --allow far.example.org:1 true &&
	https_proxy=socks5://10.1.2.3 test_says "no http:// one, and is not used" \
		git agent start --allow far.example.org:1 true
'

test_done
