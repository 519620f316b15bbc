#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions through a remote: pushed here, reviewed and landed there'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# team NAME: a bare repository and two clones of it, that share nothing else
team() {
	git init -q "$1.seed" &&
	(
		cd "$1.seed" &&
		seq 1 30 >a &&
		echo b >b &&
		printf '*.log\n' >.gitignore &&
		eval "${2:-:}" &&
		git add -A &&
		git commit -qm base
	) &&
	git clone -q --bare "$1.seed" "$1.git" &&
	git clone -q "$1.git" "$1.here" &&
	git clone -q "$1.git" "$1.there"
}
# state of a session: tip held flags open
shown() {
	git agent show --json "$1" |
		python3 -c 'import json,sys; o=json.load(sys.stdin); print(o["state"], o["tip"] and "tip", o["held"] and "held", o["flags_open"], o["remote"])'
}
agent_refs() {
	git for-each-ref --format='%(objectname) %(refname)' refs/heads/agent refs/agent
}
fsck() {
	git fsck --strict &&
	test -z "$(find "$(git rev-parse --git-common-dir)/objects" -name '*.keep' -o -name 'tmp_objdir*')"
}

work='sed -i s/^5$/five/ a; git commit -qam "one"; echo n >n; git add n; git commit -qm two; echo all: >Makefile; echo e >.envrc; echo left >x.log'

test_expect_success 'branch and report are pushed, what is held back only when asked' '
	team push &&
	cd push.here &&
	git agent start -q --name w -- sh -c "$work" &&
	git agent push w 2>../err &&
	grep "pushed agent/w and its report to origin" ../err &&
	git -C ../push.git for-each-ref --format="%(refname)" | sort >../got &&
	printf "%s\n" refs/agent/w/report refs/heads/agent/w refs/heads/main >../want &&
	test_cmp ../want ../got &&
	test "$(git -C ../push.git rev-parse agent/w)" = "$(git rev-parse agent/w)" &&
	! git -C ../push.git rev-list --objects --all | grep envrc &&
	git agent push --held origin agent/w 2>../err &&
	grep "with what is held back" ../err &&
	git -C ../push.git rev-parse refs/agent/w/held
'

test_expect_success 'fetched, reviewed and landed there, with ids as they were; and seen as landed here' '
	cd push.there &&
	git agent fetch --dry-run origin >../out &&
	grep "^w .*and what is held back" ../out &&
	test -z "$(agent_refs)" &&
	git agent fetch origin 2>../err &&
	grep "agent/w: 3 commits, 3 files changed" ../err &&
	grep "next: git agent review w" ../err &&
	test "$(shown w)" = "captured tip held 2 origin" &&
	test "$(git rev-parse agent/w)" = "$(git -C ../push.here rev-parse agent/w)" &&
	git agent show w | grep "^fetched from origin" &&
	git agent list | grep "^w .*from origin" &&
	test_expect_code 3 git agent land w &&
	test_expect_code 2 git agent drop w &&
	git agent review w | grep Makefile &&
	git agent diff w | grep "+five" &&
	git agent fetch origin 2>../err &&
	grep "is up to date with the remote" ../err &&
	git agent review --reject w .envrc &&
	git agent review --accept w Makefile &&
	git agent land w &&
	test -e Makefile &&
	test ! -e .envrc &&
	fsck &&
	git push -q origin main &&
	cd ../push.here &&
	git agent list | grep "^w .*captured" &&
	git fetch -q &&
	git agent review --reject w .envrc &&
	git agent list | grep "^w .*landed" &&
	cd ../push.there &&
	git agent land --undo w &&
	git agent land w &&
	git agent gc | grep "^session w" &&
	git agent drop --restore w &&
	git agent drop w
'

test_expect_success 'a branch where there is to be a directory of branches is named, and nothing is fetched' '
	git clone -q push.git push.branch &&
	cd push.branch &&
	git branch agent &&
	test_expect_code 128 git agent fetch origin w 2>../err &&
	cat ../err &&
	grep "branch .agent. leaves no room" ../err &&
	grep "hint: .git branch -m agent NAME" ../err &&
	test -z "$(git for-each-ref refs/agent)" &&
	git agent list >../out &&
	test ! -s ../out &&
	git branch -m agent other &&
	git agent fetch origin w
'

