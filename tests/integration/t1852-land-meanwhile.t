#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing beside uncommitted work: what comes meanwhile, what does not fit, what a crash leaves'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# ---- written while hooks or the editor run

printf '#!/bin/sh\necho MEANWHILE >>f\n' >editor && chmod +x editor
test_expect_success 'what the editor, or somebody beside it, writes to a file that lands is kept: refused' '
	begin && git agent start -q --name ed -- sh -c "$words put f@2A" && put f@8M && git rev-parse HEAD >../was &&
	GIT_EDITOR=$HOME/editor test_expect_code 2 git agent land -e ed 2>../err && grep "files changed meanwhile: f$" ../err && content f@8M >../want && echo MEANWHILE >>../want && test_cmp ../want f && git rev-parse HEAD | test_cmp ../was - && git ls-files -s f | grep "$(git rev-parse HEAD:f)" &&
	picture >../before && git agent land ed && content f@2A8M >../want && echo MEANWHILE >>../want && test_cmp ../want f && git agent land --undo ed && picture >../after && test_cmp ../before ../after
'

test_expect_success 'a commit meanwhile: refused, and nothing else is touched' '
	begin && git agent start -q --name co -- sh -c "$words put f@2A n=n" && put f@8M && printf "#!/bin/sh\ngit update-ref HEAD \$(git commit-tree -m mine -p HEAD HEAD^{tree})\n" >../commit && chmod +x ../commit && git ls-files -s >../index &&
	GIT_EDITOR=$PWD/../commit test_expect_code 2 git agent land -e co 2>../err && grep "your branch moved meanwhile" ../err && test "$(git log -1 --format=%s)" = mine && content f@8M | test_cmp - f && git ls-files -s | test_cmp ../index - && test ! -e n && test ! -e .git/index.lock &&
	picture >../before && git agent land co && git agent land --undo co && picture >../after && test_cmp ../before ../after
'

test_expect_success 'what is written while git looks, to a file that it found unchanged, lands beside the rest' '
	begin && echo "z filter=x" >.gitattributes && put z@ && git add -A && git commit -qm z && git config filter.x.clean "cat; if test -e ../go; then rm ../go; echo MEANWHILE >>f; fi" && git config filter.x.smudge cat &&
	git agent start -q --name ra -- sh -c "$words put f@2A" && put old@5S && git add old && put z@5M && touch ../go && git agent land ra && test ! -e ../go && content f@2A >../want && echo MEANWHILE >>../want && test_cmp ../want f && git show HEAD:f >../f && content f@2A | test_cmp - ../f
'

# meanwhile NAME COMMANDS BACK PATH: a hook runs the commands, which those of BACK undo before; they
# are all that happens, and PATH is named
meanwhile() {
	test_expect_success "$1 comes meanwhile: refused, and nothing else is touched" "
		begin && git rm -q --cached old && put g*@ && git commit -qam more && s=s\$(count) && git agent start -q --name \$s -- sh -c \"\$words put f@2A n=agent q/r=agent; rm g d/h\" && git agent review --accept-all --critical \$s && put f@8M &&
		{ $2; } && picture >../before && { $3; } && printf '%s\n' '$2' >../meanwhile.sh && printf '#!/bin/sh\n. ../meanwhile.sh\n' >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit &&
		test_expect_code 2 git agent land \$s 2>../err && cat ../err && grep 'files changed meanwhile: $4' ../err && picture >../after && test_cmp ../before ../after && find . -name '.git-agent*' >../left && test ! -s ../left
	"
}
meanwhile 'a new file' 'echo mine >n' 'rm n' 'n$'
meanwhile 'a link of that name' 'ln -sfn f n' 'rm n' 'n$'
meanwhile 'a directory of that name' 'mkdir -p n; echo mine >n/x' 'rm -r n' 'n/x$'
meanwhile 'a file where a directory is to come' 'echo mine >q' 'rm q' 'q$'
meanwhile 'a change of one that goes' 'printf "more\n" >g' 'content g@ >g' 'g$'
meanwhile 'a change of one that was clean' 'printf "more\n" >d/h' 'content h@ >d/h' 'd/h$'
meanwhile 'a mode' 'chmod -x g' 'chmod +x g' 'g$'

