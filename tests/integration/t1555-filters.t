#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='filters of the user'\''s other than LFS: what they are for never gets past them'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# `crypt` has a key that is not there inside; `strip` is a program like any other.
setup_filters() {
	echo key >"$HOME/.key" &&
	git config filter.crypt.clean "test -e ~/.key && tr a-z n-za-m" &&
	git config filter.crypt.smudge "test -e ~/.key && tr a-z n-za-m" &&
	git config filter.crypt.required true &&
	git config filter.strip.clean "sed /^out:/d" &&
	git config filter.strip.smudge cat
}
make_repo() {
	git init -q "$1" &&
	cd "$1" &&
	setup_filters &&
	mkdir d &&
	printf "%s\n" "[attr]locked filter=crypt -diff" "*.sec locked" "*.nb filter=strip" >.gitattributes &&
	echo "clear text" >x.sec &&
	cp x.sec d/y.sec &&
	echo a >a &&
	printf "in\nout: 1\n" >n.nb &&
	touch -d "1 hour ago" * d/* &&
	git add . &&
	git commit -qm base &&
	test "$(git cat-file blob HEAD:x.sec)" = "pyrne grkg" &&
	test "$(git cat-file blob HEAD:n.nb)" = in
}
# The trailer of the command must not have the words either: they are "cl$()ear" in there.

# no commit that a branch or tag has holds what the filter is to hide
nowhere() {
	! git rev-list --objects --branches --tags |
		cut -d" " -f1 |
		git cat-file --batch |
		grep -a "$1"
}
rules_of() {
	git agent review --format=json "$1" |
		python3 -c 'import json, sys
for f in json.load(sys.stdin)["flags"]:
    if f["id"] == sys.argv[1]: print(f["severity"], f["path"], "held" if f["held"] else "open")' "$2"
}

test_expect_success 'touched, copied over, renamed there and back: what the commit has, whatever shows' '
	make_repo same &&
	git agent start --name s -- sh -c "
		grep -q clear x.sec &&
		touch x.sec &&
		cp d/y.sec t &&
		mv t d/y.sec &&
		echo b >a" &&
	test "$(git diff --name-only HEAD agent/s)" = a &&
	test -z "$(rules_of s filter-not-run)" &&
	nowhere "clear text" &&
	git agent start --name s2 -- sh -c "touch x.sec d/y.sec" &&
	test_must_fail git rev-parse -q --verify agent/s2 &&
	echo "mine text" >x.sec &&
	git agent start --name s3 -- sh -c "
		grep -q mine x.sec &&
		touch x.sec &&
		echo c >a" &&
	test "$(git diff --name-only HEAD agent/s3)" = a &&
	nowhere "mine text"
'

test_expect_success 'edited, new, its mode changed: critical, and kept off the branch' '
	make_repo edit &&
	git agent start --name e -- sh -c "
		echo new cl\$()ear >x.sec
		echo more cl\$()ear >d/new.sec
		chmod +x d/y.sec
		echo b >a" 2>../err &&
	test "$(git diff --name-only HEAD agent/e | tr "\n" " ")" = "a d/y.sec " &&
	test "$(git rev-parse agent/e:d/y.sec)" = "$(git rev-parse HEAD:d/y.sec)" &&
	rules_of e filter-not-run >../got &&
	printf "critical %s held\n" d/new.sec x.sec >../want &&
	test_cmp ../want ../got &&
	nowhere clear &&
	test "$(git show refs/agent/e/held:x.sec)" = "new clear" &&
	git agent show e |
		grep "note: held back, since no filter of yours ran on what was taken: d/new.sec, x.sec" &&
	git agent review e | grep "filter.*did not"
'

test_expect_success 'committed by the agent: held back in each of its commits' '
	make_repo hist &&
	git agent start --name h -- sh -c "
		touch x.sec &&
		git commit -qam touched &&
		echo new cl\$()ear >d/y.sec &&
		git commit -qam edited &&
		echo b >a &&
		git commit -qam other" &&
	nowhere clear &&
	test "$(git rev-list --count HEAD..agent/h)" -ge 1 &&
	test "$(git show agent/h:a)" = b &&
	git diff --quiet HEAD agent/h -- x.sec d &&
	rules_of h filter-not-run | grep "critical d/y.sec held" &&
	git cat-file -e refs/agent/h/held:d/y.sec
'

test_expect_success 'an agent that takes the attribute away, or says it elsewhere' '
	make_repo away &&
	git agent start --name w -- sh -c "
		echo >.gitattributes
		echo new cl\$()ear >x.sec" &&
	nowhere clear &&
	rules_of w filter-not-run | grep "critical x.sec held" &&
	git agent start --name w2 -- sh -c "
		echo \"* -filter\" >d/.gitattributes
		echo new cl\$()ear >d/y.sec" &&
	nowhere clear &&
	rules_of w2 filter-not-run | grep "critical d/y.sec held" &&
	git agent start --name w3 -- sh -c "
		echo \"a filter=crypt\" >.gitattributes
		echo cl\$()ear >a" &&
	nowhere clear &&
	rules_of w3 filter-not-run | grep "critical a held" &&
	git agent start --name w4 -- sh -c "
		mkdir e &&
		echo \"*.q filter=crypt\" >e/.gitattributes
		echo cl\$()ear >e/1.q
		git add . &&
		git commit -qm e" &&
	nowhere clear &&
	rules_of w4 filter-not-run | grep "critical e/1.q held"
'

test_expect_success 'taken out of force on the way, edited, and all of it put back' '
	make_repo way &&
	git agent start --name y -- sh -c "
		echo \"y.sec -filter\" >d/.gitattributes &&
		git add . &&
		git commit -qm off &&
		echo new cl\$()ear >d/y.sec &&
		git commit -qam edit &&
		git checkout -q HEAD~1 d/y.sec &&
		git commit -qam back &&
		git rm -q d/.gitattributes &&
		git commit -qm on &&
		echo b >a" &&
	test "$(git diff --name-only HEAD agent/y)" = a &&
	git log --format=%s refs/agent/y/orig | grep -x edit &&
	nowhere "new clear" &&
	rules_of y filter-not-run | grep "critical d/y.sec"
'

test_expect_success 'what git inside takes for changed and nobody did asks for nothing' '
	make_repo asks &&
	rm x.sec &&
	git checkout -q x.sec &&
	git agent start --name a -- sh -c "
		touch d/y.sec &&
		git commit -qam touched &&
		echo b >a &&
		git commit -qam other" &&
	test "$(git show refs/agent/a/orig^:d/y.sec)" = "clear text" &&
	nowhere "clear text" &&
	test -z "$(rules_of a filter-not-run)" &&
	git agent land a &&
	test "$(git show HEAD:a)" = b &&
	test -z "$(git status --porcelain)"
'

test_expect_success 'staged, with attributes that are in no commit' '
	make_repo staged &&
	git rm -qr --cached .gitattributes x.sec d &&
	rm -r x.sec d &&
	git commit -qm none &&
	git add .gitattributes &&
	echo "new clear" >new.sec &&
	git add new.sec &&
	git agent start --name s -- sh -c "
		touch new.sec
		echo b >a" &&
	test "$(git diff --name-only HEAD agent/s)" = a &&
	git agent start --name s2 -- sh -c "
		echo more cl\$()ear >new.sec
		git rm -qf --cached .gitattributes
		rm .gitattributes
		git commit -qam new
		echo b >a" &&
	nowhere "clear$"
'

test_expect_success 'touched and made executable, and committed: the mode arrives, and only that' '
	make_repo mode &&
	git agent start --name m -- sh -c "
		touch d/y.sec &&
		chmod +x x.sec &&
		git commit -qam mode &&
		echo b >a" &&
	nowhere "clear text" &&
	test -z "$(rules_of m filter-not-run)" &&
	test "$(rules_of m exec-bit-added)" = "high x.sec open" &&
	test "$(git diff --raw HEAD agent/m | cut -d" " -f1,2,5- | tr "\t\n" "  ")" = ":100644 100644 M a :100644 100755 M x.sec "
'

test_expect_success 'macros of macros, however many' '
	make_repo macros &&
	printf "%s\n" "*.q c" "[attr]c b" "[attr]b e" "[attr]e locked" >.gitattributes &&
	echo "[attr]locked filter=crypt" >.git/info/attributes &&
	git commit -qam macros &&
	echo q | tee 1.q >1.r &&
	git check-attr filter 1.q | grep crypt &&
	git agent rules explain 1.q | grep filter-not-run &&
	test_must_fail sh -c "git agent rules explain 1.r | grep filter-not-run" &&
	git agent start --name m -- python3 -c "
f = open(\".gitattributes\", \"w\")
for i in range(9000): f.write(\"[attr]a%06d a%06d\n\" % (i, i + 1))
for i in range(400): f.write(\"a\" + \" none\" * 400 + \"\n\")
f.write(\"[attr]a009000 -filter\n\"); f.close()
open(\"x.sec\", \"w\").write(\"new cl\" + \"ear\")" &&
	nowhere "new clear" &&
	rules_of m filter-not-run | grep "critical x.sec held"
'

test_expect_success 'attributes of the user'\''s own files, the repository'\''s the last to say' '
	make_repo own &&
	git rm -q --cached .gitattributes &&
	rm .gitattributes &&
	git commit -qm none &&
	mkdir -p "$HOME/.config/git" &&
	test_when_finished "rm \"$HOME/.config/git/attributes\"" &&
	echo "*.sec filter=crypt" >"$HOME/.config/git/attributes" &&
	git agent start --name u -- sh -c "
		touch x.sec
		echo new cl\$()ear >d/y.sec" &&
	nowhere "new clear" &&
	test_prints "critical d/y.sec held" rules_of u filter-not-run &&
	echo "d/* -filter" >.git/info/attributes &&
	git agent start --name u2 -- sh -c "echo new cl\$()ear >d/y.sec" &&
	test -z "$(rules_of u2 filter-not-run)" &&
	test "$(git show agent/u2:d/y.sec)" = "new clear"
'

test_expect_success 'accepted it is taken as it is; taken over by hand it goes through the filter' '
	make_repo accept &&
	git agent start --name c -- sh -c "echo new cl\$()ear >x.sec" &&
	test_expect_code 3 git agent land c 2>../err &&
	git cat-file blob refs/agent/c/held:x.sec >x.sec &&
	git add x.sec &&
	test "$(git show :x.sec)" = "arj pyrne" &&
	git reset -q --hard &&
	git agent review --accept-all --critical c &&
	git agent land c &&
	test "$(git show HEAD:x.sec)" = "new clear"
'

test_expect_success 'resumed over what the user committed on the branch: nothing of it is held' '
	make_repo again &&
	git agent start --name g -- sh -c "echo b >a" &&
	git switch -q agent/g &&
	echo "users clear" >new.sec &&
	git add . &&
	git commit -qm users &&
	git switch -q - &&
	git agent resume g -- sh -c "echo c >>a" &&
	test "$(git show agent/g:new.sec)" = "hfref pyrne" &&
	test "$(git show agent/g:a | tail -1)" = c &&
	test -z "$(rules_of g filter-not-run)" &&
	! git agent show g | grep "held back" &&
	nowhere "users clear" &&
	git switch -q agent/g &&
	echo "other clear" >x.sec &&
	git commit -qam other &&
	git switch -q - &&
	test_must_fail git agent resume g -- true 2>../err &&
	grep "cannot be brought into the session: x.sec" ../err
'

test_expect_success 'land --with-ignored asks too' '
	make_repo ign &&
	echo "*.log.sec" >.gitignore &&
	git add . &&
	git commit -qm ignore &&
	git agent start --name i -- sh -c "
		echo cl\$()ear >1.log.sec
		echo b >a" &&
	test_expect_code 3 git agent land --with-ignored 1.log.sec i 2>../err &&
	grep "1.log.sec" ../err &&
	nowhere clear
'

# ---- which files they are for

cat >attributes.py <<'EOP'
import json, os, random, subprocess, sys
seed = int(sys.argv[1]); rounds = int(sys.argv[2]); random.seed(seed); print("seed", seed)
paths = ["a.x", "b.y", "ab", "d/a.x", "d/b", "d/e/a.x", "d/e/c.y", "A.X", "x/d/a.x", "d e/a.x"]
patterns = ["*", "*.x", "*.y", "a.x", "/a.x", "d/*.x", "d/", "d", "d/**", "**/a.x", "x/**/a.x", "a?x", "[ab].[xy]", "[!a]*", "!a.x", "\\!a", "e/*", "*/a.x", "ab", "d/e/", "**", "#a", "*b", "a.*", '"a.x"', '"d e/a.x"', "c.y"]
words = ["filter=foo", "filter=foo", "-filter", "!filter", "filter", "filter=other", "mac", "-mac", "!mac", "nomac", "text", "-diff", "mac=1", "binary"]
def line(): return "".join(random.choice(["", "", " "])) + random.choice(patterns) + "".join(random.choice([" ", "\t", "  "]) + random.choice(words) for i in range(random.randrange(4)))
def text(): return random.choice(["", "", "\ufeff", "# x\n"]) + "".join(line() + random.choice(["\n", "\n", "\r\n"]) for i in range(random.randrange(1, 5)))
def put(p, t):
    if t is None:
        if os.path.lexists(p): os.unlink(p)
    else: open(p, "w", newline="").write(t)
found = 0
for d in ("d/e", "x/d", "d e"): os.makedirs(d, exist_ok=True)
for p in paths: open(p, "w").write(p)
for n in range(rounds):
    macros = random.choice([[], [], ["[attr]mac filter=foo\n"], ["[attr]mac filter=foo text\n", "[attr]nomac -filter\n"]])
    where = [".gitattributes", "d/.gitattributes", "d/e/.gitattributes", ".git/info/attributes", os.environ["HOME"] + "/.config/git/attributes"]
    files = {p: text() if random.random() < .5 else None for p in where}
    for m in macros:
        p = random.choice([where[0], where[3], where[4]]); files[p] = m + (files[p] or "").lstrip("\ufeff") if random.random() < .5 else (files[p] or "") + m
    asked = paths + [p for p in where[:3] if files[p] is not None]
    want = set()
    # the attributes of the tree before, which has none, and of the one after
    for tree in (False, True):
        for i, p in enumerate(where): put(p, files[p] if tree or i > 2 else None)
        out = subprocess.run(["git", "check-attr", "-z", "filter", "--"] + asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode().split("\0")
        want |= {out[i] for i in range(0, len(out) - 2, 3) if out[i + 2] == "foo"}
    got = {e["path"] for e in json.loads(subprocess.run(["git", "agent", "rules", "--json", "explain"] + asked, stdout=subprocess.PIPE).stdout) for f in e["flags"] if f["id"] == "filter-not-run"}
    found += len(want)
    # a pattern in quotes counts as one of everything, and a macro that is taken back counts
    loose = any(t and w in t for t in files.values() for w in ('"', "-mac", "!mac", "mac="))
    if not (want <= got if loose else want == got):
        sys.exit("round %d: git says %s, we say %s of %s" % (n, sorted(want), sorted(got), files))
assert found > rounds, found
EOP

test_expect_success 'the files that git says, whatever attributes say so (randomised)' '
	git init -q random &&
	cd random &&
	git commit -q --allow-empty -m base &&
	git config filter.foo.clean cat &&
	mkdir -p "$HOME/.config/git" &&
	test_when_finished "rm -f \"$HOME/.config/git/attributes\"" &&
	python3 ../attributes.py ${GA_TEST_SEED:-$$} 60
'

# ---- filters that run inside

inside="-c filters=strip -c filters=crypt"

test_expect_success 'a filter that is named runs: at the capture, and on what the agent commits' '
	make_repo named &&
	git agent $inside start --name n -- sh -c "
		printf \"in 2\nout: 2\n\" >n.nb
		git commit -qam nb
		printf \"in\nout: 3\n\" >new.nb" &&
	printf "in 2\n" >../want &&
	git cat-file blob agent/n:n.nb >../got &&
	test_cmp ../want ../got &&
	test "$(git show agent/n:new.nb)" = in &&
	test "$(git log --format=%s HEAD..agent/n | tail -1)" = nb &&
	test -z "$(rules_of n filter-not-run)" &&
	nowhere ^out: &&
	git agent $inside land n &&
	git diff --quiet HEAD
'

test_expect_success 'one that fails inside: held back, and what was only touched is left alone' '
	make_repo fails &&
	git agent $inside start --name f -- sh -c "
		touch x.sec
		echo new cl\$()ear >d/y.sec
		printf \"in 2\nout: 2\n\" >n.nb" &&
	nowhere clear &&
	test "$(git diff --name-only HEAD agent/f)" = n.nb &&
	test "$(git show agent/f:n.nb)" = "in 2" &&
	git agent show f | grep "held back, since no filter of yours ran on what was taken: d/y.sec" &&
	test "$(git show refs/agent/f/held:d/y.sec)" = "new clear"
'

test_expect_success 'one that fails for the agent too, which commits what it only touched' '
	make_repo fails2 &&
	git config --unset filter.crypt.required &&
	git agent $inside start --name f -- sh -c "
		touch x.sec
		git commit -qam touched
		echo b >a
		git commit -qam other" &&
	test "$(git show refs/agent/f/orig^:x.sec)" = "clear text" &&
	nowhere "clear text" &&
	test "$(git diff --name-only HEAD agent/f)" = a
'

test_expect_success 'one that never ends: nothing is converted, and what it is for held back' '
	make_repo hangs &&
	git config filter.strip.clean "exec sleep 100000" &&
	git agent $inside -c limits.capture.git_time=10s start --name h -- sh -c "
		echo out: 2 >n.nb
		echo b >a" &&
	git agent show h | grep "held back, since no filter of yours ran on what was taken: n.nb" &&
	test "$(git diff --name-only HEAD agent/h)" = a &&
	test "$(git show refs/agent/h/held:n.nb)" = "out: 2"
'

# git follows macros of macros until there is no stack left
test_expect_success 'git inside that cannot say which files they are for: none is taken' '
	make_repo silent &&
	git agent $inside start --name q -- python3 -c "
f = open(\".gitattributes\", \"a\"); f.write(\"* m0\n\")
for i in range(300000): f.write(\"[attr]m%d m%d\n\" % (i, i + 1))
f.close(); open(\"n.nb\", \"w\").write(\"in\\nout: 4\\n\"); open(\"b\", \"w\").write(\"b\")" &&
	nowhere ^out: &&
	test_must_fail git rev-parse -q --verify agent/q &&
	git agent show q | grep "content was not converted" &&
	git agent show q |
		grep "held back, since no filter of yours ran on what was taken: .*b, n.nb" &&
	test "$(git show refs/agent/q/held:n.nb | tail -1)" = "out: 4"
'

test_expect_success 'what git inside cannot open is held back if a filter is for it, one that runs inside, too' '
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
	cat ../show &&
	grep "on what was taken: e/n.nb, n.nb$" ../show &&
	test "$(git show refs/agent/c/held:e/n.nb | tail -1)" = "out: 4" &&
	for p in a e/a e/n.nb n.nb; do
		grep "note: $p: git could not convert it" ../show || return 1
	done &&
	! grep "note: b:" ../show &&
	git agent $inside start --name only -- sh -c "
		printf \"in\nout: 5\n\" >n.nb
		chmod 000 n.nb" &&
	nowhere ^out: &&
	git agent show only | grep "on what was taken: n.nb$"
'

test_expect_success 'attributes that git inside cannot read: a filter may be for what lies below' '
	make_repo barred &&
	git agent $inside start --name p -- sh -c "
		mkfifo d/.gitattributes
		printf \"in\nout: 4\n\" | tee d/1.nb >n.nb
		echo + >d/+
		echo b >b" &&
	nowhere ^out: &&
	test "$(git diff --name-only HEAD agent/p)" = b &&
	git agent show p >../show &&
	cat ../show &&
	grep "on what was taken: d/+, d/1.nb$" ../show &&
	git agent $inside start --name u -- sh -c "
		echo \"*.out filter=strip\" >d/.gitattributes
		printf \"in\nout: 4\n\" | tee d/1.nb >d/1.out
		echo b >b
		chmod 000 d/.gitattributes" &&
	nowhere ^out: &&
	git agent show u >../show &&
	cat ../show &&
	grep "on what was taken: d/.gitattributes, d/1.out$" ../show &&
	test "$(git show agent/u:d/1.nb)" = in &&
	git agent $inside start --name all -- sh -c "
		rm .gitattributes
		mkfifo .gitattributes
		printf \"in\nout: 4\n\" >n.nb" &&
	nowhere ^out: &&
	git agent show all | grep "on what was taken: n.nb$"
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
	mkdir broken && cd broken && with_broken_git ls-files sh -c "git version && ! GIT_DIR=/tmp/git-agent-clean.git git ls-files"
'

# read-tree comes before it says which filter each file is for, ls-files and pack-objects behind that
test_expect_success BROKEN_GIT 'git inside that fails at any step: no file that a filter may be for is taken' '
	make_repo broken &&
	for at in "read-tree" "check-attr" "ls-files" "pack-objects"; do
		with_broken_git $at "$GIT_AGENT" $inside start -q --name b-$at -- sh -c "
		printf \"in\nout: 4\n\" >n.nb
		echo b >b" 2>../err &&
		git agent show b-$at >../show &&
		grep "content was not converted (git $at inside failed" ../show &&
		nowhere ^out: &&
		test "$(git show refs/agent/b-$at/held:n.nb | tail -1)" = "out: 4" || return 1
		case $at in
		ls-files | pack-objects) grep "on what was taken: n.nb$" ../show &&
		test "$(git diff --name-only HEAD agent/b-$at)" = b ;;
		*) grep "on what was taken: b, n.nb$" ../show &&
		test_must_fail git rev-parse -q --verify agent/b-$at ;;
		esac || return 1
	done
'

test_expect_success 'without being named a filter'\''s command is not shown inside, and none runs outside' '
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

test_expect_success 'in .agentdev.yaml it takes trust; odd names are refused' '
	make_repo trust &&
	echo "filters: [strip]" >.agentdev.yaml &&
	git add . &&
	git commit -qm conf &&
	test_must_fail git agent start --name t -- true </dev/null 2>../err &&
	grep -i trust ../err &&
	git agent trust --yes >../out &&
	grep "run the filter strip of your git configuration inside" ../out &&
	git agent start --name t -- sh -c "printf \"in 2\nout: 2\n\" >n.nb" &&
	test "$(git show agent/t:n.nb)" = "in 2" &&
	test_must_fail git agent -c "filters=a=b" start -- true 2>../err &&
	grep "names of filters" ../err
'

# ---- git-crypt itself

test_lazy_prereq GIT_CRYPT 'command -v git-crypt'

test_expect_success GIT_CRYPT 'git-crypt: unlocked, taken over by hand, and locked' '
	git init -q gc &&
	cd gc &&
	git-crypt init &&
	echo "*.sec filter=git-crypt diff=git-crypt" >.gitattributes &&
	echo "very clear" >x.sec &&
	echo "also clear" >y.sec &&
	echo a >a &&
	git add . &&
	git commit -qm base &&
	nowhere clear &&
	git agent start --name u -- sh -c "
		grep very x.sec &&
		test ! -e .git/git-crypt &&
		touch y.sec &&
		echo b >a &&
		git commit -qam b" &&
	test -z "$(rules_of u filter-not-run)" &&
	git agent land u &&
	nowhere "clear$" &&
	git agent start --name v -- sh -c "
		echo new cl\$()ear >x.sec
		echo more cl\$()ear >n.sec
		echo c >a
		git add .
		git commit -qm all" &&
	nowhere "clear$" &&
	rules_of v filter-not-run >../got &&
	printf "critical %s held\n" n.sec x.sec >../want &&
	test_cmp ../want ../got &&
	git cat-file blob refs/agent/v/held:x.sec >x.sec &&
	git commit -qam mine &&
	git agent review --reject v x.sec n.sec &&
	git agent land v &&
	test "$(cat x.sec a)" = "$(printf "new clear\nc")" &&
	nowhere "clear$" &&
	test -z "$(git status --porcelain)" &&
	git-crypt lock &&
	git agent start --name l -- sh -c "
		touch x.sec
		echo d >a
		git commit -qam d" &&
	git agent land l &&
	test "$(cat a)" = d &&
	test -z "$(git status --porcelain)"
'

# ---- what git cannot convert at all

test_expect_success 'a tracked file that cannot be converted: its bytes, not those of the base' '
	git init -q enc &&
	cd enc &&
	echo "*.u16 working-tree-encoding=UTF-16LE" >.gitattributes &&
	printf "h\\000i\\000" >t.u16 &&
	git add . &&
	git commit -qm base &&
	git agent start --name e -- sh -c "
		printf \"\000\330x\" >t.u16
		printf \"o\000k\000\" >ok.u16" &&
	printf "\\000\\330x" >../want &&
	git cat-file blob agent/e:t.u16 >../got &&
	cmp ../want ../got &&
	test "$(git cat-file blob agent/e:ok.u16)" = ok &&
	git agent show e | grep "t.u16: git could not convert it"
'

test_expect_success 'a base that is an agent'\''s work runs none, in the trash as well' '
	make_repo based &&
	echo "*.r filter=ran" >>.git/info/attributes &&
	git config filter.ran.smudge "touch $TRASH/ran; cat" &&
	git agent start -q --name b -- sh -c "echo 1 >1.r" &&
	git show agent/b:1.r &&
	git agent start -q --name on --base agent/b -- true &&
	test ! -e "$TRASH/ran" &&
	git agent drop --force on b &&
	tip=$(git rev-parse "$(git for-each-ref --format="%(refname)" "refs/agent-trash/b-*/tip")") &&
	git agent start -q --base "$tip" -- true &&
	test ! -e "$TRASH/ran" &&
	git branch taken "$tip" &&
	git switch -q taken &&
	rm "$TRASH/ran" &&
	git commit -q --allow-empty -m mine &&
	git agent start -q -- true &&
	test -e "$TRASH/ran"
'

# Attributes that are in no tree: the system's, and a file of the user's that is ignored.
test_expect_success 'attributes in an ignored file of the user'\''s' '
	make_repo users &&
	mkdir sub &&
	echo sub/.gitattributes >.gitignore &&
	echo "*.key filter=crypt" >sub/.gitattributes &&
	git add . &&
	git commit -qm sub &&
	git agent start --name o -- sh -c "
		echo cl\$()ear >sub/y.key
		echo b >a" &&
	nowhere clear &&
	test_prints "critical sub/y.key held" rules_of o filter-not-run &&
	test "$(git show agent/o:a)" = b &&
	git agent start --name o2 -- sh -c "
		rm sub/.gitattributes
		echo cl\$()ear >sub/y.key
		git add . &&
		git commit -qm key &&
		git rm -q sub/y.key &&
		git commit -qm gone
		echo b >a" &&
	nowhere clear &&
	git agent start --live --name o3 -- sh -c "
		echo cl\$()ear >sub/y.key
		echo b >a" &&
	nowhere clear &&
	rules_of o3 filter-not-run | grep "critical sub/y.key held" &&
	echo "*.key filter=strip" >sub/.gitattributes &&
	git agent -c filters=strip start --name o4 -- sh -c "printf \"in\\nout: 1\\n\" >sub/y.key" &&
	test "$(git show agent/o4:sub/y.key)" = in &&
	test -z "$(rules_of o4 filter-not-run)"
'

test_lazy_prereq OWN_ETC 'test "$(id -u)" = 0 && mkdir "$TRASH/etc" && cp -a /etc/. "$TRASH/etc" && unshare -m mount --bind "$TRASH/etc" /etc'
in_etc() {
	unshare -m sh -c "mount --bind \"$TRASH/etc\" /etc && $1"
}
test_expect_success OWN_ETC 'attributes of the system' '
	make_repo sys &&
	printf "%s\n" "*.key filter=strip" "*.pem filter=crypt" >"$TRASH/etc/gitattributes" &&
	do="printf \"in\\nout: 1\\n\" >b.key; echo cl\$()ear >c.pem; echo b >a" &&
	export do &&
	in_etc "git agent -c filters=strip start --name y -- sh -c \"\$do\" && git agent review --format=json y >../review" &&
	test "$(git show agent/y:b.key)" = in &&
	nowhere clear &&
	git cat-file -e refs/agent/y/held:c.pem &&
	grep filter-not-run ../review &&
	in_etc "GIT_ATTR_NOSYSTEM=1 git agent -c filters=strip start --name n -- sh -c \"\$do\"" &&
	git show agent/n:b.key | grep out &&
	test "$(git show agent/n:c.pem)" = clear
'

test_done
