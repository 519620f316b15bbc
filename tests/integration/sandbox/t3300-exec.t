#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every program that is started outside the sandbox, by name: nothing an agent can
# write makes it one more. The whole life of sessions is traced; what descends from pid 1 of a
# sandbox is inside, all else is compared with a list.
test_description='no command of an agent runs outside: every exec of start, capture, review, diff, land'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_that 'GT-20: no file of the repository is run for its name, whatever PATH has in front' '
	test_enter dotted &&
	mkdir -p bin .git/hooks &&
	for p in git sh man less cat env bwrap git-lfs ls; do
		printf "#!/bin/sh\necho %s >>\"%s/planted\"\n" $p "$HOME" >$p &&
		chmod +x $p &&
		cp $p bin/ ||
			exit 1
	done &&
	test_commit plant &&
	printf "#!/bin/sh\necho \"\$PATH\" >>\"%s/hook-path\"\n" "$HOME" >.git/hooks/reference-transaction &&
	chmod +x .git/hooks/reference-transaction &&
	i=0 &&
	for before in . "" ./bin:..; do
		i=$((i + 1)) &&
		: >../hook-path &&
		for what in "start -q -n s$i -- touch new$i" "review s$i" "land s$i" "drop s$i" "list --help" doctor; do
			PATH="$before:$PATH" "$GIT_AGENT" $what </dev/null || exit 1
		done &&
		git cat-file -e HEAD:new$i &&
		test -s ../hook-path &&
		! grep -v "^\(/[^:]*:\)*/[^:]*\$" ../hook-path &&
		test ! -e ../planted || exit 1
	done &&
	PATH=.:bin "$GIT_AGENT" start -q -n s0 -- touch new0 &&
	git cat-file -e agent/s0:new0 &&
	test ! -e ../planted &&
	(PATH=.:$PATH && git x) &&
	test -s ../planted
'

test_lazy_prereq STRACE_LFS 'strace -f true && git lfs version'

# traced COMMAND...: run it; what it executed goes to ../trace, after what is there and a line that
# ends it: pids come again
traced() {
	strace -f -qq --seccomp-bpf --decode-pids=pidns -s 300 -e trace=execve,execveat,clone,clone3,fork,vfork \
		-o ../one "$@"
	traced_rc=$?
	cat ../one >>../trace &&
	echo end >>../trace &&
	return $traced_rc
}

# programs WHERE: what was executed, or tried to be, "outside" or "inside", by the last part of
# its name, or by all of it where that leads to what the test made: the agent has a git of its own
# there; of a shell what it was told to do
programs() {
	python3 - "$1" ../trace <<-\END
	import os, re, sys
	where, made_here = sys.argv[1], os.environ["TRASH"] + "/"
	def is_inside(pid, parent, inside):
	    while pid not in inside:
	        if pid not in parent:
	            return False
	        pid = parent[pid]
	    return True
	def name_of(path, argv):
	    elsewhere = path.startswith("/") and not path.startswith(made_here)
	    name = os.path.basename(path) if elsewhere else path
	    if name in ("sh", "dash", "bash") and len(argv) > 2 and argv[1] == "-c":
	        name += " -c " + argv[2]
	    return name
	def tell(parent, inside, execs):
	    for pid, path, argv in execs:
	        if is_inside(pid, parent, inside) == (where == "inside"):
	            print(name_of(path, argv))
	parent, inside, execs = {}, set(), []
	for line in open(sys.argv[2], errors="replace"):
	    if line == "end\n":
	        tell(parent, inside, execs)
	        parent, inside, execs = {}, set(), []
	        continue
	    pid, rest = line.split(None, 1)
	    made = re.match(r"(?:<\.\.\. )?(?:clone3?|v?fork)\b.*= (\d+)(?: /\* (\d+) in strace's PID NS \*/)?$", rest)
	    run = re.match(r'execve(?:at)?\((?:\w+, )?"([^"]*)", \[(.*)', rest)
	    if made:
	        parent[made[2] or made[1]] = pid
	    if run and run[1] == "/run/git-agent/init":
	        inside.add(pid)
	    elif run:
	        execs.append((pid, run[1], re.findall(r'"((?:[^"\\]|\\.)*)"', run[2])))
	assert not execs, "a trace without an end"
	END
}

# only PROGRAM...: nothing else ran outside
only() {
	programs outside | sort -u >../got &&
	printf '%s\n' "$@" | sort >../want &&
	test_cmp ../want ../got
}

# What it does to be run: in every place an agent can write that some program takes
# commands from. `evil` would be found by any of them.
cat >"$TRASH/plant" <<\END
evil="$PWD/evil"
printf '#!/bin/sh\necho "$@" >>/tmp/ran; echo evil\n' >evil
chmod +x evil
mkdir -p "$HOME/bin" "$HOME/.config/git"
cp evil "$HOME/evil"
# programs DIR NAME...: `evil` by each of these names, with few processes
programs() {
	(mkdir -p "$1" && cd "$1" && shift && tee "$@" <"$HOME/evil" >/dev/null && chmod +x "$@")
}
for at in . "$HOME/bin"; do
	programs "$at" git-evil git-remote-evil git-credential-evil git-lfs less ssh gpg git