test_expect_success 'an ignored file that is written meanwhile is not overwritten, though it could have been before' '
	begin && git agent start -q --name ig -- sh -c "$words put f@2A; echo agent >x.ign" && git agent review --accept-all --critical ig && put x.ign=mine && git commit -q --allow-empty -m mine && printf "#!/bin/sh\necho LATER >x.ign\n" >../ed && chmod +x ../ed &&
	GIT_EDITOR=$PWD/../ed test_expect_code 2 git agent land -e --with-ignored x.ign --force ig 2>../err && grep "x.ign.*changed meanwhile" ../err && test "$(cat x.ign)" = LATER && git agent list | grep "^ig .*landed" &&
	git agent land --with-ignored x.ign --force ig && test "$(cat x.ign)" = agent &&
	find . -name ".git-agent*" >../left && test ! -s ../left
'

# ---- staged, where a directory comes or goes

# staged AGENT PATH: it is staged, and in no file
staged() {
	test_expect_success "staged alone as $2, where the session makes another of it: refused, and still staged" "
		begin && s=s\$(count) && git agent start -q --name \$s -- sh -c \"$1\" && git agent review --accept-all --critical \$s && mkdir -p \$(dirname $2) && echo staged >$2 && git add $2 && rm $2 && { rmdir \$(dirname $2) 2>/dev/null || :; } && picture >../before &&
		for how in --merge --squash --ff-only; do
			test_expect_code 2 git agent land --dry-run \$how \$s && test_expect_code 2 git agent land \$how \$s 2>../err && grep 'staged changes overlap with what is to land: $2$' ../err && picture >../after && test_cmp ../before ../after || return 1
		done && git restore --staged $2 && git agent land \$s
	"
}
staged 'mkdir n; echo x >n/m; echo y >n/o' n
staged 'echo x >n' n/m
staged 'mkdir -p n/o; echo x >n/o/m' n/o

test_expect_success 'a path of a directory that is a file here: refused unless that is named' '
	begin && git agent start -q --name part -- sh -c "rm g; mkdir g; echo x >g/new; echo y >g/other" && git agent review --accept-all --critical part && for state in : "rm g" "put g@2M; git add g; rm g"; do
		git reset -q --hard && eval "$state" && picture >../before && test_expect_code 128 git agent land --dry-run part -- g/new && test_expect_code 128 git agent land part -- g/new 2>../err && grep "'\''g/new'\'' cannot land without '\''g'\'', which is a file here" ../err && grep "hint: name '\''g'\''" ../err && picture >../after && test_cmp ../before ../after || return 1
	done && git reset -q --hard && picture >../before && git agent land part -- g && test "$(cat g/new g/other)" = "x
y" && git agent land --undo part && picture >../after && test_cmp ../before ../after
'

test_expect_success 'a path that has landed is nothing to land, and nothing to undo' '
	begin && git agent start -q --name tw -- sh -c "$words put f@2A; echo n2 >>.gitignore" && git agent review --accept-all --critical tw && picture >../before && git agent land tw -- .gitignore && git agent land tw -- .gitignore 2>../err && cat ../err && grep "nothing to land" ../err && git agent land --undo tw && picture >../after && test_cmp ../before ../after
'

# ---- directories in the way

test_expect_success 'a directory with nothing in it makes way, as it does for git' '
	begin && git agent start -q --name e1 -- sh -c "$words put n=n f@2A" && put f@8M && picture >../before && mkdir -p n/a/b n/c && git agent land --dry-run e1 && git agent land e1 && test -f n && git agent land --undo e1 && picture >../after && test_cmp ../before ../after
'

test_expect_success 'and where a file comes back by undoing' '
	begin && git agent start -q --name e2 -- sh -c "rm g; mkdir g; echo x >g/new; sed -i 2s/.*/A/ f" && git agent review --accept-all --critical e2 && put f@8M && picture >../before && git agent land --squash e2 && mkdir -p g/empty/more && git agent land --undo e2 && picture >../after && test_cmp ../before ../after
'

test_expect_success 'a link of the user'\''s becomes a directory, and a link again' '
	begin && git agent start -q --name ln -- sh -c "rm link; mkdir link; echo x >link/new" && git agent review --accept-all --critical ln && put old@8M && git add old && picture >../before && git agent land --dry-run ln && git agent land ln && test "$(cat link/new)" = x && git agent land --undo ln && picture >../after && test_cmp ../before ../after
'

