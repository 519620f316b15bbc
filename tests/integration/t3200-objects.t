#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a hostile agent against git: objects, refs, configuration, what is reviewed and landed'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/lib/attacks.sh"
require_sandbox

# The work is there although the commits are not, and why.
refused() {
	test "$(git rev-list --count "HEAD..agent/$1")" = 1 &&
	test "$(git cat-file blob "agent/$1:w")" = w &&
	git agent show "$1" >../show &&
	grep "commits were not taken (.*$2" ../show
}

# The whole of what a repository holds but for objects that were added and the refs of sessions.
fingerprint() {
	(
		cd .git &&
		find . -type f ! -path "*/refs/agent/*" ! -path "*/refs/heads/agent/*" ! -path "*/logs/*" ! -path "*/git-agent/*" ! -path "*/objects/*" |
			LC_ALL=C sort |
				xargs sha256sum
		git for-each-ref | grep -v "agent/"
	) >"$1"
	(cd .git && find objects -type f | LC_ALL=C sort | xargs sha256sum) >"$1.objects"
}

# What the agent has for making objects git would not.
lib='raw() { git hash-object -w --stdin --literally -t $1; }
entry() { printf "%s %s\\0" "$1" "$2"; printf %s $3 | perl -ne "print pack(q(H*), \$_)"; }
b=$(echo blob | git hash-object -w --stdin)'

# ---- what is run ------------------------------------------------------------------

test_expect_success 'GT-02: a repository that lies in the tree as files is critical, and nobody looks into it' '
	make_repo bare &&
	cd bare &&
	attack b "
		mkdir -p v/x/objects v/x/refs u
		echo k >v/x/objects/k
		echo k >v/x/refs/k
		echo ref: refs/heads/x >v/x/HEAD
		printf \"[core]\n\tfsmonitor = touch $TRASH/ran\n\tworktree = .\n\" >v/x/config
		cp v/x/HEAD u/HEAD
		echo ../v/x >u/commondir
		echo w >w" &&
	git agent review --format=json b | python3 -c "
