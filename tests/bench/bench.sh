#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make bench`: what a session costs, each step against the nearest thing there is
# without git-agent, in turn with it and in the same run. Prints a table.
# It says and does not judge: a machine busy with something else is no failure. docs/performance.md reads the table.
#
#     BENCH_ROUNDS=50 BENCH_FILES='1000 50000 200000' make bench
#
# BENCH_HUGE=1 adds a repository of a million files.
set -eu
: "${TEST_BUILDDIR:?run by make bench}"
rounds=${BENCH_ROUNDS:-50}
sizes="${BENCH_FILES:-1000 50000 200000}${BENCH_HUGE:+ 1000000}"
some=$((rounds / 2 > 3 ? rounds / 2 : 3))
few=$((rounds / 10 > 3 ? rounds / 10 : 3)) # for what takes seconds
# those of $1 that a row is given where git alone takes most of a second for each
of() {
	echo $((n > 100000 && $1 > few ? few : $1))
}

measure=$TEST_BUILDDIR/tests/helpers/measure
agent=$TEST_BUILDDIR/git-agent
bwrap=$(command -v bwrap)
# shellcheck source=tests/lib/scratch.sh
. "$(dirname "$0")/../lib/scratch.sh"
scratch=$(mktemp -d "$(scratch_base)/git-agent-bench-XXXXXX")
scratch=$(cd "$scratch" && pwd -P)
# An ext4 without a journal passes over the inodes that were freed in the last minutes one by one,
# for each file that is made near them. Away from those of the tests that ran before.
chattr +T "$scratch" 2>/dev/null || :
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
git config --global gc.auto 0

# make_repo COUNT: that many files, a hundred in a directory, and packed as in a clone; nothing
# is removed between
make_repo() {
	git init -q "$HOME/$1"
	awk -v n="$1" 'BEGIN {
		print "commit refs/heads/main\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 4\nbase"
		for (i = 0; i < n; i++) {
			text = "file " i "\n"
			printf "M 100644 inline d%d/e%d/f%d.txt\n", i / 10000, i / 100, i
			printf "data %d\n%s\n", length(text), text
		}
	}' | git -C "$HOME/$1" -c fastimport.unpackLimit=0 fast-import --quiet
	git -C "$HOME/$1" reset -q --hard main
}

# git-agent beside a stage that keeps what it is given, plan and arguments for bwrap,
# one word to a line.
mkdir "$scratch/fake"
cp "$agent" "$agent-main" "$TEST_BUILDDIR/git-agent-init" "$scratch/fake"
cat >"$scratch/fake/git-agent-stage" <<EOF_STAGE
#!/bin/sh
tr '\\0' '\\n' <&3 >"$scratch/plan"
tr '\\0' '\\n' <&5 >"$scratch/args"
exit 1
EOF_STAGE
chmod +x "$scratch/fake/git-agent-stage"

