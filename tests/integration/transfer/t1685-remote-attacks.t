#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions of a hostile remote: limits, refused objects, and nothing of it that runs'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use remote
require_sandbox

test_that 'GT-03: objects that git refuses are not fetched, in the history neither' '
	team bad &&
	cd bad.git &&
	blob=$(echo x | git hash-object -w --stdin) &&
	base=$(git rev-parse main^{tree}) &&
	i=0 &&
	for n in .git .GIT git~1 ..; do
		i=$((i + 1)) &&
		tree=$(
			printf "100644 %s\0" "$n" >../raw
			python3 -c "import sys; sys.stdout.buffer.write(bytes.fromhex(sys.argv[1]))" "$blob" >>../raw
			git hash-object -t tree -w --literally ../raw
		) &&
		bad=$(git commit-tree -m bad -p main $tree) &&
		good=$(git commit-tree -m good -p $bad $base) &&
		git update-ref refs/heads/agent/bad-$i $good ||
			exit 1
	done &&
	cd ../bad.there &&
	find .git/objects -type f | sort >../before &&
	git for-each-ref >../refs &&
	test_expect_code 128 git agent fetch origin 2>../err &&
	grep -c "^git-agent: " ../err | grep -x 4 &&
	git for-each-ref | test_cmp ../refs - &&
	find .git/objects -type f | sort | test_cmp ../before - &&
	fsck &&
	test -z "$(git agent list)" &&
	git fetch -q &&
	git rev-parse origin/agent/bad-1 &&
	test_expect_code 128 git agent fetch origin 2>../err &&
	grep -c "^git-agent: " ../err | grep -x 4 &&
	test -z "$(git agent list)"
'

test_that 'limits of packs, objects and commits hold for a fetch' '
	team big &&
	cd big.here &&
	test_session b "head -c 2000000 /dev/urandom >big" &&
	git agent push b &&
	test_session many "
		for i in 1 2 3 4 5 6 7 8 9; do
			echo \$i >f
			git add f
			git commit -qm \$i
		done" &&
	git agent push many &&
	test_session zeros "head -c 3000000 /dev/zero >z" &&
	git agent push zeros &&
	cd ../big.there &&
	find .git/objects -type f | sort >../before &&
	test_fails 128 "limits.capture.pack_size\|too large" \
		git agent -c limits.capture.pack_size=1MiB fetch origin b &&
	test_fails 128 "commits" git agent -c limits.capture.commits=5 fetch origin many &&
	test_fails 128 "refused" git agent -c limits.capture.object_size=2MiB fetch origin zeros &&
	find .git/objects -type f | sort | test_cmp ../before - &&
	test -z "$(git agent list)" &&
	git agent fetch origin &&
	git agent list | grep -c captured | grep -x 3
'

# A pack of 200 kB with one delta that makes 320 MiB of a small file: nothing but what receives it ever
# looks at it as a whole.
cat >"$TRASH/bomb.py" <<\EOF
import hashlib, struct, sys, zlib
def varint(n):
    out = b""
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out
def header(kind, size):
    out, size = [kind << 4 | size & 15], size >> 4
    while size:
        out[-1] |= 128
        out.append(size & 127)
        size >>= 7
    return bytes(out)
base = b"x" * 65536
copies = 320 * 16
delta = varint(len(base)) + varint(copies * len(base)) + b"\x80" * copies # all of the base, each
first = header(3, len(base)) + zlib.compress(base)
back = len(first)
offset = bytes([back & 127])
back >>= 7
while back:
    back -= 1
    offset = bytes([back & 127 | 128]) + offset
    back >>= 7
pack = b"PACK" + struct.pack(">II", 2, 2) + first + header(6, len(delta)) + offset + zlib.compress(delta)
sys.stdout.buffer.write(pack + hashlib.sha1(pack).digest())
EOF

