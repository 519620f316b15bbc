#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The case table of docs/capture.md in a real sandbox: every cell that an agent can make
# a kernel write. A cell's id is its path. What no agent can is in
# tests/unit/test-upper-cells.c; tests/lint/cases.t compares both with the table.
test_description='capture: each kind of entry over each kind of base'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# id, outcome in the table's words, and what the agent does ($P is the path, the id)
cat >cells <<'EOT'
UP-REG/BASE-NONE|A|echo up >$P
UP-REG/BASE-REG|M|echo up >$P
UP-REG/BASE-EXE|M|echo up >$P
UP-REG/BASE-LNK|T|rm $P; echo up >$P
UP-REG/BASE-DIR|A D/|rm -r $P; echo up >$P
UP-REG/BASE-GITLINK|T|rmdir $P; echo up >$P
UP-REG/BASE-IGN|ignored|echo up >$P
UP-SAME/BASE-REG|=|echo base >$P
UP-SAME/BASE-EXE|=|touch $P
UP-SAME/BASE-LNK|=|touch -h $P
UP-SAME/BASE-IGN|ignored|touch $P
UP-MODE/BASE-REG|M|chmod +x $P
UP-MODE/BASE-EXE|M|chmod -x $P
UP-MODE/BASE-DIR|=|chmod 700 $P
UP-MODE/BASE-GITLINK|=|chmod 700 $P
UP-MODE/BASE-IGN|ignored|chmod +x $P
UP-LNK/BASE-NONE|A|ln -s up $P
UP-LNK/BASE-REG|T|ln -sf up $P
UP-LNK/BASE-EXE|T|ln -sf up $P
UP-LNK/BASE-LNK|M|ln -sfn up $P
UP-LNK/BASE-DIR|A D/|rm -r $P; ln -s up $P
UP-LNK/BASE-GITLINK|T|rmdir $P; ln -s up $P
UP-LNK/BASE-IGN|ignored|ln -s up $P
UP-DIR/BASE-NONE|A/|mkdir $P; echo up >$P/n
UP-DIR/BASE-DIR|A/|echo up >$P/n
UP-DIR/BASE-GITLINK|submodule|echo up >$P/n
UP-DIR/BASE-IGN|ignored|mkdir $P; echo up >$P/n
UP-OPQ/BASE-REG|D A/|rm $P; mkdir $P; echo up >$P/n
UP-OPQ/BASE-EXE|D A/|rm $P; mkdir $P; echo up >$P/n
UP-OPQ/BASE-LNK|D A/|rm $P; mkdir $P; echo up >$P/n
UP-OPQ/BASE-DIR|A/ D/|rm -r $P; mkdir $P; echo up >$P/n
UP-OPQ/BASE-GITLINK|submodule|rmdir $P; mkdir $P; echo up >$P/n
UP-WH/BASE-REG|D|rm $P
UP-WH/BASE-EXE|D|rm $P
UP-WH/BASE-LNK|D|rm $P
UP-WH/BASE-DIR|D/|rm -r $P
UP-WH/BASE-GITLINK|D|rmdir $P
UP-WH/BASE-IGN|=|rm $P
UP-FIFO/BASE-NONE|special|mkfifo $P
UP-FIFO/BASE-REG|D special|rm $P; mkfifo $P
UP-FIFO/BASE-EXE|D special|rm $P; mkfifo $P
UP-FIFO/BASE-LNK|D special|rm $P; mkfifo $P
UP-FIFO/BASE-DIR|D/ special|rm -r $P; mkfifo $P
UP-FIFO/BASE-GITLINK|D special|rmdir $P; mkfifo $P
UP-FIFO/BASE-IGN|special|mkfifo $P
UP-SOCK/BASE-NONE|special|sock $P
UP-SOCK/BASE-REG|D special|rm $P; sock $P
UP-SOCK/BASE-EXE|D special|rm $P; sock $P
UP-SOCK/BASE-LNK|D special|rm $P; sock $P
UP-SOCK/BASE-DIR|D/ special|rm -r $P; sock $P
UP-SOCK/BASE-GITLINK|D special|rmdir $P; sock $P
UP-SOCK/BASE-IGN|special|sock $P
UP-HARD/BASE-NONE|A|echo up >twin; ln twin $P
UP-HARD/BASE-REG|M|ln -f twin $P
UP-HARD/BASE-EXE|M|echo up >$P; ln $P twin2
UP-HARD/BASE-LNK|T|ln -f twin $P
UP-HARD/BASE-DIR|A D/|rm -r $P; ln twin $P
UP-HARD/BASE-GITLINK|T|rmdir $P; ln twin $P
UP-HARD/BASE-IGN|ignored|ln twin $P
UP-SPARSE/BASE-NONE|A|truncate -s 2M $P
UP-SPARSE/BASE-REG|M|truncate -s 2M $P
UP-SPARSE/BASE-EXE|M|truncate -s 2M $P
UP-SPARSE/BASE-LNK|T|rm $P; truncate -s 2M $P
UP-SPARSE/BASE-DIR|A D/|rm -r $P; truncate -s 2M $P
UP-SPARSE/BASE-GITLINK|T|rmdir $P; truncate -s 2M $P
UP-SPARSE/BASE-IGN|ignored|truncate -s 2M $P
UP-CLOSED/BASE-NONE|A|echo up >$P; chmod 0 $P
UP-CLOSED/BASE-REG|M|echo up >$P; chmod 0 $P
UP-CLOSED/BASE-EXE|M|echo up >$P; chmod 0 $P
UP-CLOSED/BASE-LNK|T|rm $P; echo up >$P; chmod 0 $P
UP-CLOSED/BASE-DIR|A D/|rm -r $P; echo up >$P; chmod 0 $P
UP-CLOSED/BASE-GITLINK|T|rmdir $P; echo up >$P; chmod 0 $P
UP-CLOSED/BASE-IGN|ignored|echo up >$P; chmod 0 $P
EOT

