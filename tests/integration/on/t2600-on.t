#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on another machine, by ssh'
. "$TEST_SRCDIR/tests/lib/on.sh"

test_that FARSERVER 'nothing is sent before the user has agreed' '
	make_repo asked &&
	echo "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz" >.env &&
	git add -f .env &&
	git commit -qm env &&
	test_fails 125 "sending this repository to .build. was not confirmed" git agent start --on build -d -- true &&
	grep "in the history: .env" ../err &&
	test ! -e "$far/.local/share/git-agent" &&
	$pty expect="send it" send="n\n" exit=125 -- git agent start --on build -d -- true &&
	test ! -e "$far/.local/share/git-agent" &&
	$pty expect="send it" send="y\n" exit=0 -- git agent start --on build -d -n yes -- true &&
	git agent start --on build -d -n again -- true
'

# refused_to_send WHAT: one line says so, and nothing is asked or recorded
refused_to_send() {
	test_fails 125 "^git-agent: this repository cannot be sent to another machine: $1\$" \
		git agent start --on build -d -- true &&
	! grep -v "^git-agent: \|^hint: " ../err &&
	git agent list >../out &&
	test ! -s ../out
}
test_that 'what git cannot send as it is, is refused with the reason' '
	make_repo whole &&
	mine &&
	git config uploadpack.allowFilter true &&
	git clone -q --depth 1 "file://$HOME/whole" ../shallow &&
	git clone -q --filter=blob:none "file://$HOME/whole" ../partial &&
	(cd ../shallow && refused_to_send "it is shallow") &&
	grep "hint: .git fetch --unshallow. completes it" ../err &&
	(cd ../partial && refused_to_send "it is a partial clone") &&
	git -c protocol.file.allow=always submodule --quiet add "file://$HOME/whole" sub &&
	refused_to_send "it has submodules" &&
	git reset -q --hard &&
	mkdir d/e &&
	echo "*.bin filter=lfs diff=lfs merge=lfs -text" >d/e/.gitattributes &&
	git add d/e &&
	git commit -qm lfs &&
	refused_to_send "it uses Git LFS" &&
	git init -q --object-format=sha256 ../sha256 &&
	cd ../sha256 &&
	git commit -q --allow-empty -m empty &&
	test_fails 125 "has sha256 objects" git agent start --on build -d -- true &&
	grep "^hint: only SHA-1 repositories are supported" ../err
'

test_that FARSERVER 'a session runs there, and its commits are reviewed and land here' '
	make_repo p &&
	agree build &&
	test_prints one git agent start --on build -d -n one -- sh -c "
		echo 1 >new
		git add new
		git commit -qm new
		echo 2 >loose" &&
	git agent wait one &&
	git agent list | grep "^one  *captured .* on build" &&
	test_shows "A.* new" git agent review one &&
	grep loose ../out &&
	git agent land one &&
	test_prints 1 cat new &&
	test_prints 2 cat loose &&
	git agent drop one &&
	test ! -e "$HOME/.local/state/git-agent"/*/on/one &&
	test -z "$(ls "$far"/.local/share/git-agent/on/*/trees/ | grep ^one-)"
'

test_that FARSERVER 'a later start sends what is new, by three calls and no login' '
	make_repo later &&
	agree build &&
	git agent start --on build -d -n first -- true &&
	git agent wait first &&
	git agent drop first &&
	echo more >>d/h &&
	git commit -qam more &&
	far_heard &&
	logins=$(grep -c "Accepted publickey" "$HOME/sshd_build.log") &&
	git agent start --on build -d -n then -- true &&
	test "$(wc -l <"$HOME/calls")" = 3 &&
	test "$(grep -c "Accepted publickey" "$HOME/sshd_build.log")" = "$logins" &&
	python3 - "$HOME/sent" <<-EOF
	import sys
	_, pack = open(sys.argv[1], "rb").read().split(b"PACK")
	n = int.from_bytes(pack[4:8], "big")
	assert n == 4, "%d objects, not a commit, two trees and a file" % n
	EOF
'

test_that FARTTY 'what is asked of a running session is done there' '
	make_repo q &&
	agree build &&
	git agent start --on build -d -n run -- sh -c "
		echo ready
		read line
		echo got \$line >got
		sleep 1000" >/dev/null &&
	test_wait_for "git agent logs run | grep ready" &&
	git agent list | grep "^run  *running .* on build" &&
	git agent send run "a \"b\" c" &&
	test_wait_for "git agent shell run -- cat got | grep \"got a .b. c\"" &&
	test_fails 128 "agent/run is running on .build." git agent review run &&
	test_fails 128 "agent/run is running on .build." git agent drop run &&
	test_shows "+got a" git agent diff run &&
	timeout 20 git agent shell run -- sh -c "seq 20000 >&2; echo said" >../out 2>../err &&
	grep -x said ../out &&
	grep -x 20000 ../err &&
	test_fails 129 "is for sessions on this machine" git agent refresh run &&
	$pty expect=ready sh="git agent stop run" exit=129 -- git agent attach run &&
	git agent list | grep "^run  *captured" &&
	git agent land run &&
	test -e got
