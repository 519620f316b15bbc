#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a hostile agent against the whole flow: start, capture, review, land'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

commit='echo c >c && git add c && git commit -qm c && C=$(git rev-parse HEAD)'

test_that 'GT-03 GT-06: refs that exclude each other, or with bad names, do not stop a capture' '
	make_repo refs &&
	attack df "
		$commit
		git commit -q --allow-empty -m 2
		printf \"\$C refs/heads/k\n\$C refs/heads/k/b\n\" >>.git/packed-refs" &&
	git rev-parse -q --verify refs/agent/df/heads/k &&
	git agent show df | grep "branch k/b has a name" &&
	attack dup "
		$commit
		git commit -q --allow-empty -m 2
		printf \"\$C refs/heads/k\n\$C refs/heads/k\n\" >>.git/packed-refs" &&
	attack below "
		$commit
		git commit -q --allow-empty -m 2
		git update-ref refs/stash/x HEAD~1
		git branch x HEAD~1" &&
	git rev-parse -q --verify refs/agent/below/heads/x &&
	test_missing refs/agent/below/stash &&
	attack odd "
		$commit
		git commit -q --allow-empty -m 2
		printf \"\$C refs/heads/-x\n\$C refs/heads/a..b\n\$C refs/heads/\033[31m\n\" >>.git/packed-refs" &&
	git agent show odd >../show &&
	harmless ../show &&
	git for-each-ref refs/agent/odd/heads >../got &&
	test ! -s ../got &&
	clean_store
'

test_that 'GT-06: an agent changes no branch, tag, note or replacement of the user' '
	make_repo names &&
	git branch keep &&
	git for-each-ref refs/heads refs/tags refs/notes refs/replace >../want &&
	attack n "
		$commit
		git branch -qf keep HEAD
		git branch -qf main HEAD
		git tag v1
		git notes add -m note
		git replace HEAD HEAD~1
		git update-ref refs/remotes/o/x HEAD
		git update-ref refs/agent/n/report HEAD
		git update-ref refs/bisect/bad HEAD" &&
	git for-each-ref refs/heads refs/tags refs/notes refs/replace |
		grep -v refs/heads/agent/ >../got &&
	test_cmp ../want ../got &&
	git for-each-ref refs/remotes refs/bisect >../got &&
	test ! -s ../got &&
	git agent review n | grep "^agent/n\|branch "
'

test_that 'GT-03 OV-06: a fifo in the session'\''s git directory blocks nothing' '
	make_repo fifo &&
	for f in config packed-refs refs/heads/z objects/info/alternates info/attributes; do
		n=$((n + 1)) &&
		attack f$n "
			$commit
			echo w >w
			rm -f .git/$f
			mkfifo .git/$f" &&
		test_holds agent/f$n:w w &&
		git agent show f$n | grep "not taken.*fifo" || exit 1
	done &&
	clean_store
'

