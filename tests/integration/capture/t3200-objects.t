#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a hostile agent against git: objects, refs and configuration'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

# The work is there although the commits are not, and why.
refused() {
	test "$(git rev-list --count "HEAD..agent/$1")" = 1 &&
	test "$(git cat-file blob "agent/$1:w")" = w &&
	git agent show "$1" >../show &&
	grep "commits were not taken (.*$2" ../show
}

# fingerprint FILE: all that a repository holds, but for added objects and the refs of sessions
fingerprint() {
	(
		cd .git &&
		find . \( -path "*/refs/agent" -o -path "*/refs/heads/agent" -o -path "*/logs" -o -path "*/git-agent" \
			-o -path "*/objects" \) -prune -o -type f -print |
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

test_that 'GT-02: a repository that lies in the tree as files is flagged critical, and git never uses it' '
	make_repo bare &&
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

test_that 'GT-04: a session cannot change the user'\''s repository' '
	make_repo store "echo more >more" &&
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
	test_holds agent/s:w w &&
	clean_store
'

test_that 'GT-11: a session cannot reach the git directories of submodules' '
	(make_repo subsrc) &&
	make_repo super &&
	test_submodule "$HOME/subsrc" sub &&
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
	test_same agent/s:sub HEAD:sub
'

# Each session's commits are its own: ids that the host has already would not be refused.
two_commits='for n in 1 2; do
	echo $n >$n
	git add $n
	git commit -qm $n -m $GIT_AGENT_SESSION
done'

test_that 'GT-03 GT-16: replacements, grafts, shallow marks and alternates change no history' '
	make_repo marks &&
	while IFS="|" read -r s how; do
		attack $s "
			$two_commits
			echo w >w
			$how" &&
		if git agent show $s | grep "commits were not taken"; then
			refused $s ""
		else
			test "$(git log --format=%s -1 agent/$s~2)" = 1 &&
			test_holds agent/$s~2:1 1
		fi &&
		test_holds agent/$s:2 2 &&
		git rev-list --objects agent/$s >/dev/null ||
			exit 1
	done <<-\END &&
	replace|git replace HEAD~1 $(git commit-tree -p HEAD~2 -m other $(git mktree </dev/null))
	graft|git rev-parse HEAD >.git/info/grafts
	shallow|git rev-parse HEAD >.git/shallow
	END
	attack alt "
		$two_commits
		echo w >w
		mkdir -p /tmp/o
		mv .git/objects/?? /tmp/o/
		printf \"/tmp/o\n/proc/self/root\n/dev\n\" >>.git/objects/info/alternates" &&
	test "$(git rev-list --count HEAD..agent/alt)" = 1 &&
	git agent show alt | grep "HEAD names no commit\|were not taken" &&
	test_holds agent/alt:2 2 &&
	git rev-list --objects agent/alt >/dev/null &&
	clean_store
'

# What was never fetched is on the user's remote, and here that is a command.
test_that 'GT-16: in a partial clone no command fetches what is missing' '
	(make_repo owes) &&
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
	for c in list "show p" "review --json p" "diff p" "capture p" "review --accept p a" "land --dry-run p" \
		"land p" "land --undo p"; do
		git agent $c >../out || exit 1
	done &&
	test ! -e "$TRASH/fetched" &&
	{
		git cat-file -e HEAD~1:a 2>/dev/null
		test -e "$TRASH/fetched"
	}
'

# What git inside reads may lie about what it has: what comes out is complete and as it was
# committed, or not taken at all.
is_taken() {
	test "$(git rev-parse "agent/$1~1")" = "$(cat "$HOME/aihome/tip")"
}
is_lost() {
	test "$(git rev-list --count "HEAD..agent/$1")" = 1 &&
	git agent show "$1" | grep "HEAD names no commit\|commits were not taken"
}
# settings that change what git prints
test_aihome
cat >"$HOME/aihome/settings" <<\END
git config color.ui always
git config core.abbrev 4
git config pack.packSizeLimit 1m
git config core.quotePath true
git config i18n.logOutputEncoding UTF-16
git config for-each-ref.format x
git config alias.rev-parse "!touch $HOME/ran"
END

test_that 'GT-03: a damaged or misleading git directory yields the history as committed, or none of it' '
	make_repo lies &&
	n=0 &&
	commit="
		for i in 1 2 3; do
			echo \$i >\$i
			git add \$i
			git commit -qm \$i -m \$GIT_AGENT_SESSION
		done
		git rev-parse HEAD >\$HOME/tip" &&
	flip="
		flip() {
			chmod u+w \$1
			perl -0777 -i -pe \"substr(\\\$_, \$2, 1) ^= chr(1)\" \$1
		}
		g=.git/objects/info/commit-graph" &&
	while IFS="|" read -r what how; do
		n=$((n + 1)) &&
		attack l$n "
			$flip
			$commit
			echo w >w
			$how" &&
		test_holds agent/l$n:w w &&
		test_holds agent/l$n:3 3 &&
		git rev-list --objects agent/l$n >/dev/null || exit 1
		case $what in
		taken) is_taken l$n ;;
		lost) is_lost l$n ;;
		unread) is_lost l$n && git agent show l$n | grep "HEAD names no commit: its work is one commit" ;;
		either) is_taken l$n || is_lost l$n ;;
		esac || {
			echo "not $what: $how"
			exit 1
		}
	done <<-\END &&
	taken|git commit-graph write --reachable; git repack -adq
	either|git commit-graph write --reachable; for at in $(seq -300 9 -21); do flip $g $at; done
	lost|git repack -adq; p=$(ls .git/objects/pack/*.pack); for at in 20 30 40 50 60 70; do flip $p $at; done
	either|git repack -adbq; p=$(ls .git/objects/pack/*.bitmap); for at in -30 -40 -50; do flip $p $at; done
	either|git repack -adq; p=$(ls .git/objects/pack/*.idx); for at in -45 -49 -53 -57 -61; do flip $p $at; done
	unread|git config core.repositoryFormatVersion 1; git config extensions.objectFormat sha256
	taken|. ~/settings; git worktree add -q /tmp/wt HEAD~1; git worktree add -q ../wt HEAD~1
	taken|git tag -am HEAD HEAD HEAD~2; for r in refs/HEAD refs/heads/HEAD HEAD/x; do git update-ref $r HEAD~2; done
	END
	test ! -e "$HOME/ran" &&
	test ! -e "$HOME/aihome/ran" &&
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

test_that 'GT-05: a file that git refuses stays in the session, and the rest is kept' '
	make_repo both &&
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
		test "$(grep -c "  note: .*commits were not taken" ../show)" = 1 || {
			echo "failed: $how"
			exit 1
		}
	done <<-\END &&
	gitmodulesUrl|.gitmodules|printf "[submodule \"x\"]\n\tpath = x\n\turl = -x\n" >.gitmodules
	gitmodulesUrl|d/.gitmodules|printf "[submodule \"x\"]\n\turl = ../../../:x/y\n" >d/.gitmodules
	gitmodulesPath|GITMOD~1|printf "[submodule \"x\"]\n\tpath = -x\n" >GITMOD~1
	gitmodulesUpdate|.gitmodules|printf "[submodule \"x\"]\n\tupdate = !x\n" >.gitmodules
	gitattributesLineLength|.gitattributes|perl -e "print qq(x ), qq(y) x 3000, qq(\n)" >.gitattributes
	END
	clean_store
'

test_that 'GT-05: content that is fine under one name is refused under another' '
	cd both &&
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
	test_holds agent/twice:w w &&
	stays twice f/.gitmodules refused &&
	stays twice d/.gitmodules refused &&
	clean_store
'

test_that 'GT-05: a name that git refuses is kept neither from a commit nor from the working tree' '
	make_repo aliases &&
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
	40000|git~1|mkdir $n; echo x >$n/x
	120000|.gitmodules|ln -s a $n
	120000|gi7eba~1|ln -s a $n
	40000|GITMOD~4|mkdir $n; echo x >$n/x
	40000|gitatt~1|mkdir $n; echo x >$n/x
	END
'

test_that 'GT-05: a file that cannot be captured keeps the content that the agent committed last' '
	make_repo last "echo old >.gitmodules; echo old >big; echo old >gone" &&
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
	git agent show l | grep "leftovers: .gitmodules (refused, 1 file)" &&
	! git cat-file -e "$(printf "[submodule \"x\"]\n\tpath = -x\n" | git hash-object --stdin)" &&
	clean_store
'

# 1500 trees, each in the next
cat >deep.pl <<\END
use Digest::SHA "sha1";
use Compress::Zlib;
sub put {
	my ($type, $data) = @_;
	my $object = "$type " . length($data) . "\0$data";
	my ($dir, $file) = unpack("H2H*", sha1($object));
	mkdir ".git/objects/$dir";
	open(F, ">", ".git/objects/$dir/$file") or die;
	print F compress($object);
	close F;
	return sha1($object);
}
my $t = put("tree", "100644 f\0" . put("blob", "x"));
$t = put("tree", "40000 d\0$t") for 1 .. 1500;
print unpack("H*", $t);
END

test_that 'GT-05: trees that expand to billions of paths, or nest too deep, are refused' '
	make_repo bombs &&
	bomb="
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
			t=\$(for n in 0 1 2 3 4 5 6 7 8 9; do entry 40000 \$n \$t; done | raw tree)
		done" &&
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
	test_holds agent/empty:w w &&
	cp ../deep.pl ../aihome/ &&
	attack deep "
		git update-ref HEAD \$(git commit-tree -p HEAD -m deep \$(perl ~/deep.pl))
		echo w >w" &&
	refused deep "nested too deep" &&
	clean_store
'

# What reads an object at the end of a chain goes through all of it.
cat >chain.py <<\END
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

test_that 'GT-05: delta chains are no longer than git'\''s own' '
	make_repo chains &&
	python3 ../chain.py ../aihome/pack >../aihome/names &&
	deepest="
		git verify-pack -v .git/objects/pack/*.idx |
			sed -n \"s/^chain length = \\([0-9]*\\):.*/\\1/p\" |
			sort -n |
			tail -n 1" &&
	attack c "
		git index-pack --stdin <~/pack
		git update-ref HEAD \$(git commit-tree -p HEAD -m deep \$(git mktree <~/names))
		git config pack.depth 4000
		git repack -adbq
		{ $deepest; } >~/deepest
		echo w >w" &&
	test "$(cat "$HOME/aihome/deepest")" = 199 &&
	test "$(git log --format=%s -1 agent/c~1)" = deep &&
	eval "$deepest" >../got &&
	cat ../got &&
	test "$(cat ../got)" -le 50 &&
	clean_store
'

test_done
