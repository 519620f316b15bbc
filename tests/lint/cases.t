#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The case table of docs/capture.md, the tags in the code and the tests have the same cases.
cd "${TEST_SRCDIR:?}" || exit 1

real=tests/integration/capture/t4000-cases.t hand=tests/unit/capture/test-upper-cells.c

. tests/lib/lint.sh

# each case as "id|outcome"
table=$(awk -F' *[|] *' '
	$3 == "BASE-NONE" { for (i = 3; i < NF; i++) base[i] = $i; next }
	$2 ~ /^UP-[A-Z]+$/ { for (i = 3; i < NF; i++) print $2 "/" base[i] "|" $i }' docs/capture.md)
in_real=$(sed -n 's,^\(UP-[A-Z]*/BASE-[A-Z]*|[^|]*\)|.*,\1,p' $real)
in_hand=$(sed -n 's,^.*{ "\(UP-[A-Z]*/BASE-[A-Z]*\)"\, "\([^"]*\)" }.*,\1|\2,p' $hand)
tags=$(grep -ohE '\[UP-[A-Z]+/BASE-[A-Z]+\]' src/capture/upper/upper*.c | tr -d '[]' | sed 's/-ANY/-*/g' | sort -u)

result 'there is a table, with 15 kinds over 7' "$(
	[ "$(echo "$table" | grep -c .)" = 105 ] || echo "$table" | grep -c .
)"

result 'a cell that can be has a test' "$(
	echo "$table" | grep -v '|-$' | cut -d'|' -f1 | while read -r id; do
		printf '%s\n' "$in_real" "$in_hand" | grep -q "^$id|" || echo "$id has none"
	done
)"

result 'a cell that cannot be is explained' "$(
	text=$(sed -n '/^`-` cannot be/,/^$/p' docs/capture.md | tr '\n' ' ')
	echo "$table" | grep '|-$' | cut -d'|' -f1 | while read -r id; do
		case $text in
		*"$id"*) ;;
		*) echo "$id is not" ;;
		esac
	done
)"

result 'a test is of a cell, and expects what the table says' "$(
	printf '%s\n' "$in_real" "$in_hand" | while read -r line; do
		echo "$table" | grep -qxF "$line" || echo "$line is not in the table"
	done
	# every other place that names one
	grep -ohE 'UP-[A-Z]+/BASE-[A-Z]+' tests/unit/*/*.c tests/integration/*/*.t docs/*.md | sort -u |
		while read -r id; do
			echo "$table" | grep -q "^$id|" || echo "$id is not a cell"
		done
)"

result 'no cell is tested twice in one file' "$(
	echo "$in_real" | cut -d'|' -f1 | sort | uniq -d
	echo "$in_hand" | cut -d'|' -f1 | sort | uniq -d
)"

# matches TAG ID: a star in the tag stands for any kind
matches() {
	case $2 in
	$1) return 0 ;;
	esac
	return 1
}

result 'a cell that can be is tagged where it is decided' "$(
	set -f
	echo "$table" | grep -v '|-$' | cut -d'|' -f1 | while read -r id; do
		for tag in $tags; do
			matches "$tag" "$id" && continue 2
		done
		echo "$id is not"
	done
)"

result 'a tag in the code is of a cell' "$(
	set -f
	for tag in $tags; do
		found=
		for id in $(echo "$table" | grep -v '|-$' | cut -d'|' -f1); do
			matches "$tag" "$id" && found=1
		done
		[ -n "$found" ] || echo "$tag is not"
	done
)"

result 'what does not depend on the base is tagged where it is decided, too' "$(
	listed=$(sed -n '/^| tag |/,/^$/s/^| \([a-z]*\) | .*/\1/p' docs/capture.md | grep -vx tag | sort)
	tagged=$(grep -hE '/[*]|^[[:space:]]*[*] ' src/capture/upper/upper*.c | grep -oE ' \[[a-z]+\]' | tr -d ' []' |
		sort -u)
	[ -n "$listed" ] && [ "$listed" = "$tagged" ] || printf '%s\n' "$listed" against "$tagged"
)"

echo "1..$count"
exit $failed
