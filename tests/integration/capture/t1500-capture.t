#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='capture: the commits it makes, what is held from them, and what stays behind'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

test_that 'the commit for the rest has a message, an identity and trailers' '
	make_repo msg &&
	git agent start --name m1 -m "do the thing" -- sh -c "
		echo b >b
		echo envrc >.envrc
		true" &&
	test_prints "do the thing" git log -1 --format=%s agent/m1 &&
	test_prints "A U Thor <author@example.com> A U Thor" git log -1 --format="%an <%ae> %cn" agent/m1 &&
	git log -1 --format="%(trailers:key=Agent-Session,valueonly)%(trailers:key=Agent-Base,valueonly)" agent/m1 |
		grep . >../got &&
	printf "%s\n" m1 "$(git rev-parse HEAD)" >../want &&
	test_cmp ../want ../got &&
	git log -1 --format="%(trailers:key=Agent-Command,valueonly)" agent/m1 |
		grep "^sh -c .*echo b >b" &&
	git log -1 --format="%(trailers:key=Agent-Flagged,valueonly)" refs/agent/m1/orig |
		grep "^critical .* .envrc$" &&
	test_session m2 "echo c >c" &&
	git log -1 --format=%s agent/m2 | grep "^agent/m2: 1 file changed$"
'

test_that 'commits that differ from the base in no file are promised no commit' '
	make_repo nofile "
		git commit -q --allow-empty -m first
		echo 2 >2" &&
	test_says "the agent rewrote history below its base: its work is one commit, if any file differs from" \
		git agent start --name amended -- git commit -q --amend -m other &&
	test_missing agent/amended &&
	test "$(git log -1 --format=%s refs/agent/amended/orig)" = other &&
	test_says "the agent.s HEAD names no commit: its work is one commit, if any file differs from its base$" \
		git agent start --name unborn -- git symbolic-ref HEAD refs/heads/nowhere &&
	test_missing agent/unborn
'

test_that 'an ignored file of the user that the agent commits is held' '
	make_repo ign "
		echo secret.cfg >.gitignore
		echo mods/ >>.gitignore" &&
	echo mine >secret.cfg &&
	mkdir mods &&
	echo m >mods/m &&
	test_session f "
		git add -f secret.cfg mods/m &&
		git commit -qm force &&
		echo more >more" &&
	test_prints more git diff --name-only HEAD agent/f &&
	test_holds refs/agent/f/held:secret.cfg mine &&
	test_holds refs/agent/f/held:mods/m m &&
	git merge -q agent/f &&
	test "$(cat secret.cfg)" = mine
'

test_that 'commits that are all held make no branch until they are accepted' '
	make_repo none2 "echo \"*.cfg\" >.gitignore" &&
	test_says "^agent/h: no commit" git agent start --name h -- sh -c "
		echo c >x.cfg &&
		git add -f x.cfg &&
		git commit -qm force &&
		git rev-parse HEAD >\$HOME/tip
		echo i >y.cfg" &&
	grep "next: git agent review h" ../err &&
	test_missing agent/h &&
	git rev-parse refs/agent/h/orig | test_cmp "$HOME/aihome/tip" - &&
	test_same refs/agent/h/held~1 HEAD &&
	git agent list >../list &&
	grep "^h .*captured" ../list &&
	! grep "no change" ../list &&
	git agent show h | grep "leftovers: y.cfg" &&
	test_expect_code 2 git agent drop h &&
	git agent capture h &&
	test_missing agent/h &&
	git agent review --accept h x.cfg &&
	test_prints x.cfg git diff --name-only HEAD agent/h &&
	test "$(git rev-list --count HEAD..agent/h)" = 1
'

test_that 'GT-07: an untracked file of the user is not overwritten by a merge' '
	make_repo unt &&
	echo mine >same &&
	git agent start --dirty ignore --name u2 -- sh -c "
		echo theirs >same
		echo ok >ok2" &&
	test_prints ok2 git diff --name-only HEAD agent/u2 &&
	test_holds refs/agent/u2/held:same theirs &&
	git merge -q agent/u2 &&
	test "$(cat same)" = mine
'