test_expect_success 'one with very many files that are all tracked makes way, and comes back' '
	begin && mkdir many && (cd many && seq 10001 | xargs touch) && git add -A && git commit -qm many && git agent start -q --name many -- sh -c "rm -r many; echo f >many" && git agent review --accept-all --critical many && git agent land --rebase many && test -f many && git agent land --undo many && test "$(ls many | wc -l)" = 10001 &&
	put f@8M && git add f && git agent land --dry-run many && git agent land many && test "$(cat many)" = f && git agent land --undo many && test "$(ls many | wc -l)" = 10001 &&
	echo mine >many/mine && picture >../before && test_expect_code 2 git agent land many 2>../err && cat ../err && grep "would be overwritten: many/mine$" ../err && picture >../after && test_cmp ../before ../after
'

test_expect_success 'so does one with very many directories in each other' '
	begin && d=deep$(printf "/d%.0s" $(seq 150)) && mkdir -p $d && echo x >$d/x && git add -A && git commit -qm deep && git agent start -q --name deep -- sh -c "rm -r deep; echo f >deep" && git agent review --accept-all --critical deep && (ulimit -n 100 && git agent land deep) && test -f deep && git agent land --undo deep && test -f $d/x &&
	echo mine >$d/mine && test_expect_code 2 git agent land deep 2>../err && cat ../err && grep "would be overwritten: $d/mine$" ../err
'

test_expect_success NOT_ROOT 'what cannot be looked into is no untracked file, and stays' '
	begin && git agent start -q --name dark -- sh -c "rm -r d; echo f >d" && git agent review --accept-all --critical dark && mkdir d/dark && chmod 0 d/dark && test_when_finished "chmod -f 700 d/dark" && for how in --merge --rebase; do
		test_expect_code 2 git agent land $how dark 2>../err && cat ../err && grep "cannot look into .d/dark., which would be overwritten" ../err || return 1
	done && chmod 700 d/dark && test -f d/h && git agent land dark && test -f d
'

# ---- killed between a file and its name

for end in --abort --undo land
do
	case $end in land) word= ;; *) word=$end ;; esac
	test_expect_success "killed before a file has its name: no part of one stays after $end" "
		begin && git agent start -q --name k$end -- sh -c \"\$words put f@2A z/new=n d/h@2A\" && put f@8M d/h@8M && picture >../before &&
		GIT_AGENT_FAULT=land:part:kill test_expect_code 137 git agent land k$end && find . -name '.git-agent.*' | grep . && git agent land $word k$end && find . -name '.git-agent.*' >../left && test ! -s ../left &&
		{ test $end = land && git agent land --undo k$end || :; } && picture >../after && test_cmp ../before ../after && test ! -e z
	"
done

test_expect_success 'nor of one that undoing was killed at' '
	begin && git agent start -q --name ku -- sh -c "$words put f@2A" && put f@8M && picture >../before && git agent land ku && GIT_AGENT_FAULT=land:part:kill test_expect_code 137 git agent land --undo ku && find . -name ".git-agent.*" | grep . && git agent land --undo ku && picture >../after && test_cmp ../before ../after
'

test_expect_success 'nor where the user went on' '
	begin && git agent start -q --name kw -- sh -c "$words put f@2A" && put f@8M && GIT_AGENT_FAULT=land:part:kill test_expect_code 137 git agent land kw && rm -f .git/index.lock && git commit -qm mine f && git agent land kw && find . -name ".git-agent.*" >../left && test ! -s ../left
'

test_expect_success 'nor of what comes back to uncommitted work' '
	begin && put f@8M && git agent start -q --name kc -- sh -c "$words put f@8A g@2A" && git commit -q --allow-empty -m mine && GIT_AGENT_FAULT=land:part:kill test_expect_code 137 git agent land kc && find . -name ".git-agent.*" | grep . && git agent land kc && find . -name ".git-agent.*" >../left && test ! -s ../left && content f@8A | test_cmp - f
'

test_expect_success 'where writing fails all is as it was, and none stays' '
	begin && git agent start -q --name fa -- sh -c "$words put f@2A n=n" && put f@8M && picture >../before && GIT_AGENT_FAULT=land:part:fail test_expect_code 128 git agent land fa && test_expect_code 128 git agent land --abort fa 2>../err && grep "no landing of agent/fa was left" ../err && find . -name ".git-agent.*" >../left && test ! -s ../left && picture >../after && test_cmp ../before ../after
'

test_done
