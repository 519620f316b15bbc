#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='submodules that change on the host meanwhile, that land, and that are many'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use submodules

# while_running NAME INSIDE OUTSIDE: a session that does INSIDE, and ends when OUTSIDE is done on the host
while_running() {
	rm -f "$HOME/aihome/ready" "$HOME/aihome/go" || return 1
	{
		git agent start --name "$1" -- sh -c "
			$2
			mkfifo \$HOME/go
			touch \$HOME/ready
			read x <\$HOME/go" 2>../err &
	}
	pid=$!
	test_wait_for "test -e $HOME/aihome/ready" &&
	eval "$3" &&
	echo >"$HOME/aihome/go" &&
	{ wait $pid || :; }
}

test_that 'a repository that replaces a submodule meanwhile is not taken for it' '
	make_repo lib &&
	make_super other lib &&
	cd other &&
	while_running r "echo k >$L/k; echo k >k" "mv $L ../was && git clone -q ../lib $L" &&
	grep "submodule .vendor/lib.: another repository is there now" ../err &&
	test_must_fail git agent capture r &&
	! git cat-file -e agent/r:k &&
	rm -rf $L &&
	mv ../was $L &&
	git agent capture r &&
	git -C $L cat-file -e agent/r:k &&
	names agent/r
'

test_that 'a submodule that a symlink or a file replaces meanwhile is not captured until it is back' '
	make_super replaced lib &&
	cd replaced &&
	while_running l "echo k >$L/k" "mv $L ../was && ln -s ../../was $L" &&
	grep "submodule .vendor/lib.: a symlink leads elsewhere" ../err &&
	rm $L &&
	echo file >$L &&
	test_says "it is not checked out" test_must_fail git agent capture l &&
	rm $L &&
	test_must_fail git agent capture l &&
	test "$(git --git-dir=.git/modules/$L --work-tree=. rev-parse agent/l)" = "$(git rev-parse HEAD:$L)" &&
	mv ../was $L &&
	git agent capture l &&
	git -C $L cat-file -e agent/l:k
'

test_that 'a submodule that is removed from the superproject meanwhile is named, and not waited for' '
	make_super given lib &&
	cd given &&
	while_running g "
			echo k >$L/k
			echo k >k
			git -C $L commit -q --allow-empty -m mine
			git commit -qam bump" "git rm -q $L && git commit -qm removed" &&
	git cat-file -e agent/g:k &&
	test_same agent/g:$L HEAD~1:$L &&
	test_shows "submodule vendor/lib: its repository was not found" git agent review --stat g &&
	git agent review --accept-all --critical g &&
	git agent review --reject g $L &&
	git agent land g &&
	test_fails 2 "work in submodule .*vendor/lib" git agent drop g &&
	test_says "submodule vendor/lib: it is not checked out: its session stays in" git agent drop --force g
'

test_that 'a submodule that is moved on the host meanwhile keeps the commits of the session' '
	make_super elsewhere lib &&
	cd elsewhere &&
	while_running m "cd $L; echo k >k; git add k; git commit -qm k; git rev-parse HEAD >\$HOME/k" \
		"git mv $L other && git commit -qm moved" &&
	test_shows "its repository was not found.*git agent list. in its" git agent show m &&
	! grep "next: .*$L" ../out &&
	git -C other agent list | grep "^m .*captured" &&
	test "$(git -C other rev-parse agent/m)" = "$(cat "$HOME/aihome/k")" &&
	git -C other agent land m &&
	test -e other/k
'