import json, sys
f = json.load(sys.stdin)[\"flags\"]
assert any(x[\"severity\"] == \"critical\" and x[\"path\"].startswith(\"v/x/\") for x in f), f" &&
	! git ls-tree -r agent/b | grep "v/x/config\|v/x/HEAD" &&
	git merge -q agent/b &&
	for d in . u v/x; do test ! -d "$d" || (cd "$d" && git status) || :; done &&
	test ! -e "$TRASH/ran"
'

test_expect_success STRACE 'GT-20: what is executed is on a short list, and none of it is of the project' '
	make_repo trace "echo \"* text=auto\" >.gitattributes" &&
	cd trace &&
	strace -f -qq -e trace=execve,execveat -o ../trace.out git agent start --name t -- sh -c "
		printf \"1\r\n\" >c
		git add c
		git commit -qm c
		echo w >w" &&
	for c in "show t" "review t" "land t"; do
		strace -f -qq -e trace=execve,execveat -o ../trace.one git agent $c || exit 1
		cat ../trace.one >>../trace.out
	done &&
	grep " = 0$" ../trace.out |
		sed -n "s/^[0-9]* *execve(\"\([^\"]*\)\".*/\1/p" |
			sed "s,.*/,," |
			sort -u >../got &&
	cat ../got &&
	grep -x git ../got &&
	grep -x bwrap ../got &&
	! grep -vxE "git|git-agent|git-agent-main|git-agent-stage|bwrap|init|sh|cat|git-lfs" ../got &&
	! grep "execveat(\|execve(\"$PWD" ../trace.out
'

# ---- the stores --------------------------------------------------------------------

test_expect_success 'GT-04: nothing of the user'\''s repository can be changed from inside' '
	make_repo store "echo more >more" &&
	cd store &&
	git tag v1 &&
	git repack -qad &&
	echo l >l &&
	git add l &&
	git commit -qm loose &&
	fingerprint ../before &&
	attack s "
		alt=\$(cat .git/objects/info/alternates)
		test -n \"\$alt\" &&
		for d in \$alt; do
			chmod -R u+w \$d
			rm -rf \$d/*
			find \$d -type f -exec sh -c \"
			echo x >{}
			truncate -s 0 {}
			mv {} {}.x\" \;
			touch \$d/new
		done
		echo w >w
		git add w
		git commit -qm w
		git reflog expire --expire=now --all
		git gc -q --prune=now
		git repack -qad
		git prune" &&
	fingerprint ../after &&
	test_cmp ../before ../after &&
	sort ../before.objects >../b &&
	sort ../after.objects >../a &&
	! comm -23 ../b ../a | grep . &&
	test "$(git cat-file blob agent/s:w)" = w &&
	clean_store
'

test_expect_success 'GT-11: the git dirs of submodules are out of reach' '
	make_repo subsrc &&
	make_repo super &&
	cd super &&
	git -c protocol.file.allow=always submodule --quiet add "$HOME/subsrc" sub &&
	git commit -qm sub &&
	fingerprint ../before &&
	attack s "
		echo gitdir: /tmp/x >sub/.git
		for d in .git/modules/sub \$(find / -path \"*modules/sub\" -type d 2>/dev/null); do
			mkdir -p \$d/hooks
			printf \"#!/bin/sh\ntouch $TRASH/ran\n\" >\$d/hooks/post-checkout
			chmod +x \$d/hooks/post-checkout
			printf \"[core]\n\tfsmonitor = touch $TRASH/ran\n\" >>\$d/config
		done
		echo w >w" &&
	fingerprint ../after &&
	test_cmp ../before ../after &&
	git status --porcelain &&
	git -C sub status &&
	test ! -e "$TRASH/ran" &&
	test "$(git rev-parse agent/s:sub)" = "$(git rev-parse HEAD:sub)"
'

# Each session's commits are its own: ids that the host has already would not be refused.
test_expect_success 'GT-03 GT-16: replacements, grafts, alternates, shallow marks and marks in the index change nothing' '
	make_repo marks &&
	cd marks &&
	commit="echo 1 >1; git add 1; git commit -qm 1 -m \$GIT_AGENT_SESSION; echo 2 >2; git add 2; git commit -qm 2 -m \$GIT_AGENT_SESSION" &&
	attack index "
		$commit
		echo w >w
		git update-index --assume-unchanged a
		git update-index --skip-worktree d/x
		echo 3 >a
		rm d/x
		git config core.sparseCheckout true
		echo /1 >.git/info/sparse-checkout" &&
	test "$(git cat-file blob agent/index:a)" = 3 &&
	! git cat-file -e agent/index:d/x 2>/dev/null &&
	test "$(git rev-list --count HEAD..agent/index)" = 3 &&
	attack replace "
		$commit
		echo w >w
		t=\$(git mktree </dev/null)
		git replace HEAD~1 \$(git commit-tree -p HEAD~2 -m other \$t)" &&
	attack graft "
		$commit
		echo w >w
		git rev-parse HEAD >.git/info/grafts" &&
	attack shallow "
		$commit
		echo w >w
		git rev-parse HEAD >.git/shallow" &&
	for s in replace graft shallow; do
		{
			refused $s "" ||
				{
					test "$(git log --format=%s -1 agent/$s~2)" = 1 &&
					test "$(git cat-file blob agent/$s~2:1)" = 1
				}
		} ||
			exit 1
	done &&
	attack alt "
		$commit
		echo w >w
		mkdir -p /tmp/o
		mv .git/objects/?? /tmp/o/
		printf \"/tmp/o\n/proc/self/root\n/dev\n\" >>.git/objects/info/alternates" &&
	test "$(git rev-list --count HEAD..agent/alt)" = 1 &&
	git agent show alt | grep "HEAD names no commit\|were not taken" &&
	for s in index replace graft shallow alt; do
		test "$(git cat-file blob agent/$s:2)" = 2 &&
		git rev-list --objects agent/$s >/dev/null ||
			exit 1
	done &&
	clean_store
'

# What was never fetched is on the user's remote, and here that is a command.
test_expect_success 'GT-16: in a partial clone nothing that is missing is fetched, for whatever is done with a session' '
	make_repo owes &&
	(
		cd owes &&
		echo later >a &&
		git commit -qam later &&
		git config uploadpack.allowFilter true

	) &&
	git clone -q --filter=blob:none "file://$PWD/owes" owed &&
	cd owed &&
	git config protocol.ext.allow always &&
	git config remote.origin.url "ext::sh -c touch% $TRASH/fetched% %S" &&
	attack p "
		git update-ref HEAD \$(git commit-tree HEAD~1^{tree} -p HEAD -m back)
		echo w >w" &&
	test "$(git log --format=%s HEAD..agent/p~1)" = back &&
	attack q "
		$lib
		t=\$(entry 100644 f 0123456789012345678901234567890123456789 | raw tree)
		git update-ref HEAD \$(git commit-tree -p HEAD -m evil \$t)
		echo w >w" &&
	refused q "" &&
	for c in "list" "show p" "review p" "review --json p" "diff p" "capture p" "review --accept p a" "land --dry-run p" "land p" "land --undo p"; do
		git agent $c >../out || {
			echo "failed: $c"
			exit 1
		}
	done &&
	test ! -e "$TRASH/fetched" &&
	{
		git cat-file -e HEAD~1:a 2>/dev/null
		test -e "$TRASH/fetched"
	}
'

# What git inside reads may lie about what it has: what comes out is complete and as it was
# committed, or not taken at all.
test_expect_success 'GT-03: indexes, packs and lists of commits that lie, other formats, settings that change what git prints' '
	lost() {
		test "$(git rev-list --count HEAD..agent/$1)" = 1 &&
		git agent show $1 | grep "HEAD names no commit\|commits were not taken"
	} &&
	make_repo lies &&
	cd lies &&
	n=0 &&
	commit="for i in 1 2 3; do echo \$i >\$i; git add \$i; git commit -qm \$i -m \$GIT_AGENT_SESSION; done; git rev-parse HEAD >\$HOME/tip" &&
	flip="flip() { chmod u+w \$1; perl -0777 -i -pe \"substr(\\\$_, \$2, 1) ^= chr(1)\" \$1; }; g=.git/objects/info/commit-graph" &&
	while IFS="|" read -r what how; do
		n=$((n + 1)) &&
		attack l$n "
		$flip
		$commit
		echo w >w
		$how" &&
		test "$(git cat-file blob agent/l$n:w)" = w &&
		test "$(git cat-file blob agent/l$n:3)" = 3 &&
		git rev-list --objects agent/l$n >/dev/null || {
			echo "failed: $how"
			exit 1
		}
		case $what in
		taken) test "$(git rev-parse agent/l$n~1)" = "$(cat "$HOME/aihome/tip")" ;;
		lost) lost l$n ;;
		unread) test "$(git rev-list --count HEAD..agent/l$n)" = 1 &&
		git agent show l$n |
			grep "HEAD names no commit: its work is one commit" ;;
		either) test "$(git rev-parse agent/l$n~1)" = "$(cat "$HOME/aihome/tip")" ||
			lost l$n ;;
		esac || {
			git log --oneline agent/l$n
			echo "not $what: $how"
			exit 1
		}
	done <<-\END &&
	taken|git commit-graph write --reachable; git repack -adq
	either|git commit-graph write --reachable; for at in -25 -30 -45 -60 -75; do flip $g $at; done
	either|git commit-graph write --reachable; for at in $(seq -300 9 -21); do flip $g $at; done
	lost|git repack -adq; p=$(ls .git/objects/pack/*.pack); for at in 20 30 40 50 60 70; do flip $p $at; done
	either|git repack -adbq; p=$(ls .git/objects/pack/*.bitmap); for at in -30 -40 -50; do flip $p $at; done
	either|git repack -adq; p=$(ls .git/objects/pack/*.idx); for at in -45 -49 -53 -57 -61; do flip $p $at; done
	unread|git config core.repositoryFormatVersion 1; git config extensions.objectFormat sha256
	unread|git config core.repositoryFormatVersion 1; git config extensions.noSuchThing true
	taken|git config color.ui always; git config core.abbrev 4; git config pack.packSizeLimit 1m; git config core.quotePath true; git config pack.threads 1; git config i18n.logOutputEncoding UTF-16; git config for-each-ref.format x; git config alias.rev-parse "!touch $HOME/ran"
	taken|git worktree add -q /tmp/wt HEAD~1; git worktree add -q ../wt HEAD~1
	taken|git tag -a -m HEAD HEAD HEAD~2; git update-ref refs/HEAD HEAD~2; git branch HEAD HEAD~2; git update-ref HEAD/x HEAD~2
	END
	test ! -e "$HOME/ran" &&
	test ! -e "$HOME/aihome/ran" &&
	clean_store
'

test_expect_success 'GT-06: more branches than are kept, and names that are in the way of ours' '
	make_repo many &&
	cd many &&
	attack m "
		echo 1 >1
		git add 1
		git commit -qm 1
		i=0
		for i in \$(seq 150); do
			echo create refs/heads/b\$i \$(echo \$i | git commit-tree -p HEAD HEAD^{tree})
		done |
			git update-ref --stdin
		git branch heads/x b1
		git branch refs/heads/y b2
		git branch -q Agent/m b3 2>/dev/null
		git branch report b4
		git branch held b5
		echo w >w" &&
	test "$(git for-each-ref refs/agent/m/heads | wc -l)" = 100 &&
	git agent show m >../show &&
	grep "more branches of the agent stay in the session" ../show &&
	test "$(git log --format=%s -1 agent/m~1)" = 1 &&
	test "$(git cat-file blob agent/m:w)" = w &&
	git for-each-ref --format="%(refname)" refs/agent/m |
		grep -v "^refs/agent/m/heads/" |
			sort >../got &&
	printf "refs/agent/m/%s\n" base report >../want &&
	test_cmp ../want ../got &&
	clean_store
'

test_expect_success 'GT-05: trees, modes and names git refuses are refused with the reason, the work is kept' '
	make_repo trees &&
	cd trees &&
	n=0 &&
	while IFS="|" read -r why how; do
		n=$((n + 1)) &&
		attack t$n "
		$lib
		t=\$({ $how; } | raw tree)
		git update-ref HEAD \$(git commit-tree -p HEAD -m evil \$t)
		echo w >w" &&
		refused t$n "$(echo "$why" | sed "s/ or /\\\\|/g")" || {
			echo "failed: $how"
			exit 1
		}
	done <<-\END &&
	hasDotgit|entry 100644 .git $b
	hasDotgit or stands for|entry 100644 "$(printf ".g\342\200\214it")" $b
	parent or hasDotdot|entry 100644 .. $b
	hasDot or parent|entry 100644 . $b
	fullPathname|entry 100644 a/b $b
	treeNotSorted|entry 100644 b $b; entry 100644 a $b
	duplicateEntries|entry 100644 a $b; entry 100644 a $b
	a mode git does not write or badFilemode|entry 100777 f $b
	zeroPadded|entry 0100644 f $b
	gitmodulesSymlink|entry 120000 .gitmodules $b
	a symbolic link|entry 120000 .gitattributes $b
	END
	! git rev-list --objects --all | grep -E "\.git$|a/b$" &&
	clean_store
'

# stays NAME PATH KIND: it is left in the session, said once in the summary, and in no tree.
stays() {
	git agent review --format=json "$1" | python3 -c "
import json, sys
left = [x[\"kind\"] for x in json.load(sys.stdin)[\"left_behind\"] if x[\"path\"] == sys.argv[1]]
assert left == [sys.argv[2]], left" "$2" "$3" &&
	! git rev-list --objects --all | cut -d " " -f 2- | grep -Fx "$2"
}

test_expect_success 'GT-05: what git refuses is refused in the working tree too: it stays in the session, the rest is kept' '
	make_repo both &&
	cd both &&
	n=0 &&
	while IFS="|" read -r why path how; do
		n=$((n + 1)) &&
		attack b$n "
		$how
		git add -A
		git commit -qm evil
		echo w >w
		echo more >>a" &&
		refused b$n "$why" &&
		test "$(git cat-file blob agent/b$n:a)" = "$(printf "a\nmore")" &&
		stays b$n "$path" refused &&
		test "$(grep -c "  note: $path: git refuses it, and it stays in the session (.*$why" ../show)" = 1 &&
		test "$(grep -c "  note: .*commits were not taken" ../show)" = 1 &&
		test_must_fail git agent land --with-ignored "$path" b$n 2>../err &&
		grep "git refuses what is in it" ../err &&
		clean_store || {
			echo "failed: $how"
			exit 1
		}
	done <<-\END &&
	gitmodulesUrl|.gitmodules|printf "[submodule \"x\"]\n\tpath = x\n\turl = -x\n" >.gitmodules
	gitmodulesUrl|d/.gitmodules|printf "[submodule \"x\"]\n\turl = ../../../:x/y\n" >d/.gitmodules
	gitmodulesUrl|GITMOD~1|printf "[submodule \"x\"]\n\turl = https://x/%%0ay\n" >GITMOD~1
	gitmodulesName|.gitmodules|printf "[submodule \"../x\"]\n\tpath = x\n" >.gitmodules
	gitmodulesPath|.gitmodules|printf "[submodule \"x\"]\n\tpath = -x\n" >.gitmodules
	gitmodulesUpdate|.gitmodules|printf "[submodule \"x\"]\n\tupdate = !x\n" >.gitmodules
	gitattributesLineLength|.gitattributes|perl -e "print qq(x ), qq(y) x 3000, qq(\n)" >.gitattributes
	END
	attack all "
		for d in 1 2 3 4 5 6 7 8 9 10 11 12; do
			mkdir \$d
			printf \"[submodule \\\"\$d\\\"]\n\tpath = -x\n\" >\$d/.gitmodules
		done
		mkdir 1b
		cp 1/.gitmodules 1b/
		echo w >w" &&
	git agent show all >../show &&
	cat ../show &&
	test "$(grep -c "  note: .*git refuses it" ../show)" = 10 &&
	grep "3 more files that git refuses stay" ../show &&
	grep "same content" ../show &&
	clean_store &&
	attack twice "
		printf \"[submodule \\\"x\\\"]\n\tpath = -x\n\" >/tmp/m
		mkdir e f
		cp /tmp/m \"e/.gitmodules\\\x\"
		cp /tmp/m f/.gitmodules
		{
			cat /tmp/m
			yes \"# much\" | head -c 1100000
		} >d/.gitattributes
		cp d/.gitattributes d/.gitmodules
		echo w >w" &&
	test "$(git cat-file blob agent/twice:w)" = w &&
	stays twice f/.gitmodules refused &&
	stays twice d/.gitmodules refused &&
	clean_store
'

test_expect_success 'GT-05: names git refuses, committed and in the working tree' '
	make_repo aliases &&
	cd aliases &&
	n=0 &&
	while IFS="|" read -r mode name how; do
		n=$((n + 1)) &&
		name=$(printf "$name") &&
		attack n$n "
		$lib
		x=\$(entry 100644 x \$b | raw tree)
		case $mode in 40000) id=\$x ;; *) id=\$b ;; esac
		t=\$(entry $mode \"$name\" \$id | raw tree)
		git update-ref HEAD \$(git commit-tree -p HEAD -m evil \$t)
		n=\"$name\"
		$how
		echo w >w
		echo more >>a" &&
		refused n$n "" &&
		test "$(git cat-file blob agent/n$n:a)" = "$(printf "a\nmore")" &&
		stays n$n "$name" name &&
		clean_store || {
			echo "failed: $mode $name"
			exit 1
		}
	done <<-\END
	100644|.GIT|echo x >$n
	40000|git~1|mkdir $n; echo x >$n/x
	40000|.git |mkdir "$n"; echo x >"$n/x"
	100644|.g\342\200\214it|echo x >"$n"
	120000|.gitmodules|ln -s a $n
	120000|gitmod~1|ln -s a $n
	120000|gi7eba~1|ln -s a $n
	120000|.GitModules|ln -s a $n
	40000|.gitmodules|mkdir $n; echo x >$n/x
	40000|GITMOD~4|mkdir $n; echo x >$n/x
	40000|.gitattributes|mkdir $n; echo x >$n/x
	40000|gitatt~1|mkdir $n; echo x >$n/x
	END
'

test_expect_success 'GT-05: what cannot be taken as it is now is what the agent committed last, not what it was before' '
	make_repo last "echo old >.gitmodules; echo old >big; echo old >gone" &&
	cd last &&
	attack l "
		printf \"[submodule \\\"x\\\"]\n\tpath = x\n\" >.gitmodules
		echo new >big
		git rm -q --cached gone
		mkdir n
		echo n >n/x
		git add .gitmodules big n
		git commit -qm good
		printf \"[submodule \\\"x\\\"]\n\tpath = -x\n\" >.gitmodules
		truncate -s 3G big n/x gone
		echo w >w" &&
	git agent show l &&
	test "$(git log --format=%s agent/l~1 -1)" = good &&
	test_prints "A\tw" git diff --name-status agent/l~1 agent/l &&
	git agent show l | grep "left behind: .gitmodules (refused, 1 file)" &&
	! git cat-file -e "$(printf "[submodule \"x\"]\n\tpath = -x\n" | git hash-object --stdin)" &&
	clean_store
'

test_expect_success 'GT-05: a few objects that make a million million paths cost their history' '
	make_repo bombs &&
	cd bombs &&
	bomb="for i in 1 2 3 4 5 6 7 8 9 10 11 12; do t=\$(for n in 0 1 2 3 4 5 6 7 8 9; do entry 40000 \$n \$t; done | raw tree); done" &&
	attack wide "
		$lib
		t=\$(entry 100644 f \$b | raw tree)
		$bomb
		git update-ref HEAD \$(git commit-tree -p HEAD -m bomb \$t)
		echo w >w" &&
	refused wide "too many paths" &&
	attack empty "
		$lib
		t=\$(git mktree </dev/null)
		$bomb
		git branch e \$(git commit-tree -p HEAD -m bomb \$t)
		echo w >w" &&
	git agent show empty |
		grep "note: the agent.s branch e was not taken, and stays in the session (.*too many paths" &&
	test "$(git cat-file blob agent/empty:w)" = w &&
	attack deep "$lib
		cat >/tmp/deep.pl <<-\"END\"
		use Digest::SHA \"sha1\"; use Compress::Zlib;
		sub put { my (\$t, \$d) = @_; my \$o = \"\$t \" . length(\$d) . \"\\0\$d\"; my \$h = unpack(\"H*\", sha1(\$o)); my \$p = \".git/objects/\" . substr(\$h, 0, 2);
			mkdir \$p; open(F, \">\", \"\$p/\" . substr(\$h, 2)) or die; print F compress(\$o); close F; return sha1(\$o) }
		my \$t = put(\"tree\", \"100644 f\\0\" . put(\"blob\", \"x\")); \$t = put(\"tree\", \"40000 d\\0\$t\") for 1 .. 1500; print unpack(\"H*\", \$t);
		END
		git update-ref HEAD \$(git commit-tree -p HEAD -m deep \$(perl /tmp/deep.pl)); echo w >w" &&
	refused deep "nested too deep" &&
	clean_store
'

# What reads an object at the end of a chain goes through all of it.
cat >../chain.py <<\END
import hashlib, struct, sys, zlib
data, last, objects = b"x" * 100, None, []
for i in range(200):
    more = b"%d\n" % i
    if last is None:
        data += more  # a whole blob of 102 bytes
        objects.append(bytes([0xb0 | len(data) & 15, len(data) >> 4]) + zlib.compress(data))
    else:  # its two sizes, a copy of all there was, and what is new
        sizes = b"".join(bytes([n & 127 | 128, n >> 7]) for n in (len(data), len(data) + len(more)))
        delta = sizes + bytes([0xb0]) + struct.pack("<H", len(data)) + bytes([len(more)]) + more
        objects.append(bytes([0xf0 | len(delta) & 15, len(delta) >> 4]) + last + zlib.compress(delta))
        data += more
    last = hashlib.sha1(b"blob %d\0" % len(data) + data).digest()
    print("100644 blob %s\t%d" % (last.hex(), i))
pack = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(objects)
open(sys.argv[1], "wb").write(pack + hashlib.sha1(pack).digest())
END

test_expect_success 'GT-05: chains of deltas are no longer than those of git'\''s own' '
	make_repo chains &&
	cd chains &&
	mkdir -p "$HOME/aihome" &&
	python3 "$HOME/../chain.py" "$HOME/aihome/pack" >"$HOME/aihome/names" &&
	deepest="git verify-pack -v .git/objects/pack/*.idx | sed -n \"s/^chain length = \\([0-9]*\\):.*/\\1/p\" | sort -n | tail -n 1" &&
	attack c "
		git index-pack --stdin <~/pack
		git update-ref HEAD \$(git commit-tree -p HEAD -m deep \$(git mktree <~/names))
		git config pack.depth 4000
		git repack -adbq
		$deepest >~/deepest
		echo w >w" &&
	test "$(cat "$HOME/aihome/deepest")" = 199 &&
	test "$(git log --format=%s -1 agent/c~1)" = deep &&
	eval "$deepest" >../got &&
	cat ../got &&
	test "$(cat ../got)" -le 50 &&
	clean_store
'

test_expect_success 'GT-05 GT-12: commits with headers, messages and parents git would not write' '
	make_repo heads &&
	cd heads &&
	n=0 &&
	while IFS="|" read -r why how; do
		n=$((n + 1)) &&
		attack c$n "
		$lib
		echo c >c
		git add c
		git commit -qm c
		c=\$(git cat-file commit HEAD | { $how; } | raw commit)
		echo \$c >.git/refs/heads/agent/c$n
		echo w >w" &&
		refused c$n "$(echo "$why" | sed "s/ or /\\\\|/g")" || {
			echo "failed: $how"
			exit 1
		}
	done <<-\END &&
	nulIn or NUL|sed "s/^c$/c\x00hidden/"
	control characters|sed "/^committer/a x-y \x1b[31m"
	multipleAuthors|sed "/^author/p"
	missingAuthor|sed "/^author/d"
	badDate|sed "/^author/s/[0-9]* +/99999999999999999999 +/"
	0123456789012345678901234567890123456789 or missing or failed|sed "/^tree/a parent 0123456789012345678901234567890123456789"
	too large|cat; perl -e "print qq(x) x 5000000"
	END
	clean_store
'

test_expect_success 'GT-12: who wrote a commit, when and what it claims is shown, not believed' '
	make_repo claims &&
	cd claims &&
	printf "#!/bin/sh\ntouch %s/signed\nexit 1\n" "$TRASH" >../sign &&
	chmod +x ../sign &&
	git config commit.gpgSign true &&
	git config gpg.program "$HOME/sign" &&
	attack c "
		echo c >c
		git add c
		GIT_AUTHOR_NAME=Linus GIT_AUTHOR_EMAIL=l@k.org GIT_AUTHOR_DATE=2099-01-01T00:00:00Z GIT_COMMITTER_DATE=2099-01-01T00:00:00Z git commit -q -m \"x

Signed-off-by: A U Thor <author@example.com>\"
		c=\$(git cat-file commit HEAD | sed \"/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\" | git hash-object -w --stdin -t commit)
		git update-ref HEAD \$c
		echo r >r" &&
	git agent review c >../text &&
	grep "1 commit says it is somebody else.s: .*Linus <l@k.org>" ../text &&
	grep "1 commit says it is of a day still to come" ../text &&
	git config --unset commit.gpgSign &&
	git config --unset gpg.program &&
	test ! -e "$TRASH/signed" &&
	git log -2 --format="%an %G?" agent/c &&
	! git log -1 --format="%G?" agent/c~1 | grep "[GU]" &&
	test "$(git log -1 --format="%an <%ae>" agent/c)" = "A U Thor <author@example.com>" &&
	! git cat-file commit agent/c | grep "^gpgsig" &&
	test "$(git log -1 --format=%ct agent/c)" -lt 4102444800
'

test_expect_success 'GT-10: a gitlink that the agent commits is flagged, one it leaves in the tree is none' '
	make_repo link &&
	cd link &&
	attack l "
		git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,evil
		git commit -qm evil
		git init -q nested
		(cd nested && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m n)
		echo w >w" &&
	git agent review --format=json l >../json &&
	cat ../json &&
	git agent review l | grep 123456 &&
	! git ls-tree -r agent/l | grep nested &&
	python3 -c "
import json
r = json.load(open(\"../json\"))
assert any(x[\"path\"] == \"nested\" and x[\"kind\"] == \"repository\" for x in r[\"left_behind\"]), r[\"left_behind\"]
assert any(f[\"path\"] == \"evil\" for f in r[\"flags\"]), r[\"flags\"]"
'

test_expect_success 'GT-18: LFS pointers and where they are fetched from are flagged; no git-lfs of the user runs' '
	make_repo lfs &&
	cd lfs &&
	mkdir -p "$HOME/bin" &&
	printf "#!/bin/sh\ntouch %s/ran\ncat\n" "$TRASH" >"$HOME/bin/git-lfs" &&
	chmod +x "$HOME/bin/git-lfs" &&
	PATH=$HOME/bin:$PATH &&
	attack p "
		printf \"version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 5\n\" 7 >x.bin
		printf \"[lfs]\n\turl = https://evil.invalid/\n\" >.lfsconfig
		echo \"*.bin filter=lfs diff=lfs merge=lfs -text\" >.gitattributes
		echo w >w" &&
	git agent review --format=json p | python3 -c "
import json, sys
paths = {f[\"path\"] for f in json.load(sys.stdin)[\"flags\"]}
assert {\".lfsconfig\", \".gitattributes\", \"x.bin\"} <= paths, paths" &&
	git agent show p &&
	git agent diff p >/dev/null &&
	test_expect_code 3 git agent land p &&
	test ! -e "$TRASH/ran"
'

# gitk and git gui hand names to Tcl, which takes a "|" or ">" in front for a command or a file to
# write; a carriage return at the end of a path git once lost; a program of this name in the tree
# ran on Windows.
test_expect_success 'GT-19: what graphical tools for git trip over is flagged' '
	make_repo tools &&
	cd tools &&
	printf "%s\n" "|id" ">over" "<in" "2>x" "|sh -c id|" ">d/x" "astextplain.exe" "sh.exe" "x;id" "x\"y" .gitmodules >../names &&
	attack t "while read -r n; do case \$n in */*) mkdir -p \"\${n%/*}\" ;; esac; echo 1 >\"\$n\"; done <<-\"END\"
	$(cat ../names)
	END
	printf \"[submodule \\\"s\\\"]\n\tpath = \\\"s\r\\\"\n\turl = ./s\n\" >.gitmodules; echo \"x encoding=utf-8 diff=astextplain working-tree-encoding=UTF-7\" >.gitattributes; echo w >w" &&
	git agent review --format=json t >../json &&
	python3 -c "
import json
flags = json.load(open(\"../json\"))[\"flags\"]
for n in open(\"../names\").read().splitlines() + [\".gitattributes\"]:
    assert any(f[\"path\"] == n and f[\"severity\"] in (\"critical\", \"high\") for f in flags), (n, flags)
assert not [f for f in flags if f[\"path\"] == \"w\"], flags" &&
	test_expect_code 3 git agent land t &&
	test ! -e astextplain.exe
'

# ---- landing --------------------------------------------------------------------------

test_expect_success 'GT-07: landing touches no uncommitted work, no operation, and follows no link' '
	make_repo land &&
	cd land &&
	mkdir ../victim &&
	attack l "
		echo l >a
		echo n >d/n
		echo w >w
		mkdir e
		echo e >e/f" &&
	echo mine >a &&
	test_expect_code 2 git agent land l &&
	test "$(cat a)" = mine &&
	git add a &&
	test_expect_code 2 git agent land l &&
	test "$(git cat-file blob :a)" = mine &&
	git reset -q --hard &&
	ln -s "$HOME/victim" e &&
	test_must_fail git agent land l &&
	rm e &&
	rm -r d &&
	ln -s "$HOME/victim" d &&
	test_must_fail git agent land l &&
	rm d &&
	git checkout -q . &&
	! ls -A ../victim | grep . &&
	git switch -qc side &&
	echo s >a &&
	git commit -qam s &&
	git switch -q main &&
	echo m >a &&
	git commit -qam m &&
	test_must_fail git merge -q side &&
	test_must_fail git agent land l &&
	git merge --abort &&
	git reset -q --hard HEAD~ &&
	git worktree add -q ../land2 -b other &&
	(cd ../land2 && echo dirty >a) &&
	git agent land l &&
	test "$(cat w)" = w &&
	test "$(cat ../land2/a)" = dirty &&
	! ls -A ../victim | grep .
'

test_expect_success 'GT-14: what only the merge makes is judged as the merge makes it' '
	make_repo merge "mkdir x && echo 1 >x/1 && echo 2 >x/2" &&
	cd merge &&
	attack m "
		echo w >w
		printf \"#!/bin/sh\ntouch $TRASH/ran\n\" >x/post-merge
		chmod +x x/post-merge" &&
	git mv x .githooks &&
	git commit -qm mv &&
	git config core.hooksPath .githooks &&
	git config merge.directoryRenames true &&
	git agent review --accept m x/post-merge &&
	test_expect_code 3 git agent land m 2>../err &&
	cat ../err &&
	grep "where it lands: .*critical" ../err &&
	git agent list &&
	test ! -e "$TRASH/ran" &&
	test ! -e .githooks/post-merge &&
	test -z "$(git status --porcelain)"
'

test_expect_success 'GT-14: attributes that choose how a merge is made wait for a verdict' '
	make_repo union "echo 1 >f" &&
	cd union &&
	attack u "
		printf \"f merge=union\n\" >.gitattributes
		echo agent >f" &&
	echo mine >f &&
	git commit -qam mine &&
	test_must_fail git agent land u &&
	git agent review u | grep gitattributes &&
	test "$(cat f)" = mine
'

test_expect_success 'GT-15: what was reviewed is what lands, or nothing does' '
	make_repo toctou &&
	cd toctou &&
	attack t "
		echo all: >Makefile
		echo \"	true\" >>Makefile" &&
	test_expect_code 3 git agent land t &&
	git agent review --accept t Makefile &&
	t=$(git rev-parse agent/t) &&
	printf "all:\n\ttouch /tmp/evil\n" >m &&
	b=$(git hash-object -w m) &&
	rm m &&
	export GIT_INDEX_FILE=$PWD/.git/x &&
	git read-tree agent/t &&
	git update-index --add --cacheinfo "100644,$b,Makefile" &&
	evil=$(git commit-tree -p agent/t -m evil "$(git write-tree)") &&
	rm -f .git/x &&
	unset GIT_INDEX_FILE &&
	git update-ref refs/heads/agent/t "$evil" &&
	test_expect_code 3 git agent land t &&
	test ! -e Makefile &&
	git update-ref refs/heads/agent/t "$t" &&
	git agent review --accept t Makefile &&
	git agent land t &&
	cat Makefile &&
	! grep evil Makefile
'

test_expect_success 'GT-17: neither variables nor a repository above the project lead elsewhere' '
	make_repo other &&
	fp=$(cd other && git rev-parse HEAD) &&
	mkdir -p deep &&
	make_repo deep/disc &&
	cd deep/disc &&
	for v in GIT_DIR=$HOME/other/.git GIT_WORK_TREE=$HOME/other GIT_INDEX_FILE=$HOME/other/.git/index GIT_OBJECT_DIRECTORY=$HOME/other/.git/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=/dev GIT_COMMON_DIR=$HOME/other/.git GIT_NAMESPACE=x GIT_REPLACE_REF_BASE=refs/x GIT_GRAFT_FILE=/x GIT_SHALLOW_FILE=/x; do
		n=$((n + 1)) &&
		env "$v" git-agent start --name v$n -- sh -c "
		echo $n >f$n
		env | grep ^GIT_ >envs
		git rev-parse --show-toplevel >top" 2>../err &&
		test "$(git cat-file blob agent/v$n:f$n)" = $n &&
		test "$(git cat-file blob agent/v$n:top)" = "$PWD" &&
		! git cat-file blob agent/v$n:envs | grep other || {
			cat ../err
			echo "failed: $v"
			exit 1
		}
	done &&
	attack above "
		cd ..
		git init -q
		printf \"[core]\n\tfsmonitor = touch $TRASH/ran\n\thooksPath = /tmp\n\" >>.git/config
		cd -
		echo w >w
		printf \"[core]\n\tfsmonitor = touch $TRASH/ran\n\" >~/.gitconfig
		echo GIT_DIR=/x >~/.profile" &&
	attack next "
		git rev-parse --show-toplevel >top
		echo w >w" &&
	test "$(git cat-file blob agent/next:top)" = "$PWD" &&
	test "$(git -C "$HOME/other" rev-parse HEAD)" = "$fp" &&
	test -z "$(git -C "$HOME/other" for-each-ref refs/agent refs/heads/agent)" &&
	test -z "$(git -C "$HOME/other" status --porcelain)" &&
	test ! -e "$TRASH/ran" &&
	test ! -e ../.git
'

test_done
