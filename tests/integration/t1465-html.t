#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a review as a page: whole, alone, and nothing of the agent'\''s in it but text'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/lib/attacks.sh"
require_sandbox

test_lazy_prereq CHROMIUM 'chromium --version'

# Is the file a page that is well formed, made of nothing but these elements and attributes, with
# a policy that lets nothing run or load? With --text FILE: what a reader sees, line by line.
cat >"$TRASH/page.py" <<\EOF
import base64, hashlib, re, sys
from html.parser import HTMLParser
allowed = {tag: set() for tag in "head title style body h1 h2 p table tr th code pre ul li summary tbody".split()}
allowed.update({"html": {"lang"}, "meta": {"charset", "http-equiv", "content", "name"}, "td": {"class"},
    "div": {"class"}, "span": {"class"}, "details": {"open"}})
classes = set("h k n o x f t s0 s1 s2 s3".split())
class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.meta, self.style, self.title = [], [], {}, "", ""
    def handle_starttag(self, tag, attrs):
        assert tag in allowed, tag
        assert {k for k, v in attrs} <= allowed[tag] and len(attrs) == len(dict(attrs)), (tag, attrs)
        assert set((dict(attrs).get("class") or "h").split()) <= classes, attrs
        if tag == "meta":
            a = dict(attrs)
            self.meta[a.get("name") or a.get("http-equiv") or "charset"] = a.get("content") or a["charset"]
        else:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        raise AssertionError(tag)
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.open)
    def handle_data(self, data):
        if self.open[-1:] == ["style"]:
            self.style += data
        elif self.open[-1:] == ["title"]:
            self.title += data
        else:
            self.text.append(data)
    def handle_comment(self, data):
        raise AssertionError(data)
    handle_pi = unknown_decl = handle_comment
raw = open(sys.argv[-1], "rb").read()
text = raw.decode("utf-8")
page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
policy = page.meta["Content-Security-Policy"]
digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
assert policy == "default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'" % digest, policy
assert page.meta["charset"] == "utf-8" and page.meta["referrer"] == "no-referrer", page.meta
assert "url(" not in page.style and "@import" not in page.style and page.title.startswith("Session "), page.title
if sys.argv[1] == "--text":
    sys.stdout.write("".join(page.text))
EOF
page() {
	for page; do :; done
	harmless "$page" && python3 "$TRASH/page.py" "$@"
}

cat >"$TRASH/hostile.py" <<\EOF
import os
marks = [b"<script>document.title='PWNED'</script>", b"\"><img src=x onerror=\"document.title='PWNED'\">",
    b"' onload='alert(1)", b"&lt;b&gt;&amp;", b"</pre></details><h1>landed", b"<!--", b"-->", b"]]>",
    b"</style><style>*{display:none}", b"\x1b[31mred\x07", b"\xe2\x80\xaetxt.exe", b"\xff\xfe<b>", b"a\r\nb",
    b"<base href=//evil.example>", b"javascript:alert(1)"]
for i, m in enumerate(marks):
    name = m.replace(b"/", b"_") + b".d"
    os.mkdir(name)
    for f in (b".envrc", b"Makefile", b"plain"):
        open(name + b"/" + f, "wb").write(m + b"\n" + m * 3)
    os.symlink(m, name + b"/link")
    os.mkdir(b"ign" + name)
    open(b"ign" + name + b"/x.ign", "wb").write(m)
EOF
cat >"$TRASH/hostile" <<\EOF
set -e
python3 "$HOME/hostile.py"
printf "s<script>document.title='PWNED'</script>\n\n</body>\n" >m
git add -A
git -c user.name="<img src=x onerror=alert(1)>" -c user.email="<b>@x" commit -q -F m
rm m
EOF

test_that 'a page of hostile names and contents is well formed, and nothing in it runs' '
	make_repo r "
		printf \"*.ign\n\" >.gitignore
		seq 20 >a
		printf \"all:\n\techo ok\n\" >Makefile" &&
	cd r &&
	mkdir -p "$HOME/aihome" &&
	cp "$TRASH/hostile.py" "$HOME/aihome" &&
	attack e "
		$(cat "$TRASH/hostile")
		: \"<script>document.title=1</script> \$(printf \"\033[2J\")\"" &&
	git agent review --format=html e >../page &&
	page ../page &&
	git agent review --json e | grep -c "\"severity\"" >../flags &&
	test "$(cat ../flags)" -gt 40