test_that 'nothing lands while a submodule is not checked out, or its commit is on no branch there' '
	make_super looked lib &&
	cd looked &&
	test_session k "echo \"all: ; id\" >$L/Makefile" &&
	git agent review --accept-all k &&
	git submodule --quiet deinit -f $L &&
	test_fails 3 "submodule vendor/lib: it is not checked out" git agent land k &&
	test_expect_code 2 git agent drop k &&
	git submodule --quiet update --init &&
	test_expect_code 3 git agent land k &&
	git -C $L agent review --accept-all k &&
	git -C $L branch -qD agent/k &&
	test_fails 2 "on no branch there" git agent land k &&
	sed -n "s/^hint: .\(git -C [^ ]* branch [^ ]* [0-9a-f]*\).*/\1/p" ../err >../cmd &&
	test -s ../cmd &&
	sh ../cmd &&
	git agent land k &&
	names HEAD agent/k
'

test_that 'when the commit of a submodule is rejected the work stays in its branch' '
	make_super refused lib &&
	cd refused &&
	test_session r "
		echo k >$L/k
		echo k >k" &&
	git agent review --reject r $L &&
	test_says "no commit here names them; next: git -C .*/lib merge agent/r, then commit the submodule here" \
		git agent land r &&
	test -z "$(git status --porcelain)" &&
	test_expect_code 2 git agent drop r &&
	git -C $L agent drop --force r &&
	git agent drop r
'

test_that 'a submodule that the agent removed is removed from the index, and its working tree stays' '
	make_super first lib &&
	cd first &&
	test_session g "
		git rm -q --cached $L
		git commit -qm removed
		echo g >g" &&
	git -C $L commit -q --allow-empty -m mine &&
	git agent review --accept-all g &&
	git -C $L rev-parse HEAD >../mine &&
	git agent land g &&
	test -e g &&
	test -z "$(git ls-files $L)" &&
	git -C $L rev-parse HEAD | test_cmp ../mine - &&
	git agent land --undo &&
	git ls-files --error-unmatch $L &&
	git -C $L rev-parse HEAD | test_cmp ../mine -
'

test_that 'a second session that moves a submodule conflicts, and the hint says where to merge' '
	make_super both lib &&
	cd both &&
	for i in 1 2; do
		test_session s$i "echo $i >$L/n$i" &&
		git agent review --accept-all s$i ||
			return 1
	done &&
	git agent land s1 &&
	git -C $L merge -q agent/s1 &&
	test_fails 4 "next: git -C .*vendor/lib merge agent/s2" git agent land s2 &&
	git -C $L merge -q -m both agent/s2 &&
	git add $L &&
	git commit -qm both &&
	test -e $L/n1 &&
	test -e $L/n2 &&
	test -z "$(git status --porcelain)"
'

