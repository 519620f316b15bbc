#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make bench`: what a session costs, against bare bwrap with the same binds in
# the same run, at two sizes of a repository. Prints a table and writes
# bench.json in the build directory. It says and does not judge: a machine busy
# with something else is no failure.
#
#     BENCH_ROUNDS=50 BENCH_SIZES='1000 50000' make bench
set -eu
: "${TEST_BUILDDIR:?run by make bench}"
rounds=${BENCH_ROUNDS:-50}
sizes=${BENCH_SIZES:-1000 50000}

measure=$TEST_BUILDDIR/tests/helpers/measure
agent=$TEST_BUILDDIR/git-agent
bwrap=$(command -v bwrap)
# shellcheck source=tests/lib/scratch.sh
. "$(dirname "$0")/../lib/scratch.sh"
scratch=$(mktemp -d "$(scratch_base)/git-agent-bench-XXXXXX")
scratch=$(cd "$scratch" && pwd -P)
trap 'cd /; chmod -R u+rwX "$scratch"; rm -rf "$scratch"' EXIT
for var in $(env | sed -n -e 's/^\(GIT_[A-Z0-9_]*\)=.*/\1/p' -e 's/^\(XDG_[A-Z0-9_]*\)=.*/\1/p'); do
	unset "$var"
done
HOME=$scratch/home
export HOME GIT_CONFIG_NOSYSTEM=1
mkdir -p "$HOME" "$scratch/bin" "$scratch/empty-dir" "$scratch/git"
: >"$scratch/empty-file"
git config --global user.name Bench
git config --global user.email bench@example.com
git config --global init.defaultBranch main

# make_repo COUNT: that many files, a hundred in a directory
make_repo() {
	git init -q "$HOME/$1"
	i=0
	while [ "$i" -lt "$1" ]; do
		if [ $((i % 100)) = 0 ]; then
			dir=$HOME/$1/d$((i / 10000))/e$((i / 100))
			mkdir -p "$dir"
		fi
		echo "file $i" >"$dir/f$i.txt"
		i=$((i + 1))
	done
	git -C "$HOME/$1" add -A
	git -C "$HOME/$1" commit -qm base
}

# In place of bwrap: keeps the arguments a session gives it, one to a line.
cat >"$scratch/bin/bwrap" <<EOF_BWRAP
#!/bin/sh
for word; do
	[ "\${previous-}" != --args ] || tr '\\0' '\\n' </proc/self/fd/"\$word" >"$scratch/args"
	previous=\$word
done
exit 1
EOF_BWRAP
chmod +x "$scratch/bin/bwrap"

# bare_arguments PROJECT: what bwrap alone is given. All that a session of PROJECT
# binds; in place of what the stage mounts, the home of agents, and in it the
# project and a directory for its .git.
bare_arguments() {
	rm -f "$scratch/args"
	PATH=$scratch/bin:$PATH "$agent" start --base HEAD --name args -- true >"$scratch/log" 2>&1 || :
	if [ ! -s "$scratch/args" ]; then
		echo "bench: no session can be started here:" >&2
		cat "$scratch/log" >&2
		exit 1
	fi
	mkdir -p "$HOME/aihome/${1#"$HOME"/}"
	sed -e '/^--as-pid-1$/d' -e "s|^/.*/stage/empty-file\$|$scratch/empty-file|" \
		-e "s|^/.*/stage/empty-dir\$|$scratch/empty-dir|" \
		-e "s|^/.*/stage/home\$|$HOME/aihome|" "$scratch/args" |
		awk -v home="$HOME/aihome" -v project="$1" -v git="$scratch/git" '
			{ print }
			bind { bind = 0; print "--bind\n" project "\n" project "\n--bind\n" git "\n" project "/.git" }
			$0 == home { bind = 1 }' | tr '\n' '\0' >"$scratch/bare"
}

row() {
	awk -v n="$1" -v what="$2" -v a="$3" -v b="$4" -v c="$5" 'BEGIN {
		printf "%8d  %-32s %7.2f ms %7.2f ms %7.2f ms\n", n, what, a / 1000, b / 1000, c / 1000
	}'
}

printf '%8s  %-32s %10s %10s %10s\n' files what median least '9 of 10'
results='' first=''
for n in $sizes; do
	make_repo "$n"
	cd "$HOME/$n"
	# warm: from here on the base tree is there
	"$agent" start --base HEAD --name warm -- true >/dev/null 2>&1
	"$agent" drop warm >/dev/null 2>&1
	bare_arguments "$HOME/$n"
	"$measure" "$rounds" "$agent" start --base HEAD --name % -- true \
		--against --input "$scratch/bare" "$bwrap" --args 0 true \
		--after "$agent" drop % >"$scratch/times"
	{
		read -r sm sl sd
		read -r bm bl bd
	} <"$scratch/times"
	ratio=$(awk -v a="$sm" -v b="$bm" 'BEGIN { printf "%.2f", a / b }')
	row "$n" 'start and exit, nothing changed' "$sm" "$sl" "$sd"
	row "$n" 'bare bwrap, same binds' "$bm" "$bl" "$bd"
	printf '%8d  %-32s %7s\n' "$n" 'ratio of the medians' "$ratio"
	results="$results${results:+,}
  {\"files\": $n, \"rounds\": $rounds, \"ratio\": $ratio,
   \"session_us\": {\"median\": $sm, \"least\": $sl, \"ninth_decile\": $sd},
   \"bwrap_us\": {\"median\": $bm, \"least\": $bl, \"ninth_decile\": $bd}}"
	first=${first:-$sm}
done
growth=$(awk -v a="$first" -v b="$sm" 'BEGIN { printf "%.2f", b / a }')
echo "a session of the last size against one of the first: $growth"
cat >"$TEST_BUILDDIR/bench.json" <<EOF_JSON
{"kernel": "$(uname -r)", "bwrap": "$("$bwrap" --version)", "git": "$(git version)",
 "growth": $growth, "warm_start": [$results]}
EOF_JSON
echo "written: bench.json"