'

test_that 'a page has all of a review, as text' '
	cd r &&
	page --text ../page >../text &&
	for s in "<script>document.title=.PWNED.<_script>.d/.envrc" "<img src=x onerror=" "&lt;b&gt;&amp;" \
		"</pre></details><h1>landed" "<!--" "\\\\e\[31mred" "u{202e}txt.exe" "xff.xfe<b>" "r.nb.d/Makefile" \
		"<base href=" "Held back: not on the branch until accepted" "Left behind" Timeline Commits Files Diff \
		"s<script>document.title" "img src=x onerror=alert(1)" exit "sh -c"; do
		grep -q -e "$s" ../text || exit 1
	done &&
	test "$(grep -c "^diff --git" ../text)" = "$(git agent review e | grep -c "^diff --git")" &&
	harmless ../text
'

test_that 'each line of the diff on a terminal is on the page' '
	cd r &&
	git agent review e | sed -n "/^diff --git/,\$p" | grep "^[-+@ ]" >../want &&
	page --text ../page | grep -F -x -f ../want | sort -u >../got &&
	sort -u ../want | test_cmp - ../got
'

test_that 'a page has verdicts, the landing, and that nothing was flagged' '
	cd r &&
	test_session v "
		printf \"all:\n\techo mine\n\" >Makefile
		sed -i 3d a" &&
	git agent review --accept v Makefile &&
	test_resume v "echo more >more" &&
	git agent land v &&
	git agent review --format=html v >../page2 &&
	page --text ../page2 >../text &&
	for s in "accepted" "verdict" "landed" "resume" "echo more >more" "0 open flags" "^+.*echo mine" "^-3$"; do
		grep -q -e "$s" ../text || exit 1
	done &&
	git agent start -q --name none -- true &&
	git agent review --format=html none >../page3 &&
	page --text ../page3 | grep "None"
'

test_that 'a journal with anything in it is shown, or left out' '
	cd r &&
	test_session j "echo j >j" "$(printf "\377<u>")" &&
	git agent review --format=html j >../page4 &&
	page --text ../page4 | grep -c "xff<u>" | grep -x 2 &&
	f=$(test_dir j)/journal.jsonl &&
	cat >>"$f" <<-\EOF &&
	{"time":"<b>","event":"<script>","<i>":["\u202e",{"path":"</table>"},{"x":1},null,true],"command":[1,"<u>"]}
	[1]
	{"cut

	EOF
	printf "\377\n{\"event\":\"last\"}" >>"$f" &&
	git agent review --format=html j >../page4 &&
	page --text ../page4 >../text &&
	grep "</table>" ../text &&
	grep "last" ../text &&
	rm "$f" &&
	git agent review --format=html j >../page4 &&
	page ../page4
'

test_that 'a page folds many files' '
	cd r &&
	test_session long "
		mkdir many
		for i in \$(seq 60); do echo \$i >many/\$i; done" &&
	git agent review --format=html long >../page5 &&
	test "$(grep -c "<details open>" ../page5)" -lt 60 &&
	test "$(grep -c "<details" ../page5)" -gt 60
'

# dom PAGE: what a browser made of it
dom() {
	mkdir -p "$TRASH/browser" &&
	cp "$1" "$TRASH/browser/page.html" &&
	HOME=$TRASH/browser timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$TRASH/browser" --enable-logging=stderr --dump-dom "file://$TRASH/browser/page.html" \
		2>"$TRASH/browser.err"
}

test_that CHROMIUM 'a browser shows a page with its style, and runs and fetches nothing' '
	dom page >dom &&
	grep "<title>Session e</title>" dom &&
	grep -c "<script\|<img\|<base\|<a \|PWNED.<h1" dom | grep -x 0 &&
	! grep -i "CONSOLE\|refused\|net::" "$TRASH/browser.err" &&
	page --text dom | grep "^diff --git" >seen &&
	page --text page | grep "^diff --git" | test_cmp - seen &&
	bad="<script>document.title=1</script><img src=file:///etc/hostname><b style=color:red onclick=x>x</b>" &&
	sed "s|</h1>|</h1>$bad|" page >attacked &&
	dom attacked >dom &&
	grep "<title>Session e</title>" dom &&
	grep -i "CONSOLE.*Content Security Policy" "$TRASH/browser.err"
'

test_done