test_that 'GT-03: a git directory that is removed, or made of links, costs the history, not the work' '
	make_repo gone &&
	while read -r how; do
		n=$((n + 1)) &&
		attack g$n "
			$commit
			echo w >w
			$how" &&
		test_holds agent/g$n:w w || {
			echo "failed: $how"
			exit 1
		}
	done <<-\END &&
	rm -rf .git/* .git/.??*
	rm -f .git/config; ln -s /dev/zero .git/config
	git config include.path /dev/zero
	echo /home >.git/commondir
	git config core.worktree /; git config core.bare true
	echo ref: refs/heads/l >.git/refs/heads/l; echo ref: refs/heads/l >.git/HEAD
	ln -s / .git/refs/heads/root; rm -rf .git/objects; ln -s /usr .git/objects
	END
	clean_store
'

test_that 'GT-16: a missing object makes git run no command of a remote' '
	make_repo lazy &&
	attack lz "
		$commit
		git config remote.o.promisor true
		git config protocol.ext.allow always
		git config core.repositoryFormatVersion 1
		git config extensions.partialClone o
		git config remote.o.url \"ext::sh -c touch% \$HOME/ran% %S\"
		o=\$(git rev-parse HEAD:c | sed s,..,\&/,)
		rm -f \$HOME/ran
		mv .git/objects/\$o \$HOME/ || exit 1" &&
	test ! -e "$HOME/ran" &&
	test ! -e "$HOME/aihome/ran" &&
	git cat-file -e agent/lz:c &&
	git agent show lz | grep "not taken"
'

test_that 'OV-06 GT-09: a fifo named .gitattributes blocks nothing' '
	make_repo trap "echo \"*.txt text\" >.gitattributes" &&
	attack t1 "
		printf \"a\r\n\" >d/3.txt
		printf \"a\r\n\" >4.txt
		mkfifo d/.gitattributes" &&
	test_holds agent/t1:4.txt a &&
	git cat-file blob agent/t1:d/3.txt | grep -q "$(printf "\r")" &&
	attack t2 "
		rm .gitattributes
		mkfifo .gitattributes
		mkdir m
		echo \"* text\" >m/.gitattributes
		echo k >m/k" &&
	test_holds agent/t2:m/k k
'

# Those of the repository and of the user configuration count, as they were before the session.
test_that 'GT-03 GT-09: attributes and settings of the session'\''s git directory convert no content' '
	make_repo mine "printf \"*.txt text\n\" >.gitattributes" &&
	attack m "
		printf \"*.txt -text\n*.bin text\n\" | tee .git/info/attributes >/tmp/attributes
		git config core.attributesFile /tmp/attributes
		git config core.autocrlf true
		git config core.eol crlf
		git config core.fileMode false
		git config core.symlinks false
		git config core.ignoreCase true
		git config extensions.worktreeConfig true
		printf \"[core]\n\tautocrlf = input\n\" >.git/config.worktree
		printf \"1\r\n\" >1.txt
		printf \"1\r\n\" >1.bin
		chmod +x a
		ln -s a l
		echo A >A" &&
	git ls-tree agent/m 1.txt 1.bin A a l | sed "s/ blob / /" >../got &&
	blob() { printf "$1" | git hash-object --stdin; } &&
	printf "%s %s\t%s\n" 100644 "$(blob "1\r\n")" 1.bin 100644 "$(blob "1\n")" 1.txt 100644 "$(blob "A\n")" A \
		100755 "$(git rev-parse HEAD:a)" a 120000 "$(blob a)" l >../want &&
	test_cmp ../want ../got
'

test_that 'OV-05 OV-06 OV-08 OV-11 GT-02: links, fifos, closed files and repositories are not followed' '
	make_repo swap &&
	attack s "
		rm a
		ln -s /etc/passwd a
		rm -r d
		ln -s / d
		mkfifo p
		git init -q sub
		echo 1 >sub/f
		mkdir s2
		echo gitdir: /x >s2/.git
		mkdir .GIT
		echo 1 >.GIT/config
		mkdir -p v/objects v/refs
		echo ref: refs/heads/x >v/HEAD
		printf \"[core]\nfsmonitor = touch \$HOME/ran\n\" >v/config
		cp /bin/true b
		chmod 6755 b
		mkdir z
		echo 0 >z/f
		chmod 000 z/f z" &&
	git ls-tree -r refs/agent/s/held >../all &&
	git ls-tree -r agent/s >>../all &&
	! grep -i "[[:blank:]]\.git/\|sub/\|s2/" ../all &&
	! grep -v "^100644\|^100755\|^120000" ../all &&
	grep "z/f" ../all &&
	! git ls-tree -r agent/s | grep "v/config" &&
	git agent review s >../text &&
	harmless ../text &&
	test ! -e "$HOME/ran" &&
	test ! -e "$HOME/aihome/ran" &&
	clean_store
'

cat >names.py <<\END
for n in (b"nl\nx", b"\x1b[31mred", b"\xff\xfe", b"-x", b"x\xc2\x9by", b"\xe2\x80\xaee", b"\xe2\x80\xa8", b"\x7f",
          b"\r", b"\xf3\xa0\x81\x81"):
    open(n, "wb").write(b"\x1b]0;t\a \r \xc2\x9b31m \xe2\x80\xae \x7f\n")
END

test_that 'TT-04 OV-10 GT-12: no output has control characters of names, messages or content' '
	make_repo esc &&
	cp ../names.py ../aihome/ &&
	attack e "
		python3 ~/names.py
		ln -s \"\$(printf \"\033[31m\")\" link
		git add -A
		printf \"s \033[31m\r\nBy: x\n\033]0;t\a \302\233 \342\200\256 \377\n\" |
			git -c user.name=\"\$(printf \"N\033[1m\")\" commit -q --cleanup=verbatim -F -" &&
	harmless ../err &&
	for c in list "list --json" "show e" "show --json e" "diff e" "review e" "review --format=json e" \
		"review --format=markdown e" "land --dry-run e" "land e" "capture e"; do
		git agent $c >../o 2>../e
		harmless ../o ../e || exit 1
	done &&
	git agent review --format=json e | python3 -c "import json, sys; json.load(sys.stdin)" &&
	git log --format="%an%B" agent/e >../log &&
	! grep "$(printf "\033")" ../log
'

test_that 'RV-03 GT-13: a file that comes and goes in the agent'\''s commits is in none of the branch' '
	make_repo flags &&
	attack f3 "
		echo e >.envrc
		git add .envrc
		git commit -qm 1
		git rm -qf .envrc
		git commit -qm 2
		git switch -qc s
		echo e >.envrc
		git add .envrc
		git commit -qm 3
		git switch -q agent/f3
		git merge -q --no-ff -s ours -m m s
		echo w >w" &&
	for c in $(git rev-list HEAD..agent/f3); do
		! git ls-tree -r "$c" | grep envrc || exit 1
	done &&
	git merge -q agent/f3 &&
	test -e w
'

# drivers COMMAND: the user has drivers that run it
drivers() {
	for key in filter.foo.smudge filter.foo.clean diff.foo.textconv; do
		git config $key "$1; cat" || return 1
	done
	git config diff.foo.command "$1" &&
	git config merge.foo.driver "$1"
}

test_that 'GT-01 GT-08 PS-02 PS-05: no hook, driver or configuration of the agent runs outside' '
	make_repo runs "
		mkdir .githooks &&
		printf \"#!/bin/sh\n\" >.githooks/post-merge &&
		chmod +x .githooks/post-merge" &&
	git config core.hooksPath .githooks &&
	t="touch $TRASH/ran" &&
	drivers "$t" &&
	attack r "
		printf \"* filter=foo diff=foo merge=foo\n\" >.gitattributes
		echo 2 >a
		for h in post-merge reference-transaction post-checkout post-index-change; do
			printf \"#!/bin/sh\n$t\n\" >.githooks/\$h
			chmod +x .githooks/\$h
			cp .githooks/\$h .git/hooks/ 2>/dev/null
		done
		printf \"[core]\nfsmonitor = $t\npager = $t\n[alias]\nrev-list = !$t\n\" |
			tee \$HOME/.gitconfig >>.git/config" &&
	git agent show r &&
	git agent diff r &&
	git agent review r &&
	git agent review --format=json r >/dev/null &&
	test_must_fail git agent land r &&
	git agent review --reject r .gitattributes &&
	git agent review --accept r a &&
	git agent list &&
	git status --porcelain &&
	git merge -q agent/r &&
	test "$(cat a)" = 2 &&
	test ! -e "$TRASH/ran"
'

test_that 'GT-08: a preview of a landing runs no driver of the user, whatever was accepted' '
	make_repo preview "seq 20 >a" &&
	t="touch $TRASH/driven" &&
	drivers "$t" &&
	attack p "
		printf \"* filter=foo diff=foo merge=foo\n\" >.gitattributes
		echo end >>a
		echo n >n" &&
	sed -i "s/^1\$/one/" a &&
	git commit -qam mine &&
	git agent review --accept-all --critical p &&
	test "$(git show agent/p:a | tail -n 1)" = end &&
	git agent diff p >/dev/null &&
	git agent land --dry-run p &&
	git agent review p >/dev/null &&
	test ! -e "$TRASH/driven" &&
	{
		git merge -q --no-edit agent/p
		test -e "$TRASH/driven"
	}
'

test_that 'PS-02 SB-04: a planted link or a closed home stops the next session, not this one or the host' '
	chmod -R u+rwx "$HOME/aihome" &&
	rm -rf "$HOME/aihome" &&
	mkdir -p "$HOME/v" "$HOME/w" victim &&
	(make_repo "$HOME/w/p") &&
	make_repo "$HOME/v/p" &&
	test_session h1 "
		echo c >c
		git add c
		git commit -qm mine
		cd ~
		ln -s $TRASH/victim w
		chmod 000 ~" &&
	git log -1 --format=%s agent/h1 | grep -x mine &&
	test "$(stat -c %a "$HOME/aihome")" = 0 &&
	cd "$HOME/w/p" &&
	test_fails 125 "symlink blocks the mount point" git agent start --name h2 -- true &&
	test "$(stat -c %a "$HOME/aihome")" = 700 &&
	rm "$HOME/aihome/w" &&
	test_session h3 "
		chmod 777 ~
		echo 3 >3" &&
	git agent start --name h4 -- true &&
	test "$(stat -c %a "$HOME/aihome")" = 700 &&
	! ls -A "$TRASH/victim" | grep .
'

test_done