test_expect_success 'uncommitted work that a session began with is pushed in no object' '
	team carried &&
	cd carried.here &&
	sed -i "s/^10\$/my own edit/" a &&
	echo "my own file" >own &&
	git agent start -q --name c -- sh -c "
		sed -i \"s/^my .*/&, and agent/\" a
		echo by-agent >>b
		git commit -qam one
		echo more >>own
		echo e >.envrc
		echo all: >Makefile
		echo n >n" &&
	git agent diff --uncommitted c | grep "^+my own edit, and agent" &&
	git agent push --held c &&
	git -C ../carried.git for-each-ref --format="%(refname)" >../got &&
	grep -x refs/agent/c/held ../got &&
	git -C ../carried.git cat-file --batch-all-objects --batch >../all &&
	grep -a -x by-agent ../all &&
	! grep -a "own edit\|own file" ../all &&
	test "$(git -C ../carried.git show agent/c:n)" = n &&
	cd ../carried.there &&
	git agent fetch origin &&
	git agent review --reject c .envrc &&
	git agent review --accept c Makefile &&
	git agent land c &&
	test "$(sed -n 10p a)" = 10 &&
	test "$(tail -n 1 b)" = by-agent &&
	test ! -e own
'

test_expect_success 'what can not be done with one that has no layers is said; what can, works' '
	team cmds &&
	cd cmds.here &&
	git agent start -q --name c -- sh -c "$work" &&
	git agent push c &&
	cd ../cmds.there &&
	git agent fetch origin c 2>../err &&
	git agent show c &&
	git agent capture c &&
	git agent review --left-behind c &&
	git agent review --format=json c >/dev/null &&
	git agent review --format=markdown c >/dev/null &&
	test_expect_code 125 git agent resume c -- true 2>../err &&
	grep "was fetched from .origin.: it can go on only where it was started" ../err &&
	agent_refs >../before &&
	git agent drop --force c &&
	test -z "$(agent_refs)" &&
	git agent drop --restore c &&
	agent_refs | test_cmp ../before - &&
	git agent review --accept-all c &&
	test_expect_code 128 git agent land --with-ignored x.log c &&
	git agent land --squash c &&
	test -e n &&
	git agent land --undo c &&
	test ! -e n &&
	git agent start -q --base agent/c --name on -- sh -c "echo m >m" &&
	git agent push --held c &&
	git agent guard status &&
	fsck
'

test_expect_success 'rules and holding back are done again: by the hooks and settings of this host' '
	team host "mkdir tools && echo true >tools/check" &&
	cd host.here &&
	git agent start -q --name h -- sh -c "
		echo evil >tools/check
		echo all: >Makefile
		echo ok >ok" &&
	git cat-file -e agent/h:tools/check &&
	test_expect_code 1 git diff --quiet agent/h main -- tools/check &&
	test "$(git show agent/h:tools/check)" = evil &&
	git agent push h &&
	cd ../host.there &&
	printf "#!/bin/sh\nsh tools/check\n" >.git/hooks/pre-commit &&
	chmod +x .git/hooks/pre-commit &&
	git agent guard on &&
	git fetch -q &&
	git agent fetch origin 2>../err &&
	test "$(git show agent/h:tools/check)" = true &&
	! git cat-file -e agent/h:Makefile &&
	git cat-file -e agent/h:ok &&
	git rev-list agent/h --not main >../revs &&
	while read -r c; do test "$(git show $c:tools/check)" = true || exit 1; done <../revs &&
	test "$(git show refs/agent/h/held:tools/check)" = evil &&
	git rev-parse refs/agent/h/orig &&
	test_must_fail git merge -q origin/agent/h &&
	git reset -q --hard
'

test_expect_success 'what a plain merge would write over there is held back' '
	team over &&
	cd over.here &&
	git agent start -q --name o -- sh -c "
		echo theirs >mine
		echo theirs >build
		echo ok >ok
		git add -A
		git commit -qm add" &&
	git agent push o &&
	cd ../over.there &&
	echo mine >mine &&
	echo build >>.git/info/exclude &&
	echo old >build &&
	git agent fetch origin &&
	git merge -q agent/o &&
	grep mine mine &&
	grep old build &&
	test -e ok &&
	git agent review --reject o mine build &&
	git agent list | grep "^o .*landed"
'

