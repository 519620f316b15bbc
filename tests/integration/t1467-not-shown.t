#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what a review does not show does not land without a verdict'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_that 'a repository' '
	git init -q r && cd r && echo a >a && git add . && git commit -qm one
'

test_that 'a long file is shown to its last line' '
	cd r &&
	test_session tail "seq -f \"row %06g of a table\" 60000 >d.js; echo theEnd >>d.js" &&
	git agent review tail >../text && grep -x "+theEnd" ../text &&
	git agent diff tail >../diff && grep -x "+theEnd" ../diff &&
	git agent land tail
'

test_that 'a long line is shown to its end' '
	cd r &&
	test_session wide "
		{ head -c 2000000 /dev/zero | tr \"\\0\" \"x\"; echo theEnd; } >w.txt" &&
	git agent review wide >../text && grep "theEnd$" ../text
'

test_that 'the last of many files is shown' '
	cd r &&
	test_session many "
		for i in \$(seq 10 40); do seq -f \"\$i %g lorem ipsum dolor sit amet\" 20000 >f\$i; done
		echo theEnd >zz.js" &&
	git agent review many >../text && grep "+theEnd" ../text
'

# waits NAME PATH: it does not land, and the flag says why
waits() {
	git agent review --format=json "$1" >../json &&
	jq -e --arg p "$2" ".flags[] | select(.path == \$p and .id == \"uninspected\") | .severity == \"high\"" \
		../json &&
	test_expect_code 3 git agent land "$1"
}

test_that 'a file that is too long to be shown waits for a verdict' '
	cd r &&
	test_session huge "seq -f \"var a%g = 1;\" 700000 >h.js" &&
	git agent review huge >../text && grep "longer than 8 MiB: not shown" ../text &&
	waits huge h.js
'

test_that 'so does a script with a NUL in it' '
	cd r &&
	test_session nul "printf \"#!/bin/sh\\necho a\\n\\0\" >tool" &&
	waits nul tool
'

test_done