# A plain merge removes what is ignored in a directory that becomes a file.
test_that 'ignored files in a directory that the agent makes a file survive a merge' '
	make_repo unt2 "
		mkdir -p e/sub &&
		echo x >e/sub/x &&
		mkdir k &&
		echo x >k/x" &&
	echo "*.o" >.git/info/exclude &&
	echo mine >d/mine.o &&
	mkdir e/sub/in &&
	echo mine >e/sub/in/mine.o &&
	mkdir k/none &&
	test_session u3 "
		rm -r d e k
		echo theirs >d
		echo theirs >e
		ln -s a k
		echo ok >ok" &&
	test_prints "D\td/x\nD\te/sub/x\nA\tk\nD\tk/x\nA\tok" git diff --name-status --no-renames HEAD agent/u3 &&
	test_holds refs/agent/u3/held:d theirs &&
	git agent show u3 | grep "note: held, .*: d, e\$" &&
	git merge -q agent/u3 &&
	test "$(cat d/mine.o e/sub/in/mine.o)" = "mine
mine" &&
	test -L k
'

test_that 'excludes and attributes of the user are found as git finds them, inside and at capture' '
	(make_repo uf "
		mkdir conf &&
		echo *.rel >conf/ign &&
		echo \"*.txt text\" >conf/attr") &&
	echo "*.home" >uf-ign &&
	cd uf &&
	git config core.attributesFile conf/attr &&
	for ign in conf/ign "~/uf-ign"; do
		n=$((n + 1)) &&
		git config core.excludesFile "$ign" &&
		(
			cd d &&
			test_session u$n "
				cd .. &&
				touch 1.rel 1.home 1.other &&
				printf \"1\r\n\" >1.txt &&
				git status --porcelain -uall >\$HOME/inside"
		) &&
		git diff --name-only HEAD agent/u$n | sed "s/^/?? /" >../got &&
		test_cmp "$HOME/aihome/inside" ../got &&
		test "$(git cat-file blob agent/u$n:1.txt | od -An -c | tr -d " ")" = "1\\n" || exit 1
	done &&
	test_prints "1.home\n1.rel" git diff --no-renames --name-only agent/u1 agent/u2
'

# The mark is made in the project: there it shows wherever the filter ran, inside at the
# capture too. Before that the filter is seen to be one that works.
test_that 'GT-08: a filter that the agent defines is never run over what is captured' '
	make_repo filt &&
	test_session fi "
		git config filter.evil.clean \"echo x >>\$PWD/ran; cat; echo evil\" &&
		git config core.autocrlf true &&
		echo \"f filter=evil\" >.gitattributes &&
		printf \"raw\r\n\" >f &&
		git add f &&
		git update-index --force-remove f &&
		rm ran" &&
	test_prints "raw\r" git cat-file blob agent/fi:f &&
	test_prints ".gitattributes\nf" git diff --name-only HEAD agent/fi &&
	test ! -e "$(test_dir fi)/upper/ran" &&
	test ! -e ran
'

test_that 'a sparse checkout of the user stays sparse, and what it leaves out is not deleted' '
	make_repo sparse "
		mkdir hidden shown &&
		echo h >hidden/h &&
		echo s >shown/s" &&
	git sparse-checkout set --cone shown &&
	test_session sp "
		test ! -e hidden || exit 1
		test -z \"\$(git status --porcelain)\" || exit 1
		mkdir -p hidden/deep &&
		echo n >hidden/deep/n
		rm shown/s
		echo t >shown/t" &&
	test_prints "A\thidden/deep/n\nD\tshown/s\nA\tshown/t" git diff --name-status HEAD agent/sp
'

test_that 'files that vanish because the agent narrowed its checkout are named' '
	make_repo narrow "
		mkdir e f
		echo e >e/e
		echo f >f/f" &&
	find . -type f ! -path "./.git/*" -exec touch -d "2 hours ago" {} + &&
	git status >/dev/null &&
	test_says "the agent narrowed its checkout (git sparse-checkout): 2 files not in it count as deleted" \
		git agent start --name s -- git sparse-checkout set --cone d &&
	git agent start --name t -- sh -c "
		git sparse-checkout set --cone d
		git sparse-checkout disable
		rm e/e" 2>../err &&
	! grep narrowed ../err &&
	test_prints "D\te/e" git diff --name-status HEAD agent/t &&
	mkdir ../patterns &&
	touch ../patterns/sparse-checkout &&
	git agent start --name links -- sh -c "
		git config core.sparseCheckout true
		rm -rf .git/info
		ln -s $PWD/../patterns .git/info
		rm f/f" 2>../err &&
	! grep narrowed ../err
'

test_done