test_expect_success 'no verdict, flag or report from there is believed' '
	team lie &&
	cd lie.here &&
	git agent start -q --name l -- sh -c "$work" &&
	git agent review --accept-all --critical l &&
	git agent show l | grep "0 open\|accepted" &&
	git cat-file -e agent/l:.envrc &&
	git agent push l &&
	cd ../lie.there &&
	git agent fetch origin &&
	test "$(shown l)" = "captured tip held 2 origin" &&
	! git cat-file -e agent/l:.envrc &&
	! git rev-list agent/l | xargs -n 1 git ls-tree -r | grep envrc &&
	test_expect_code 3 git agent land l &&
	cd ../lie.here &&
	blob=$(echo "{}" | git hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\treport.json\n" | git mktree) &&
	git push -q -f origin "$(git commit-tree -m x $tree):refs/agent/l/report" &&
	git commit -q --allow-empty -m x &&
	cd ../lie.there &&
	git agent drop --force l &&
	git agent fetch origin l &&
	test "$(shown l)" = "captured tip held 2 origin"
'

test_expect_success 'fetched again: what is new comes, unless it was decided about here' '
	team again &&
	cd again.here &&
	git agent start -q --name g -- sh -c "$work" &&
	git agent push --held g &&
	cd ../again.there &&
	git agent fetch origin &&
	cd ../again.here &&
	git agent resume -q g -- sh -c "echo more >more" &&
	git agent push --held g &&
	cd ../again.there &&
	git agent fetch origin 2>../err &&
	grep "4 commits" ../err &&
	git cat-file -e agent/g:more &&
	test "$(shown g)" = "captured tip held 2 origin" &&
	git agent review --reject g .envrc &&
	cd ../again.here &&
	git agent resume -q g -- sh -c "echo again >again" &&
	git agent push --held g &&
	cd ../again.there &&
	agent_refs >../before &&
	test_expect_code 2 git agent fetch origin g 2>../err &&
	grep "was decided about here" ../err &&
	agent_refs | test_cmp ../before - &&
	git agent drop --force g &&
	git agent fetch origin g &&
	git cat-file -e agent/g:again &&
	fsck &&
	git switch -q agent/g &&
	cd ../again.here &&
	git agent resume -q g -- sh -c "echo third >third" &&
	git agent push g &&
	cd ../again.there &&
	test_expect_code 128 git agent fetch origin g 2>../err &&
	grep "checked out" ../err
'

test_expect_success 'what was held back leaves the remote when it is not pushed any more, or decided' '
	team stale &&
	cd stale.here &&
	git agent start -q --name w -- sh -c "$work" &&
	git agent push --held w &&
	git -C ../stale.git rev-parse refs/agent/w/held &&
	git -C ../stale.git update-ref refs/agent/other/held main &&
	git -C ../stale.git update-ref refs/agent/w/base main &&
	git agent push w &&
	test_must_fail git -C ../stale.git rev-parse -q --verify refs/agent/w/held &&
	git agent push --held w &&
	git -C ../stale.git rev-parse refs/agent/w/held &&
	git agent review --reject w .envrc &&
	git agent push --held w 2>../err &&
	! grep "held back" ../err &&
	test_prints "refs/agent/other/held\nrefs/agent/w/base\nrefs/agent/w/report\nrefs/heads/agent/w\nrefs/heads/main" git -C ../stale.git for-each-ref --format="%(refname)" &&
	git rev-parse refs/agent/w/report &&
	cd ../stale.there &&
	git agent fetch --dry-run origin | grep "^w " | grep -v "held back"
'

test_expect_success 'a namesake on the remote keeps its branch, its report and what is held back of it' '
	team same &&
	cd same.there &&
	git agent start -q --name w -- sh -c "
		echo theirs >t
		echo e >.envrc" &&
	git agent push --held w &&
	git -C ../same.git for-each-ref >../before &&
	cd ../same.here &&
	git agent start -q --name w -- sh -c "
		echo mine >m
		echo x >.envrc" &&
	test_expect_code 128 git agent push w 2>../err &&
	cat ../err &&
	grep "cannot push to .origin.: \[rejected\] agent/w -> agent/w (fetch first)$" ../err &&
	grep "^hint: .*perhaps of another session: .git agent push --force origin w. replaces it" ../err &&
	test_expect_code 128 git agent push --held w &&
	git fetch -q &&
	test_expect_code 128 git agent push w 2>../err &&
	grep "agent/w (non-fast-forward)$" ../err &&
	grep "^hint: .*--force" ../err &&
	git -C ../same.git for-each-ref | test_cmp ../before - &&
	printf "#!/bin/sh\nexit 1\n" >../same.git/hooks/pre-receive &&
	chmod +x ../same.git/hooks/pre-receive &&
	test_expect_code 128 git agent push --force w 2>../err &&
	cat ../err &&
	grep "cannot push to .origin.: \[remote rejected\] agent/w -> agent/w (pre-receive hook declined)$" ../err &&
	! grep "^hint:" ../err &&
	rm ../same.git/hooks/pre-receive &&
	git agent push --force w &&
	test "$(git -C ../same.git rev-parse agent/w)" = "$(git rev-parse agent/w)" &&
	test "$(git -C ../same.git rev-parse refs/agent/w/report)" = "$(git rev-parse refs/agent/w/report)" &&
	test_must_fail git -C ../same.git rev-parse -q --verify refs/agent/w/held
'

test_expect_success 'names: of both sides, given anew, and none that could be no session' '
	team name &&
	cd name.here &&
	git agent start -q --name s -- sh -c "echo theirs >s" &&
	git agent push s &&
	git push -q origin "agent/s:refs/heads/agent/Upper" "agent/s:refs/heads/agent/a/b" "agent/s:refs/heads/agent/-x" "agent/s:refs/agent/ghost/held" &&
	cd ../name.there &&
	git agent start -q --name s -- sh -c "echo mine >s" &&
	git agent fetch --dry-run --json origin >../json &&
	python3 -c "import json,sys; assert [o[\"name\"] for o in json.load(sys.stdin)] == [\"s\"]" <../json &&
	git agent fetch origin &&
	test "$(git show agent/s:s)" = mine &&
	test_expect_code 2 git agent fetch origin s 2>../err &&
	grep "there is another session .s. here" ../err &&
	git agent fetch origin agent/s:theirs &&
	test "$(git show agent/theirs:s)" = theirs &&
	test_expect_code 1 git agent fetch origin nobody &&
	test_expect_code 129 git agent fetch origin s:Bad/Name &&
	test_expect_code 129 git agent fetch &&
	test_expect_code 128 git agent fetch nowhere &&
	test_expect_code 128 git agent fetch -- --upload-pack=touch &&
	test_expect_code 128 git agent push -- --exec=touch s &&
	git branch agent/free &&
	test_expect_code 128 git agent fetch origin s:free 2>../err &&
	grep "branch .agent/free., or one below it, exists" ../err &&
	git agent list --json | grep -c "\"name\"" | grep -x 2 &&
	test -z "$(ls -A "$HOME"/.local/state/git-agent/*/sessions | grep "^[.]")"
'

test_expect_success 'what no branch here has is refused, and nothing stays of it' '
	team base &&
	cd base.here &&
	git commit -q --allow-empty -m unpushed &&
	git agent start -q --name u -- sh -c "echo u >u" &&
	git agent push u &&
	cd ../base.there &&
	git agent fetch origin u &&
	test "$(git agent show --json u | python3 -c "import json,sys; print(json.load(sys.stdin)[\"onto\"])")" = "$(git rev-parse main)" &&
	cd ../base.here &&
	git checkout -q --orphan other &&
	git commit -qm root &&
	git branch agent/root &&
	git push -q origin agent/root &&
	cd ../base.there &&
	agent_refs >../before &&
	test_expect_code 128 git agent fetch origin root 2>../err &&
	grep "stands on no commit that is here" ../err &&
	agent_refs | test_cmp ../before - &&
	test ! -e "$HOME"/.local/state/git-agent/"$(head -n 1 .git/git-agent/id)"/sessions/root &&
	cd ../base.here &&
	git switch -q main &&
	git branch agent/none main~1 &&
	git push -q origin agent/none &&
	cd ../base.there &&
	test_expect_code 1 git agent fetch origin none 2>../err &&
	grep "has nothing that is not on a branch here" ../err &&
	fsck
'

# ---- a hostile remote ------------------------------------------------------------------------------

test_expect_success 'GT-03: objects that git refuses, in history too, come not in' '
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
	test -z "$(git agent list)"
'

test_expect_success 'limits of size, objects and commits hold' '
	team big &&
	cd big.here &&
	git agent start -q --name b -- sh -c "head -c 3000000 /dev/urandom >big" &&
	git agent push b &&
	git agent start -q --name many -- sh -c "
		for i in 1 2 3 4 5 6 7 8 9; do
			echo \$i >f
			git add f
			git commit -qm \$i
		done" &&
	git agent push many &&
	git agent start -q --name zeros -- sh -c "head -c 50000000 /dev/zero >z" &&
	git agent push zeros &&
	cd ../big.there &&
	find .git/objects -type f | sort >../before &&
	test_expect_code 128 git agent -c limits.capture.pack_size=1MiB fetch origin b 2>../err &&
	grep "limits.capture.pack_size\|too large" ../err &&
	test_expect_code 128 git agent -c limits.capture.commits=5 fetch origin many 2>../err &&
	grep "commits" ../err &&
	test_expect_code 128 git agent -c limits.capture.object_size=10MiB fetch origin zeros 2>../err &&
	grep "refused" ../err &&
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

test_expect_success UNSANITIZED 'memory is bounded: a small pack that means a large one in memory is refused while git receives it' '
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
	test_expect_code 128 git agent -c limits.capture.object_size=1MiB -c limits.capture.objects=1000 fetch origin m 2>../err &&
	grep "cannot fetch session .m.: " ../err &&
	grep "limits.capture.pack_size or .object_size" ../err &&
	test_expect_code 128 git agent -c limits.capture.object_size=1MiB fetch origin m 2>../err &&
	grep "is refused: an object is too large" ../err &&
	agent_refs | test_cmp ../before - &&
	find .git/objects -type f | sort | test_cmp ../objects - &&
	git agent fetch origin m &&
	git cat-file -e agent/m:big &&
	fsck
'

test_expect_success 'control characters in messages are escaped, and nothing of a remote reaches the terminal raw' '
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

test_expect_success 'a remote'\''s branch that plain git fetched does not count as the host'\''s' '
	team track &&
	cd track.here &&
	git agent start -q --name t -- sh -c "
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

test_expect_success 'no hook or driver that came along runs' '
	team run &&
	cd run.here &&
	git agent start -q --name r -- sh -c "
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

for point in downloaded objects refs; do
	test_expect_success "killed at fetch:$point: done again it comes, and nothing stays of the first" '
		rm -rf kill.* &&
		team kill &&
		cd kill.here &&
		git agent start -q --name k -- sh -c "$work" &&
		git agent push --held k &&
		cd ../kill.there &&
		{
			GIT_AGENT_FAULT=fetch:$point:kill git agent fetch origin
			test $? = 137
		} &&
		git agent list &&
		git status &&
		git agent fetch origin k &&
		test "$(shown k)" = "captured tip held 2 origin" &&
		git agent review --accept-all --critical k &&
		git agent land k &&
		test -e .envrc &&
		git fsck --strict &&
		s=$HOME/.local/state/git-agent/$(head -n 1 .git/git-agent/id)/sessions &&
		find "$s" -maxdepth 1 -name ".*" -exec touch -d "2 days ago" {} + &&
		git agent gc &&
		ls -A "$s" >../left &&
		test ! -s ../left &&
		test -z "$(find .git/objects -name "tmp_objdir*")"
	'
done

test_expect_success 'a relative address leads from the working tree, and what is wrong with a remote is said' '
	team rel &&
	cd rel.here &&
	git agent start -q --name w -- sh -c "echo w >w" &&
	git agent push w &&
	cd ../rel.there &&
	git remote set-url origin ../rel.git &&
	mkdir -p deep &&
	(cd deep && git agent fetch --dry-run origin >../../out && git agent fetch origin) &&
	grep "^w " ../out &&
	git cat-file -e agent/w:w &&
	git remote set-url origin ../nowhere.git &&
	test_expect_code 128 git agent fetch origin 2>../err &&
	grep "cannot ask remote .origin.: .*nowhere.git.* does not appear to be a git repository" ../err
'

test_expect_success 'a remote that is this repository itself costs nothing of what is held back' '
	git init -q self &&
	cd self &&
	echo a >a &&
	git add a &&
	git commit -qm base &&
	git switch -q -c follows --track main &&
	git config branch.follows.remote &&
	git agent start -q --name self -- sh -c "
		echo e >.envrc
		echo b >b" &&
	git for-each-ref >../want &&
	git cat-file -e refs/agent/self/held:.envrc &&
	test_expect_code 128 git agent push self 2>../err &&
	grep "push to .origin" ../err &&
	git remote add me "$PWD/.git" &&
	for remote in . me "$PWD" "file://$PWD"; do
		test_expect_code 128 git agent push "$remote" self 2>../err &&
		grep "is this repository itself" ../err &&
		git for-each-ref | grep -v refs/remotes/ | test_cmp ../want - ||
			exit 1
	done &&
	git init -q --bare ../else.git &&
	git remote add origin ../else.git &&
	git agent push self &&
	git -C ../else.git cat-file -e agent/self:b &&
	git for-each-ref | grep -v refs/remotes/ | test_cmp ../want - &&
	git agent review --accept self .envrc
'

test_done
