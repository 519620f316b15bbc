#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a hostile agent against the whole flow: start, capture, review, land'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# A repository NAME with one commit; COMMANDS make more of it.
make_repo() {
	git init -q "$1" && (cd "$1" && echo a >a && mkdir d && echo x >d/x && eval "${2:-:}" &&
		git add -A && git commit -qm base)
}

# attack NAME COMMANDS: a session that must come to its end, soon.
attack() {
	timeout 25 git agent start --name "$1" -- sh -c "$2" >../out 2>../err </dev/null
	attack_rc=$?
	cat ../err
	[ $attack_rc != 124 ] || { echo "hangs"; return 1; }
	git agent list | grep -q "^$1 .*captured"
}

# Nothing of a capture may stay behind in the repository.
clean_store() {
	! find .git \( -name "*.keep" -o -name "tmp_*" -o -name "*.lock" ! -name capture.lock \) | grep . &&
	git fsck --strict 2>&1 | (! grep -E "error|missing|fatal")
}

# No byte that a terminal acts upon, and none that is not UTF-8.
harmless() {
	python3 - "$@" <<-\END
	import sys, unicodedata
	for name in sys.argv[1:]:
	    for ch in open(name, "rb").read().decode("utf-8"):
	        if ch not in "\n\t" and unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
	            sys.exit("%s: %r" % (name, ch))
	END
}

commit='echo c >c && git add c && git commit -qm c && C=$(git rev-parse HEAD)'

# ---- the private git dir ---------------------------------------------------------

test_expect_success 'GT-03 GT-06: refs that no transaction takes do not stop a capture' '
	make_repo refs && cd refs &&
	attack df "$commit; git commit -q --allow-empty -m 2; printf \"\$C refs/heads/k\n\$C refs/heads/k/b\n\" >>.git/packed-refs" &&
	git rev-parse -q --verify refs/agent/df/heads/k && git agent show df | grep "branch k/b has a name" &&
	attack dup "$commit; git commit -q --allow-empty -m 2; printf \"\$C refs/heads/k\n\$C refs/heads/k\n\" >>.git/packed-refs" &&
	attack below "$commit; git commit -q --allow-empty -m 2; git update-ref refs/stash/x HEAD~1; git branch x HEAD~1" &&
	git rev-parse -q --verify refs/agent/below/heads/x && ! git rev-parse -q --verify refs/agent/below/stash &&
	attack odd "$commit; git commit -q --allow-empty -m 2; printf \"\$C refs/heads/-x\n\$C refs/heads/a..b\n\$C refs/heads/\033[31m\n\" >>.git/packed-refs" &&
	git agent show odd >../show && harmless ../show && git for-each-ref refs/agent/odd/heads >../got && test ! -s ../got && clean_store
'

test_expect_success 'GT-06: refs of the user, replacements, notes and tags come through nowhere' '
	make_repo names && cd names && git branch keep && git for-each-ref refs/heads refs/tags refs/notes refs/replace >../want &&
	attack n "$commit; git branch -qf keep HEAD; git branch -qf main HEAD; git tag v1; git notes add -m note; git replace HEAD HEAD~1
		git update-ref refs/remotes/o/x HEAD; git update-ref refs/agent/n/report HEAD; git update-ref refs/bisect/bad HEAD" &&
	git for-each-ref refs/heads refs/tags refs/notes refs/replace | grep -v refs/heads/agent/ >../got && test_cmp ../want ../got &&
	git for-each-ref refs/remotes refs/bisect >../got && test ! -s ../got && git agent review n | grep "^agent/n\|branch "
'

test_expect_success 'GT-03 OV-06: a fifo in the private git dir keeps nobody waiting' '
	make_repo fifo && cd fifo &&
	for f in config packed-refs refs/heads/z objects/info/alternates shallow commondir info/attributes
	do
		n=$((n + 1)) && attack f$n "$commit; echo w >w; rm -f .git/$f; mkfifo .git/$f" &&
		test "$(git cat-file blob agent/f$n:w)" = w && git agent show f$n | grep "not taken.*fifo" || { echo "failed: $f"; exit 1; }
	done && clean_store
'

test_expect_success 'GT-03: a git dir taken away, links in it, configuration that commands' '
	make_repo gone && cd gone &&
	for how in "rm -rf .git/* .git/.??*" "rm -f .git/config; ln -s /dev/zero .git/config" "git config include.path /dev/zero" \
		"echo /home >.git/commondir" "git config core.worktree /; git config core.bare true" \
		"echo ref: refs/heads/l >.git/refs/heads/l; echo ref: refs/heads/l >.git/HEAD" "ln -s / .git/refs/heads/root; rm -rf .git/objects; ln -s /usr .git/objects"
	do
		n=$((n + 1)) && attack g$n "$commit; echo w >w; $how" && test "$(git cat-file blob agent/g$n:w)" = w || { echo "failed: $how"; exit 1; }
	done && clean_store
'

test_expect_success 'GT-16: a missing object makes no git run the command of a remote' '
	make_repo lazy && cd lazy && attack lz "$commit; git config remote.o.promisor true; git config protocol.ext.allow always
		git config core.repositoryFormatVersion 1; git config extensions.partialClone o
		git config remote.o.url \"ext::sh -c touch% \$HOME/ran% %S\"
		o=\$(git rev-parse HEAD:c | sed s,..,\&/,); rm -f \$HOME/ran; mv .git/objects/\$o \$HOME/ || exit 1" &&
	test ! -e "$HOME/aihome/ran" && git cat-file -e agent/lz:c && git agent show lz | grep "not taken"
'

# ---- converted content -------------------------------------------------------------

test_expect_success 'OV-06 GT-09: a fifo called .gitattributes keeps nobody waiting' '
	make_repo trap "echo \"*.txt text\" >.gitattributes" && cd trap &&
	attack t1 "printf \"a\r\n\" >d/3.txt; printf \"a\r\n\" >4.txt; mkfifo d/.gitattributes" &&
	test "$(git cat-file blob agent/t1:4.txt)" = a && git cat-file blob agent/t1:d/3.txt | grep -q "$(printf "\r")" &&
	attack t2 "rm .gitattributes; mkfifo .gitattributes; mkdir m; echo \"* text\" >m/.gitattributes; echo k >m/k" &&
	test "$(git cat-file blob agent/t2:m/k)" = k
'

test_expect_success 'GT-09: content git cannot convert is taken as it is, the rest converted' '
	make_repo conv "echo \"*.txt text\" >.gitattributes; echo \"*.u working-tree-encoding=UTF-16\" >>.gitattributes" && cd conv &&
	attack c1 "for i in 1 2 3 4 5 6 7 8 9; do printf \"w\r\n\" >\$i.txt; done; echo xyz >5.u" &&
	test "$(git cat-file blob agent/c1:5.u)" = xyz && test "$(git cat-file blob agent/c1:9.txt)" = w &&
	git agent show c1 | grep "5.u: git could not convert it" && clean_store
'

test_done