done

# configuration: the private one, of the worktree, of the home, and what is included
make_settings() {
	for key in core.fsmonitor core.sshCommand core.pager core.editor core.askPass core.gitProxy \
		core.alternateRefsCommand sequence.editor diff.external diff.evil.textconv diff.evil.command \
		diff.default.command filter.evil.clean filter.evil.smudge filter.evil.process filter.lfs.clean \
		filter.lfs.smudge filter.lfs.process merge.evil.driver merge.default.driver merge.tool \
		mergetool.evil.cmd difftool.evil.cmd gpg.program gpg.ssh.program gpg.x509.program \
		gpg.ssh.defaultKeyCommand credential.helper interactive.diffFilter pager.diff pager.log pager.show \
		pager.branch browser.evil.cmd \
		man.evil.cmd trailer.x.command trailer.x.cmd uploadpack.packObjectsHook remote.origin.uploadpack \
		remote.origin.receivepack remote.origin.proxy sendemail.smtpServer sendemail.toCmd \
		lfs.customtransfer.evil.path lfs.extension.evil.clean lfs.extension.evil.smudge lfs.sshtransfer \
		tar.evil.command guitool.evil.cmd hook.evil.command gc.recentObjectsHook imap.tunnel instaweb.httpd \
		credential.https://x.helper sendemail.ccCmd sendemail.headerCmd web.browser; do
		one_setting "$key" "$evil"
	done
	for word in status diff log show merge add commit checkout rev-parse config cat-file update-ref rev-list fsck \
		agent; do
		one_setting "alias.$word" "!$evil alias"
	done
	for key in commit.gpgSign merge.verifySignatures log.showSignature submodule.recurse maintenance.auto \
		remote.evil.promisor; do
		one_setting "$key" true
	done
	while read -r key value; do
		one_setting "$key" "$value"
	done <<-EOF
	core.hooksPath $PWD/.hooks
	hook.evil.event post-merge
	submodule.sub.update !$evil
	protocol.ext.allow always
	remote.origin.url ext::$evil
	remote.evil.vcs evil
	remote.evil.url evil::x
	core.excludesFile $PWD/evil
	receive.procReceiveRefs refs
	core.attributesFile $PWD/.gitattributes
	init.templateDir $PWD/.hooks
	diff.tool evil
	lfs.standalonetransferagent evil
	lfs.extension.evil.priority 0
	extensions.partialClone evil
	EOF
	one_setting "url.ext::$evil .insteadOf" https://
}
# one_setting KEY VALUE: a heading of its own for each, which saves a process
one_setting() {
	name=${1##*.} section=${1%.*}
	case $section in
	*.*) printf '[%s "%s"]\n\t%s = "%s"\n' "${section%%.*}" "${section#*.}" "$name" "$2" ;;
	*) printf '[%s]\n\t%s = "%s"\n' "$section" "$name" "$2" ;;
	esac
}
make_settings >included
one_setting core.fsmonitor "$evil" >included-if
settings() {
	{
		printf '[include]\n\tpath = "%s/included"\n' "$PWD"
		printf '[includeIf "gitdir:/"]\n\tpath = "%s/included-if"\n' "$PWD"
		cat included
	} >>"$1"
}
hooks() {
	programs "$1" applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg \
		commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update post-update \
		reference-transaction push-to-checkout pre-auto-gc post-rewrite fsmonitor-watchman post-index-change \
		sendemail-validate proc-receive
}

# in the tree
for at in . d; do
	cat >$at/.gitattributes <<-\EOF
	* filter=evil diff=evil merge=evil
	*.bin filter=lfs diff=lfs merge=lfs -text
	*.txt text=auto ident
	EOF
done
cat >.lfsconfig <<EOF
[lfs]
	url = ssh://-oProxyCommand=evil/x
	standalonetransferagent = evil
[lfs "customtransfer.evil"]
	path = $evil
EOF
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 5\n' 1 >x.bin
settings "$PWD/.gitconfig"
settings "$PWD/config"
for at in .hooks .husky .githooks; do hooks $at; done
echo "$evil" >.envrc
printf 'all:\n\t%s\n' "$evil" >Makefile
echo "$PWD/evil" >.mailmap
printf 'one\r\n' >crlf.txt
# a directory that is a repository of its own, bare or not
for bare in inner inner.git d/e; do
	mkdir -p $bare/objects $bare/refs
	echo "ref: refs/heads/main" >$bare/HEAD
	settings "$PWD/$bare/config"
	hooks $bare/hooks
done

# what is committed, while git here still does what it is told
git add -A . >/dev/null 2>&1
git commit -qm "evil in the tree"
git config filter.evil.clean cat
git branch side
git checkout -q side
echo s >s
git add s
git commit -qm side
git checkout -q agent/evil
echo stashed >>a
git stash -q
cp -r inner.git nested
mkdir nested/tree
cp -r inner.git nested/tree/.git
echo rest >rest
echo more >>a
mkdir -p d/deep
echo x >d/deep/x.txt

