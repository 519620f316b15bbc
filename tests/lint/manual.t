#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The manual has a page for each command, with the options that `git agent COMMAND -h` prints from the
# program's own table. tests/integration/cli/t5010-completion.t compares the completion with that table.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
agent=${TEST_BUILDDIR:?}/git-agent
commands=$("$agent" help -a | sed -n 's/^    \([a-z][a-z-]*\) .*/\1/p')

# each option as "--name", its letter or "-", and whether it takes a value: from -h, and from a page
of_help() {
	"$agent" "$1" -h |
		sed -n -E 's/^    (-(.), |    )--([a-z0-9-]+)( [^ ]+)?( .*)?$/--\3:\2:\4/p' |
		awk -F: '{ print $1, ($2 == "" ? "-" : $2), ($3 == "" ? "-" : "value") }' |
		sort
}
of_page() {
	sed -n -E 's/^\.It Fl (([a-zA-Z]) , )?-([a-z0-9-]+)( .*)?$/--\3:\2:\4/p' "docs/man/git-agent-$1.1" |
		awk -F: '{ print $1, ($2 == "" ? "-" : $2), ($3 == "" ? "-" : "value") }' |
		sort
}

result 'there are commands, and the list of files of the manual is in Makefile.am' "$(
	[ "$(echo "$commands" | grep -c .)" -ge 20 ] || echo "$agent -h lists: $commands"
	[ "$(of_help land | grep -c .)" -ge 10 ] || echo "$agent land -h has these options: $(of_help land)"
	for f in docs/man/*.[157]; do
		grep -q "[[:blank:]]$f\( \|\$\)" Makefile.am || echo "$f is not in Makefile.am (dist_man_MANS)"
	done
)"

result 'every command has a page and is in git-agent(1), and every page is of one' "$(
	for c in $commands; do
		[ -f "docs/man/git-agent-$c.1" ] || echo "docs/man/git-agent-$c.1 is missing"
		grep -qx "\.It Cm $c" docs/man/git-agent.1 || echo "docs/man/git-agent.1 does not list $c"
	done
	for f in docs/man/git-agent-*.1; do
		c=${f#docs/man/git-agent-}
		echo "$commands" | grep -qx "${c%.1}" || echo "$f: there is no such command"
	done
)"

result 'a page has the options of its command, with their letters and values, and no others' "$(
	for c in $commands; do
		[ -f "docs/man/git-agent-$c.1" ] || continue
		of_help "$c" >"$tmp/help"
		of_page "$c" >"$tmp/page"
		page=docs/man/git-agent-$c.1
		diff "$tmp/help" "$tmp/page" | sed -n "s,^<,$page lacks:,p; s,^>,$page has\, and the program not:,p"
	done
)"

result 'a synopsis has every option, by its letter or its name' "$(
	for c in $commands; do
		[ -f "docs/man/git-agent-$c.1" ] || continue
		synopsis=$(sed '/^\.Sh DESCRIPTION/,$d' "docs/man/git-agent-$c.1")
		of_help "$c" | while read -r name letter _; do
			echo "$synopsis" | grep -qE -- "Fl (-${name#--}|$letter)( |\$)" ||
				echo "docs/man/git-agent-$c.1: $name is not in its synopsis"
		done
	done
)"

result 'the agents that are known are in git-agent-start(1)' "$(
	listed=$(sed -n 's/^\.Cm //p' docs/man/git-agent-start.1 | tr -d ',')
	sed -n 's/.*{ \.name = "\([a-z-]*\)".*/\1/p' src/config/preset.c | while read -r p; do
		[ "$p" = bash ] || echo "$listed" | tr ' ' '\n' | grep -qxF "$p" ||
			echo "docs/man/git-agent-start.1 does not list $p"
	done
)"

result 'what a page refers to of ours is there' "$(
	grep -n -oE '\.?Xr (git-agent[a-z-]*|agentdev\.yaml) [0-9]' docs/man/* | while IFS= read -r line; do
		page=$(echo "$line" | sed -E 's/.*Xr ([^ ]+) ([0-9])/\1.\2/')
		[ -f "docs/man/$page" ] || [ -f "$TEST_BUILDDIR/docs/man/$page" ] ||
			echo "${line%%:*}: there is no $page"
	done
)"

# ".Dq a ; see Xr b 1" quotes all of it, and of ".Xr a 1 , b 1" one is no reference
result 'nothing is on the line behind the end of a quotation or reference' "$(
	grep -nE '^\.(.* )?(Dq|Sq|Ql) .* [,;:] [^ ]|^\.Xr [^ ]+ [0-9] [,;:] ' docs/man/*.[157]
)"

if command -v mandoc >/dev/null; then
	result 'mandoc finds nothing wrong with a page' "$(
		# what it cannot know: pages that are not installed, and our section names
		mandoc -T lint -W warning docs/man/*.[157] "$TEST_BUILDDIR"/docs/man/git-agent-security.7 2>&1 |
			grep -v -e 'referenced manual not found' -e 'unusual Xr' \
				-e 'lower case character in document title' -e 'sections out of conventional order'
	)"
else
	count=$((count + 1))
	echo "ok $count - mandoc finds nothing wrong with a page # SKIP there is no mandoc"
fi

echo "1..$count"
exit $failed
