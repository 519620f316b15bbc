#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what works on the host works inside: PATH, environments of tools, what variables lead to'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
unset PYENV_ROOT NVM_DIR JAVA_HOME

system=$(dirname "$(command -v git)"):/usr/local/bin:/usr/bin:/bin
test_enter p &&
echo a >a &&
test_commit a
cd .. || return 1

# program FILE...: each says its name; beside the directory of each, and around that, there are secrets
program() {
	for f; do
		mkdir -p "${f%/*}" &&
		printf '#!/bin/sh\necho "ran ${0##*/}"\n' >"$f" &&
		chmod +x "$f" &&
		secret "${f%/*/*}/token" || return 1
	done
}
# secret FILE...
secret() {
	for f; do
		mkdir -p "${f%/*}" &&
		echo CANARY-x7 >"$f" || return 1
	done
}
# on DIRS COMMAND...: in a session with DIRS before the system's on PATH; its messages are in err
on() {
	dirs=$1
	shift
	(cd "$HOME/p" && PATH=$dirs:$system "$GIT_AGENT" start -- "$@") 2>"$HOME/err"
}
# all that an agent can read but the system's files
canary='cd / && env && ls | grep -vx "usr\|proc\|sys\|opt\|lib.*\|s*bin\|etc" | xargs grep -rs CANARY-x7; :'

test_that 'SB-03: a directory of PATH is shown, and nothing around it, also where a link leads to it' '
	program ~/dev/tools/bin/one ~/.config/x/bin/two ~/real/v1/bin/three &&
	ln -s ~/real/v1 ~/current &&
	on "$HOME/dev/tools/bin:$HOME/.config/x/bin/:$HOME/current/bin" sh -c "one; two; three; $canary" >out &&
	for i in one two three; do grep "^ran $i" out || return 1; done &&
	! grep CANARY-x7 out &&
	grep "^PATH=$HOME/dev/tools/bin:$HOME/.config/x/bin:$HOME/real/v1/bin:" out &&
	! grep "of PATH" err
'

test_that 'SB-03: what of PATH is not shown is named, with the setting that shows it' '
	program ~/bin/four ~/.ssh/bin/five ~/repo.git/x ~/x/.git/hooks/six &&
	git init -q ~/bin &&
	mkdir -p ~/.config ~/.local/share ~/holds/.aws &&
	dirs=~/bin:~/.ssh/bin:~/x/.git/hooks:~/.config:~/.local/share:~:~/holds:$HOME/aihome:/nowhere:. &&
	on "$dirs" sh -c "! type four five six; $canary" >out &&
	! grep CANARY-x7 out &&
	grep ": of PATH, not shown: $HOME/bin, .* and 3 more; .tools: \[$HOME/bin, $HOME/holds\]. shows" err &&
	PATH=$dirs:$system "$GIT_AGENT" doctor | grep -A1 PATH >out &&
	grep "$HOME/bin. cannot be shown inside: it is a repository" out &&
	grep "tools: \[$HOME/bin\]. in $conf shows it" out &&
	test "$(grep -c "^ok *PATH" out)" = 8 &&
	test_settings "tools: [~/bin]\n" &&
	on ~/bin four >out &&
	test_prints "ran four" cat out &&
	rm "$conf"
'

test_that 'SB-03: an environment is shown whole where the mark of its tool stands, without its credentials' '
	for d in ~/.cache/pypoetry/virtualenvs/a "$TRASH/venv" ~/.config/nvm ~/.conda/envs/e ~/mixed ~/plain; do
		mkdir -p "$d/bin" "$d/lib" "$d/versions/node/v1/etc" "$d/conda-meta" &&
		echo "seen $d" >"$d/lib/seen" || return 1
	done &&
	v=$HOME/.cache/pypoetry/virtualenvs/a &&
	rm -r "$v/versions" "$v/conda-meta" "$TRASH/venv/versions" "$TRASH/venv/conda-meta" &&
	touch "$v/pyvenv.cfg" "$TRASH/venv/pyvenv.cfg" ~/mixed/pyvenv.cfg ~/.config/nvm/nvm.sh ~/.config/nvm/nvm-exec \
		~/.conda/envs/e/conda-meta/history &&
	secret "$v/pip.conf" "$TRASH/venv/pip.conf" ~/.config/nvm/versions/node/v1/etc/npmrc \
		~/.config/nvm.npmrc ~/.conda/token ~/.conda/envs/e/.condarc ~/mixed/.env ~/plain/x &&
	program ~/other/bin/x &&
	touch ~/other/nvm.sh ~/other/nvm-exec &&
	git init -q ~/other &&
	NVM_DIR=~/.config/nvm JAVA_HOME=~/plain VIRTUAL_ENV=$v CONDA_PREFIX=~/.conda/envs/e \
		on "$v/bin:$TRASH/venv/bin:$HOME/mixed/bin:$HOME/plain/bin:$HOME/other/bin" \
		sh -c "find ~ $TRASH/venv -name seen | xargs cat; $canary" >out &&
	! grep CANARY-x7 out &&
	test "$(grep -c "^seen" out)" = 4 &&
	! grep "^seen.*\(mixed\|plain\)" out &&
	grep "^NVM_DIR=$HOME/.config/nvm$" out &&
	grep "^VIRTUAL_ENV=$v$" out &&
	! grep JAVA_HOME out
'

test_lazy_prereq VENV 'PATH=$system python3 -m venv "$TRASH/v" && rm -r "$TRASH/v"'
test_that VENV 'python runs in an activated virtual environment of another place' '
	PATH=$system python3 -m venv --without-pip ~/envs/v &&
	test_prints "$HOME/envs/v" on ~/envs/v/bin python3 -c "import sys; print(sys.prefix)"