'

test_that FARTTY 'on a terminal it is attached, left and returned to, and summed up' '
	make_repo t &&
	agree build &&
	$pty expect=ready send="\x1cd" expect="returns to it" exit=0 -- \
		git agent start --on build -n t -- sh -c "echo ready; read x; echo \$x >x; exit 3" &&
	$pty expect=ready send="more\n" expect="1 commit, 1 file changed" exit=3 -- git agent attach t &&
	git agent diff t | grep "+more"
'

test_that FARSERVER 'a session is resumed there, and fetched again' '
	make_repo u &&
	agree build &&
	git agent start --on build -d -n u -- sh -c "echo 1 >one" >/dev/null &&
	git agent wait u &&
	git agent review u | grep one &&
	git agent resume u sh -c "echo 2 >two" &&
	git agent wait u &&
	git agent review u | grep two
'

test_that FARSERVER 'uncommitted work is there, and what was done to it comes back as uncommitted changes' '
	make_repo w &&
	agree build &&
	line f 3 mine &&
	printf "\\0\\1" >bin &&
	echo u >untracked &&
	echo "TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345" >.env &&
	git rm -q --cached g &&
	rm g &&
	git status --porcelain >../before &&
	git agent start --on build -d -n w -- sh -c "
		test ! -e .env && test ! -e g && grep -q mine f &&
		sed -i 1s/.*/theirs/ f
		printf \"\\0\\2\" >bin
		echo more >>untracked
		echo n >new" >../out 2>../err &&
	grep "secrets stay here: .env" ../err &&
	git agent wait w &&
	git agent review w >../out &&
	git status --porcelain >../after &&
	test_cmp ../before ../after &&
	git agent land w &&
	test_prints n cat new &&
	grep theirs f &&
	grep mine f &&
	grep more untracked &&
	printf "\\0\\2" | cmp - bin &&
	git show HEAD --stat | grep new &&
	! git show HEAD | grep theirs &&
	git agent land --undo &&
	git status --porcelain >../after &&
	test_cmp ../before ../after
'

test_that FARSERVER 'a session that changed nothing but uncommitted work lands' '
	make_repo only &&
	agree build &&
	echo mine >>f &&
	git agent start --on build -d -n o -- sh -c "echo theirs >>f" >/dev/null &&
	git agent wait o &&
	git agent land o &&
	grep theirs f &&
	git diff --quiet --cached
'

test_that FARSERVER 'a host that does not answer leaves the session unknown' '
	make_repo v &&
	agree gone &&
	agree build &&
	test_fails 125 "cannot reach .gone." git agent start --on gone -d -- true &&
	git agent start --on build -d -n v -- true >/dev/null &&
	git agent wait v &&
	far_hang_up &&
	sed -i.bak "s/Host build/Host other/" "$HOME/.ssh/config" &&
	git agent list | grep "^v  *unknown" &&
	test_fails 128 "what agent/v does is unknown: cannot reach .build." git agent review v &&
	mv "$HOME/.ssh/config.bak" "$HOME/.ssh/config" &&
	git agent list | grep "^v  *captured"
'

