#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='filters of the user other than LFS: the files that they are for never get past them'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use filters
require_sandbox

test_that 'files that are only touched or renamed there and back are as the commit has them' '
	make_repo same &&
	test_session s "
		grep -q clear x.sec &&
		touch x.sec &&
		cp d/y.sec t &&
		mv t d/y.sec &&
		echo b >a" &&
	test "$(git diff --name-only HEAD agent/s)" = a &&
	test -z "$(rules_of s filter-not-run)" &&
	nowhere "clear text" &&
	test_session s2 "touch x.sec d/y.sec" &&
	test_missing agent/s2 &&
	echo "mine text" >x.sec &&
	test_session s3 "
		grep -q mine x.sec &&
		touch x.sec &&
		echo c >a" &&
	test "$(git diff --name-only HEAD agent/s3)" = a &&
	nowhere "mine text"
'

test_that 'edited and new files are critical, and kept off the branch' '
	make_repo edit &&
	git agent start --name e -- sh -c "
		echo new cl\$()ear >x.sec
		echo more cl\$()ear >d/new.sec
		chmod +x d/y.sec
		echo b >a" 2>../err &&
	test "$(git diff --name-only HEAD agent/e | tr "\n" " ")" = "a d/y.sec " &&
	test_same agent/e:d/y.sec HEAD:d/y.sec &&
	rules_of e filter-not-run >../got &&
	printf "critical %s held\n" d/new.sec x.sec >../want &&
	test_cmp ../want ../got &&
	nowhere clear &&
	test_holds refs/agent/e/held:x.sec "new clear" &&
	git agent show e |
		grep "note: held, since your filter did not run on it: d/new.sec, x.sec" &&
	git agent review e | grep "filter.*did not"
'

test_that 'files that the agent commits are held in each of its commits' '
	make_repo hist &&
	test_session h "
		touch x.sec &&
		git commit -qam touched &&
		echo new cl\$()ear >d/y.sec &&
		git commit -qam edited &&
		echo b >a &&
		git commit -qam other" &&
	nowhere clear &&
	test "$(git rev-list --count HEAD..agent/h)" -ge 1 &&
	test_holds agent/h:a b &&
	git diff --quiet HEAD agent/h -- x.sec d &&
	rules_of h filter-not-run | grep "critical d/y.sec held" &&
	git cat-file -e refs/agent/h/held:d/y.sec
'

test_that 'an agent that takes the attribute away, or sets it elsewhere, gets nothing past the filter' '
	make_repo away &&
	test_session w "
		echo >.gitattributes
		echo new cl\$()ear >x.sec" &&
	nowhere clear &&
	rules_of w filter-not-run | grep "critical x.sec held" &&
	test_session w2 "
		echo \"* -filter\" >d/.gitattributes
		echo new cl\$()ear >d/y.sec" &&
	nowhere clear &&
	rules_of w2 filter-not-run | grep "critical d/y.sec held" &&
	test_session w3 "
		echo \"a filter=crypt\" >.gitattributes
		echo cl\$()ear >a" &&
	nowhere clear &&
	rules_of w3 filter-not-run | grep "critical a held" &&
	test_session w4 "
		mkdir e &&
		echo \"*.q filter=crypt\" >e/.gitattributes
		echo cl\$()ear >e/1.q
		git add . &&
		git commit -qm e" &&
	nowhere clear &&
	rules_of w4 filter-not-run | grep "critical e/1.q held"
'

test_that 'a file edited while its attribute was off is flagged, even if all is put back' '
	make_repo way &&
	test_session y "
		echo \"y.sec -filter\" >d/.gitattributes &&
		git add -A &&
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

test_that 'attributes that are only staged count' '
	make_repo staged &&
	git rm -qr --cached .gitattributes x.sec d &&
	rm -r x.sec d &&
	git commit -qm none &&
	git add .gitattributes &&
	echo "new clear" >new.sec &&
	git add new.sec &&
	test_session s "
		touch new.sec
		echo b >a" &&
	test "$(git diff --name-only HEAD agent/s)" = a &&
	test_session s2 "
		echo more cl\$()ear >new.sec
		git rm -qf --cached .gitattributes
		rm .gitattributes
		git commit -qam new
		echo b >a" &&
	nowhere "clear$"
'

test_that 'of a touched file that is made executable and committed, only the mode arrives' '
	make_repo mode &&
	test_session m "
		touch d/y.sec &&
		chmod +x x.sec &&
		git commit -qam mode &&
		echo b >a" &&
	nowhere "clear text" &&
	test -z "$(rules_of m filter-not-run)" &&
	test "$(rules_of m exec-bit-added)" = "high x.sec open" &&
	test_prints "M\ta\nM\tx.sec" git diff --name-status HEAD agent/m &&
	git diff --summary HEAD agent/m | grep "mode change 100644 => 100755 x.sec"