# bare_arguments PROJECT: what bwrap alone is given to show the same. Each bind, tmpfs and
# symlink of the plan becomes one of bwrap's; in place of the overlays, which it cannot
# make, the home of agents, and in it the project and a directory for its .git.
bare_arguments() {
	rm -f "$scratch/args" "$scratch/plan"
	"$scratch/fake/git-agent" start --base HEAD --name args -- true >"$scratch/log" 2>&1 || :
	if [ ! -s "$scratch/args" ] || [ ! -s "$scratch/plan" ]; then
		echo "bench: no session can be started here:" >&2
		cat "$scratch/log" >&2
		exit 1
	fi
	mkdir -p "$HOME/aihome/${1#"$HOME"/}"
	awk -v empty="$scratch/empty" -v home="$HOME" -v project="$1" -v git="$scratch/git" '
		function word(v) { getline v; return v }
		function inside(v) {
			v = word()
			sub(/^odb/, "/run/git-agent/odb", v)
			sub(/^(root|home)/, v ~ /^home/ ? home : "", v)
			return v
		}
		BEGIN { word(); word() }
		/^overlay$/ { word(); word(); word(); for (n = word(); n > 0; n--) word(); next }
		/^(mountpoint|disown)$/ { word(); next }
		/^bind-rw$/ { word(); word(); next }
		/^bind-ro$/ { source = word(); tools = tools_or_not(source, inside()); next }
		function tools_or_not(source, dest) {
			line = "--ro-bind\n" source "\n" dest
			# what lies in the home comes after the home
			if (index(dest, home "/") == 1) late = late line "\n"
			else print line
		}
		/^device$/ { word(); word(); if (!dev++) print "--dev\n/dev"; next }
		/^devpts$/ { word(); next }
		/^tmpfs$/ { mode = word(); print "--perms\n" mode "\n--tmpfs\n" inside(); next }
		/^symlink$/ {
			target = word()
			dest = inside()
			if (index(dest, "/dev/") != 1) print "--symlink\n" target "\n" dest
			next
		}
		/^read-only$/ { print "--remount-ro\n" inside(); next }
		/^mask-(file|dir)$/ {
			kind = $0; sub(/^mask/, empty, kind)
			dest = inside()
			if (system("test -e \"" dest "\"") == 0) print "--ro-bind\n" kind "\n" dest
			next
		}
		/^hide$/ {
			dest = inside()
			for (n = word(); n > 0; n--) {
				file = dest "/" word()
				if (system("test -e \"" file "\"") == 0)
					late = late "--ro-bind\n" empty "-file\n" file "\n"
			}
			next
		}
		/^dir$/ { mode = word(); print "--perms\n" mode "\n--dir\n" inside(); next }
		/^file$/ { word(); next }
		/^sandbox$/ { next }
		/^move$/ { word(); word(); next }
		/^end$/ {
			print "--bind\n" home "/aihome\n" home
			printf "%s", late
			print "--bind\n" project "\n" project "\n--bind\n" git "\n" project "/.git"
		}' "$scratch/plan" >"$scratch/shown"
	# bwrap reads its arguments in order: first the namespaces, then what is shown
	sed -e '/^--as-pid-1$/d' -e "s|^/.*/stage/empty-file\$|$scratch/empty-file|" "$scratch/args" |
		awk -v shown="$scratch/shown" '
			/^--dev-bind$/ && !done { getline; getline; done = 1
				while ((getline line <shown) > 0) print line
				next }
			{ print }' | tr '\n' '\0' >"$scratch/bare"
}

# ratio_of A B
ratio_of() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}
# compare FILES WHAT AGAINST, then the arguments of measure: one line of the table
compare() {
	files=$1 what=$2 against=$3
	shift 3
	"$measure" "$@" >"$scratch/times"
	{
		read -r am al _
		read -r bm bl _
		read -r more_us
	} <"$scratch/times"
	ratio=$(ratio_of "$am" "$bm") least=$(ratio_of "$al" "$bl")
	awk -v n="$files" -v what="$what" -v against="$against" -v a="$am" -v b="$bm" -v r="$ratio" \
		-v l="$least" 'BEGIN {
		printf "%6d  %-30s %9.2f  %-27s %9.2f  %5s  %5s\n", n, what, a / 1000, against, b / 1000, r, l
	}'
}

# median: of the numbers on standard input, one on a line
median() {
	sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# more BAR: by how much the two of the last line differ, and by how much they may, in ms
more() {
	awk -v more="$more_us" -v bar="$1" 'BEGIN {
		printf "%6s  %-30s %9.2f  %-27s %9.2f\n", "", "  more than that", more / 1000, "at most", bar
	}'
}

# shellcheck source=tests/bench/on.sh
. "$(dirname "$0")/on.sh"

# ---- what the lines below run, each with the number of the round as $1

# the first session ever in a repository, and a working tree of git's
cat >"$scratch/first" <<EOF_FIRST
export XDG_STATE_HOME=$scratch/first-state
exec "$agent" start -q --base HEAD --name "first\$1" -- true
EOF_FIRST
cat >"$scratch/first-after" <<EOF_AFTER
XDG_STATE_HOME=$scratch/first-state "$agent" drop --force "first\$1"
chmod -R u+rwX "$scratch/first-state"
rm -rf "$scratch/first-state"
exec git worktree remove --force "$scratch/worktree"
EOF_AFTER

# the same edits by a session that stops before its capture, and in a plain clone
cat >"$scratch/work-before" <<EOF_WORK
GIT_AGENT_FAULT=capture:begin:kill "$agent" start -q --base HEAD --name "work\$1" -- \
	/bin/sh -c "\$(cat "$scratch/edits")" sh "\$1"