# What the user has: files that are ignored are shown to the agent too.
make_base() {
	test_enter r &&
	for u in REG SAME MODE LNK DIR OPQ WH FIFO SOCK HARD SPARSE CLOSED; do
		mkdir "UP-$u" &&
		cd "UP-$u" &&
		echo base >BASE-REG &&
		echo base >BASE-EXE &&
		chmod +x BASE-EXE &&
		ln -s base BASE-LNK &&
		mkdir BASE-DIR &&
		echo x >BASE-DIR/x &&
		cd .. || return 1
	done
	echo BASE-IGN >.gitignore &&
	git add -A &&
	for u in UP-*; do
		mkdir "$u/BASE-GITLINK" &&
		git update-index --add --cacheinfo \
			"160000,1111111111111111111111111111111111111111,$u/BASE-GITLINK" || return 1
	done
	git commit -qm base &&
	for u in SAME MODE WH; do echo base >UP-$u/BASE-IGN; done
}

test_expect_success 'a session makes all the cells' '
	{
		echo "sock() { python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind(\\\"\$1\\\")\"; }" &&
		while IFS="|" read -r id want commands; do
			echo "P=$id; { $commands; } || echo \"$id: \$?\" >&2"
		done <cells &&
		echo "git hash-object UP-CLOSED/BASE-REG 2>&1 | grep -i denied; true"
	} >script &&
	make_base &&
	mkdir -p "$HOME/aihome" &&
	chmod 700 "$HOME/aihome" &&
	cp ../script "$HOME/aihome/script" &&
	git agent start --name c -- sh "$HOME/script" >../out 2>&1 &&
	! grep "^UP-" ../out &&
	grep -i "denied" ../out &&
	full=$(git rev-parse -q --verify refs/agent/c/held || git rev-parse agent/c) &&
	git diff-tree -r --no-renames --name-status refs/agent/c/base "$full" >../result &&
	git agent review --format=json c >../json &&
	python3 -c "