'

test_that 'macros of macros are followed, however many' '
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

test_that 'attributes of the user'\''s own files count, and those of the repository win' '
	make_repo own &&
	git rm -q --cached .gitattributes &&
	rm .gitattributes &&
	git commit -qm none &&
	mkdir -p "$HOME/.config/git" &&
	test_when_finished "rm \"$HOME/.config/git/attributes\"" &&
	echo "*.sec filter=crypt" >"$HOME/.config/git/attributes" &&
	test_session u "
		touch x.sec
		echo new cl\$()ear >d/y.sec" &&
	nowhere "new clear" &&
	test_prints "critical d/y.sec held" rules_of u filter-not-run &&
	echo "d/* -filter" >.git/info/attributes &&
	test_session u2 "echo new cl\$()ear >d/y.sec" &&
	test -z "$(rules_of u2 filter-not-run)" &&
	test_holds agent/u2:d/y.sec "new clear"
'

test_that 'an accepted file is taken as it is, and one that is added by hand goes through the filter' '
	make_repo accept &&
	test_session c "echo new cl\$()ear >x.sec" &&
	test_expect_code 3 git agent land c 2>../err &&
	git cat-file blob refs/agent/c/held:x.sec >x.sec &&
	git add x.sec &&
	test "$(git show :x.sec)" = "arj pyrne" &&
	git reset -q --hard &&
	git agent review --accept-all --critical c &&
	git agent land c &&
	test_holds HEAD:x.sec "new clear"
'

test_that 'what the user committed on the branch is not held by a resume' '
	make_repo again &&
	test_session g "echo b >a" &&
	git switch -q agent/g &&
	echo "users clear" >new.sec &&
	test_commit users &&
	git switch -q - &&
	git agent resume g -- sh -c "echo c >>a" &&
	test_holds agent/g:new.sec "hfref pyrne" &&
	test "$(git show agent/g:a | tail -1)" = c &&
	test -z "$(rules_of g filter-not-run)" &&
	! git agent show g | grep "held" &&
	nowhere "users clear" &&
	git switch -q agent/g &&
	echo "other clear" >x.sec &&
	git commit -qam other &&
	git switch -q - &&
	test_says "cannot be applied to the session: x.sec" test_must_fail git agent resume g -- true
'

# ---- which files they are for

cat >attributes.py <<'EOP'
import json, os, random, subprocess, sys
first = int(sys.argv[1]); rounds = int(sys.argv[2])
paths = ["a.x", "b.y", "ab", "d/a.x", "d/b", "d/e/a.x", "d/e/c.y", "A.X", "x/d/a.x", "d e/a.x"]
patterns = ["*", "*.x", "*.y", "a.x", "/a.x", "d/*.x", "d/", "d", "d/**", "**/a.x", "x/**/a.x", "a?x", "[ab].[xy]",
            "[!a]*", "!a.x", "\\!a", "e/*", "*/a.x", "ab", "d/e/", "**", "#a", "*b", "a.*", '"a.x"', '"d e/a.x"', "c.y"]
words = ["filter=foo", "filter=foo", "-filter", "!filter", "filter", "filter=other", "mac", "-mac", "!mac", "nomac",
         "text", "-diff", "mac=1", "binary"]
choice = random.choice
def line():
    return choice(["", "", " "]) + choice(patterns) + "".join(
        choice([" ", "\t", "  "]) + choice(words) for i in range(random.randrange(4)))
def text():
    lines = [line() + choice(["\n", "\n", "\r\n"]) for i in range(random.randrange(1, 5))]
    return choice(["", "", "\ufeff", "# x\n"]) + "".join(lines)
def put(p, t):
    if t is not None: open(p, "w", newline="").write(t)
    elif os.path.lexists(p): os.unlink(p)
def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
for d in ("d/e", "x/d", "d e"): os.makedirs(d, exist_ok=True)
for p in paths: open(p, "w").write(p)
where = [".gitattributes", "d/.gitattributes", "d/e/.gitattributes", ".git/info/attributes",
         os.environ["HOME"] + "/.config/git/attributes"]