cd "$scratch/plain" && exec /bin/sh "$scratch/edits" "\$1"
EOF_WORK
cat >"$scratch/commit" <<EOF_COMMIT
cd "$scratch/plain" && git add -A && exec git commit -qm edits
EOF_COMMIT
# a session with the edits as it is, and one that stops before its capture
cat >"$scratch/whole" <<EOF_WHOLE
"$agent" start -q --base HEAD --name "whole\$1" -- /bin/sh -c "\$(cat "$scratch/edits")" sh "\$1" || :
EOF_WHOLE
cat >"$scratch/stopped" <<EOF_STOPPED
GIT_AGENT_FAULT=capture:begin:kill "$agent" start -q --base HEAD --name "stopped\$1" -- \
	/bin/sh -c "\$(cat "$scratch/edits")" sh "\$1" || :
EOF_STOPPED
# Each round begins with the objects of the first: neither side has to look among what the other
# rounds left.
cat >"$scratch/work-after" <<EOF_AFTER
for kind in work whole stopped; do
	"$agent" drop --force "\$kind\$1" || :
done
git for-each-ref --format='delete %(refname)' refs/agent-trash | git update-ref --stdin
git -C "$scratch/plain" reset -q --hard origin/main
find .git/objects "$scratch/plain/.git/objects" -type f | LC_ALL=C sort |
	LC_ALL=C comm -13 "$scratch/begun" - | xargs rm -f
EOF_AFTER

# The same repository once more, for git. What was checked out in the second in which the index was
# written would be read again by the first command: that is over with before anything is timed.
clone_plain() {
	[ ! -e "$scratch/plain" ] || mv "$scratch/plain" "$(mktemp -d "$scratch/used-XXXXXX")"
	git clone -q "$HOME/$n" "$scratch/plain"
	sleep 1
	git -C "$scratch/plain" status >/dev/null
	find .git/objects "$scratch/plain/.git/objects" -type f | LC_ALL=C sort >"$scratch/begun"
}

# compare_capture ROUNDS WHAT: of what \$scratch/edits does
compare_capture() {
	compare "$n" "capture: $2" 'git add -A && git commit' "$1" \
		"$agent" capture work% --against /bin/sh "$scratch/commit" \
		--before /bin/sh "$scratch/work-before" % --after /bin/sh "$scratch/work-after" %
}

# compare_end ROUNDS: what that costs where a session makes it at its end, in the process that has
# been there all along: by how much the session takes longer
compare_end() {
	git_us=$bm
	"$measure" "$1" /bin/sh "$scratch/whole" % --against /bin/sh "$scratch/stopped" % \
		--after /bin/sh "$scratch/work-after" % >"$scratch/times"
	{
		read -r am al _
		read -r bm bl _
	} <"$scratch/times"
	awk -v a="$am" -v b="$bm" -v g="$git_us" 'BEGIN {
		printf "%6s  %-30s %9.2f  %-27s %9.2f  %5.2f\n", "", "  at the end of a session", (a - b) / 1000, \
			"the same", g / 1000, (a - b) / g
	}'
}

# ---- the table

printf '%6s  %-30s %9s  %-27s %9s  %5s  %5s\n' files 'medians in ms' '' against '' ratio least
# Row by row, and last what removes many files.
first=''
for n in $sizes; do
	make_repo "$n"
	cd "$HOME/$n"
	# warm: from here on the base tree is there
	"$agent" start --keep --base HEAD --name warm -- true >/dev/null 2>&1
	"$agent" drop warm >/dev/null 2>&1
	bare_arguments "$HOME/$n"
	compare "$n" 'start and exit, warm' 'bwrap, the same binds' \
		"$rounds" "$agent" start -q --base HEAD --name round% -- true \
		--against --input "$scratch/bare" "$bwrap" --args 0 true
	first=${first:-$am} last=$am