test_that UNSANITIZED 'a small pack that takes much memory is refused while git receives it' '
	team mem &&
	cd mem.git &&
	python3 "$TRASH/bomb.py" >../bomb.pack &&
	git index-pack --stdin <../bomb.pack &&
	big=$(git cat-file --batch-all-objects --batch-check="%(objectsize) %(objectname)" | sort -n | tail -n 1) &&
	test "${big%% *}" = 335544320 &&
	tree=$({
		git ls-tree main
		printf "100644 blob %s\tbig\n" "${big##* }"
	} | git mktree) &&
	git update-ref refs/heads/agent/m "$(git commit-tree -m big -p main "$tree")" &&
	cd ../mem.there &&
	agent_refs >../before &&
	find .git/objects -type f | sort >../objects &&
	test_expect_code 128 git agent -c limits.capture.object_size=1MiB -c limits.capture.objects=1000 \
		fetch origin m 2>../err &&
	grep "cannot fetch session .m.: " ../err &&
	grep "limits.capture.pack_size or .object_size" ../err &&
	agent_refs | test_cmp ../before - &&
	find .git/objects -type f | sort | test_cmp ../objects -
'

test_that 'control characters of a remote are escaped, on the terminal and in messages' '
	team esc &&
	cd esc.here &&
	esc=$(printf "\033]0;evil\007") &&
	git switch -q -c agent/e &&
	echo e >e &&
	git add e &&
	git -c user.name="a${esc}b" commit -qm "sub $esc ject" &&
	git push -q origin agent/e &&
	cd ../esc.there &&
	git agent fetch origin >../out 2>&1 &&
	git agent review e >>../out 2>&1 &&
	git agent list >>../out &&
	git agent show e >>../out &&
	! grep "$(printf "\033")" ../out &&
	git log agent/e -1 --format=%B%an >../msg &&
	! grep "$(printf "\033")" ../msg &&
	grep "had control characters" ../out
'

test_that 'a branch that plain git fetched does not count as a branch of the user' '
	team track &&
	cd track.here &&
	test_session t "
		echo ok >ok
		git add ok
		git commit -qm ok" &&
	git switch -q agent/t &&
	echo e >.envrc &&
	git add .envrc &&
	git commit -qm evil &&
	git push -q origin agent/t &&
	cd ../track.there &&
	git fetch -q &&
	git rev-parse origin/agent/t &&
	git agent fetch origin &&
	test "$(shown t)" = "captured tip held 1 origin" &&
	! git cat-file -e agent/t:.envrc
'

# A remote that sends what is listed in $TRASH/sent and nothing else
test_script "$TRASH/send" "cat >/dev/null
exec git pack-objects --stdout -q <\"$TRASH/sent\"" || exit 1

# private NAME: a team, of which one has a private branch; the remote has its objects, under no name
private() {
	team "$1" &&
	cd "$1.there" &&
	git switch -q -c wip &&
	mkdir dir &&
	echo private >dir/private &&
	git add dir &&
	git commit -qm "not for anybody yet" &&
	git push -q origin wip:refs/hidden/wip &&
	git switch -q main &&
	cd ../"$1.git" &&
	wip=$(git rev-parse refs/hidden/wip)
}
# made NAME PARENT...: a session there, of the paths of main and the private directory
made() {
	made_tree=$({ git ls-tree main && git ls-tree "$wip" dir; } | git mktree) &&
	made_commit=$(git commit-tree -m "$1" $(shift && printf " -p %s" "$@") "$made_tree") &&
	git update-ref "refs/heads/agent/$1" "$made_commit"
}