import json
for x in json.load(open(\"../json\"))[\"left_behind\"]: print(x[\"kind\"], x[\"path\"], sep=\"\t\")" >>../result
'

# outcome ID: in the table's words
outcome() {
	awk -F'\t' -v id="$1" '
		$2 == id { at[$1] = 1 }
		index($2, id "/") == 1 { if ($1 ~ /^[AMTD]$/) at[$1 "/"] = 1; else at[$1] = 1 }
		END {
			n = split("A M T D A/ M/ T/ D/ ignored special submodule repository", order, " ")
			for (i = 1; i <= n; i++) if (order[i] in at) s = s " " order[i]
			print s ? substr(s, 2) : "="
		}' result
}

while IFS='|' read -r id want commands; do
	test_expect_success "$id is $want" '
		echo "$want" >want &&
		outcome "$id" >got &&
		test_cmp want got
	'
done <cells

# left ID: mode and bytes of what the agent left at the path, as git would add it
left() {
	mode=100644
	case $1 in
	UP-LNK/*) mode=120000 ;;
	UP-MODE/BASE-REG) mode=100755 ;;
	UP-MODE/* | UP-CLOSED/*) ;;
	*/BASE-EXE) mode=100755 ;;
	esac
	case $1 in
	UP-LNK/*) printf up ;;
	UP-MODE/*) echo base ;;
	UP-SPARSE/BASE-REG | UP-SPARSE/BASE-EXE) echo base &&
	head -c $((2097152 - 5)) /dev/zero ;;
	UP-SPARSE/*) head -c 2097152 /dev/zero ;;
	*) echo up ;;
	esac >"$TRASH/bytes"
	printf '%s blob %s\t%s\n' $mode "$(git hash-object "$TRASH/bytes")" "$1"
}

test_expect_success 'each captured cell has the mode and the bytes that the agent left there' '
	cd r &&
	full=$(git rev-parse -q --verify refs/agent/c/held || git rev-parse agent/c) &&
	: >../want &&
	: >../got &&
	while IFS="|" read -r id want commands; do
		case $want in
		A | M | T | "A D/") left "$id" >>../want &&
		git ls-tree "$full" "$id" >>../got || exit 1 ;;
		esac
	done <../cells &&
	test "$(grep -c . ../want)" = 32 &&
	test_cmp ../want ../got
'

# process 1 looks a path up by it, and leaves the call to the overlay where it cannot
test_lazy_prereq OPENAT2 'test -z "${NO_OPENAT2-}"'

# A name, and what the agent does: `ren` is rename(2) and nothing else. What is captured must be the
# tree that git makes of a plain copy of what the agent sees. t4100 does the same at random.
cat >moves <<'EOT'
in the place of an empty one, a file, a link|rm -r doc/*; ren lib doc; rm top; ren src top; rm link; ren other link
as npm does, in a shared directory|mkdir -p mods/.p/lib; ren mods/pkg mods/.old; ren mods/.p mods/pkg; rm -r mods/.old
into a shared directory, as mv does it|noren lib mods/lib; mv lib mods/lib; test -e mods/lib/deep/er/f
out of a shared directory|noren mods/pkg pkg; mv mods/pkg pkg; test -e pkg/lib/f
a directory that holds a shared one|noren ws ws2; mkdir ws2 && git mv ws/a ws2/a
EOT

make_moves() {
	test_enter m &&
	mkdir -p lib/deep/er src other doc vendor ws &&
	for f in lib/f1 lib/deep/f2 lib/deep/er/f src/s other/o doc/d vendor/v ws/a top; do
		echo "$f" >"$f" || return 1
	done &&
	chmod +x lib/f1 &&
	ln -s f1 lib/l &&
	ln -s lib link &&
	printf 'mods\ntarget\nbuild\nmade\n*.log\n' >.gitignore &&
	test_commit base &&
	mkdir -p mods/pkg/lib target/debug ws/mods &&
	echo v1 >mods/pkg/lib/f &&
	echo old >target/debug/o &&
	echo w >ws/mods/w
}
cat >moves-head <<'EOT'
ren() { perl -e 'rename($ARGV[0], $ARGV[1]) or die "$ARGV[0]: $!\n"' "$1" "$2" || echo "ren $1 $2" >&2; }
noren() { ! perl -e 'exit(rename($ARGV[0], $ARGV[1]) ? 0 : 1)' "$1" "$2" || echo "was renamed: $1" >&2; }
EOT
cat >moves-tail <<'EOT'
mkdir /tmp/copy && tar -c --exclude=./.git . | tar -x -C /tmp/copy && git init -q /tmp/copy &&
git -C /tmp/copy add -A && git -C /tmp/copy write-tree
EOT

make_moves >/dev/null || exit 1
cd ..

n=0
while IFS='|' read -r name commands; do
	n=$((n + 1))
	{
		cat moves-head &&
		echo "{ $commands; } || echo failed >&2" &&
		cat moves-tail
	} >"$HOME/aihome/move"
	test_expect_success OPENAT2 "renamed: $name" '
		cd m &&
		git agent start -q --name "m$n" -- sh "$HOME/move" >../tree 2>../err &&
		! grep -e "^ren" -e "^was renamed" -e "^failed" ../err &&
		got=$(git rev-parse -q --verify "refs/agent/m$n/held^{tree}" ||
			git rev-parse -q --verify "agent/m$n^{tree}" || git rev-parse "main^{tree}") &&
		{ test_prints "$got" tail -n 1 ../tree || ! git diff-tree -r --name-status main "$got"; } &&
		git status --porcelain >../status &&
		test ! -s ../status &&
		test "$(cat mods/pkg/lib/f target/debug/o ws/mods/w | tr "\n" " ")" = "v1 old w "
	'
done <moves

test_done