done
# The same branch lands, and is merged by git, in the same repository: each begins with the index as
# git status leaves it, and the second time with a file that the user edited.
cat >"$scratch/merge-back" <<EOF_BACK
"$agent" land --undo lands || :
git reset -q --hard before-landing
[ -z "\$edited" ] || echo mine >>d0/e0/f1.txt
git status
EOF_BACK
for n in $sizes; do
	cd "$HOME/$n"
	"$agent" start -q --base HEAD --name lands -- /bin/sh -c 'echo edit >>d0/e0/f0.txt; echo new >new'
	git tag before-landing
	compare "$n" 'land' 'git merge' "$(of "$((some > 41 ? some : 41))")" "$agent" land --merge lands \
		--against git merge -q --no-ff --no-edit agent/lands \
		--between /bin/sh "$scratch/merge-back"
	echo mine >>d0/e0/f1.txt
	export edited=1
	compare "$n" 'land beside an edited file' 'git merge, git status' "$(of "$some")" "$agent" land --merge lands \
		--against /bin/sh -c 'git merge -q --no-ff --no-edit agent/lands; git status' \
		--between /bin/sh "$scratch/merge-back"
	unset edited
	git reset -q --hard before-landing
	git tag -d before-landing >/dev/null
	"$agent" drop --force lands >/dev/null 2>&1
done
for n in $sizes; do
	cd "$HOME/$n"
	# what remains of the two is the one look
	cat >"$scratch/looks" <<EOF_LOOKS
"$agent" start -q -- true
EOF_LOOKS
	cat >"$scratch/status" <<EOF_STATUS
git --no-optional-locks status --porcelain -z >/dev/null && "$agent" start -q --base HEAD -- true
EOF_STATUS
	"$agent" start -q -- true
	compare "$n" 'start, looking for changes' 'git status, start without' \
		"$(of "$rounds")" /bin/sh "$scratch/looks" --against /bin/sh "$scratch/status"
	more 5
	compare "$n" 'look for secrets, the first' 'git status' \
		"$few" "$agent" secrets --against git --no-optional-locks status --porcelain -z \
		--after find "$HOME/.local/state/git-agent" -name 'secrets-*' -delete
	compare "$n" 'look for secrets, again' 'git status' \
		"$(of "$rounds")" "$agent" secrets --against git --no-optional-locks status --porcelain -z
done
for n in $sizes; do
	cd "$HOME/$n"
	clone_plain
	cat >"$scratch/edits" <<EOF_EDITS
i=0
while [ \$i -lt $n ]; do
	echo "edit \$1" >>d\$((i / 10000))/e\$((i / 100))/f\$i.txt
	i=\$((i + $n / 20))
done
EOF_EDITS
	compare_capture "$(of "$some")" '20 edits'
	compare_end "$(of "$some")"
done
for n in $sizes; do
	cd "$HOME/$n"
	clone_plain
	new=$((n < 10000 ? 10000 : n > 50000 ? 50000 : n))
	cat >"$scratch/edits" <<EOF_EDITS
i=0
while [ \$i -lt $new ]; do
	[ \$((i % 100)) != 0 ] || mkdir -p new/\$((i / 100))
	echo "new \$1 \$i" >new/\$((i / 100))/\$i
	i=\$((i + 1))
done
EOF_EDITS
	compare_capture "$few" "$new new files"
done
for n in $sizes; do
	cd "$HOME/$n"
	compare "$n" 'start and exit, the first' 'git worktree add' \
		"$few" /bin/sh "$scratch/first" % \
		--against git worktree add -q --detach "$scratch/worktree" HEAD \
		--after /bin/sh "$scratch/first-after" %
done
# The next one: each round is based on a commit of its own, which differs from the last round's, and the
# first from what has a base tree, in a hundred files.
for n in $sizes; do
	cd "$HOME/$n"
	awk -v n="$n" -v rounds="$few" 'BEGIN {
		for (r = 0; r < rounds; r++) {
			print "commit refs/heads/next" r "\ncommitter Bench <bench@example.com> 1700000001 +0000"
			print "data 4\nnext\nfrom refs/heads/main^0"
			for (i = 0; i < n; i += n / 100) {
				text = "next " r " of " i "\n"
				printf "M 100644 inline d%d/e%d/f%d.txt\n", i / 10000, i / 100, i
				printf "data %d\n%s\n", length(text), text
			}
		}
	}' | git -c fastimport.unpackLimit=0 fast-import --quiet
	compare "$n" 'start and exit, 100 changed' 'git worktree add' \
		"$few" "$agent" start -q --base next% --name next% -- true \
		--against git worktree add -q --detach "$scratch/worktree" HEAD \
		--after git worktree remove --force "$scratch/worktree"
	elsewhere "$few"
