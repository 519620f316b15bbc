#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How much of what is flagged is worth reading: flags per 100 ordinary commits, of the project's own
# history and of commits made after what those of well-known projects touch (commits.txt), and
# whether every planted attack (attacks.txt), danger (dangers.txt) and lost guard (guards.txt) is
# flagged. `make signal` prints the whole table, and with SIGNAL_REPOS what replay.py finds in real
# histories.
test_description='few flags on ordinary commits, and all attacks flagged'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

signal=$TEST_SRCDIR/tests/signal
test_lazy_prereq HISTORY 'git -C "$TEST_SRCDIR" rev-parse -q --verify HEAD~100 && test -e "$TEST_SRCDIR/.git"'

# flags_of REPOSITORY REV OUT [COUNT]
flags_of() {
	"$TEST_BUILDDIR/tests/helpers/flagcommits" "$1" "$(git -C "$1" rev-parse "$2")" "${4:-1000}" >"$3"
}
# made TABLE: a repository of that name with its commits, and the flags of each branch
made() {
	git init -q "$1" &&
	python3 "$signal/make.py" "$signal/$1.txt" >stream &&
	git -C "$1" fast-import --quiet <stream &&
	git -C "$1" for-each-ref --format="%(refname:lstrip=2)" refs/heads >"$1.names" &&
	while read -r name; do
		flags_of "$1" "refs/heads/$name" "$1-$name" || return 1
	done <"$1.names"
}
# table OPTION... NAME=FILE...: on the test's own output as well, as comments
table() {
	python3 "$signal/table.py" "$@" >table
	table_rc=$?
	cat table
	cat table >>"$TRASH/table"
	return $table_rc
}
show_table() {
	[ ! -e "$TRASH/table" ] || cat "$TRASH/table"
	rm -f "$TRASH/table"
}

test_that 'ordinary commits have 2 critical and 25 high flags of 100 at most' '
	made commits &&
	grep -v only- commits.names | sed "s/.*/&=commits-&/" >args &&
	test "$(wc -l <args)" -ge 10 &&
	table --goal=2,25 --rules=12 $(cat args)
'
show_table

test_that 'no kind of project has twice of that' '
	while read -r arg; do table --goal=4,50 "$arg" || exit 1; done <args
'
rm -f "$TRASH/table"

test_that 'a commit that changes only a dependency has a flag' '
	table only-dependencies=commits-only-dependencies &&
	python3 - <<-\EOF
			commits, flags = 0, {}
			for line in open("commits-only-dependencies"):
			    kind, rest = line.split(" ", 1)
			    if kind == "commit":
			        commits += 1
			        flags[commits] = 0
			    elif kind == "flag":
			        flags[commits] += 1
			assert commits == 100 and all(flags.values()), flags
		EOF
'
show_table

test_that 'a table with too many flags fails' '
	for i in $(seq 100); do
		echo "commit $i x"
		echo "path a$i.c"
		echo "flag high x a"
	done >loud &&
	test_must_fail table --goal=2,25 loud=loud &&
	sed s/high/critical/ loud >louder &&
	test_must_fail table --goal=2,25 louder=louder &&
	sed s/high/low/ loud >quiet &&
	table --goal=2,25 quiet=quiet
'
rm -f "$TRASH/table"

test_that HISTORY 'the newest commits of this project have 2 critical and 25 high flags of 100 at most' '
	git config --global safe.directory "*" &&
	flags_of "$TEST_SRCDIR" HEAD own 300 &&
	table --goal=2,25 --rules=8 own-history=own
'
show_table

test_that 'every planted attack is flagged as severely as it has to be' '
	made attacks &&
	python3 "$signal/attacks.py" 80 100 <attacks-attacks
'

test_that 'an attack that is flagged less severely fails' '
	sed "s/^flag critical/flag high/" attacks-attacks >weak &&
	test_must_fail python3 "$signal/attacks.py" 80 100 <weak
'

test_that 'dangers in added lines are flagged, and most of what says the same otherwise' '
	made dangers &&
	python3 "$signal/attacks.py" 100 97 <dangers-dangers &&
	python3 "$signal/attacks.py" 50 85 <dangers-evasions
'

test_that 'guards that are taken away are flagged, and what only looks so is not' '
	made guards &&
	python3 "$signal/attacks.py" 58 97 <guards-guards &&
	python3 "$signal/attacks.py" 20 85 <guards-evasions &&
	python3 "$signal/attacks.py" 20 100 <guards-harmless
'

test_done
