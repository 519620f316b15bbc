#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what runs inside is quoted for inside
test_description='network: allow, with real servers and clients: what is listed is reached, as on the desk'
# shellcheck source=tests/lib/net-host.sh
. "$TEST_SRCDIR/tests/lib/net-host.sh"
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/net-servers.sh
. "$TEST_SRCDIR/tests/lib/net-servers.sh"
require_sandbox

conf=$HOME/.config/git-agent/config.yaml
chmod 711 "$TRASH"
mkdir -p "${conf%/*}" "$HOME/p"
cd "$HOME/p" &&
git init -q . &&
echo a >a &&
git add a &&
git commit -qm base
cd "$TRASH" || exit 1

# allowed WORDS COMMAND...: run it in a session that can reach the words.
allowed() {
	allow=
	for word in $1; do
		allow="$allow --allow $word"
	done
	shift
	# the words are meant to be split
	# shellcheck disable=SC2086
	(cd "$HOME/p" && timeout 120 git agent start -q $allow -- "$@")
}

# ---- PostgreSQL ---------------------------------------------------------------

test_expect_success POSTGRES 'psql over TCP to localhost and to a named host, and over the unix socket' '
	{
		postgres_start || {
			cat initdb.log "$TRASH/pg/log"
			exit 1
		}
	} &&
	test_when_finished postgres_stop &&
	login="port=5432 user=agent password=secret dbname=postgres" &&
	allowed localhost:5432 psql "host=localhost $login" -Atc "create table t as select generate_series(1, 50000) as n, repeat(md5(random()::text), 20) as s" &&
	psql "host=127.0.0.1 $login" -Atc "select * from t order by n" >want &&
	test "$(wc -l <want)" = 50000 &&
	allowed db.example.org:5432 psql "host=db.example.org $login" -Atc "select * from t order by n" >got &&
	cmp want got &&
	allowed "localhost:5432 db.example.org:5432" sh -c "
		psql \"host=localhost $login\" -qAtc \"copy t to stdout\" |
			psql \"host=db.example.org $login\" -qc \"create table u (like t)\" -c \"copy u from stdin\"" &&
	for table in t u; do
		psql "host=127.0.0.1 $login" -Atc "select count(*), md5(string_agg(s, null order by n)) from $table" >"sum-$table" ||
			exit 1
	done &&
	grep "^50000|" sum-t &&
	test_cmp sum-t sum-u &&
	printf "network:\n  mode: allow\n  sockets: [\"%s\"]\n" "$TRASH/pgsock/.s.PGSQL.5432" >"$conf" &&
	test_when_finished "rm -f \"$conf\"" &&
	(
		cd "$HOME/p" &&
		git agent start -q -- psql "host=$TRASH/pgsock $login" -Atc "select count(*) from u"

	) >got &&
	test "$(cat got)" = 50000 &&
		# the socket alone opens no port
	(
		cd "$HOME/p" &&
		test_must_fail git agent start -q -- psql "host=localhost $login" -c "select 1"

	) 2>err &&
	grep -i "refused" err
'

# ---- Redis --------------------------------------------------------------------

test_expect_success REDIS 'redis-cli: one command, a pipeline of many, a subscription that waits' '
	redis-server --bind 127.0.0.1 --port 6379 --save "" --dir "$TRASH" --daemonize yes --pidfile "$TRASH/redis.pid" >redis.log &&
	test_when_finished "kill \$(cat \"$TRASH/redis.pid\")" &&
	test_wait_for "redis-cli ping" &&
	test "$(allowed localhost:6379 redis-cli -h localhost ping)" = PONG &&
	allowed localhost:6379 sh -c "seq 20000 | sed \"s/.*/SET key:& value-&/\" | redis-cli -h localhost --pipe" >out &&
	grep "errors: 0, replies: 20000" out &&
	test "$(redis-cli get key:20000)" = value-20000 &&
	test "$(redis-cli dbsize)" = 20000 &&
	test "$(allowed 127.0.0.1:6379 redis-cli -h 127.0.0.1 get key:7)" = value-7 &&
	allowed localhost:6379 sh -c "
		redis-cli -h localhost subscribe news >/tmp/heard &
		until redis-cli -h localhost publish news item | grep -qx 1; do sleep 0.1; done
		until grep -qx item /tmp/heard; do sleep 0.1; done
		cat /tmp/heard
		kill \$!" >out &&
	grep -x subscribe out
'