# liar COMMANDS: the host "build" answers each request by these, with the action in $do and its JSON in $request
liar() {
	mkdir -p "$HOME/liar" &&
	cat >"$HOME/liar/git" <<-EOF &&
	#!/bin/sh
	[ "\$1 \$2" = "agent depot" ] || exec /usr/bin/env PATH=$PATH git "\$@"
	request=\$(python3 -c 'import base64, sys
	print(base64.urlsafe_b64decode(sys.argv[1] + "===").decode())' "\$3")
	do=\$(echo "\$request" | python3 -c 'import json, sys; print(json.load(sys.stdin)["do"])')
	far=\$(echo "\$request" | python3 -c 'import json, sys; print(json.load(sys.stdin)["name"])')
	honest() { PATH=$PATH git agent depot "\$3"; }
	ready() { echo "git-agent-depot 1"; }
	$1
	EOF
	chmod +x "$HOME/liar/git" &&
	sed "s|^\(SetEnv .*\) PATH=|\1 PATH=$HOME/liar:|" "$HOME/sshd_build" >"$HOME/sshd_liar" &&
	far_restart liar
}

test_that FARSERVER 'ON-01, ON-05: answers that are none are refused, and what the host says is escaped' '
	make_repo lies &&
	agree build &&
	liar "ready; printf \"{\\\"error\\\": \\\"no \\\\u001b[31m\\\"}\\n\"" &&
	test_fails 125 "on .build.: no .e.31m" git agent start --on build -d -n a1 -- true &&
	echo "{\"error\": \"e\", \"hint\": \"h\\\\ngit-agent: forged\"}" >"$HOME/said" &&
	liar "ready; cat $HOME/said" &&
	test_fails 125 "on .build.: e" git agent start --on build -d -n a5 -- true &&
	! grep "^git-agent: forged" ../err &&
	liar "ready; echo [1]" &&
	test_fails 125 "git-agent does not answer on .build." git agent start --on build -d -n a2 -- true &&
	liar "ready; yes" &&
	test_fails 125 "" git agent start --on build -d -n a3 -- true &&
	liar "echo git-agent-depot 2; echo {}" &&
	test_fails 125 "is of another version" git agent start --on build -d -n a4 -- true
'

test_that FARSERVER 'ON-06: a chatty login shell and one that is no POSIX shell are no obstacle' '
	make_repo chatty &&
	agree build &&
	liar "head -c 50000 /dev/zero; echo welcome; honest \"\$@\"" &&
	git agent start --on build -d -n a -- sh -c "echo 1 >n" >/dev/null &&
	git agent wait a &&
	git agent review a | grep n
'

test_that FARSERVER 'ON-02: states that are none are unknown, and sessions of nobody are not listed' '
	make_repo states &&
	agree build &&
	far_restart build &&
	git agent start --on build -d -n s -- true >/dev/null &&
	git agent wait s &&
	echo "{\"sessions\": {\"FAR\": {\"state\": \"odd\"}, \"x\": {\"state\": \"running\"}}}" >"$HOME/said" &&
	liar "ready; sed s/FAR/\$far/ $HOME/said" &&
	test_shows "^s  *unknown" git agent list &&
	test "$(wc -l <../out)" = 1
'

test_that FARSERVER 'ON-03, ON-04: commits and patches that reach for more are refused' '
	make_repo reach &&
	agree build &&
	far_restart build &&
	git switch -qc private &&
	echo secret >private &&
	git add private &&
	git commit -qm private &&
	private=$(git rev-parse HEAD) &&
	git switch -q main &&
	echo wip >>f &&
	git agent start --on build -d -n r -- sh -c "echo 1 >n; echo 2 >>f" >/dev/null &&
	git agent wait r &&
	depot=$far/.local/share/git-agent/on/$(head -1 .git/git-agent/id)/depot/.git &&
	ref=$(git -C "$depot" for-each-ref --format="%(refname)" "refs/heads/agent/r-*") &&
	was=$(git -C "$depot" rev-parse "$ref") &&
	git push -q "$depot" private:refs/heads/x &&
	evil=$(git -C "$depot" commit-tree -m evil -p "$private" "$was^{tree}") &&
	git -C "$depot" update-ref "$ref" "$evil" &&
	test_fails 128 "" git agent review r &&
	! git log --all --format=%s | grep evil &&
	git -C "$depot" update-ref "$ref" "$was" &&
	for patch in "diff --git a/.git/x b/.git/x
new file mode 100644
--- /dev/null
+++ b/.git/x
@@ -0,0 +1 @@
+x" "diff --git a/../x b/../x
new file mode 100644
--- /dev/null
+++ b/../x
@@ -0,0 +1 @@
+x" "no patch"; do
		echo "{\"patch\": \"$(echo "$patch" | base64 -w 0)\"}" >"$HOME/said" &&
		liar "case \$do in patch) ready; cat $HOME/said ;; *) honest \"\$@\" ;; esac" &&
		test_fails 128 "" git agent review r || exit 1
	done &&
	far_restart build &&
	git agent review r >../out &&
	git agent land r &&
	test_prints 1 cat n
'

test_that FARSERVER 'ON-07: a session that is submitted again runs once' '
	make_repo twice &&
	agree build &&
	far_restart build &&
	git agent start --on build -d -n t2 -- sh -c "echo ran >>\$HOME/ran; sleep 1000" >/dev/null &&
	state=$(dirname "$(dirname "$(dir_of t2)")") &&
	python3 - "$state/on/t2" <<-EOF &&
	import json, sys
	r = json.load(open(sys.argv[1]))
	r["state"] = "absent"
	json.dump(r, open(sys.argv[1], "w"))
	EOF
	test_fails 128 "is running on" git agent resume t2 &&
	test_wait_for "test -e $far/aihome/ran" &&
	test "$(wc -l <"$far/aihome/ran")" = 1 &&
	git agent stop -q t2
'

test_done
