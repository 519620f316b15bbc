# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2086 # options are split
#
# Real servers for tests of the network, in $TRASH. Included after net-host.sh and test-lib.sh.

PATH=$PATH:/usr/sbin:/sbin
pg_bin=$(command -v initdb 2>/dev/null || printf '%s\n' /usr/lib/postgresql/*/bin/initdb | tail -1)
pg_bin=${pg_bin%/*}
test_lazy_prereq POSTGRES '"$pg_bin/initdb" --version && psql --version'
test_lazy_prereq SSHD 'command -v sshd && command -v ssh'
test_lazy_prereq CURL 'command -v curl && command -v openssl'
test_lazy_prereq MUSL 'echo "int main(void) { return 0; }" | musl-gcc -static -x c -o musl - && ./musl'

# as_server COMMAND...: as another user, where root may not run it
as_server() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid nobody --regid nogroup --clear-groups "$@"
	else
		"$@"
	fi
}

# postgres_start: PostgreSQL on 127.0.0.1, db.example.org and a socket in $TRASH/pgsock; its user is agent, whose
# password is secret
postgres_start() {
	mkdir -p "$TRASH/pg" "$TRASH/pgsock" &&
	{ [ "$(id -u)" != 0 ] || chown nobody:nogroup "$TRASH/pg" "$TRASH/pgsock"; } &&
	echo secret >pw &&
	chmod 644 pw &&
	as_server "$pg_bin/initdb" -D "$TRASH/pg" -U agent -A scram-sha-256 --pwfile=pw --no-locale -E UTF8 --no-sync &&
	echo "host all all 192.0.2.0/24 scram-sha-256" >>"$TRASH/pg/pg_hba.conf" &&
	options="-c listen_addresses=127.0.0.1,192.0.2.10 -c unix_socket_directories=$TRASH/pgsock" &&
	options="$options -c fsync=off -c dynamic_shared_memory_type=mmap" &&
	as_server "$pg_bin/pg_ctl" -D "$TRASH/pg" -w -l "$TRASH/pgsock/log" -o "$options" start || {
		cat "$TRASH/pgsock/log"
		return 1
	}
}
postgres_stop() {
	as_server "$pg_bin/pg_ctl" -D "$TRASH/pg" -m immediate stop
}

# certificates: ca.pem, web.pem with its key, for the names of this host
certificates() {
	test -f web.pem || {
		key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes" &&
		openssl req -x509 $key -days 2 -subj "/CN=test" -keyout ca.key -out ca.pem \
			-addext "basicConstraints=critical,CA:TRUE" &&
		openssl req $key -subj "/CN=web.example.org" -keyout web.key -out web.csr &&
		echo "subjectAltName=DNS:web.example.org,DNS:*.wild.example.net,DNS:b.c.wild.example.net" >san &&
		openssl x509 -req -in web.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile san \
			-out web.crt &&
		cat web.crt web.key >web.pem
	} 2>/dev/null &&
	test_aihome &&
	cp ca.pem "$HOME/aihome/ca.pem"
}
# web ADDRESS PORT [tls]: answers any path with "served METHOD HOST PATH"; its number is in web.pid
cat >"$TRASH/web.py" <<'EOF_WEB'
import http.server, socket, ssl, sys
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        text = "served %s %s %s %d\n" % (self.command, self.headers.get("Host"), self.path, len(body))
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    do_GET = do_POST = answer
server = Server((sys.argv[1], int(sys.argv[2])), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("web.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
open("web.ready", "w").close()
server.serve_forever()
EOF_WEB
web_start() {
	rm -f web.ready
	python3 web.py "$@" >>web.log 2>&1 &
	web_pid=$!
	test_when_finished "kill $web_pid"
	test_wait_for 'test -e web.ready'
}

# echo ADDRESS PORT: sends back what it gets, all of it once the client has closed its side
cat >"$TRASH/echo.py" <<'EOF_ECHO'
import socket, sys, threading
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
server = socket.create_server((sys.argv[1], int(sys.argv[2])), family=family, backlog=1024)
def serve(c):
    with c:
        data = bytearray()
        while True:
            some = c.recv(1 << 16)
            if not some:
                break
            data += some
        c.sendall(data)
open("echo.ready", "w").close()
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
EOF_ECHO
echo_start() {
	rm -f echo.ready
	python3 echo.py "$@" &
	echo_pid=$!
	test_when_finished "kill $echo_pid"
	test_wait_for 'test -e echo.ready'
}

# ssh_of_home DIR: ssh, where a test runs it, looks in the test's home, not in that of the user database: by a program
# in DIR, which is on the PATH. $ssh is the one that it runs.
ssh_of_home() {
	ssh=$(command -v ssh)
	mkdir -m 700 .ssh "$1" &&
	test_script "$1/ssh" "exec '$ssh' -F '$HOME/.ssh/config' \"\$@\""
	PATH=$HOME/$1:$PATH
}

# start_sshd NAME [LINE...]: an sshd on $port of localhost, for who has .ssh/key, with these lines too in sshd_NAME
start_sshd() {
	sshd=sshd_$1
	shift
	port=$(python3 -c "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1])") &&
	{ test -e host || ssh-keygen -q -t ed25519 -N "" -f host; } &&
	{ test -e .ssh/key || ssh-keygen -q -t ed25519 -N "" -f .ssh/key; } &&
	cat >"$sshd" <<-EOF &&
	ListenAddress 127.0.0.1:$port
	HostKey $HOME/host
	AuthorizedKeysFile $HOME/.ssh/key.pub
	PidFile $HOME/$sshd.pid
	StrictModes no
	UsePAM no
	PasswordAuthentication no
	PermitRootLogin yes
	EOF
	printf '%s\n' "$@" >>"$sshd" &&
	"$(command -v sshd)" -f "$HOME/$sshd" -E "$HOME/$sshd.log" &&
	test_wait_for "test -s $sshd.pid"
}