done

# what a session of the largest has in memory while its agent does nothing, all processes together
"$agent" start -q --base HEAD -- true
"$measure" --memory "$agent" start -q --base HEAD --name memory -- sleep 1 >"$scratch/times"
read -r ours am <"$scratch/times"
awk -v n="$n" -v ours="$ours" 'BEGIN {
	printf "%6d  %-30s %5.1f MiB  %-27s %9s  at most 40\n", n, "memory of a warm session", ours / 1024, "", ""
}'

# how soon there is something to read: of a session that changed a thousand files
"$agent" start -q --base HEAD --name review -- /bin/sh -c \
	'i=0; while [ $i -lt 1000 ]; do seq $i $((i + 40)) >review-$i.txt; i=$((i + 1)); done'
printf '"%s" review review | head -n 1\n' "$agent" >"$scratch/review"
echo 'git --no-pager diff main agent/review | head -n 1' >"$scratch/git-diff"
compare 1000 'review: the first line' 'git diff' "$rounds" /bin/sh "$scratch/review" \
	--against /bin/sh "$scratch/git-diff"
"$agent" drop --force review >/dev/null 2>&1

# a review with ten times as many flagged files takes ten times as long
for n in 500 5000; do
	"$agent" start -q --base HEAD --name "page-$n" -- /bin/sh -c \
		'i=0; while [ $i -lt '"$n"' ]; do mkdir p$i && echo "all: $i" >p$i/Makefile; i=$((i + 1)); done'
done
compare 5000 'review, all flagged' 'a tenth of them' "$few" \
	"$agent" review page-5000 --against "$agent" review page-500
"$agent" drop --force page-500 >/dev/null 2>&1
"$agent" drop --force page-5000 >/dev/null 2>&1

# a large file, once, of bytes that nothing compresses: the time, and the memory that is no file's
(GIT_AGENT_FAULT=capture:begin:kill "$agent" start -q --base HEAD --name large -- \
	/bin/sh -c 'head -c 1G /dev/urandom >large' || :) 2>/dev/null
head -c 1G /dev/urandom >"$scratch/plain/large"
"$measure" --memory "$agent" capture large >"$scratch/times"
"$measure" --memory git -C "$scratch/plain" add large >>"$scratch/times"
{
	read -r ours am
	read -r gits bm
} <"$scratch/times"
ratio=$(ratio_of "$am" "$bm")
awk -v n="$n" -v a="$am" -v b="$bm" -v ratio="$ratio" -v ours="$ours" -v gits="$gits" 'BEGIN {
	printf "%6d  %-30s %9.2f  %-27s %9.2f  %5s\n", n, "capture: a file of 1 GiB", a / 1000, \
		"git add", b / 1000, ratio
	printf "%6s  %-30s %5.1f MiB  %-27s %5.1f MiB  at most 64\n", "", "  memory for that", ours / 1024, \
		"git add", gits / 1024
}'

# a rename inside, which is announced to pid 1, and one that is not: microseconds, the least of many
renames() {
	"$agent" -c "sandbox.rename=$1" start -q --base HEAD -- perl -MTime::HiRes=time -e '
		open(F, ">a");
		for (1 .. 400) {
			$t = time;
			rename("a", "b"), rename("b", "a") for 1 .. 25;
			$t = time - $t;
			$least = $t if !$least || $t < $least;
		}
		printf "%.1f\n", $least / 50 * 1e6;'
}
served=$(renames true) alone=$(renames false)
printf '%6d  %-30s %6s us  %-27s %6s us\n' 1 'rename of a file inside' "$served" 'sandbox.rename: false' "$alone"

