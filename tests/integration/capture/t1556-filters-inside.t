#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='filters of the user that run inside, because they are named'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use filters
require_sandbox

inside="-c filters=strip -c filters=crypt"

test_that 'a named filter runs inside, at the capture and on what the agent commits' '
	make_repo named &&
	git agent $inside start --name n -- sh -c "
		printf \"in 2\nout: 2\n\" >n.nb
		git commit -qam nb
		printf \"in\nout: 3\n\" >new.nb" &&
	printf "in 2\n" >../want &&
	git cat-file blob agent/n:n.nb >../got &&
	test_cmp ../want ../got &&
	test_holds agent/n:new.nb in &&
	test "$(git log --format=%s HEAD..agent/n | tail -1)" = nb &&
	test -z "$(rules_of n filter-not-run)" &&
	nowhere ^out: &&
	git agent $inside land n &&
	git diff --quiet HEAD
'

test_that 'a file whose filter fails inside is held, unless it was only touched' '
	make_repo fails &&
	git agent $inside start --name f -- sh -c "
		touch x.sec
		echo new cl\$()ear >d/y.sec
		printf \"in 2\nout: 2\n\" >n.nb" &&
	nowhere clear &&
	test "$(git diff --name-only HEAD agent/f)" = n.nb &&
	test_holds agent/f:n.nb "in 2" &&
	git agent show f | grep "held, since your filter did not run on it: d/y.sec" &&
	test_holds refs/agent/f/held:d/y.sec "new clear"
'

test_that 'a file that was only touched is left alone, though the agent commits it without its filter' '
	make_repo fails2 &&
	git config --unset filter.crypt.required &&
	git agent $inside start --name f -- sh -c "
		touch x.sec
		git commit -qam touched
		echo b >a
		git commit -qam other" &&
	test_holds refs/agent/f/orig^:x.sec "clear text" &&
	nowhere "clear text" &&
	test "$(git diff --name-only HEAD agent/f)" = a
'

test_that 'the files of a filter that never ends are held' '
	make_repo hangs &&
	git config filter.strip.clean "exec sleep 100000" &&
	git agent $inside -c limits.capture.git_time=10s start --name h -- sh -c "
		echo out: 2 >n.nb
		echo b >a" &&
	git agent show h | grep "held, since your filter did not run on it: n.nb" &&
	test "$(git diff --name-only HEAD agent/h)" = a &&
	test_holds refs/agent/h/held:n.nb "out: 2"
'

# git follows macros of macros until there is no stack left
test_that 'if git inside cannot tell the files of a filter, none is taken' '
	make_repo silent &&
	git agent $inside start --name q -- python3 -c "