'

test_that 'a proxy is known inside with the network of the host, without the password for it' '
	secret_url=http://me:CANARY-x7@127.0.0.1:9/ &&
	export http_proxy=$secret_url HTTPS_PROXY=me:CANARY-x7@[::1]:9 no_proxy=localhost,.example.org &&
	inside_proxy() { (cd p && git agent "$@" sh -c "env | grep -i _proxy | sort") >out 2>err; } &&
	inside_proxy start -q &&
	test_prints "HTTPS_PROXY=[::1]:9\nhttp_proxy=http://127.0.0.1:9/\nno_proxy=localhost,.example.org" cat out &&
	inside_proxy -c "env.pass=http_*" start -q &&
	! grep CANARY-x7 out &&
	inside_proxy -c env.pass=http_proxy start -q &&
	grep -x "http_proxy=$secret_url" out &&
	inside_proxy start -q --no-network &&
	test ! -s out
'

test_lazy_prereq OPENSSL 'openssl version'
test_that OPENSSL 'SB-03: of a file of certificates that a variable names, they are shown and nothing else' '
	openssl req -x509 -newkey rsa:2048 -nodes -keyout ~/key.pem -out ~/crt.pem -subj /CN=desk -days 2 2>/dev/null &&
	{ echo CANARY-x7; cat ~/crt.pem; echo password = CANARY-x7; } >~/ca.pem &&
	{ cat ~/crt.pem ~/key.pem; echo CANARY-x7; } >~/both.pem &&
	secret ~/.aws/credentials &&
	ln -s ~/.aws/credentials ~/link.pem &&
	mkfifo ~/fifo &&
	truncate -s 5M ~/long.pem &&
	SSL_CERT_FILE=~/ca.pem CURL_CA_BUNDLE=~/both.pem PIP_CERT=~/.aws/credentials AWS_CA_BUNDLE=~/link.pem \
		GIT_SSL_CAINFO=~/fifo DENO_CERT=~/long.pem NODE_EXTRA_CA_CERTS=~/p/a REQUESTS_CA_BUNDLE=none \
		on "" sh -c "openssl verify -CAfile \$SSL_CERT_FILE \$SSL_CERT_FILE; $canary" >out &&
	! grep "CANARY-x7\|PRIVATE" out &&
	grep ": OK" out &&
	grep "^NODE_EXTRA_CA_CERTS=$HOME/p/a" out &&
	! grep "^\(CURL_CA\|PIP_C\|AWS_\|GIT_SSL\|DENO_\|REQ\)" out &&
	grep "CURL_CA_BUNDLE: .* is not shown: it has a private key" err &&
	test "$(grep -c "\(PIP_C\|AWS_\).* is not shown: it has no certificate" err)" = 2 &&
	test "$(grep -c "is not shown: it is no file of at most 4194304" err)" = 2 &&
	grep "REQUESTS.* no absolute path" err
'

test_lazy_prereq TIC 'infocmp xterm | sed "s/^xterm[^,]*/desk|a terminal/" | tic -o "$TRASH/ti" -'
test_that TIC 'SB-03: the entry of the terminal is shown, and nothing around it; an unknown one has another' '
	cp -r "$TRASH/ti" ~/.terminfo &&
	secret ~/.terminfo/d/token ~/.terminfo/c/cert ~/.aws/d/desk &&
	t="tput -T \$TERM cub1 >/dev/null && echo known; $canary" &&
	TERM=desk TERMINFO=~/.aws on "" sh -c "$t" >out &&
	! grep CANARY-x7 out &&
	grep -x TERM=desk out &&
	grep -x known out &&
	TERM=cert on "" sh -c "$t" >out &&
	! grep CANARY-x7 out &&
	grep "^TERM=xterm" out &&
	grep -x known out &&
	TERM=../.aws/x on "" true
'

test_that 'package managers keep what they fetch in the agents home, and say nothing new' '
	cat >tools <<-\EOF &&
	bundle config get --parseable path
	composer config --global cache-dir
	go env GOMODCACHE
	go env GOCACHE
	npm config get cache
	pip3 cache dir
	poetry config cache-dir
	EOF
	while read -r tool rest; do
		PATH=$system command -v "$tool" >/dev/null || continue
		on "" sh -c "$tool $rest 2>&1 && ! ls -A | grep -vx \"a\|.git\"" >out || return 1
		! grep -v "^\($HOME/.*\)*\$" out || return 1
	done <tools &&
	test_prints "store-dir=~/.cache/pnpm-store" cat aihome/.config/pnpm/rc &&
	on "" printenv pnpm_config_store_dir
'

attributes() {
	python3 -c 'import os, sys; [os.setxattr(f, "user.x", b"y") for f in sys.argv[1:]]' "$@"
}
test_lazy_prereq XATTR 'echo >"$TRASH/xattr" && attributes "$TRASH/xattr"'
test_that XATTR 'what git does not keep of a file is said by the start that checks it out, once' '
	cd ~/p &&
	echo b >b &&
	test_commit b &&
	attributes b &&
	on "" true &&
	grep "1 tracked file with an access list or attributes, .*: b$" ~/err &&
	on "" true &&
	! grep attributes ~/err &&
	echo c >>a &&
	echo c >>b &&
	attributes a &&
	on "" true &&
	grep "2 tracked files with an access list or attributes, .*: a first$" ~/err
'

test_done
