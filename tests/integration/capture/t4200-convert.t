#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random content under random attributes and settings, changed in real sandboxes: what is
# captured is what `git add -A && git write-tree` makes of the same work in a plain clone.
#
#     SEED=123 make check T=tests/integration/capture/t4200-convert.t
#
# does again what one seed did.
test_description='converted content against what git makes of it'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_random 30

test_aihome
cat >"$HOME/aihome/convert.py" <<\EOF
import os, random, subprocess, sys

PATTERNS = ["*", "*.txt", "*.c", "*.TXT", "/f1.txt", "d/*", "f[12]*", "d/**", "*.bin", "e/f?.c", "f*"]
ATTRS = ["text", "text=auto", "-text", "!text", "text eol=crlf", "text eol=lf", "eol=crlf", "eol=lf", "!eol",
         "text=auto eol=crlf", "text=auto eol=lf", "binary", "-binary", "ident", "-ident", "text ident", "crlf",
         "-crlf", "crlf=input", "mac", "-mac", "!mac", "other", "-diff", "merge=union", "text=bogus", "eol=bogus"]
MACROS = ["[attr]mac text eol=lf ident", "[attr]mac -text", "[attr]mac text=auto eol=crlf", "[attr]other ident",
          "[attr]mac binary", "[attr]other -diff"]
NAMES = [d + n for d in ("", "d/", "e/", "d/e/") for n in ("f1.txt", "f2.c", "f3.bin", "g4.txt", "g5.c", "h6")]

def attributes(r, top):
    lines = r.sample(MACROS, r.randint(0, 2)) if top else []
    lines += ["%s %s" % (r.choice(PATTERNS), r.choice(ATTRS)) for _ in range(r.randint(1, 4))]
    lines += r.choice([[], ["*.u16 text working-tree-encoding=UTF-16LE"], ["*.u16 working-tree-encoding=UTF-16LE"],
                       ["*.u16 working-tree-encoding=UTF-16LE eol=crlf"], ["# *.u16"]])
    return ("\r\n" if r.random() < 0.1 else "\n").join(lines) + "\n"

def content(r, name):
    ends = r.choice([["\n"], ["\r\n"], ["\n", "\r\n"], ["\r"], ["\n", "\r\n", "\r"], ["\r\r\n"], ["\r\n"]])
    words = ["one", "two words", "", "\t", "x" * 90, "$Id$", "$Id: 0123 $", "$Id: a b $", "$Id",
             "caf\u00e9", "# $Id:$ end"]
    lines = r.choice([0, 1, 2, 5, 30, 30, 20000 if r.random() < 0.2 else 3])
    text = "".join(r.choice(words) + r.choice(ends) for _ in range(lines))
    text += r.choice(["", "", "no end", "\x1a", "\r"])
    if name.endswith(".u16"):
        return text.encode("utf-16-le")
    data = text.encode()
    odd = r.random()
    if odd < 0.1:
        at = r.randint(0, len(data))
        data = data[:at] + b"\0" + data[at:]
    elif odd < 0.15:
        data += bytes(r.choice([1, 2, 7, 8, 27, 127]) for _ in range(r.randint(1, 40)))
    elif odd < 0.17:
        data += bytes(r.getrandbits(8) for _ in range(1500000))
    return data

def put(path, data, when):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    # git goes by seconds: what was written must not look as if it were not
    os.utime(path, (when, when))

def git(*args):
    subprocess.run(("git", "-c", "core.safecrlf=false") + args, check=True)

# autocrlf and eol cannot go against one another
SETTINGS = [(), ("core.autocrlf=true",), ("core.autocrlf=input",), ("core.autocrlf=false", "core.eol=crlf"),
            ("core.eol=lf",), ("core.eol=crlf",), ("core.eol=native",)]

def setup(r, base, attrs):
    """Settings and attributes outside the tree; the same for the user's repository and the clone."""
    for s in r.choice(SETTINGS) + r.choice([(), ("core.safecrlf=true",), ("core.safecrlf=warn",)]):
        git("config", *s.split("="))
    if r.random() < 0.15:
        git("config", "core.ignorecase", "true")
    if r.random() < 0.3:
        put(".git/info/attributes", attributes(r, True), base)
    if r.random() < 0.3:
        put(attrs, attributes(r, True), base)
        git("config", "core.attributesFile", attrs)