f = open(\".gitattributes\", \"a\"); f.write(\"* m0\n\")
for i in range(300000): f.write(\"[attr]m%d m%d\n\" % (i, i + 1))
f.close(); open(\"n.nb\", \"w\").write(\"in\\nout: 4\\n\"); open(\"b\", \"w\").write(\"b\")" &&
	nowhere ^out: &&
	test_missing agent/q &&
	git agent show q | grep "content was captured unconverted" &&
	git agent show q |
		grep "held, since your filter did not run on it: .*b, n.nb" &&
	test "$(git show refs/agent/q/held:n.nb | tail -1)" = "out: 4"
'

test_that 'a file that git inside cannot open is held, if a filter is for it' '
	make_repo closed &&
	git agent $inside start --name c -- sh -c "
		printf \"in\nout: 4\n\" | tee d/1.nb >n.nb
		mkdir e
		cp n.nb a e
		chmod 000 n.nb e
		chmod 200 a
		echo more >>d/1.nb
		echo b >b" &&
	nowhere ^out: &&
	test "$(git diff --name-only HEAD agent/c | tr "\n" " ")" = "b d/1.nb e/a " &&
	git agent show c >../show &&
	grep "did not run on it: e/n.nb, n.nb$" ../show &&
	test "$(git show refs/agent/c/held:e/n.nb | tail -1)" = "out: 4" &&
	for p in a e/a e/n.nb n.nb; do
		grep "note: $p: git could not convert it" ../show || return 1
	done &&
	! grep "note: b:" ../show
'

test_that 'below attributes that git inside cannot read, a filter may be for any file' '
	make_repo barred &&
	git agent $inside start --name p -- sh -c "
		mkfifo d/.gitattributes
		printf \"in\nout: 4\n\" | tee d/1.nb >n.nb
		echo + >d/+
		echo b >b" &&
	nowhere ^out: &&
	test "$(git diff --name-only HEAD agent/p)" = b &&
	test_shows "did not run on it: d/+, d/1.nb$" git agent show p &&
	git agent $inside start --name u -- sh -c "
		echo \"*.out filter=strip\" >d/.gitattributes
		printf \"in\nout: 4\n\" | tee d/1.nb >d/1.out
		echo b >b
		chmod 000 d/.gitattributes" &&
	nowhere ^out: &&
	test_shows "did not run on it: d/.gitattributes, d/1.out$" git agent show u &&
	test_holds agent/u:d/1.nb in
'

# The system's git, outside and inside, fails at what git inside is asked for converted content. The root
# is one's own: in a namespace of one user all that is root's would be nobody's, and state is not kept there.
cat >broken-git <<-'EOF'
#!/bin/sh
real=$(command -v /usr/lib/git-core/git || command -v /usr/libexec/git-core/git)
case "$GIT_DIR $* " in
/tmp/git-agent-clean.git*" @AT@ "*) exit 128 ;;
esac
exec "$real" "$@"
EOF
with_broken_git() {
	git=$(command -v git) tests=$(cd .. && pwd -P)
	at=$1 &&
	shift &&
	sed "s/@AT@/$at/" ../broken-git >../git-$at &&
	chmod +x ../git-$at &&
	set -- --bind "$tests/git-$at" "$git" --bind "$tests" "$tests" \
		--ro-bind "$TEST_BUILDDIR" "$TEST_BUILDDIR" --chdir "$PWD" -- "$@" || return 1
	for dir in /*; do
		case "$tests/ $TEST_BUILDDIR/ " in
		"$dir"/* | *" $dir"/*) ;;
		*) if test -L "$dir"; then
			set -- --symlink "$(readlink "$dir")" "$dir" "$@"
		else
			set -- --dev-bind "$dir" "$dir" "$@"
		fi ;;
		esac
	done
	bwrap --unshare-user --tmpfs / "$@"
}
test_lazy_prereq BROKEN_GIT '
	mkdir broken && cd broken &&
	with_broken_git ls-files sh -c "git version && ! GIT_DIR=/tmp/git-agent-clean.git git ls-files"
'

# read-tree comes before it says which filter each file is for, ls-files and pack-objects behind that
test_that BROKEN_GIT 'where git inside fails at any step, no file that a filter may be for is taken' '
	make_repo broken &&
	for at in "read-tree" "check-attr" "ls-files" "pack-objects"; do
		with_broken_git $at "$GIT_AGENT" $inside start -q --name b-$at -- sh -c "
		printf \"in\nout: 4\n\" >n.nb
		echo b >b" 2>../err &&
		git agent show b-$at >../show &&
		grep "content was captured unconverted (git $at inside failed" ../show &&
		nowhere ^out: &&
		test "$(git show refs/agent/b-$at/held:n.nb | tail -1)" = "out: 4" || return 1
		case $at in
		ls-files | pack-objects) grep "did not run on it: n.nb$" ../show &&
		test "$(git diff --name-only HEAD agent/b-$at)" = b ;;
		*) grep "did not run on it: b, n.nb$" ../show &&
		test_must_fail git rev-parse -q --verify agent/b-$at ;;
		esac || return 1
	done
'

test_that 'a filter that is not named is not shown inside, and none runs outside' '
	make_repo hidden &&
	git agent start --name n -- sh -c "
		git config --get-regexp ^filter
		true" >../out &&
	! grep crypt ../out &&
	git agent $inside start --name n2 -- sh -c "
		git config --get-regexp ^filter
		true" >../out &&
	grep "filter.crypt.clean test -e" ../out &&
	git config filter.strip.clean "echo \$\$ >>$HOME/ran; cat" &&
	git agent $inside start --name n3 -- sh -c "echo x >n.nb" &&
	test ! -e "$HOME/ran"
'

test_that 'filters in .agentdev.yaml need trust' '
	make_repo trust &&
	echo "filters: [strip]" >.agentdev.yaml &&
	test_commit conf &&
	test_must_fail git agent start --name t -- true </dev/null 2>../err &&
	grep -i trust ../err &&
	test_shows "run the filter strip of your git configuration inside" git agent trust --yes &&
	test_session t "printf \"in 2\nout: 2\n\" >n.nb" &&
	test_holds agent/t:n.nb "in 2"
'

test_that 'an odd name of a filter is refused' '
	cd trust &&
	test_says "names of filters" test_must_fail git agent -c "filters=a=b" start -- true
'

test_done
