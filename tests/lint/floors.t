#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The folders of src are floors: code calls only what stands below its folder in the table of
# docs/architecture.md; and the files of a folder call each other in no circle. Read from the
# objects that were built.
cd "${TEST_SRCDIR:?}" || exit 1
. tests/lib/lint.sh

# files that may call each other in a circle, and why
circles='
reach: code shell shell-text (a command may hold a program, and a program commands)
'

folders=$(awk -F'`' '/^\| `src\// { print $2 }' docs/architecture.md)

result 'every folder of src is in the table of docs/architecture.md, once' "$(
	{
		find src -name '*.c' | sed 's,/[^/]*$,,' | sort -u
		echo "$folders"
	} | sort | uniq -c | awk '$1 != 2 { print $2 }' | while read -r folder; do
		# a folder of folders needs no row
		ls "$folder"/*.c >/dev/null 2>&1 && echo "$folder"
	done
)"

result 'what docs/architecture.md names is there' "$(
	awk -F'`' '{ for (i = 2; i <= NF; i += 2) if ($i ~ /^src\//) print $i }' docs/architecture.md |
		while read -r place; do
			# shellcheck disable=SC2086
			ls -d $place >/dev/null 2>&1 || echo "$place"
		done
)"

result 'tests are in the rooms of what they test' "$(
	for room in tests/unit/*/ tests/integration/*/; do
		room=${room%/}
		[ -d "src/${room##*/}" ] || echo "$room"
	done
	ls -d tests/unit/*.c tests/integration/*.t 2>/dev/null
)"

# UNIT FILE KIND SYMBOL for each symbol of each object, of which a program apart has its own
symbols=$(
	cd "${TEST_BUILDDIR:?}" && find src -name '*.o' | while read -r object; do
		file=${object%.o} name=${object##*/}
		case $name in
		git_agent_*-* | seccomp_compile-*) file=${object%/*}/${name#*-} file=${file%.o} ;;
		esac
		# what was moved or removed may still lie there
		[ -f "$TEST_SRCDIR/$file.c" ] && echo "$object"
	done | xargs nm -A | awk '
		{
			i = index($0, ":"); object = substr($0, 1, i - 1); n = split(substr($0, i + 1), w, " ")
			if (n < 2 || w[n - 1] !~ /^[TDBRCU]$/) next
			unit = "all"; file = object; sub(/[.]o$/, "", file); name = file; sub(/.*\//, "", name)
			if (name ~ /^(git_agent_[a-z]*|seccomp_compile)-/) {
				unit = name; sub(/-.*/, "", unit)
				sub(/(git_agent_[a-z]*|seccomp_compile)-/, "", file)
			}
			print unit, file, w[n - 1], w[n]
		}'
)
calls=$(echo "$symbols" | awk '
	{ line[++n] = $0 }
	$3 != "U" { where[$1, $4] = $2 }
	END {
		for (i = 1; i <= n; i++) {
			split(line[i], w, " ")
			to = where[w[1], w[4]]
			if (w[3] == "U" && to != "" && to != w[2]) print w[2], to, w[4]
		}
	}' | sort -u)

result 'the objects that were built tell who calls whom' "$(
	[ "$(echo "$calls" | wc -l)" -gt 2000 ] || echo "only $(echo "$calls" | wc -l) calls"
)"

result 'calls go down' "$(
	echo "$calls" | awk -v folders="$folders" '
		BEGIN { n = split(folders, f, "\n"); for (i = 1; i <= n; i++) floor[f[i]] = i }
		{
			from = $1; to = $2
			sub(/\/[^\/]*$/, "", from); sub(/\/[^\/]*$/, "", to)
			if (from != to && floor[to] <= floor[from]) print $1 " -> " $2 ": " $3
		}'
)"

# What neither calls nor is called by another that is left is in no circle.
result 'no circle of files within a folder' "$(
	echo "$calls" | awk -v circles="$circles" '
		BEGIN {
			n = split(circles, l, "\n")
			for (i = 1; i <= n; i++) {
				k = split(l[i], w, "[ :]+")
				for (j = 2; j <= k && w[j] !~ /^[(]/; j++) may["src/" w[1] "/" w[j]] = 1
			}
		}
		{
			from = $1; to = $2
			sub(/\/[^\/]*$/, "", from); sub(/\/[^\/]*$/, "", to)
			if (from != to || ($1 in may && $2 in may)) next
			call[$1, $2] = 1; left[$1] = left[$2] = 1
		}
		END {
			do {
				split("", out); split("", in_)
				for (c in call) { split(c, w, SUBSEP); out[w[1]] = in_[w[2]] = 1 }
				done = 1
				for (c in call) {
					split(c, w, SUBSEP)
					if (!(w[2] in out) || !(w[1] in in_)) { delete call[c]; done = 0 }
				}
			} while (!done)
			for (c in call) { split(c, w, SUBSEP); print w[1] " -> " w[2] }
		}' | sort
)"

# ROOM is the folder of a header. It declares functions of ROOM/NAME.c or ROOM/NAME-*.c; one that is called as its
# room, or as a folder in it (sandbox.h; content.h; netplan.h of net/plan), or NAME-internal.h, of all in that.
# What the build makes of src/seccomp has no room of its own.
result 'a header declares what the file of its name defines' "$(
	{
		echo "$symbols" | awk '$3 ~ /[TDB]/ { print $4, $2 }'
		find include src -name '*.h' | sort | xargs awk '
			FNR == 1 { comment = body = macro = 0 }
			{
				if (body) { if ($0 == "}") body = 0; next }
				if (macro || /^[ \t]*#/) { macro = /\\$/; next }
				line = $0
				if (comment) { if (!sub(/^.*\*\//, "", line)) next; comment = 0 }
				while (i = index(line, "/*")) {
					rest = substr(line, i + 2); line = substr(line, 1, i - 1)
					if (j = index(rest, "*/")) line = line " " substr(rest, j + 2)
					else { comment = 1; break }
				}
				if (line == "{") { body = 1; next }
				while (match(line, /[A-Za-z_][A-Za-z_0-9]*[(]/)) {
					print "header", FILENAME, substr(line, RSTART, RLENGTH - 1)
					line = substr(line, RSTART + RLENGTH)
				}
			}'
	} | awk '
		$1 != "header" { where[$1] = $2; next }
		!($3 in where) { next }
		{
			room = $2; sub(/^include\/ga\//, "src/", room); name = room
			sub(/\/[^\/]*$/, "", room); sub(/.*\//, "", name); sub(/[.]h$/, "", name)
			called = room; sub(/.*\//, "", called)
			file = where[$3]
			if (file ~ /^src\/seccomp\//) next
			below = index(file, room "/") == 1 ? substr(file, length(room) + 2) : ""
			folder = below; if (!sub(/\/.*/, "", folder)) folder = ""
			own = below; sub(/.*\//, "", own)
			if (below != "" && (own == name || index(own, name "-") == 1 || name == called ||
			    name ~ /-?internal$/ || folder != "" && (name == folder || name == called folder)))
				next
			# a name of a parameter, or of a function pointer, in a private header
			if (below == "" && $2 ~ /^src/) next
			print $2 ": " $3 " of " file
		}'
)"

echo "1..$count"
exit $failed