def make(seed, attrs):
    r = random.Random(seed)
    as_they_are = r.random() < 0.5 # then the base may hold what no `git add` would make now
    names = r.sample(NAMES, 12) + ["a.u16", "d/b.u16"]
    if as_they_are:
        for n in names:
            if not n.endswith(".u16"):
                put(n, content(r, n), 10**9)
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", "raw")
    if r.random() < 0.8:
        put(".gitattributes", attributes(r, True), 10**9)
    if r.random() < 0.4:
        put("d/.gitattributes", attributes(r, False), 10**9)
    setup(random.Random(seed + 1), 10**9, attrs)
    if as_they_are:
        git("add", "--", *[n for n in (".gitattributes", "d/.gitattributes") if os.path.exists(n)] or ["."])
    else:
        for n in names:
            put(n, content(r, n), 10**9)
        git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", "base")

def work(seed):
    r = random.Random(seed + 2)
    for i in range(r.randint(2, 10)):
        when = 2 * 10**9 + i
        there = [n for n in NAMES + ["a.u16", "d/b.u16"] if os.path.isfile(n)]
        what = r.choice(["new", "new", "edit", "edit", "edit", "append", "eol", "touch", "chmod", "rm",
                         "mv", "attr", "u16"])
        name = r.choice(there) if there else "f1.txt"
        old = open(name, "rb").read() if os.path.isfile(name) else b""
        if what == "new":
            name = r.choice(NAMES)
            put(name, content(r, name), when)
        elif what == "edit":
            put(name, content(r, name), when)
        elif what == "append" and not name.endswith(".u16"):
            put(name, old + content(r, name), when)
        elif what == "eol" and not name.endswith(".u16"):
            old = old.replace(b"\r\n", b"\n")
            put(name, old.replace(b"\n", b"\r\n") if r.random() < 0.5 else old, when)
        elif what == "touch" and there:
            os.utime(name, (when, when))
        elif what == "chmod" and there:
            os.chmod(name, 0o755)
            os.utime(name, (when, when))
        elif what == "rm" and there:
            os.unlink(name)
        elif what == "mv" and there and not name.endswith(".u16"):
            os.unlink(name)
            put(r.choice(NAMES), old, when)
        elif what == "attr":
            top = r.random() < 0.5
            name = ".gitattributes" if top else r.choice(["d/", "e/", "d/e/"]) + ".gitattributes"
            put(name, attributes(r, top), when)
        elif what == "u16":
            name = r.choice(["a.u16", "d/b.u16", "e/c.u16"])
            put(name, content(r, name), when)

if sys.argv[1] == "make":
    make(int(sys.argv[2]), sys.argv[3])
elif sys.argv[1] == "setup":
    setup(random.Random(int(sys.argv[2]) + 1), 10**9, sys.argv[3])
else:
    work(int(sys.argv[2]))
EOF
convert="python3 $HOME/aihome/convert.py"

# The tree git makes of the work in a clone whose index knows its files, as that of the session does.
expected() {
	test_enter "$out/clone" &&
	$convert setup "$seed" "$out/attrs" &&
	git -c core.safecrlf=false pull -q "$out/repo" &&
	touch -d '+1 hour' .git/index &&
	$convert work "$seed" &&
	git -c core.safecrlf=false add -A &&
	git write-tree
}

one() {
	seed=$1 out=$TRASH/convert.$1
	mkdir "$out" &&
	test_enter "$out/repo" &&
	$convert make "$seed" "$out/attrs" &&
	git agent start -q --dirty ignore --name "s$seed" -- python3 "$HOME/convert.py" work "$seed" || return 1
	got=
	for ref in "refs/agent/s$seed/held" "refs/heads/agent/s$seed" HEAD; do
		[ -n "$got" ] || got=$(git rev-parse -q --verify "$ref^{tree}")
	done
	want=$(expected) || return 1
	[ "$want" != "$(git rev-parse "HEAD^{tree}")" ] || echo none >>"$TRASH/unchanged"
	[ "$want" = "$got" ] &&
	{
		rm -rf "$out"
		return
	}
	echo "seed $seed: from git's tree to ours:"
	GIT_ALTERNATE_OBJECT_DIRECTORIES=$out/clone/.git/objects git diff-tree -r --no-renames "$want" "$got"
	git agent show "s$seed" | grep "note:"
	echo "once more: SEED=$seed make check T=tests/integration/capture/t4200-convert.t"
	return 1
}

seed=$first
while [ "$seed" -lt $((first + count)) ]; do
	test_that "seed $seed" "one $seed"
	seed=$((seed + 1))
done

# What never happens is not tested.
none=$(cat "$TRASH/unchanged" 2>/dev/null | wc -l)
[ "$count" -lt 25 ] || test_that "most of them change the tree: $none do not" '
	test "$none" -lt $((count / 2))
'

test_done
