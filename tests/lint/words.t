#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Rules that every text of the repository keeps to.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

code=$(find src include tests hooks .ci autogen.sh -type f \
	\( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.t' -o -name '*.py' -o -path '.ci/run' \
	-o -path 'hooks/*' \) ! -path 'tests/results/*')
text=$(find src include tests hooks docs .ci autogen.sh configure.ac Makefile.am README.md -type f \
	\( -name '*.[ch157]' -o -name '*.def' -o -name '*.sh' -o -name '*.t' -o -name '*.py' -o -name '*.md' \
	-o -name '*.ac' -o -name '*.am' -o -path '.ci/run' -o -path 'hooks/*' -o -path 'docs/completion/*' \) \
	! -path 'tests/results/*')
tab=$(printf '\t')

result 'the licence is named at the top of every source' "$(
	awk 'FNR == 1 { seen[FILENAME] } FNR <= 3 && /SPDX-License-Identifier: MIT/ { ok[FILENAME] }
		END { for (f in seen) if (!(f in ok)) print f }' $code
)"

result 'every test is one of those that are run, and says what runs it' "$(
	awk 'FILENAME == "Makefile.am" { for (i = 1; i <= NF; i++) listed[$i]; next }
		FNR > 1 { next }
		{ name = FILENAME; if (sub(/[.]c$/, "", name)) $0 = "#!/bin/sh" }
		!(name in listed) || $0 != "#!/bin/sh" { print FILENAME }
	' Makefile.am tests/*/*.t tests/integration/*/*.t tests/unit/*/test-*.c tests/fuzz/fuzz-*.c
)"

{
	result 'no blanks at the end of a line' "$(grep -n -E "[ $tab]\$" $text)"
	result 'no control character' "$(LC_ALL=C grep -n "[$(printf '\001-\010\013-\037\177')]" $text)"
	result 'no blank before a tab' "$(grep -n " $tab" $text)"
}

result 'every file ends in a newline' "$(
	[ -z "$(tail -q -c 1 $text | tr -d '\n')" ] || for f in $text; do
		[ -z "$(tail -c 1 "$f")" ] || echo "$f"
	done
)"

result 'C is indented by tabs' "$(grep -n '^        ' $(echo "$code" | grep '\.[ch]$'))"

result 'lines of the source have 100 columns at most' "$(
	awk 'length($0) + 7 * gsub(/\t/, "\t") > 100 {
		n = 0
		while (i = index($0, "\t")) { n += i - 1; n += 8 - n % 8; $0 = substr($0, i + 1) }
		if (n + length($0) > 100) print FILENAME ":" FNR ": " n + length($0) " columns"
	}' $(find src include -name "*.[ch]" -o -name "*.def")
)"

result 'a source is below 650 lines' "$(
	wc -l $(find src include -name "*.[ch]") | awk '$1 > 650 && $2 != "total" { print $2 ": " $1 }'
)"

# What reads like a translation (CONTRIBUTING: words). One for a word that is left: "come", "make", "take"
# are fine alone.
result 'words that were retired stay so' "$(
	grep -n -E 'for people|sessions? stands? on|nobody can tell|still to come|of a day |(which|what) is said' \
		$(find src include hooks tests/[!l]* tests/lib tests/land -name '*.[ch]' -o -name '*.t' -o -name '*.sh')
	grep -n -E -e '\b((take|takes|took|taken|bring|brings|brought|bringing) (it |them |that |this )?back)\b' \
		-e '\b(stands? in the way|is at work|gives? up|gave up|goes on|go on|going on|went on|anew)\b' \
		$(find src include -name '*.[ch]' -o -name '*.def')
)"

result 'where the refs of sessions are is said in one place' "$(
	grep -n -E '"[^"]*refs/(heads/)?agent/' $(find src include -name "*.[ch]") |
		grep -v -e '^include/ga/session/session.h:.*#define' -e '/\* "refs'
)"

result 'every header has #pragma once' "$(grep -L -x '#pragma once' include/ga/*/*.h)"

echo "1..$count"
exit $failed