# ---- ssh ----------------------------------------------------------------------

test_expect_success SSHD 'ssh to a named host, and git over it' '
	mkdir -p ssh "$HOME/aihome" &&
	chmod 700 "$HOME/aihome" &&
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
	ssh="ssh -F none -i $HOME/keys/id -o UserKnownHostsFile=$HOME/keys/known -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes -l $(id -un)" &&
	{
		allowed git.example.org:22 $ssh git.example.org "
		echo from the host
		cat" </dev/null >out || {
			cat ssh/log
			exit 1
		}
	} &&
	test "$(cat out)" = "from the host" &&
	git clone -q --bare "$HOME/p" remote.git &&
	GIT_SSH_COMMAND="$ssh" &&
	export GIT_SSH_COMMAND &&
	allowed git.example.org:22 sh -c "
		GIT_SSH_COMMAND=\"$ssh\" git clone -q ssh://git.example.org$TRASH/remote.git /tmp/c &&
		cd /tmp/c &&
		echo new >new &&
		git add new &&
		git -c user.name=A -c user.email=a@example.com commit -qm new &&
		GIT_SSH_COMMAND=\"$ssh\" git push -q origin HEAD:pushed" &&
	test "$(git -C remote.git show pushed:new)" = new &&
	test_expect_code 255 allowed git.example.org:23 $ssh git.example.org true 2>err &&
	grep -i "refused" err
'

# ---- HTTPS --------------------------------------------------------------------

test_expect_success CURL 'https to a named host: the certificate is checked from end to end' '
	certificates &&
	web_start 192.0.2.10 443 tls &&
	print="openssl s_client -connect web.example.org:443 -servername web.example.org -CAfile" &&
	test "$(allowed web.example.org:443 curl -sS --cacert "$HOME/ca.pem" https://web.example.org/a)" = "served GET web.example.org /a 0" &&
	test_expect_code 60 allowed web.example.org:443 curl -sS https://web.example.org/ &&
	allowed web.example.org:443 sh -c "
		echo |
			$print $HOME/ca.pem 2>/dev/null |
			openssl x509 -noout -fingerprint -sha256" >inside &&
	openssl x509 -in web.crt -noout -fingerprint -sha256 >outside &&
	test_cmp outside inside &&
		# a name that the certificate does not have
	test_expect_code 60 allowed db.example.org:443 curl -sS --cacert "$HOME/ca.pem" https://db.example.org/ &&
	head -c 3000000 /dev/urandom >"$HOME/aihome/big" &&
	test "$(allowed web.example.org:443 curl -sS --cacert "$HOME/ca.pem" --data-binary "@$HOME/big" https://web.example.org/up)" = "served POST web.example.org /up 3000000"
'

test_expect_success CURL 'a wildcard: by the proxy that the environment names, over CONNECT, SOCKS, and for http:// too' '
	certificates &&
	web_start 192.0.2.10 443 tls &&
	plain=$web_pid &&
	web_start 192.0.2.10 80 &&
	wild="*.wild.example.net:443 *.wild.example.net:80" &&
	cat >"$HOME/aihome/ways" <<-EOF &&
	for name in a.wild.example.net b.c.wild.example.net A.Wild.Example.NET; do
		for how in "" "--socks5-hostname 127.0.0.53:3128" "--socks4a 127.0.0.53:3128" "-x socks5h://127.0.0.53:3128" "-p"; do
			curl -sS \$how --cacert "$HOME/ca.pem" "https://\$name/x" | grep -ix "served GET \$name /x 0" || { echo "failed: \$name \$how"; exit 1; }
		done
	done
	EOF
	allowed "$wild" sh "$HOME/ways" &&
	test "$(allowed "$wild" curl -sS "http://a.wild.example.net/x?y" -H "Host: db.example.org" -d 12345)" = "served POST a.wild.example.net /x?y 5" &&
		# the name is in no table inside, and so nothing leads there but the proxy
	test_expect_code 2 allowed "$wild" getent hosts a.wild.example.net &&
	test_must_fail allowed "$wild" curl -sS --noproxy "*" https://a.wild.example.net/ 2>err &&
	grep -i "resolve" err &&
		# listed names go there directly
	allowed "$wild web.example.org:80" sh -c "curl -sS -v http://web.example.org/ 2>&1" >out &&
	grep "served GET web.example.org" out &&
	grep "Trying .*\(127\.64\|fd67\)" out &&
	! grep "Trying 127.0.0.53" out
