#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a user whom no file of the system knows has the name inside that he has outside'
# shellcheck disable=SC2034 # for net-host.sh
net_more='
	mkdir -p "$GA_NET_HOST.d" && cd "$GA_NET_HOST.d" || exit
	printf "%s\n" "passwd: files extrausers" "group: files extrausers" "hosts: files" >nsswitch.conf
	for f in passwd group nsswitch.conf; do
		[ $f = nsswitch.conf ] || grep -v "^[^:]*:x:$(id -u):" /etc/$f >$f
		chmod 644 $f && mount --bind $f /etc/$f || exit
	done
	if [ -d /var/lib/extrausers ]; then
		mkdir -p var && : >var/passwd && : >var/group && chmod 755 var && chmod 644 var/* &&
		mount --bind var /var/lib/extrausers || exit
	fi
	cd /'
. "$TEST_SRCDIR/tests/lib/net-host.sh"
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

extra=/var/lib/extrausers
# user NAME HOME SHELL: who we are, and our group
user() {
	printf "%s:x:$(id -u):$(id -g):Some One:%s:%s\n" "$1" "$2" "$3" >$extra/passwd &&
		printf "the group:x:$(id -g):\n" >$extra/group
}
# root is not one of them: the module leaves out the ids of the system
test_lazy_prereq EXTRAUSERS 'user some.one@corp /home/some.one /bin/sh && test "$(whoami)" = some.one@corp'

git init -q r &&
cat >r/names <<'EOF' &&
whoami
id -un
id -u
id -gn
id -g
echo ~some.one@corp
python3 -c "import os, pwd; print(pwd.getpwuid(os.getuid()))"
! command -v node >/dev/null || node -p 'JSON.stringify(os.userInfo())'
rm -f /tmp/k-$$
ssh-keygen -q -t ed25519 -N "" -f /tmp/k-$$ && cut -d" " -f3 /tmp/k-$$.pub | sed 's/@[^@]*$//'
rm -f /tmp/k-$$*
EOF
git -C r add -A &&
git -C r commit -qm one

test_that EXTRAUSERS 'whoami, id, ~NAME and ssh-keygen inside agree with the host' '
	user some.one@corp "$HOME" /bin/sh &&
	sh r/names >want 2>&1 &&
	head -n 1 want | grep -x some.one@corp &&
	for network in host none; do
		git -C r agent start -q --network $network -n n-$network -- sh names >out 2>&1 &&
		test_cmp want out || exit 1
	done &&
	git -C r agent resume -q n-none -- sh names >out 2>&1 &&
	test_cmp want out
'

test_that EXTRAUSERS 'passwd and group have a line more inside, and what the service uses is not there' '
	user other not-a-path bad/shell &&
	git -C r agent start -q -- sh -c "
		cat /etc/passwd
		cat /etc/group
		! ls $extra >&2" >out 2>/dev/null &&
	{
		cat /etc/passwd
		echo "other:x:$(id -u):$(id -g):Some One:$HOME:/bin/sh"
		cat /etc/group
		echo "the group:x:$(id -g):"
	} >want &&
	test_cmp want out
'

test_that EXTRAUSERS 'what is no name is not written into a file' '
	user +everybody / /bin/sh &&
	git -C r agent start -q -- cat /etc/passwd >out &&
	test_cmp /etc/passwd out
'

test_done