test_that 'GT-21: ids of a private branch in a session bring nothing of it' '
	private ids &&
	made parent $wip &&
	made merge main $wip &&
	made dir main &&
	made file main &&
	git update-ref refs/heads/agent/same $wip &&
	cd ../ids.there &&
	agent_refs >../before &&
	git config --global uploadpack.packObjectsHook "$TRASH/send" &&
	test_when_finished "git config --global --unset uploadpack.packObjectsHook || :" &&
	for session in parent merge dir file; do
		git -C ../ids.git rev-parse agent/$session agent/$session^{tree} >"$TRASH/sent" &&
		case $session in file) git rev-parse wip:dir >>"$TRASH/sent" ;; esac &&
		test_fails 128 "refused: it refers to objects that are here, and did not come with it" \
			git agent fetch origin $session || exit 1
	done &&
	git config --global --unset uploadpack.packObjectsHook &&
	agent_refs | test_cmp ../before - &&
	fsck &&
	test_fails 1 "has nothing that is not on a branch here" git agent fetch origin same &&
	for base in "" "--base main"; do
		test_fails 128 "has commits of a branch or tag here that the remote is not known to have" \
			git agent fetch $base origin parent &&
		grep "^hint: .git for-each-ref --contains $(git rev-parse --short=12 wip)." ../err || exit 1
	done &&
	git -C ../ids.git branch wip $wip &&
	test_fails 128 "is based on branch .wip. of the remote" git agent fetch ../ids.git parent &&
	agent_refs | test_cmp ../before - &&
	git agent fetch --base wip origin parent &&
	git agent show --json parent | grep "\"onto\": \"$(git rev-parse wip)\"" &&
	git -C ../ids.git branch -q -D wip &&
	git branch -q -D wip &&
	git agent fetch origin same &&
	git agent show --json same | grep "\"onto\": \"$(git rev-parse main)\""
'

test_that 'GT-21: a remote is told of no commit but its own' '
	private told &&
	for session in w based mirrored; do made $session main || exit 1; done &&
	git update-ref refs/heads/main-2 "$(git commit-tree -m two -p main main^{tree})" &&
	cd ../told.there &&
	git fetch -q origin main-2 &&
	test_session mine "echo mine >mine" &&
	git tag -a -m tag mine wip &&
	git init -q --bare ../else.git &&
	git remote add else ../else.git &&
	git push -q else wip:their &&
	echo stashed >>a &&
	git stash -q &&
	told() {
		rm -f ../packets &&
		GIT_TRACE_PACKET=$(cd .. && pwd)/packets git agent fetch "$@" &&
		sed -n "s/.*fetch> have //p" ../packets | sort -u >../have &&
		for id in $wip $(git rev-parse mine agent/mine stash refs/agent/mine/report); do
			! grep "fetch> .*$id" ../packets || return 1
		done
	} &&
	told origin w &&
	git rev-parse main origin/main-2 | sort | test_cmp - ../have &&
	git agent drop --force w &&
	told origin w &&
	grep "fetch> want" ../packets &&
	test ! -s ../have &&
	git agent drop --force w &&
	git fetch -q origin agent/w &&
	told origin w &&
	! grep "fetch> want" ../packets &&
	told --base main origin based &&
	git rev-parse main | test_cmp - ../have &&
	git config remote.origin.fetch "+refs/*:refs/*" &&
	told origin mirrored &&
	git rev-parse main | test_cmp - ../have
'

test_that 'no hook or driver that came with a session runs' '
	team run &&
	cd run.here &&
	test_session r "
		mkdir .githooks
		printf \"#!/bin/sh\ntouch $TRASH/ran\n\" |
			tee .githooks/post-checkout >.githooks/reference-transaction
		chmod +x .githooks/*
		echo \"* filter=f diff=f merge=f\" >.gitattributes
		echo z >z" &&
	git agent push --held r &&
	cd ../run.there &&
	git config filter.f.smudge "touch $TRASH/ran; cat" &&
	git config filter.f.clean "touch $TRASH/ran; cat" &&
	git config core.hooksPath .githooks &&
	git agent fetch origin &&
	git agent review r &&
	git agent list &&
	test ! -e "$TRASH/ran" &&
	test "$(git agent show --json r | grep -c "\"held\": null")" = 0
'

test_done
