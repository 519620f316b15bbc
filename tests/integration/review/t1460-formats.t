#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a review as Markdown, of names and texts that are meant to break them'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

test_lazy_prereq CMARK 'cmark-gfm --version'

# Is standard input Markdown in which nothing but code holds what is not ours? Tables whole,
# no letters that a forge takes for a person, an issue, a link or HTML.
cat >"$TRASH/markdown.py" <<\EOF
import re, sys
text = sys.stdin.read()
columns = 0
assert len(text) < 65536 and text.startswith("### Session `"), text[:80]
for line in text.split("\n"):
    assert not re.search("[|]", "".join(re.findall(r"`[^`]*`", line))), line
    bare = re.sub(r"`[^`]*`", "C", line)
    assert "`" not in bare, line
    bare = re.sub(r"\\[!-/:-@[-`{-~]", "E", bare)
    title = re.match(r"#{3,4} ", bare)
    bare = bare[title.end():] if title else bare
    if re.match(r"[|]", bare):
        columns = columns or bare.count("|")
        assert bare.count("|") == columns and bare.endswith("|"), line
    else:
        columns = 0
        assert "|" not in bare, line
    bare = re.sub(r"^- |^[|](---[|])+$|\*\*[^*]*\*\*", "", bare)
    assert re.fullmatch(r"[A-Za-z0-9 ,.:|+()-]*", bare), line
    assert not re.search(r"www\.|://|GH-", bare), line
EOF

cat >"$TRASH/hostile.py" <<\EOF
import os
names = [b"@everyone", b"#1", b"x|y", b"a\\|b", b"back\\", b"`tick`", b"``", b"[l](http:evil.example)",
    b"<img src=x onerror=alert(1)>", b"https:evil.example", b"*b* _i_ ~s~", b"nl\n| a | b |\n|---|---|", b"\xff\xfe",
    b"\x1b[31m", b"\xe2\x80\xae", b"{0} {", b"%41%2f", b" lead", b"--", b"$x$", b"!GH-1", b"a" * 250,
    b"www.evil.example", b"&lt;", b"\\", b'"', b"]"]
for n in names:
    os.mkdir(n)
    open(n + b"/.envrc", "w").write("e")
    open(n + b"/Makefile", "w").write("e")
    os.symlink(b"/etc/" + n, n + b"/link")
    open(n + b"/plain", "wb").write(b"x\0")
EOF

test_that 'make a session with hostile names' '
	make_repo odd "echo .ign >.gitignore" &&
	mkdir -p "$HOME/aihome" &&
	cp "$TRASH/hostile.py" "$HOME/aihome" &&
	attack e "
		python3 \$HOME/hostile.py
		mkfifo \"fifo|@x\\\`\"
		git add -A
		git commit -q -m \"s|@all #2 \\\`x\\\` <b> [l](http://evil.example)\"" &&
	git agent review --json e >../json &&
	grep -c "\"severity\"" ../json >../flags &&
	test "$(cat ../flags)" -gt 80
'

test_that 'Markdown has what the agent wrote as code only' '
	cd odd &&
	git agent review --accept e "x|y/.envrc" &&
	git agent review --reject e "#1/Makefile" &&
	git agent review --format=markdown e >../md &&
	harmless ../md &&
	python3 "$TRASH/markdown.py" <../md &&
	grep "^| critical | .*held |$" ../md &&
	grep -F "x\\x7cy/.envrc" ../md &&
	grep "^| high .* rejected |$" ../md &&
	grep "flags are open" ../md &&
	grep -F "s\\x7c@all #2 \\x60x\\x60" ../md &&
	grep "^| special | 1 | " ../md
'

test_that CMARK 'Markdown is rendered as tables, without a link, image or HTML' '
	cd odd &&
	cmark-gfm -e table -e autolink -e strikethrough -e tagfilter --unsafe <../md >../html &&
	python3 - <<-\EOF
	import html.parser
	class Page(html.parser.HTMLParser):
	    tags, code, row, rows, loose = set(), 0, None, [], ""
	    def handle_starttag(self, tag, attrs):
	        self.tags.add(tag)
	        self.code += tag == "code"
	        if tag == "table": self.rows.append([])
	        if tag == "tr": self.rows[-1].append(0)
	        if tag in ("td", "th"): self.rows[-1][-1] += 1
	    def handle_endtag(self, tag):
	        self.code -= tag == "code"
	    def handle_data(self, data):
	        if not self.code: self.loose += data
	p = Page()
	p.feed(open("../html").read())
	assert p.tags <= set("h3 h4 p strong code table thead tbody tr th td ul li".split()), p.tags
	assert all(len(set(t)) == 1 for t in p.rows) and [t[0] for t in p.rows] == [5, 2, 4], p.rows
	assert not set("@#<>[]`") & set(p.loose), p.loose
	EOF
'

test_that 'a long report is cut to what a forge takes, and says so' '
	make_repo long &&
	attack e "
		for i in \$(seq 1500); do
			mkdir d\$i
			echo >d\$i/Makefile
		done
		for i in \$(seq 40); do git commit -q --allow-empty -m \"c \$i\"; done" &&
	git agent review --format=markdown e >../md &&
	python3 "$TRASH/markdown.py" <../md &&
	grep "^[0-9]* more flags\.$" ../md
'

test_that 'text that is too long to be compared is not called binary, and is not counted' '
	make_repo counts &&
	attack e "
		yes 123456789 | head -n 900000 >long
		printf \"a\\\000b\" >bin
		echo one >one" &&
	test_shows "^  A *not counted  long$" git agent review --stat e &&
	grep "^  A *binary  bin$" ../out &&
	grep "^  3 files, +1 -0 without 1 that is absent or too long to be counted$" ../out &&
	git agent review --format=markdown e | grep "^| not counted | .long. |$" &&
	git agent review --json e | grep -A 3 "\"long\"" | grep "additions.*null"
'

test_that 'a review without flags is Markdown too, and one of no known format is refused' '
	make_repo quiet &&
	attack e "echo w >w" &&
	git agent review --format=markdown e >../md &&
	python3 "$TRASH/markdown.py" <../md &&
	grep "No flag is open" ../md &&
	! grep Flags ../md &&
	test_expect_code 129 git agent review --format=htm e &&
	test_expect_code 129 git agent review --json --format=markdown e &&
	git agent review --json --format=json e
'

test_done