# this one would cost it its commits
printf '[submodule "sub"]\n\tpath = sub\n\turl = ext::%s\n\tupdate = !%s\n' "$evil" "$evil" >.gitmodules

# in its own git dir and home
printf '* filter=evil diff=evil merge=evil\n' >.git/info/attributes
cp .git/info/attributes "$HOME/.config/git/attributes"
hooks .git/hooks
mkdir -p .git/modules/sub .git/lfs
hooks .git/modules/sub/hooks
echo evil >.git/remotes 2>/dev/null
printf '%s\n' "$evil" >.git/info/sparse-checkout
git config extensions.worktreeConfig true
for at in "$PWD/.git/modules/sub/config" "$PWD/.git/config.worktree" "$HOME/.gitconfig" "$HOME/.config/git/config" \
	"$PWD/.git/config"; do
	settings "$at"
done
printf '[core]\n\tworktree = "%s/d"\n' "$PWD" >>.git/config.worktree
# with that configuration git need not work any more; what it ran is in the trace
git status >/dev/null 2>&1 </dev/null
exit 0
END

outside="bwrap git git-agent git-agent-main git-agent-stage"

# A repository with uncommitted work, and the session in it.
evil_session() {
	: >"$TRASH/home/trace" &&
	chmod -R u+rwX "$HOME/aihome" 2>/dev/null
	rm -rf "$HOME/aihome" &&
	test_enter "$1" &&
	echo a >a &&
	mkdir d &&
	echo x >d/x &&
	printf '* text=auto\n' >.gitattributes &&
	test_commit base &&
	test_aihome &&
	cp "$TRASH/plant" "$HOME/aihome/plant"
}

test_that STRACE 'the trace has what runs inside, and a hook of the user outside' '
	evil_session seen &&
	test_script .git/hooks/post-merge ":" &&
	traced git agent start -q --name seen -- sh -c "
		echo b >b
		git add b
		git -c alias.x=\"!/bin/echo alias\" x" &&
	programs inside >../inside &&
	grep -x "echo" ../inside &&
	grep "^sh -c" ../inside &&
	only $outside &&
	traced git agent land seen &&
	only $outside .git/hooks/post-merge
'

test_that STRACE 'capture by the next command, show, review, diff and drop execute nothing of the agent' '
	evil_session life &&
	! traced env GIT_AGENT_FAULT=capture:export:kill git agent start -q --name evil -- sh "$HOME/plant" &&
	programs inside | grep "/evil$" &&
		# captures what was interrupted
	traced git agent list &&
	git log --format=%s refs/agent/evil/orig | grep -x "evil in the tree" &&
	git show refs/agent/evil/orig:rest >/dev/null &&
	traced git agent show evil &&
	traced git agent review evil >../review &&
	grep "critical" ../review &&
	traced git agent diff evil >../diff &&
	grep "^+.*rest" ../diff &&
	traced git agent capture evil &&
	traced git agent drop --force evil &&
	only $outside env
'

test_that STRACE 'diff, list and show execute nothing of a running session' '
	evil_session running &&
	: >../trace &&
	test_when_finished "rm -f \"$HOME/aihome/up\"; wait" &&
	{
		test_session evil "
		sh \$HOME/plant
		touch \$HOME/up
		while test -e \$HOME/up; do sleep 0.1; done" &
	} &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/up" &&
	traced git agent diff evil >../diff &&
	traced git agent list &&
	traced git agent show evil &&
	only git git-agent git-agent-main &&
	rm "$HOME/aihome/up" &&
	wait $pid
'

test_that STRACE 'start, and landing all of it beside uncommitted work, execute nothing of the agent' '
	evil_session carried &&
	echo mine >>a &&
	traced git agent start -q --name evil -- sh "$HOME/plant" &&
	traced git agent review --accept-all --critical evil &&
	traced git agent land evil &&
	git cat-file -e HEAD:evil &&
	only $outside
'

# post-merge is a hook that git-lfs itself puts into the user's repository
test_that STRACE_LFS 'with git-lfs on the host only the user'\''s own commands for it run as well' '
	git lfs install --skip-repo >/dev/null &&
	test_when_finished git lfs uninstall --skip-repo &&
	evil_session lfs &&
	printf "*.bin filter=lfs diff=lfs merge=lfs -text\n" >.gitattributes &&
	echo base >base.bin &&
	test_commit lfs &&
	traced git agent start -q --name evil -- sh "$HOME/plant" &&
	traced git agent review evil >/dev/null &&
	traced git agent diff evil >/dev/null &&
	traced git agent drop --force evil &&
	traced git agent start -q --name two -- sh -c "echo new >n.bin" &&
	traced git agent land two &&
	test "$(cat n.bin)" = new &&
	programs outside | sed "s/sh -c unset GIT_DIR .*; cd .* && git-lfs/sh -c unset... git-lfs/" | sort -u >../got &&
	printf "%s\n" $outside git-lfs .git/hooks/post-merge "sh -c git-lfs filter-process" \
		"sh -c unset... git-lfs filter-process" | sort >../want &&
	test_cmp ../want ../got
'

test_done