'

test_expect_success NGINX 'nginx: many requests on one connection' '
	certificates &&
	mkdir -p ngx/www &&
	chmod 711 ngx ngx/www &&
	seq 100000 >ngx/www/f &&
	cat >ngx/conf <<-EOF &&
	daemon on; pid $TRASH/ngx/pid; error_log $TRASH/ngx/log;
	events {}
	http {
		access_log off; client_body_temp_path $TRASH/ngx/1; proxy_temp_path $TRASH/ngx/2;
		fastcgi_temp_path $TRASH/ngx/3; uwsgi_temp_path $TRASH/ngx/4; scgi_temp_path $TRASH/ngx/5;
		server { listen 192.0.2.10:8443 ssl http2; ssl_certificate $TRASH/web.pem; ssl_certificate_key $TRASH/web.key; root $TRASH/ngx/www; }
	}
	EOF
	{
		nginx -c "$TRASH/ngx/conf" -p "$TRASH/ngx" || {
			cat ngx/log
			exit 1
		}
	} &&
	test_when_finished "kill \$(cat \"$TRASH/ngx/pid\")" &&
	allowed web.example.org:8443 sh -c "curl -sS --cacert $HOME/ca.pem $(yes "https://web.example.org:8443/f" | head -20 | tr "\n" " ") | cksum" >got &&
	for i in $(seq 20); do cat ngx/www/f; done | cksum >want &&
	test_cmp want got
'

# ---- sockets as such ----------------------------------------------------------

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

test_expect_success 'each side is closed on its own, whatever was sent arrives, 500 at once' '
	echo_start 192.0.2.10 7000 &&
	test "$(allowed web.example.org:7000 python3 client.py web.example.org 7000 1 5000000)" = "ok 1" &&
	test "$(allowed web.example.org:7000 python3 client.py web.example.org 7000 500 4000)" = "ok 500" &&
	test "$(allowed web.example.org:6990-7010 python3 client.py web.example.org 7000 3 4)" = "ok 3" &&
	test "$(allowed 192.0.2.10:7000 python3 client.py 192.0.2.10 7000 3 4)" = "ok 3"
'

test_expect_success 'IPv6: a name, a literal, and localhost where the server has one of the two' '
	echo_start 2001:db8::10 7000 &&
	echo_start ::1 7001 &&
	echo_start 127.0.0.1 7002 &&
	test "$(allowed six.example.org:7000 python3 client.py six.example.org 7000 2 4)" = "ok 2" &&
	test "$(allowed "[2001:db8::10]:7000" python3 client.py 2001:db8::10 7000 2 4)" = "ok 2" &&
	test "$(allowed localhost:7001-7002 python3 client.py localhost 7001 2 4)" = "ok 2" &&
	test "$(allowed localhost:7001-7002 python3 client.py ::1 7002 2 4)" = "ok 2" &&
	test "$(allowed localhost:7001-7002 python3 client.py 127.0.0.1 7001 2 4)" = "ok 2"
'

# ---- resolvers ----------------------------------------------------------------

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
	allowed "web.example.org:80 *.wild.example.net:443" "$HOME/look" web.example.org WEB.Example.org. localhost nothere.example.org a.wild.example.net single 192.0.2.77 >out &&
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
mkdir -p "$HOME/aihome" &&
chmod 700 "$HOME/aihome"

test_expect_success 'glibc resolves what is listed, and gets an answer for what is not' '
	cc -o look look.c &&
	looks ./look
'

test_expect_success MUSL 'so does musl, linked statically' '
	musl-gcc -static -o look-musl look.c &&
	looks ./look-musl
'

test_expect_success GO 'so does Go, with its own resolver' '
	cat >look.go <<-EOF &&
	package main
	import ("errors"; "fmt"; "net"; "os")
	func main() {
		for _, name := range os.Args[1:] {
			for i := 0; i < 2; i++ {
				addrs, err := net.LookupHost(name)
				var dns *net.DNSError
				if err == nil { fmt.Print(name, ":"); for _, a := range addrs { fmt.Print(" ", a) }; fmt.Println()
				} else if errors.As(err, &dns) && dns.IsNotFound { fmt.Println(name + ": none")
				} else { fmt.Println(name+": failed", err) }
			}
		}
	}
	EOF
	GOCACHE=$TRASH/gocache CGO_ENABLED=0 GO111MODULE=off go build -o look-go look.go &&
	looks ./look-go
'

test_done
