#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what checkout would write otherwise than the review shows it waits for a verdict'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# in_repo NAME [ATTRIBUTES]: a repository of that name, with these attributes
in_repo() {
	test_enter "$1" &&
	printf "a = 1\n" >a.py &&
	printf "%s\n" "${2-}" >.gitattributes &&
	test_commit base
}

# flag SESSION PATH RULE: its severity
flag() {
	git agent review --format=json "$1" | jq -r --arg p "$2" --arg r "$3" \
		"[.flags[] | select(.path == \$p and .id == \$r) | .severity] | unique | .[]"
}

test_that 'a new encoding of the working tree is critical, and what it changes high' '
	in_repo new &&
	test_session s "
		echo \"*.py working-tree-encoding=ASCII//TRANSLIT\" >.gitattributes
		git add .gitattributes
		printf \"f = \\342\\200\\235 + evil()\\n\" >q
		b=\$(git hash-object -w --no-filters q)
		git update-index --cacheinfo 100644,\$b,a.py
		git commit -qm quotes" &&
	test "$(flag s .gitattributes gitattributes-hide)" = critical &&
	test "$(flag s a.py uninspected)" = high &&
	git agent review --accept s .gitattributes &&
	test_expect_code 3 git agent land s
'

# agent SESSION PATH TEXT: an agent commits this text, as printf writes it, at the path, as a blob
agent() {
	test_session "$1" "
		printf '$3' >.git/text
		b=\$(git hash-object -w --no-filters .git/text)
		git update-index --add --cacheinfo 100644,\$b,$2
		git commit -qm work"
}

test_that 'under an encoding that was there, what is not ASCII waits' '
	in_repo there "*.py working-tree-encoding=UTF-16LE" &&
	agent plain b.py "b = 1\\n" &&
	test -z "$(flag plain b.py uninspected)" &&
	agent other c.py "\\346\\265\\251\\n" &&
	test "$(flag other c.py uninspected)" = high
'

test_that 'under one that is unknown, or by a macro, everything waits' '
	in_repo unknown "[attr]odd working-tree-encoding=IBM037
*.py odd" &&
	agent odd b.py "b = 1\\n" &&
	test "$(flag odd b.py uninspected)" = high
'

test_that 'UTF-8 is no conversion' '
	in_repo utf8 "*.py working-tree-encoding=UTF-8" &&
	agent plain b.py "\\346\\265\\251\\n" &&
	test -z "$(flag plain b.py uninspected)"
'

test_that 'what ident would replace waits' '
	in_repo ident "*.py ident" &&
	agent plain b.py "# \$Id\$\\n" &&
	test -z "$(flag plain b.py uninspected)" &&
	agent filled c.py "# \$Id: \\42\\42\\42 \$\\n" &&
	test "$(flag filled c.py uninspected)" = high
'

test_that 'a script whose lines would end in CR LF waits' '
	in_repo crlf "* text eol=crlf" &&
	agent prose b.txt "b\\n" &&
	test -z "$(flag prose b.txt uninspected)" &&
	agent script run "#!/bin/sh\\nrm a\\n" &&
	test "$(flag script run uninspected)" = high
'

test_that 'what only a filter of yours writes waits' '
	in_repo smudge "*.py filter=mine" &&
	git config filter.mine.smudge "tr a-y b-z" &&
	agent s b.py "b = 1\\n" &&
	test "$(flag s b.py uninspected)" = high
'

test_that 'code that is in an LFS object waits' '
	in_repo lfs "*.py filter=lfs" &&
	oid=$(printf "%064d" 1) &&
	agent s b.py "version https://git-lfs.github.com/spec/v1\\noid sha256:$oid\\nsize 4\\n" &&
	test "$(flag s b.py uninspected)" = high
'

test_done