mac = "[attr]mac filter=foo"
for seed in (0, *range(first, first + rounds)):
    random.seed(seed)
    files = {p: text() if random.random() < .5 else None for p in where}
    # the first is always the same, and has a file for sure
    if seed == 0: files[where[2]] = "*.x filter=foo\n"
    for m in choice([[], [], [mac + "\n"], [mac + " text\n", "[attr]nomac -filter\n"]]):
        p = choice([where[0], where[3], where[4]])
        files[p] = m + (files[p] or "").lstrip("\ufeff") if random.random() < .5 else (files[p] or "") + m
    asked = paths + [p for p in where[:3] if files[p] is not None]
    want = set()
    # the attributes of the tree before, which has none, and of the one after
    for tree in (False, True):
        for i, p in enumerate(where): put(p, files[p] if tree or i > 2 else None)
        out = output("git", "check-attr", "-z", "filter", "--", *asked).split("\0")
        want |= {out[i] for i in range(0, len(out) - 2, 3) if out[i + 2] == "foo"}
    got = {e["path"] for e in json.loads(output("git", "agent", "rules", "--json", "explain", *asked))
           for f in e["flags"] if f["id"] == "filter-not-run"}
    if seed == 0 and not want: sys.exit("git names nothing")
    # a pattern in quotes counts as one of everything, and a macro that is unset counts
    loose = any(t and w in t for t in files.values() for w in ('"', "-mac", "!mac", "mac="))
    if not (want <= got if loose else want == got):
        sys.exit("SEED=%d: git says %s, we say %s of %s" % (seed, sorted(want), sorted(got), files))
EOP

test_that 'the files of a filter are those that git check-attr names (randomised)' '
	test_enter random &&
	test_empty base &&
	git config filter.foo.clean cat &&
	mkdir -p "$HOME/.config/git" &&
	test_when_finished "rm -f \"$HOME/.config/git/attributes\"" &&
	test_random 30 &&
	python3 ../attributes.py $first $count
'

# ---- what git cannot convert at all

test_that 'a file whose encoding git cannot convert is taken as its bytes' '
	test_enter enc &&
	echo "*.u16 working-tree-encoding=UTF-16LE" >.gitattributes &&
	printf "h\\000i\\000" >t.u16 &&
	test_commit base &&
	test_session e "
		printf \"\000\330x\" >t.u16
		printf \"o\000k\000\" >ok.u16" &&
	printf "\\000\\330x" >../want &&
	git cat-file blob agent/e:t.u16 >../got &&
	cmp ../want ../got &&
	test_holds agent/e:ok.u16 ok &&
	git agent show e | grep "t.u16: git could not convert it"
'

test_that 'a base that an agent made runs no filter, from the trash neither' '
	make_repo based &&
	echo "*.r filter=ran" >>.git/info/attributes &&
	git config filter.ran.smudge "touch $TRASH/ran; cat" &&
	test_session b "echo 1 >1.r" &&
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
	test_empty mine &&
	git agent start -q -- true &&
	test -e "$TRASH/ran"
'

# Attributes that are in no tree: the system's, and an ignored file of the user.
test_that 'attributes in an ignored file of the user count' '
	make_repo users &&
	mkdir sub &&
	echo sub/.gitattributes >.gitignore &&
	echo "*.key filter=crypt" >sub/.gitattributes &&
	test_commit sub &&
	test_session o "
		echo cl\$()ear >sub/y.key
		echo b >a" &&
	nowhere clear &&
	test_prints "critical sub/y.key held" rules_of o filter-not-run &&
	test_holds agent/o:a b &&
	test_session o2 "
		rm sub/.gitattributes
		echo cl\$()ear >sub/y.key
		git add . &&
		git commit -qm key &&
		git rm -q sub/y.key &&
		git commit -qm gone
		echo b >a" &&
	nowhere clear &&
	echo "*.key filter=strip" >sub/.gitattributes &&
	git agent -c filters=strip start --name o3 -- sh -c "printf \"in\\nout: 1\\n\" >sub/y.key" &&
	test_holds agent/o3:sub/y.key in &&
	test -z "$(rules_of o3 filter-not-run)"
'

test_lazy_prereq OWN_ETC '
	test "$(id -u)" = 0 && mkdir "$TRASH/etc" && cp -a /etc/. "$TRASH/etc" &&
	unshare -m mount --bind "$TRASH/etc" /etc
'
in_etc() {
	unshare -m sh -c "mount --bind \"$TRASH/etc\" /etc && $1"
}
test_that OWN_ETC 'attributes of the system count' '
	make_repo sys &&
	printf "%s\n" "*.key filter=strip" "*.pem filter=crypt" >"$TRASH/etc/gitattributes" &&
	do="printf \"in\\nout: 1\\n\" >b.key; echo cl\$()ear >c.pem; echo b >a" &&
	export do &&
	in_etc "git agent -c filters=strip start --name y -- sh -c \"\$do\" &&
		git agent review --format=json y >../review" &&
	test_holds agent/y:b.key in &&
	nowhere clear &&
	git cat-file -e refs/agent/y/held:c.pem &&
	grep filter-not-run ../review &&
	in_etc "GIT_ATTR_NOSYSTEM=1 git agent -c filters=strip start --name n -- sh -c \"\$do\"" &&
	git show agent/n:b.key | grep out &&
	test_holds agent/n:c.pem clear
'

test_done
