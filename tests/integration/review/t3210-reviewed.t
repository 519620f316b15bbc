#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a hostile agent against git: what is reviewed, and what lands'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

test_aihome

test_that 'GT-12: the author, date and signature that a commit claims are shown, not believed' '
	make_repo claims &&
	printf "#!/bin/sh\ntouch %s/signed\nexit 1\n" "$TRASH" >../sign &&
	chmod +x ../sign &&
	git config commit.gpgSign true &&
	git config gpg.program "$HOME/sign" &&
	attack c "
		echo c >c
		git add c
		export GIT_AUTHOR_DATE=2099-01-01T00:00:00Z GIT_COMMITTER_DATE=2099-01-01T00:00:00Z
		export GIT_AUTHOR_NAME=Linus GIT_AUTHOR_EMAIL=l@k.org
		git commit -qm x -m \"Signed-off-by: A U Thor <author@example.com>\"
		unset GIT_AUTHOR_DATE GIT_COMMITTER_DATE GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
		c=\$(git cat-file commit HEAD |
			sed \"/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\" |
			git hash-object -w --stdin -t commit)
		git update-ref HEAD \$c
		echo r >r" &&
	git agent review c >../text &&
	grep "1 commit says it is somebody else.s: .*Linus <l@k.org>" ../text &&
	grep "1 commit says it is dated in the future" ../text &&
	git config --unset commit.gpgSign &&
	git config --unset gpg.program &&
	test ! -e "$TRASH/signed" &&
	! git log -1 --format="%G?" agent/c~1 | grep "[GU]" &&
	test "$(git log -1 --format="%an <%ae>" agent/c)" = "A U Thor <author@example.com>" &&
	! git cat-file commit agent/c | grep "^gpgsig" &&
	test "$(git log -1 --format=%ct agent/c)" -lt 4102444800
'

test_that 'GT-10: a gitlink that the agent commits is flagged, a repository in the tree becomes none' '
	make_repo link &&
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

# gitk and git gui hand names to Tcl, which takes a "|" or ">" in front for a command or a file to
# write; a carriage return at the end of a path git once lost; a program of this name in the tree
# ran on Windows.
test_that 'GT-19: names that graphical tools for git take for commands are flagged' '
	make_repo tools &&
	printf "%s\n" "|id" ">over" "<in" "2>x" "|sh -c id|" ">d/x" astextplain.exe sh.exe "x;id" "x\"y" .gitmodules \
		>../aihome/names &&
	attack t "
		mkdir \">d\"
		while read -r n; do
			echo 1 >\"\$n\"
		done <~/names
		printf \"[submodule \\\"s\\\"]\n\tpath = \\\"s\r\\\"\n\turl = ./s\n\" >.gitmodules
		echo \"x encoding=utf-8 diff=astextplain working-tree-encoding=UTF-7\" >.gitattributes
		echo w >w" &&
	git agent review --format=json t >../json &&
	python3 -c "
import json
flags = json.load(open(\"../json\"))[\"flags\"]
for n in open(\"../aihome/names\").read().splitlines() + [\".gitattributes\"]:
    assert any(f[\"path\"] == n and f[\"severity\"] in (\"critical\", \"high\") for f in flags), (n, flags)
assert not [f for f in flags if f[\"path\"] == \"w\"], flags" &&
	test_expect_code 3 git agent land t &&
	test ! -e astextplain.exe
'

test_that 'a file that is moved to where it runs is flagged there' '
	make_repo moved "seq 40 >docs-a.md" &&
	test_session moved "
		mkdir -p .github/workflows &&
		git mv docs-a.md .github/workflows/a.yml &&
		git commit -qm move" &&
	git agent review --json moved >../json &&
	python3 - ../json <<-\EOT
	import json, sys
	flags = [(f["id"], f["path"]) for f in json.load(open(sys.argv[1]))["flags"]]
	assert ("ci-github", ".github/workflows/a.yml") in flags and all(p != "docs-a.md" for _, p in flags), flags
	EOT
'

test_that 'GT-07: landing overwrites no uncommitted work and follows no link' '
	make_repo land &&
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
	! ls -A ../victim | grep .
'

test_that 'GT-14: flags of a landing are those of the paths that the merge makes' '
	make_repo merge "mkdir x && echo 1 >x/1 && echo 2 >x/2" &&
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

test_that 'GT-14: an attribute that chooses a merge driver waits for a verdict' '
	make_repo union "echo 1 >f" &&
	attack u "
		printf \"f merge=union\n\" >.gitattributes
		echo agent >f" &&
	echo mine >f &&
	git commit -qam mine &&
	test_must_fail git agent land u &&
	git agent review u | grep gitattributes &&
	test "$(cat f)" = mine
'

test_that 'GT-15: a commit that is not the reviewed one does not land' '
	make_repo toctou &&
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

test_that 'GT-17: variables of git and a repository above the project lead nowhere else' '
	(make_repo other) &&
	fp=$(cd other && git rev-parse HEAD) &&
	mkdir -p deep &&
	make_repo deep/disc &&
	vars=$(sed "s,OTHER,$HOME/other,") <<-\END &&
	GIT_DIR=OTHER/.git
	GIT_WORK_TREE=OTHER
	GIT_INDEX_FILE=OTHER/.git/index
	GIT_OBJECT_DIRECTORY=OTHER/.git/objects
	GIT_ALTERNATE_OBJECT_DIRECTORIES=/dev
	GIT_COMMON_DIR=OTHER/.git
	GIT_NAMESPACE=x
	GIT_REPLACE_REF_BASE=refs/x
	GIT_GRAFT_FILE=/x
	GIT_SHALLOW_FILE=/x
	END
	for v in $vars; do
		n=$((n + 1)) &&
		env "$v" git-agent start --name v$n -- sh -c "
			echo $n >f$n
			env | grep ^GIT_ >envs
			git rev-parse --show-toplevel >top" 2>../err &&
		test_holds agent/v$n:f$n $n &&
		test_holds agent/v$n:top "$PWD" &&
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
	test_holds agent/next:top "$PWD" &&
	test "$(git -C "$HOME/other" rev-parse HEAD)" = "$fp" &&
	test -z "$(git -C "$HOME/other" for-each-ref refs/agent refs/heads/agent)" &&
	test -z "$(git -C "$HOME/other" status --porcelain)" &&
	test ! -e "$TRASH/ran" &&
	test ! -e ../.git
'

test_done