test_that 'a damaged session in a submodule is named, and dropped there' '
	make_super damaged lib &&
	cd damaged &&
	test_session dmg "echo id >$L/.envrc" &&
	f=$(grep -l "within = " "$HOME"/.local/state/git-agent/*/sessions/dmg/session) &&
	echo x >"$f" &&
	rm -f "$f.old" &&
	test_shows "^dmg .* in submodules" git agent list &&
	test_says "git -C .*vendor/lib agent drop --force dmg" test_must_fail git agent drop --force dmg &&
	git -C $L agent drop --force dmg &&
	git agent drop --force dmg
'

test_that 'a submodule that rm -rf emptied is left as it was, and that is said' '
	make_super emptied lib &&
	cd emptied &&
	git agent start --name e -- sh -c "
		rm -rf $L
		test -z \"\$(ls -A $L/.git)\" &&
		echo k >k" 2>../err &&
	test_prints k git diff --name-only HEAD agent/e &&
	! git -C $L rev-parse -q --verify agent/e &&
	test_shows "removed all files of the submodule and its git dir" git -C $L agent review e &&
	test_session f "git -C $L rm -rq ." &&
	test -z "$(git -C $L ls-tree agent/f)" &&
	names agent/f
'

test_that 'a submodule that the agent adds is flagged, and its repository stays in the session' '
	make_repo adds &&
	cd adds &&
	test_session a "
		git init -q /tmp/l &&
		git -C /tmp/l -c user.name=x -c user.email=x@y commit -q --allow-empty -m l &&
		git -c protocol.file.allow=always submodule --quiet add /tmp/l $L &&
		git commit -qm added
		echo k >$L/k
		echo k >k" &&
	test_prints k git diff --name-only HEAD agent/a &&
	git agent review --json a >../json &&
	python3 - ../json <<-\EOT &&
	import json, sys
	o = json.load(open(sys.argv[1]))
	flags = {(f["id"], f["path"]) for f in o["flags"]}
	assert {("gitlink-changed", "vendor/lib"), ("gitmodules", ".gitmodules")} <= flags, flags
	left = {(x["kind"], x["path"]) for x in o["left_behind"]}
	assert ("repository", "vendor/lib") in left, left
	EOT
	test_expect_code 3 git agent land a &&
	test ! -e $L
'

test_that 'commits that put a file in place of a submodule lose no work in it' '
	make_super swapped lib &&
	cd swapped &&
	test_session b "
		b=\$(echo x | git hash-object -w --stdin)
		for m in 100644 120000; do
			git update-index --force-remove $L
			git update-index --add --cacheinfo \$m,\$b,$L
			git commit -qm \$m
		done
		echo k >$L/k" &&
	names agent/b &&
	git -C $L cat-file -e agent/b:k &&
	test_session d "
		b=\$(echo x | git hash-object -w --stdin)
		git update-index --force-remove $L
		git update-index --add --cacheinfo 100644,\$b,$L/x
		git commit -qm d
		echo k >k" &&
	git cat-file -e agent/d:k &&
	test -z "$(git ls-tree agent/d $L)"
'

test_that 'the commit of a submodule is found after more commits than one question covers' '
	make_super long lib &&
	cd long &&
	test_session l "
		{
			echo \"reset refs/heads/agent/l\"
			echo \"from \$(git rev-parse HEAD)\"
			i=0
			while [ \$i -lt 1100 ]; do
				printf \"commit refs/heads/agent/l\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\n\"
				i=\$((i + 1))
			done
		} |
			git fast-import --quiet --force &&
		git reset -q &&
		git -C $L commit -q --allow-empty -m mine &&
		git commit -qam bump" &&
	test "$(git rev-list --count HEAD..agent/l)" = 1101 &&
	names agent/l
'

# A repository at DIR with N files that are repositories in it, each with D ignored directories.
make_many() {
	git init -q "$1" &&
	(
		cd "$1" &&
		i=0 &&
		while [ $i -lt "$2" ]; do
			i=$((i + 1)) &&
			git init -q s$i &&
			git -C s$i commit -q --allow-empty -m s ||
				exit 1
			d=0 &&
			while [ $d -lt "$3" ]; do
				d=$((d + 1)) &&
				mkdir s$i/i$d &&
				echo x >s$i/i$d/x || return 1
			done
			echo "i*/" >>s$i/.git/info/exclude
		done &&
		git add . 2>/dev/null &&
		git commit -qm many
	)
}

test_that 'submodules beyond the limit are not shown, and named' '
	make_many many 66 0 &&
	cd many &&
	test_session m "
		for i in 1 2 66; do echo k >s\$i/k; done
		ls -d s*/.git | wc -l >\$HOME/n" &&
	test "$(cat "$HOME/aihome/n")" = 64 &&
	git agent show m >../out &&
	test "$(grep -c "submodule s.*: there are too many" ../out)" = 2 &&
	git -C s66 cat-file -e agent/m:k
'

test_that 'ignored directories in submodules beyond the limit are left out, and counted' '
	make_many wide 12 90 &&
	cd wide &&
	test_session w "
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo k >s\$i/k; done
		ls -d s*/i*/x | wc -l >\$HOME/n" &&
	test "$(cat "$HOME/aihome/n")" = 1000 &&
	git -C s12 cat-file -e agent/w:k &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do git -C s$i agent show w; done >../out &&
	test "$(grep -c "too many ignored directories" ../out)" = 80
'

test_done