# rm -r of 50 000 directories inside, where removals are announced to pid 1 and where not: milliseconds, the
# least of a few
removal() {
	"$agent" -c "sandbox.rename=$1" start -q -- perl -MTime::HiRes=time -e '
		mkdir("many");
		for $i (1 .. 250) {
			mkdir("many/$i");
			mkdir("many/$i/$_") for 1 .. 200;
		}
		$t = time;
		system("rm", "-r", "many");
		printf "%.0f\n", (time - $t) * 1e3;'
}
# removals WHAT BAR
removals() {
	for _ in $(seq "$few"); do
		echo "true $(removal true)"
		echo "false $(removal false)"
	done >"$scratch/removals"
	served=$(awk '$1 == "true" { print $2 }' "$scratch/removals" | sort -n | head -1)
	alone=$(awk '$1 == "false" { print $2 }' "$scratch/removals" | sort -n | head -1)
	ratio=$(ratio_of "$served" "$alone")
	printf '%6d  %-30s %6s ms  %-27s %6s ms  %5s  %s\n' 50000 "$1" "$served" 'sandbox.rename: false' "$alone" \
		"$ratio" "$2"
}
mkdir -p shared d0/shared
touch shared/f d0/shared/f
echo /shared >>.git/info/exclude
removals 'rm -r of directories inside' 'at most 1.20'
echo /d0/shared >>.git/info/exclude
removals '... one shared in a directory' ''
rm -r shared d0/shared

# The relay of a network where little is allowed, against the same server reached directly, in turn with
# it: the medians of a few rounds. What is measured runs inside and takes its own time.
# What the large file has left to be written would have a processor to itself meanwhile.
sync -f "$scratch"
mkdir -p "$HOME/aihome"
chmod 700 "$HOME/aihome"
cp "$TEST_BUILDDIR/tests/helpers/traffic" "$HOME/aihome/traffic"
traffic=$TEST_BUILDDIR/tests/helpers/traffic
"$traffic" serve 127.0.0.1 >"$scratch/port" &
server=$!
trap 'kill $server; cd /; chmod -R u+rwX "$scratch"; rm -rf "$scratch"' EXIT
while [ ! -s "$scratch/port" ]; do sleep 0.1; done
read -r port <"$scratch/port"
for how in 'bulk 1024' 'ping 4000' 'open 400' 'many 500'; do
	for _ in $(seq "$few"); do
		echo "direct ${how% *} $("$traffic" "${how% *}" 127.0.0.1 "$port" "${how#* }")"
		echo "relayed ${how% *} $("$agent" start -q --base HEAD --allow "localhost:$port" -- \
			"$HOME/traffic" "${how% *}" 127.0.0.1 "$port" "${how#* }")"
	done
done >"$scratch/traffic"
# middle WHERE WHAT: the median
middle() {
	awk -v where="$1" -v what="$2" '$1 == where && $2 == what { print $3 }' "$scratch/traffic" | median
}
relayed=$(middle relayed bulk) direct=$(middle direct bulk)
ratio=$(ratio_of "$relayed" "$direct")
printf '%6d  %-30s %6d MiB/s %-26s %6d MiB/s %4s  at least 0.50\n' 1 'relay: one stream' "$relayed" \
	direct "$direct" "$ratio"
for what in ping open; do
	relayed=$(middle relayed $what) direct=$(middle direct $what)
	name='relay: the same, with connecting' bar=''
	[ $what != ping ] || name='relay: a byte there and back' bar=', at most 200'
	more=$(awk -v a="$relayed" -v b="$direct" 'BEGIN { printf "%.1f", a - b }')
	printf '%6d  %-30s %6s us  %-27s %6s us  more: %s%s\n' 1 "$name" "$relayed" 'direct' "$direct" "$more" "$bar"
done
relayed=$(middle relayed many)
printf '%6d  %-30s %6d     %-27s %6d\n' 1 'relay: connections at once' "$relayed" 'asked for' 500

# all rules on that many changed paths, content read and all, against a tenth of them: processor time,
# the least of three
flags() {
	for _ in 1 2 3; do
		"$TEST_BUILDDIR/tests/helpers/classify" "$1"
	done | awk '!least || $3 < least { least = $3 } END { print least }'
}
many=$(flags 100000) few_paths=$(flags 10000)
ratio=$(ratio_of "$many" "$few_paths")
printf '%6d  %-30s %9.2f  %-27s %9.2f  %5s\n' 100000 'flags: changed paths, all rules' "$many" \
	'a tenth of them' "$few_paths" "$ratio"
growth=$(ratio_of "$last" "$first")
echo "a warm start at the last size against one at the first: $growth"
