#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Includes go one way: which room may include the headers of which.
cd "${TEST_SRCDIR:?}" || exit 1

allowed='
base: base
sys: sys base
net: net sys base
names: names base
config: config net sys base
repo: repo sys base
sandbox: sandbox sys base
session: session repo sys base
run: run net sandbox sys base config/limits
reach: reach repo sys base
risk: risk secret names reach repo sys base config/yaml
secret: secret names repo sys base
review: review session risk reach repo sys base
capture: capture review session run risk reach repo sandbox config sys base
worktree: worktree repo sys base
land: land worktree capture review session risk reach repo config sys base
on: on session run repo sys base config/hosts
view: view secret session run risk repo sandbox config sys base
home: home view secret session run risk repo sandbox config sys base
agents: agents home view session run repo sandbox config sys base
start: start agents home view on secret capture review session run net risk reach repo sandbox config sys base
resume: resume start agents home view session run repo sandbox sys base
trash: trash review session repo sys base
transfer: transfer view capture review session risk repo sys base
cli: cli resume trash transfer start agents home view on land
cli: secret names capture review session run net risk reach repo sandbox config sys base
stage: stage sys base sandbox/plan
seccomp: base sandbox/sandbox
init: init sys/scm run/init-protocol
probe: probe
'

# Headers of libraries and the files that may include them.
libraries='
git2 src/repo/\|^tests/unit/repo/test-collision.c
git2/ src/repo/\|^tests/fuzz/mem-repo.c\|^tests/unit/repo/test-collision.c
seccomp src/seccomp/
yaml src/config/yaml.c
cmocka tests/unit/
'

. tests/lib/lint.sh

result 'include/ga has the folders of src' "$(
	for dir in include/ga/*; do
		[ -d "src/${dir##*/}" ] && [ -d "$dir" ] || echo "$dir"
	done
)"

# One line for each include: where it stands, the folder and the header
includes() {
	grep -n -H -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]ga/' "$@" |
		sed -E 's,^([^:]*):([0-9]+):.*["<]ga/([^/]*)/([^">]*)\.h[">].*,\1:\2 \3 \4,'
}

# check_includes FOLDER: prints what is not allowed
check_includes() {
	awk -v folder="$1" -v table="$allowed" '
		BEGIN {
			n = split(table, l, "\n")
			for (i = 1; i <= n; i++) {
				k = split(l[i], w, "[: ]+")
				if (w[1] != folder) continue
				known = 1
				for (j = 2; j <= k; j++) may[w[j]] = 1
			}
			if (!known) print "no line for " folder " in this test"
		}
		!($2 in may) && !(($2 "/" $3) in may) {
			print $1 ": " folder " may not include ga/" $2 "/" $3 ".h"
		}'
}

for dir in src/*/; do
	folder=$(basename "$dir")
	files=$(find "$dir" -name '*.[ch]')
	[ -n "$files" ] || continue
	result "includes of src/$folder" "$(includes $files | check_includes "$folder")"
done

result 'a header includes only what its folder may' "$(
	for dir in include/ga/*; do
		includes "$dir"/*.h | check_includes "${dir##*/}"
	done
)"

# src/x/y.h belongs to src/x and the folders in it: no other reaches into it.
result 'a private header stays in its folder' "$(
	grep -n -H -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' $(find src -name '*.[ch]') | grep -v '"ga/' |
		while IFS=: read -r file line text; do
			name=${text#*\"} name=${name%%\"*} dir=${file%/*}
			case $name in
			*/*) case $dir/ in "src/${name%/*}/"*) dir=src ;; *) dir=none ;; esac ;;
			esac
			# what is made in the build lies there
			[ -f "$dir/$name" ] || [ -f "$TEST_BUILDDIR/$dir/$name" ] || echo "$file:$line: $name"
		done
)"

result 'the headers of libraries' "$(
	echo "$libraries" | while read -r lib place; do
		[ -n "$lib" ] || continue
		case $lib in
		*/) pattern="[<\"]$lib" ;;
		*) pattern="[<\"]$lib\\.h" ;;
		esac
		grep -rn --include='*.[ch]' -E "#[[:space:]]*include[[:space:]]*$pattern" src include tests |
			grep -v "^$place"
	done
)"

# The program that people run starts fast: it loads none of the libraries that libgit2 needs.
result 'git-agent does not need libgit2' "$(
	readelf -d "$TEST_BUILDDIR/git-agent" 2>&1 | grep -i 'git2\|cannot\|no such'
	readelf -d "$TEST_BUILDDIR/git-agent-main" | grep -q git2 || echo 'git-agent-main does not either'
)"

echo "1..$count"
exit $failed
