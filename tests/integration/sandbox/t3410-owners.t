#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Shared directories that an overlay cannot be laid over, or not be written through, are found
# before the command runs, and named with what helps.
test_description='other owners and mounts in shared directories'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_lazy_prereq MOUNT 'test "$(id -u)" = 0 && unshare -Urm sh -c "mkdir m && mount -t tmpfs none m"'
test_lazy_prereq ROOT 'test "$(id -u)" = 0 && touch f && chown 12345:12345 f'
test_lazy_prereq GROUPS '[ -n "$(other_group)" ]'

# a supplementary group of the user
other_group() {
	if [ "$(id -u)" = 0 ]; then
		echo 12345
	else
		id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -1
	fi
}

test_enter r &&
printf 'lib/\nmod/\n' >.gitignore &&
echo 1 >f &&
test_commit 1 &&
mkdir -p lib/a/b mod/p &&
echo 1 >lib/a/b/f &&
echo 1 >mod/p/f || exit 1

test_that 'nothing is reported where the user owns all' '
	git agent start -- true 2>../err &&
	! grep -e chown -e chgrp ../err
'

test_that GROUPS 'files of another group are reported with the command that helps' '
	chgrp "$(other_group)" lib/a/b/f &&
	touch lib/x &&
	rm lib/x &&
	test_says "1 path in .*lib.*lib/a/b/f.* cannot be changed inside: of another group" \
		git agent start -- sh -c "! echo 2 >lib/a/b/f" &&
	sed -n "s/.*to allow it: //p" ../err >../fix &&
	grep "^chgrp -hR $(id -g) " ../fix &&
	sh ../fix &&
	git agent start -- sh -c "echo 2 >lib/a/b/f" 2>../err &&
	! grep chgrp ../err
'

test_that ROOT 'files of another owner are reported with the command that helps' '
	chown -R 12345 mod/p &&
	touch mod/x &&
	rm mod/x &&
	test_says "2 paths in .*mod.*mod/p.* cannot be changed inside: of another owner" \
		git agent start -- sh -c "! echo 2 >mod/p/f" &&
	sed -n "s/.*to allow it: sudo //p" ../err >../fix &&
	grep "^chown -hR $(id -u):$(id -g) " ../fix &&
	sh ../fix &&
	git agent start -- sh -c "echo 2 >mod/p/f" 2>../err &&
	! grep chown ../err
'

test_that ROOT 'a directory is searched again after it has changed, or after a while' '
	git agent start -- true &&
	chown 12345 lib/a/b/f &&
	test_when_finished "chown 0 lib/a/b/f" &&
	git agent start -- true 2>../err &&
	! grep chown ../err &&
	touch lib/x &&
	rm lib/x &&
	test_says chown git agent start -- true &&
	chown 0 lib/a/b/f &&
	git agent start -- true &&
	chown 12345 lib/a/b/f &&
	owners=$(ls "$HOME"/.local/state/git-agent/*/owners) &&
	python3 - "$owners" <<-\END &&
	import sys
	words = open(sys.argv[1], "rb").read().split(b"\0")
	words[2::3] = [str(int(w) - 1000).encode() for w in words[2::3]]
	open(sys.argv[1], "wb").write(b"\0".join(words))
	END
	test_says chown git agent start -- true
'

test_that ROOT 'a search that takes long continues at the next start' '
	mkdir lib/many &&
	(cd lib/many && seq 20000 | xargs touch) &&
	chown 12345 mod/p/f &&
	test_when_finished "chown 0 mod/p/f; rm -r lib/many" &&
	touch lib/x mod/x &&
	rm lib/x mod/x &&
	git agent start -- true 2>../err &&
	! grep chown ../err &&
	test_says "mod/p/f.*of another owner" git agent start -- true
'

test_that 'a damaged cache of owners does no harm' '
	f=$(ls "$HOME"/.local/state/git-agent/*/owners) &&
	head -c 300 /dev/urandom >"$f" &&
	git agent start -- true
'

test_that MOUNT 'a shared directory with a mount in it is left out, the others are shown' '
	mkdir -p "lib/a b" &&
	test_when_finished "rmdir \"lib/a b\"" &&
	unshare -Urm sh -c "
		mount -t tmpfs none \"lib/a b\" &&
		git agent start --name m -- sh -c \"
			ls mod >seen &&
			test ! -e lib\"" 2>../err &&
	grep "left out: .*lib.*: something is mounted at .*lib/a b" ../err &&
	git show agent/m:seen | grep -x p
'

test_that MOUNT 'a shared directory that is a mount itself is shown' '
	unshare -Urm sh -c "
		mount -t tmpfs none mod &&
		mkdir mod/q &&
		git agent start --name n -- sh -c \"ls mod >seen\"" &&
	git show agent/n:seen | grep -x q
'

test_done
